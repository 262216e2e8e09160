/* Reads prompt.yaml back: a prompt with all its versions, each from the file it names. */
#include "promptfile/promptfile_int.h"

#include "promptfile/yaml.h"
#include "json/text.h"
#include "json/write.h"

bool pl_prompt_yaml_is(const struct pl_json_doc *doc)
{
    return pl_json_member(doc, doc->root, "versions", PL_JSON_ARRAY) &&
           !pl_json_get(doc, doc->root, PL_STR("messages")) &&
           !pl_json_get(doc, doc->root, PL_STR("system_prompt"));
}

enum pl_status pl_prompt_yaml_parse(struct pl_arena *arena, struct pl_str text,
                                    struct pl_json_doc *ret_doc, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_str kept;
    if (text.len && text.ptr[0] == '{')
        return pl_json_parse(arena, text, &pl_json_own, ret_doc, err);
    enum pl_status status = pl_yaml_read(&json, text, err);
    if (status == PL_OK)
        status = pl_filed_keep(arena, &json, &kept);
    return status == PL_OK ? pl_json_parse(arena, kept, &pl_json_own, ret_doc, err) : status;
}

/* The file that a version names, next to prompt.yaml; NULL if it is missing or elsewhere. */
static enum pl_status find_file(struct pl_filing *f, const struct pl_prompt_file *beside,
                                struct pl_str name, const struct pl_prompt_file **ret_file)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    struct pl_str directory = pl_file_directory(beside->path);
    pl_buf_add(&path, directory);
    if (directory.len)
        pl_buf_addc(&path, '/');
    pl_buf_add(&path, name);
    const struct pl_map_entry *entry = NULL;
    if (path.status == PL_OK && name.len && !memchr(name.ptr, '/', name.len))
        entry = pl_map_get(&f->paths, pl_buf_str(&path));
    *ret_file = entry ? &f->files[entry->value] : NULL;
    return path.status;
}

enum pl_status pl_prompt_yaml_claim(struct pl_filing *f, const struct pl_prompt_file *file,
                                    const struct pl_json_doc *doc)
{
    const struct pl_json_node *list = pl_json_member(doc, doc->root, "versions", PL_JSON_ARRAY);
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && status == PL_OK; n = pl_json_next(n)) {
        struct pl_str name;
        const struct pl_prompt_file *there;
        status = pl_filed_text(f->arena, doc, n, "file", &name);
        if (status == PL_OK)
            status = find_file(f, file, name, &there);
        if (status == PL_OK && there && there != file)
            f->is_claimed[there - f->files] = true;
    }
    return status;
}

static struct pl_file_spelling read_spelling(const struct pl_json_doc *doc,
                                             const struct pl_json_node *entry, struct pl_str file)
{
    struct pl_file_spelling spelling = {.is_yaml = pl_file_has_ending(file, ".yaml") ||
                                                   pl_file_has_ending(file, ".yml")};
    for (size_t i = 0; i < pl_n_spelling_words; i++) {
        const struct pl_spelling_word *word = &pl_spelling_words[i];
        const struct pl_json_node *n = pl_json_get(doc, entry, pl_str_of(word->key));
        *(bool *)((char *)&spelling + word->offset) =
            n && (word->value ? pl_json_kind(n) == PL_JSON_STRING &&
                                    pl_json_text_is(doc, n, pl_str_of(word->value))
                              : pl_json_kind(n) == PL_JSON_TRUE);
    }
    return spelling;
}

/* Reads a version without its content; *ret_file is the file with the content. */
static enum pl_status read_entry(struct pl_filing *f, const struct pl_json_doc *doc,
                                 const struct pl_json_node *entry, struct pl_filed_version *v,
                                 struct pl_str *ret_file)
{
    struct pl_str type;
    enum pl_status status = pl_filed_text(f->arena, doc, entry, "file", ret_file);
    if (status == PL_OK)
        status = pl_filed_text(f->arena, doc, entry, "type", &type);
    if (status == PL_OK)
        status = pl_filed_text(f->arena, doc, entry, "note", &v->note);
    if (status == PL_OK)
        status = pl_filed_instant(f->arena, doc, entry, "created_at", &v->created_ms);
    if (status != PL_OK)
        return status;
    v->version = pl_filed_number(doc, entry, "version");
    v->based_on = pl_filed_number(doc, entry, "based_on");
    v->restored_from = pl_filed_number(doc, entry, "restored_from");
    v->is_structured =
        type.len ? pl_str_eq(type, PL_STR("structured")) : !pl_file_has_ending(*ret_file, ".md");
    return PL_OK;
}

