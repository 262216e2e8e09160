/* The kinds of files that can hold a prompt, detected by file name extension and content. All but
 * plain text become JSON first and are then read by their shape: a Langfuse prompt, GitHub's shape,
 * a structured chat, any format that can be converted into one, or an array of these. */
#include "promptfile/promptfile_int.h"

#include "base/ascii.h"
#include "format/convert.h"
#include "promptfile/export.h"
#include "format/gpt_oss/gpt_oss.h"
#include "promptfile/github_int.h"
#include "format/source.h"
#include "promptfile/yaml.h"
#include "json/parse/lenient.h"
#include "json/text.h"
#include "json/write.h"

static bool has_any(const struct pl_json_doc *doc, const struct pl_json_node *object,
                    const char *const keys[])
{
    for (; *keys; keys++)
        if (pl_json_get(doc, object, pl_str_of(*keys)))
            return true;
    return false;
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* Parses strictly first; hand-written JSON then loses its comments and white space. */
static enum pl_status parse(struct pl_filing *f, struct pl_str text, struct pl_json_doc *ret_doc)
{
    PL_CLEANUP_BUF struct pl_buf clean;
    pl_buf_init(&clean, 0);
    struct pl_json_notes notes;
    struct pl_str kept;
    enum pl_status status = pl_json_parse(f->arena, text, &pl_json_any, ret_doc, f->err);
    if (status != PL_SYNTAX)
        return status;
    enum pl_status lenient =
        pl_json_parse_lenient(f->arena, text, &pl_json_any, ret_doc, &notes, NULL);
    if (lenient != PL_OK)
        return lenient == PL_NOMEM ? lenient : status;
    pl_json_write_min(&clean, ret_doc, ret_doc->root);
    status = pl_filed_keep(f->arena, &clean, &kept);
    return status == PL_OK ? pl_json_parse(f->arena, kept, &pl_json_any, ret_doc, f->err) : status;
}

/* Notes on the version what the conversion lost: nothing is lost silently. */
static enum pl_status note_losses(struct pl_filing *f, const struct pl_converted *made,
                                  struct pl_str *ret_note)
{
    enum { MOST = 5 };
    PL_CLEANUP_BUF struct pl_buf note;
    pl_buf_init(&note, 0);
    struct pl_json_doc doc;
    if (pl_json_parse(f->arena, pl_buf_str(&made->report), NULL, &doc, NULL) != PL_OK)
        return PL_NOMEM;
    const struct pl_json_node *list = pl_json_member(&doc, doc.root, "losses", PL_JSON_ARRAY);
    uint32_t n_lost = 0;
    pl_buf_addf(&note, "Read from %s", made->from->name);
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        struct pl_str code, pointer;
        if (pl_filed_text(f->arena, &doc, n, "code", &code) != PL_OK ||
            pl_filed_text(f->arena, &doc, n, "pointer", &pointer) != PL_OK)
            return PL_NOMEM;
        if (!pl_str_eq(code, PL_STR("dropped")) || n_lost++ >= MOST)
            continue;
        pl_buf_addf(&note, "%s%.*s", n_lost == 1 ? "; not kept: " : ", ", PL_STR_ARG(pointer));
    }
    if (n_lost > MOST)
        pl_buf_addf(&note, " and %u more", n_lost - MOST);
    return pl_filed_keep(f->arena, &note, ret_note);
}

/* Members of the root about the prompt that are not part of the format. */
static enum pl_status read_known(struct pl_filing *f, const struct pl_json_doc *doc,
                                 struct pl_filed_prompt *known)
{
    enum pl_status status = pl_filed_text(f->arena, doc, doc->root, "name", &known->name);
    if (status == PL_OK)
        status = pl_filed_text(f->arena, doc, doc->root, "description", &known->description);
    if (status == PL_OK)
        status = pl_filed_tags(f->arena, doc, doc->root, "tags", &known->tags);
    return status;
}

static enum pl_status convert(struct pl_filing *f, struct pl_str text, const struct pl_format *from,
                              const struct pl_filed_prompt *known)
{
    struct pl_convert_opts opts = {.from = from, .to = &pl_format_structured_chat};
    struct pl_converted made;
    pl_converted_init(&made);
    struct pl_str chat, note;
    enum pl_status status = pl_convert(text, &opts, &made, f->err);
    if (status == PL_OK)
        status = note_losses(f, &made, &note);
    if (status == PL_OK)
        status = pl_filed_keep(f->arena, &made.out, &chat);
    pl_converted_deinit(&made);
    return status == PL_OK ? pl_filing_add_chat(f, chat, known, note) : status;
}

