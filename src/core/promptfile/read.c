/* Reads files into prompts: finds the files that a prompt.yaml lists, and names each prompt. The
 * contents are read by kind (kinds.c, langfuse.c, own.c). */
#include "promptfile/promptfile_int.h"

#include "base/sort.h"
#include "base/text/utc.h"
#include "base/text/utf8.h"
#include "format/format.h"
#include "json/number.h"
#include "json/text.h"
#include "json/write.h"

void pl_filed_init(struct pl_filed *filed)
{
    *filed = (struct pl_filed){0};
}

void pl_filed_deinit(struct pl_filed *filed)
{
    pl_vec_deinit(&filed->prompts);
    pl_vec_deinit(&filed->problems);
}

/* --- pieces of JSON -------------------------------------------------------------------------- */

enum pl_status pl_filed_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                             const struct pl_json_node *object, const char *key,
                             struct pl_str *ret_text)
{
    const struct pl_json_node *n = pl_json_member(doc, object, key, PL_JSON_STRING);
    *ret_text = (struct pl_str){0};
    return n ? pl_json_text(arena, doc, n, ret_text) : PL_OK;
}

int64_t pl_filed_number(const struct pl_json_doc *doc, const struct pl_json_node *object,
                        const char *key)
{
    const struct pl_json_node *n = pl_json_member(doc, object, key, PL_JSON_NUMBER);
    int64_t number;
    return n && pl_json_number_int64(pl_json_span(doc, n), &number) && number > 0 ? number : 0;
}

enum pl_status pl_filed_instant(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *object, const char *key, int64_t *ret_ms)
{
    struct pl_str text;
    int64_t us;
    enum pl_status status = pl_filed_text(arena, doc, object, key, &text);
    if (status == PL_OK)
        *ret_ms = pl_utc_read(text, &us) ? us / 1000 : 0;
    return status;
}

enum pl_status pl_filed_tags(struct pl_arena *arena, const struct pl_json_doc *doc,
                             const struct pl_json_node *object, const char *key,
                             struct pl_str *ret_tags)
{
    const struct pl_json_node *list = pl_json_member(doc, object, key, PL_JSON_ARRAY);
    PL_CLEANUP_BUF struct pl_buf tags;
    pl_buf_init(&tags, 0);
    struct pl_json_out out = pl_json_out(&tags);
    pl_json_out_open(&out, '[');
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         list && n < pl_json_end(list); n = pl_json_next(n)) {
        struct pl_str text;
        if (pl_json_kind(n) != PL_JSON_STRING)
            continue;
        if (pl_json_text(arena, doc, n, &text) != PL_OK)
            return PL_NOMEM;
        pl_json_out_text(&out, text);
    }
    pl_json_out_close(&out, ']');
    return pl_filed_keep(arena, &tags, ret_tags);
}

enum pl_status pl_filed_keep(struct pl_arena *arena, const struct pl_buf *buf,
                             struct pl_str *ret_text)
{
    struct pl_str copy = pl_arena_dup(arena, pl_buf_str(buf));
    if (buf->status != PL_OK || (buf->len && !copy.ptr))
        return buf->status == PL_OK ? PL_NOMEM : buf->status;
    *ret_text = copy;
    return PL_OK;
}

static int by_version(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_filed_version *x = a, *y = b;
    return (x->version > y->version) - (x->version < y->version);
}

enum pl_status pl_filed_sort(struct pl_arena *arena, struct pl_filed_version *versions, size_t n)
{
    const void **items = pl_arena_alloc(arena, n + 1, sizeof *items);
    const void **scratch = pl_arena_alloc(arena, n + 1, sizeof *scratch);
    struct pl_filed_version *sorted = pl_arena_alloc(arena, n + 1, sizeof *sorted);
    if (!items || !scratch || !sorted)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++)
        items[i] = &versions[i];
    pl_sort(items, scratch, n, by_version, NULL);
    for (size_t i = 0; i < n; i++)
        sorted[i] = *(const struct pl_filed_version *)items[i];
    for (size_t i = 0; i < n; i++)
        versions[i] = sorted[i];
    return PL_OK;
}

/* --- results --------------------------------------------------------------------------------- */

struct pl_str pl_filing_name(struct pl_str path)
{
    struct pl_str stem = pl_file_stem(path);
    if (!stem.len)
        stem = pl_file_base(pl_file_directory(path));
    return stem.len ? stem : PL_STR("prompt");
}

enum pl_status pl_filing_add_problem(struct pl_filing *f, struct pl_str path, const char *detail)
{
    struct pl_filed_problem problem = {path, pl_arena_dup(f->arena, pl_str_of(detail))};
    return problem.detail.ptr && pl_vec_push(&f->filed.problems, problem) ? PL_OK : PL_NOMEM;
}