/* Reads one version; a missing or invalid file is a problem, and the version is left out. */
static enum pl_status read_version(struct pl_filing *f, const struct pl_json_doc *doc,
                                   const struct pl_json_node *entry, struct pl_filed_prompt *p)
{
    struct pl_filed_version v = {0};
    struct pl_str name;
    const struct pl_prompt_file *file;
    enum pl_status status = read_entry(f, doc, entry, &v, &name);
    if (status == PL_OK)
        status = find_file(f, f->file, name, &file);
    if (status != PL_OK)
        return status;
    struct pl_error why = {0};
    if (!file || file == f->file) {
        (void)pl_fail(&why, PL_NOT_FOUND,
                      "version %lld is in the file \"%.*s\", which does not exist",
                      (long long)v.version, PL_STR_ARG(name));
        return pl_filing_add_problem(f, f->file->path, why.message);
    }
    struct pl_file_spelling spelling = read_spelling(doc, entry, name);
    status = pl_file_unspell(f->arena, file->text, v.is_structured, &spelling, &v.content, &why);
    if (status == PL_OK)
        p->versions[p->n_versions++] = v;
    return status == PL_OK || status == PL_NOMEM
               ? status
               : pl_filing_add_problem(f, file->path, why.message);
}

static enum pl_status read_head(struct pl_filing *f, const struct pl_json_doc *doc,
                                struct pl_filed_prompt *p)
{
    const struct pl_json_node *root = doc->root, *folder = NULL;
    const struct pl_json_node *labels = pl_json_member(doc, root, "labels", PL_JSON_OBJECT);
    enum pl_status status = pl_filed_text(f->arena, doc, root, "id", &p->id);
    if (status == PL_OK)
        status = pl_filed_text(f->arena, doc, root, "name", &p->name);
    if (status == PL_OK)
        status = pl_filed_text(f->arena, doc, root, "description", &p->description);
    if (status == PL_OK)
        status = pl_filed_tags(f->arena, doc, root, "tags", &p->tags);
    if (status == PL_OK)
        status = pl_filed_instant(f->arena, doc, root, "created_at", &p->created_ms);
    if (status == PL_OK && (folder = pl_json_member(doc, root, "folder", PL_JSON_STRING)))
        status = pl_json_text(f->arena, doc, folder, &p->folder);
    if (status == PL_OK && !folder)
        p->folder = pl_file_directory(pl_file_directory(f->file->path));
    p->is_pinned = pl_json_member(doc, root, "is_pinned", PL_JSON_TRUE) != NULL;
    if (status == PL_OK && labels && pl_json_count(labels)) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        pl_json_write_min(&text, doc, labels);
        status = pl_filed_keep(f->arena, &text, &p->labels);
    }
    return status;
}

enum pl_status pl_prompt_yaml_read(struct pl_filing *f, const struct pl_json_doc *doc)
{
    const struct pl_json_node *list = pl_json_member(doc, doc->root, "versions", PL_JSON_ARRAY);
    struct pl_filed_prompt p = {.path = f->file->path, .labels = PL_STR("{}")};
    p.versions = pl_arena_zalloc(f->arena, pl_json_count(list) + (size_t)1, sizeof *p.versions);
    enum pl_status status = p.versions ? read_head(f, doc, &p) : PL_NOMEM;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && status == PL_OK; n = pl_json_next(n))
        status = read_version(f, doc, n, &p);
    if (status == PL_OK && !p.n_versions) /* each file has been reported already */
        return pl_json_count(list) ? PL_OK
                                   : pl_fail(f->err, PL_INVALID, "\"versions\" names no version");
    if (status == PL_OK)
        status = pl_filed_sort(f->arena, p.versions, p.n_versions);
    if (status == PL_OK && !p.name.len)
        p.name = pl_filing_name(pl_file_directory(f->file->path));
    if (status == PL_OK && !pl_vec_push(&f->filed.prompts, p))
        status = PL_NOMEM;
    return status;
}