/* A structured chat keeps its bytes. */
static enum pl_status keep_chat(struct pl_filing *f, struct pl_str chat)
{
    const struct pl_filed_prompt nothing = {0};
    PL_CLEANUP_SOURCE struct pl_source source;
    enum pl_status status = pl_source_open(&source, chat, &pl_format_structured_chat, 0, f->err);
    return status == PL_OK ? pl_filing_add_chat(f, chat, &nothing, nothing.name) : status;
}

enum pl_status pl_file_convert(struct pl_filing *f, struct pl_str text,
                               const struct pl_format *from)
{
    const struct pl_filed_prompt nothing = {0};
    struct pl_json_doc doc;
    if (from != &pl_format_structured_chat)
        return convert(f, text, from, &nothing);
    enum pl_status status = parse(f, text, &doc);
    return status == PL_OK ? keep_chat(f, pl_json_span(&doc, doc.root)) : status;
}

static enum pl_status read_shape(struct pl_filing *f, struct pl_str json,
                                 const struct pl_filed_prompt *known)
{
    PL_CLEANUP_BUF struct pl_buf chat;
    pl_buf_init(&chat, 0);
    struct pl_str kept;
    enum pl_status status = pl_prompt_from_file(&chat, json, f->err);
    if (status == PL_OK)
        status = pl_filed_keep(f->arena, &chat, &kept);
    return status == PL_OK ? pl_filing_add_chat(f, kept, known, PL_STR("")) : status;
}

/* Whether an object is a prompt in GitHub's shape: it has members that only that shape has, or (in
 * YAML) no members that only a request has. */
static bool is_shape(const struct pl_json_doc *doc, bool is_yaml)
{
    static const char *const own[] = {"modelParameters", "testData",   "evaluators",
                                      "responseFormat",  "jsonSchema", NULL};
    static const char *const request[] = {"system",     "temperature",           "top_p",
                                          "max_tokens", "max_completion_tokens", "tools",
                                          "stream",     "stop_sequences",        NULL};
    static const char *const words[] = {"messages", "system_prompt", NULL};
    if (!has_any(doc, doc->root, words))
        return false;
    return has_any(doc, doc->root, own) || (is_yaml && !has_any(doc, doc->root, request));
}

/* One document: a prompt, or several prompts of Langfuse. PL_NOT_FOUND: not recognised. */
static enum pl_status read_one(struct pl_filing *f, const struct pl_json_doc *doc, bool is_yaml)
{
    struct pl_filed_prompt known = {0};
    struct pl_str text = pl_json_span(doc, doc->root);
    if (pl_langfuse_is(doc, doc->root))
        return pl_langfuse_read(f, doc, doc->root);
    if (is_shape(doc, is_yaml))
        return read_shape(f, text, &known);
    const struct pl_format *format = pl_format_detect(doc);
    if (!format || (pl_json_is_container(doc->root) && !pl_json_count(doc->root)))
        return PL_NOT_FOUND;
    if (format == &pl_format_structured_chat)
        return keep_chat(f, text);
    enum pl_status status = read_known(f, doc, &known);
    return status == PL_OK ? convert(f, text, format, &known) : status;
}

static enum pl_status fail_unknown(struct pl_filing *f)
{
    return pl_fail(f->err, PL_INVALID,
                   "this is not a prompt in a known format; there must be messages, a text, or a "
                   "request of a vendor");
}

/* One of several prompts. An error in one is reported and does not stop the others. The file fails
 * only if none can be read, with the error of the first. */
struct several {
    size_t n_good, n_problems; /* n_problems: before this file */
    struct pl_error first;
};

static enum pl_status read_next(struct pl_filing *f, struct several *s, struct pl_str text,
                                bool is_yaml)
{
    struct pl_json_doc doc;
    f->place++;
    *f->err = (struct pl_error){0};
    enum pl_status status = parse(f, text, &doc);
    if (status == PL_OK)
        status = read_one(f, &doc, is_yaml);
    if (status == PL_NOT_FOUND)
        status = fail_unknown(f);
    if (status == PL_OK)
        s->n_good++;
    if (status == PL_OK || status == PL_NOMEM)
        return status;
    if (f->place == 1)
        s->first = *f->err;
    struct pl_error told;
    (void)pl_fail(&told, status, "prompt %zu: %s", f->place, f->err->message);
    return pl_filing_add_problem(f, f->file->path, told.message);
}

static enum pl_status end_several(struct pl_filing *f, const struct several *s)
{
    if (s->n_good)
        return PL_OK;
    f->filed.problems.len = s->n_problems;
    *f->err = s->first;
    f->err->has_position = false;
    return f->place ? s->first.status : fail_unknown(f);
}