/* If a file has several prompts without names, they get numbers. */
static enum pl_status give_name(struct pl_filing *f, struct pl_filed_prompt *p)
{
    p->name = pl_filing_name(p->path);
    if (!f->place)
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf name;
    pl_buf_init(&name, 0);
    pl_buf_add(&name, p->name);
    pl_buf_addf(&name, " %zu", f->place);
    return pl_filed_keep(f->arena, &name, &p->name);
}

enum pl_status pl_filing_add(struct pl_filing *f, const struct pl_filed_prompt *prompt,
                             const struct pl_filed_version *version)
{
    struct pl_filed_prompt p = *prompt;
    p.path = f->file->path;
    if (!p.name.len && give_name(f, &p) != PL_OK)
        return PL_NOMEM;
    if (!p.folder.len)
        p.folder = pl_file_directory(p.path);
    if (!p.tags.len)
        p.tags = PL_STR("[]");
    if (!p.labels.len)
        p.labels = PL_STR("{}");
    p.versions = pl_arena_alloc(f->arena, 1, sizeof *p.versions);
    if (!p.versions)
        return PL_NOMEM;
    p.versions[0] = *version;
    p.n_versions = 1;
    return pl_vec_push(&f->filed.prompts, p) ? PL_OK : PL_NOMEM;
}

/* Joins the chat's own description and that of the file. */
static enum pl_status join_description(struct pl_filing *f, struct pl_filed_prompt *p,
                                       struct pl_str more)
{
    if (!p->description.len || !more.len || pl_str_eq(p->description, more)) {
        p->description = p->description.len ? p->description : more;
        return PL_OK;
    }
    PL_CLEANUP_BUF struct pl_buf all;
    pl_buf_init(&all, 0);
    pl_buf_add(&all, p->description);
    pl_buf_adds(&all, "\n\n");
    pl_buf_add(&all, more);
    return pl_filed_keep(f->arena, &all, &p->description);
}

enum pl_status pl_filing_add_chat(struct pl_filing *f, struct pl_str chat,
                                  const struct pl_filed_prompt *known, struct pl_str note)
{
    struct pl_filed_prompt p = {0};
    struct pl_filed_version version = {.is_structured = true, .content = chat, .note = note};
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(f->arena, chat, &pl_json_any, &doc, f->err);
    if (status == PL_OK)
        status = pl_filed_text(f->arena, &doc, doc.root, "name", &p.name);
    if (status == PL_OK)
        status = pl_filed_text(f->arena, &doc, doc.root, "description", &p.description);
    if (status == PL_OK)
        status = pl_filed_tags(f->arena, &doc, doc.root, "tags", &p.tags);
    if (status == PL_OK)
        status = join_description(f, &p, known->description);
    if (!p.name.len)
        p.name = known->name;
    if (p.tags.len <= 2)
        p.tags = known->tags;
    return status == PL_OK ? pl_filing_add(f, &p, &version) : status;
}

/* --- files ----------------------------------------------------------------------------------- */

/* Copies the files, so that the results live as long as the arena. */
static enum pl_status take_files(struct pl_filing *f, const struct pl_prompt_file *files)
{
    struct pl_prompt_file *copies = pl_arena_alloc(f->arena, f->n_files + 1, sizeof *copies);
    if (!copies)
        return PL_NOMEM;
    for (size_t i = 0; i < f->n_files; i++) {
        copies[i].path = pl_arena_dup(f->arena, files[i].path);
        copies[i].text = pl_arena_dup(f->arena, files[i].text);
        if ((files[i].path.len && !copies[i].path.ptr) ||
            (files[i].text.len && !copies[i].text.ptr))
            return PL_NOMEM;
    }
    f->files = copies;
    return PL_OK;
}

static enum pl_status index_files(struct pl_filing *f)
{
    f->is_claimed = pl_arena_zalloc(f->arena, f->n_files + 1, sizeof *f->is_claimed);
    if (!f->is_claimed)
        return PL_NOMEM;
    for (size_t i = 0; i < f->n_files; i++) {
        bool is_new;
        struct pl_map_entry *entry = pl_map_put(&f->paths, f->files[i].path, &is_new);
        if (!entry)
            return PL_NOMEM;
        if (is_new)
            entry->value = i;
    }
    return PL_OK;
}

/* The document of a prompt.yaml that Parley wrote; NULL if the file is another. */
static enum pl_status own_of(struct pl_filing *f, const struct pl_prompt_file *file,
                             const struct pl_json_doc **ret_doc)
{
    *ret_doc = NULL;
    struct pl_json_doc doc;
    if (!pl_str_eq(pl_file_base(file->path), PL_STR("prompt.yaml")) ||
        !pl_file_path_is_plain(file->path))
        return PL_OK;
    enum pl_status status = pl_prompt_yaml_parse(f->arena, file->text, &doc, NULL);
    if (status != PL_OK || !pl_prompt_yaml_is(&doc))
        return status == PL_NOMEM ? status : PL_OK; /* read like any other file, which reports
                                                       an error if it has one */
    struct pl_json_doc *kept = pl_arena_alloc(f->arena, 1, sizeof *kept);
    if (!kept)
        return PL_NOMEM;
    *kept = doc;
    *ret_doc = kept;
    return PL_OK;
}