static enum pl_status read_elements(struct pl_filing *f, const struct pl_json_doc *doc,
                                    bool is_yaml)
{
    struct several s = {.n_problems = f->filed.problems.len};
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *n = pl_json_first(doc->root);
         n < pl_json_end(doc->root) && status == PL_OK; n = pl_json_next(n))
        status = read_next(f, &s, pl_json_span(doc, n), is_yaml);
    return status == PL_OK ? end_several(f, &s) : status;
}

static enum pl_status read_document(struct pl_filing *f, const struct pl_json_doc *doc,
                                    bool is_yaml)
{
    enum pl_status status = read_one(f, doc, is_yaml);
    if (status != PL_NOT_FOUND)
        return status;
    return pl_json_kind(doc->root) == PL_JSON_ARRAY ? read_elements(f, doc, is_yaml)
                                                    : fail_unknown(f);
}

static enum pl_status read_json(struct pl_filing *f, struct pl_str text)
{
    struct pl_json_doc doc;
    enum pl_status status = parse(f, text, &doc);
    return status == PL_OK ? read_document(f, &doc, false) : status;
}

/* A document on each line. */
static enum pl_status read_lines(struct pl_filing *f, struct pl_str text)
{
    struct several s = {.n_problems = f->filed.problems.len};
    enum pl_status status = PL_OK;
    while (text.len && status == PL_OK) {
        const char *stop = memchr(text.ptr, '\n', text.len);
        struct pl_str line = pl_str_slice(text, 0, stop ? (size_t)(stop - text.ptr) : text.len);
        text = pl_str_slice(text, line.len + 1, text.len);
        if (line.len && !pl_str_eq(line, PL_STR("\r")))
            status = read_next(f, &s, line, false);
    }
    return status == PL_OK ? end_several(f, &s) : status;
}

/* --- YAML ------------------------------------------------------------------------------------ */

static enum pl_status parse_yaml(struct pl_filing *f, struct pl_str text,
                                 struct pl_json_doc *ret_doc)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_str kept = {0};
    enum pl_status status = pl_yaml_read(&json, text, f->err);
    if (status == PL_OK)
        status = pl_filed_keep(f->arena, &json, &kept);
    if (status == PL_OK)
        status = pl_json_parse(f->arena, kept, NULL, ret_doc, f->err);
    if (status != PL_OK && kept.len)
        f->err->has_position = false; /* of a text the user has not seen */
    return status;
}

static enum pl_status read_yaml(struct pl_filing *f, struct pl_str text)
{
    struct pl_json_doc doc;
    enum pl_status status = parse_yaml(f, text, &doc);
    return status == PL_OK ? read_document(f, &doc, true) : status;
}

/* --- text and Markdown ----------------------------------------------------------------------- */