/* All prompt.yaml first: files that they list are not read on their own. */
static enum pl_status find_own(struct pl_filing *f, const struct pl_json_doc **owns)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < f->n_files && status == PL_OK; i++) {
        status = own_of(f, &f->files[i], &owns[i]);
        if (status == PL_OK && owns[i])
            status = pl_prompt_yaml_claim(f, &f->files[i], owns[i]);
    }
    return status;
}

/* Checks a file and returns its text; on failure the reason is in f->err. */
static enum pl_status check_file(struct pl_filing *f, struct pl_str *ret_text)
{
    struct pl_str text = f->file->text, mark = PL_STR("\xef\xbb\xbf");
    if (!pl_file_path_is_plain(f->file->path))
        return pl_fail(f->err, PL_INVALID,
                       "the path must be relative, without empty parts, \".\" or \"..\"");
    if (!pl_utf8_is_valid(text) || (text.len && memchr(text.ptr, '\0', text.len)))
        return pl_fail(f->err, PL_INVALID, "the file is not UTF-8 text");
    if (pl_str_starts(text, mark))
        text = pl_str_slice(text, mark.len, text.len);
    if (!text.len)
        return pl_fail(f->err, PL_INVALID, "the file is empty");
    *ret_text = text;
    return PL_OK;
}

static enum pl_status read_file(struct pl_filing *f, const struct pl_json_doc *own,
                                const struct pl_file_kind *kind, const struct pl_format *format)
{
    struct pl_str text;
    enum pl_status status = check_file(f, &text);
    if (status != PL_OK)
        return status;
    if (own)
        return pl_prompt_yaml_read(f, own);
    if (format)
        return pl_file_convert(f, text, format);
    return kind ? kind->read(f, text) : pl_file_kind_guess(f, text);
}

/* Reports a file without a prompt, with the position of the error. */
static enum pl_status tell_problem(struct pl_filing *f, const struct pl_error *why)
{
    PL_CLEANUP_BUF struct pl_buf detail;
    pl_buf_init(&detail, 0);
    if (why->has_position)
        pl_buf_addf(&detail, "line %zu, column %zu: ", why->line, why->column);
    pl_buf_adds(&detail, why->message[0] ? why->message : "it contains no readable prompt");
    pl_buf_addc(&detail, '\0');
    return detail.status == PL_OK ? pl_filing_add_problem(f, f->file->path, detail.ptr) : PL_NOMEM;
}

static enum pl_status read_all(struct pl_filing *f, const struct pl_file_kind *kind,
                               const struct pl_format *format)
{
    const struct pl_json_doc **owns = pl_arena_zalloc(f->arena, f->n_files + 1, sizeof *owns);
    enum pl_status status = owns ? index_files(f) : PL_NOMEM;
    if (status == PL_OK && !kind && !format)
        status = find_own(f, owns);
    for (size_t i = 0; i < f->n_files && status == PL_OK; i++) {
        *f->err = (struct pl_error){0};
        f->file = &f->files[i];
        f->place = 0;
        if (f->is_claimed[i])
            continue;
        status = read_file(f, owns[i], kind, format);
        if (status != PL_OK && status != PL_NOMEM)
            status = tell_problem(f, f->err);
    }
    f->err = NULL;
    return status == PL_OK ? pl_langfuse_finish(f) : status;
}

enum pl_status pl_prompt_files_read(struct pl_arena *arena, const struct pl_prompt_file *files,
                                    size_t n_files, struct pl_str as, struct pl_filed *ret_filed,
                                    struct pl_error *err)
{
    struct pl_error why;
    struct pl_filing f = {.arena = arena, .n_files = n_files, .err = &why};
    const struct pl_file_kind *kind = as.len ? pl_file_kind_find(as) : NULL;
    const struct pl_format *format = as.len && !kind ? pl_format_find(as) : NULL;
    if (as.len && !kind && !format)
        return pl_fail(err, PL_USAGE,
                       "\"%.*s\" is not a known kind of file; name a format, yaml, markdown, "
                       "langfuse or text",
                       PL_STR_ARG(pl_str_slice(as, 0, 40)));
    enum pl_status status = take_files(&f, files);
    if (status == PL_OK)
        status = read_all(&f, kind, format);
    pl_map_deinit(&f.paths);
    pl_map_deinit(&f.names);
    pl_vec_deinit(&f.langfuse);
    if (status == PL_OK)
        *ret_filed = f.filed;
    else
        pl_filed_deinit(&f.filed);
    return status == PL_NOMEM ? pl_fail(err, status, "out of memory") : status;
}