static struct pl_str trim(struct pl_str text)
{
    while (text.len && pl_ascii_is_white(text.ptr[0]))
        text = pl_str_slice(text, 1, text.len);
    while (text.len && pl_ascii_is_white(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* The final line end belongs to the file, not to the prompt. */
static struct pl_str without_end(struct pl_str text)
{
    if (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    if (text.len && text.ptr[text.len - 1] == '\r')
        text.len--;
    return text;
}

static enum pl_status add_text(struct pl_filing *f, struct pl_str text,
                               const struct pl_filed_prompt *known)
{
    struct pl_filed_version version = {0};
    if (!trim(text).len)
        return pl_fail(f->err, PL_INVALID, "it contains no text");
    version.content = pl_arena_dup(f->arena, without_end(text));
    return version.content.ptr ? pl_filing_add(f, known, &version) : PL_NOMEM;
}

static enum pl_status read_text(struct pl_filing *f, struct pl_str text)
{
    const struct pl_filed_prompt nothing = {0};
    return add_text(f, text, &nothing);
}

/* Whether a text prompt can hold everything in the front matter. */
static bool is_about_text(const struct pl_json_doc *head)
{
    uint32_t n_known = (pl_json_member(head, head->root, "name", PL_JSON_STRING) != NULL) +
                       (pl_json_member(head, head->root, "description", PL_JSON_STRING) != NULL) +
                       (pl_json_member(head, head->root, "tags", PL_JSON_ARRAY) != NULL);
    return n_known == pl_json_count(head->root);
}

/* A page with front matter and no headings: a text prompt, or a chat of one message if the front
 * matter has more than a text prompt can hold. */
static enum pl_status read_page(struct pl_filing *f, const struct pl_json_doc *head,
                                struct pl_str body)
{
    struct pl_filed_prompt known = {0};
    enum pl_status status = PL_OK;
    while (body.len && (body.ptr[0] == '\n' || body.ptr[0] == '\r'))
        body = pl_str_slice(body, 1, body.len);
    if (is_about_text(head)) {
        status = read_known(f, head, &known);
        return status == PL_OK ? add_text(f, body, &known) : status;
    }
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_str span = pl_json_span(head, head->root);
    pl_buf_add(&json, pl_str_slice(span, 0, span.len - 1));
    if (trim(body).len) {
        pl_buf_adds(&json, ",\"messages\":[{\"role\":\"user\",\"content\":");
        pl_json_quote(&json, without_end(body));
        pl_buf_adds(&json, "}]");
    }
    pl_buf_addc(&json, '}');
    return json.status == PL_OK ? read_shape(f, pl_buf_str(&json), &known) : json.status;
}

/* Parley's own export, or one like it; text before the first heading is the description. */
static enum pl_status read_sections(struct pl_filing *f, struct pl_str text, struct pl_str before)
{
    PL_CLEANUP_BUF struct pl_buf chat;
    pl_buf_init(&chat, 0);
    struct pl_filed_prompt known = {.description = trim(before)};
    struct pl_str kept;
    enum pl_status status = pl_export_markdown.read(&chat, text, f->err);
    if (status == PL_OK)
        status = pl_filed_keep(f->arena, &chat, &kept);
    return status == PL_OK ? pl_filing_add_chat(f, kept, &known, PL_STR("")) : status;
}

static enum pl_status read_markdown(struct pl_filing *f, struct pl_str text)
{
    size_t end;
    struct pl_str head = pl_markdown_front_matter(text, &end);
    size_t first = pl_markdown_first_heading(text, end);
    if (first < text.len)
        return read_sections(f, text, pl_str_slice(text, end, first));
    struct pl_json_doc doc;
    enum pl_status status = head.len ? parse_yaml(f, head, &doc) : PL_NOT_FOUND;
    if (status == PL_NOMEM)
        return status;
    /* Two horizontal rules in a text are not front matter. */
    struct pl_str body = pl_str_slice(text, end, text.len);
    if (status == PL_OK && pl_json_kind(doc.root) == PL_JSON_OBJECT && pl_json_count(doc.root) &&
        !(pl_json_get(&doc, doc.root, PL_STR("messages")) && trim(body).len))
        return read_page(f, &doc, body);
    *f->err = (struct pl_error){0};
    return read_text(f, text);
}

/* --- which kind ------------------------------------------------------------------------------ */

static enum pl_status read_langfuse(struct pl_filing *f, struct pl_str text)
{
    struct pl_json_doc doc;
    enum pl_status status = trim(text).len && strchr("{[", trim(text).ptr[0])
                                ? parse(f, text, &doc)
                                : parse_yaml(f, text, &doc);
    if (status != PL_OK)
        return status;
    if (!pl_langfuse_is(&doc, doc.root))
        return pl_fail(f->err, PL_INVALID,
                       "not a Langfuse prompt: there must be \"name\" and \"prompt\", or a page of "
                       "them in \"data\"");
    return pl_langfuse_read(f, &doc, doc.root);
}

static const struct pl_file_kind kinds[] = {
    {"yaml", read_yaml},
    {"markdown", read_markdown},
    {"langfuse", read_langfuse},
    {"text", read_text},
};

const struct pl_file_kind *pl_file_kind_find(struct pl_str name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (pl_str_eq(name, pl_str_of(kinds[i].name)))
            return &kinds[i];
    return NULL;
}

/* A file with an unknown extension: JSON or gpt-oss text if it can be read as such, otherwise plain
 * text. */
static enum pl_status read_any(struct pl_filing *f, struct pl_str text)
{
    struct pl_str words = trim(text);
    size_t end;
    enum pl_status status = PL_NOT_FOUND;
    if (words.len && strchr("{[", words.ptr[0]))
        status = read_json(f, text);
    else if (pl_gpt_oss_is_text(text))
        status = pl_file_convert(f, text, &pl_format_gpt_oss);
    if (status == PL_OK || status == PL_NOMEM)
        return status;
    f->place = 0;
    *f->err = (struct pl_error){0};
    pl_markdown_front_matter(text, &end);
    return end ? read_markdown(f, text) : read_text(f, text);
}

enum pl_status pl_file_kind_guess(struct pl_filing *f, struct pl_str text)
{
    static const struct {
        const char *ending;
        enum pl_status (*read)(struct pl_filing *f, struct pl_str text);
    } endings[] = {
        {".yml", read_yaml},    {".yaml", read_yaml},         {".json", read_json},
        {".jsonc", read_json},  {".jsonl", read_lines},       {".ndjson", read_lines},
        {".md", read_markdown}, {".markdown", read_markdown},
    };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (pl_file_has_ending(f->file->path, endings[i].ending))
            return endings[i].read(f, text);
    return read_any(f, text);
}
