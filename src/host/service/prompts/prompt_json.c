/* Writes prompts and versions, and derives hash, terms, tags and labels from their content. */
#include "service/prompts/prompt_json.h"

#include "base/text/decimal.h"
#include "base/sort.h"
#include "base/text/terms.h"
#include "promptfile/promptfile.h"
#include "http/json_members.h"
#include "http/routes/request_schema.h"
#include "json/number.h"
#include "json/text.h"

enum { MAX_LABEL = 60, MAX_TAG = 60, MAX_TAGS = 50 };

struct pl_str pl_prompt_type_text(bool is_structured)
{
    return is_structured ? PL_STR("structured") : PL_STR("text");
}

struct pl_prompt_text pl_prompt_text_of(const struct pl_prompt_version_row *version)
{
    bool is_structured = pl_str_eq(version->type, pl_prompt_type_text(true));
    return (struct pl_prompt_text){is_structured, version->content};
}

/* Copies the buffer into the arena. */
static enum pl_status keep(struct pl_arena *arena, const struct pl_buf *buf, struct pl_str *ret)
{
    struct pl_str kept = pl_arena_dup(arena, pl_buf_str(buf));
    if (buf->status != PL_OK || (buf->len && !kept.ptr))
        return PL_NOMEM;
    *ret = kept.ptr ? kept : PL_STR("");
    return PL_OK;
}

enum pl_status pl_prompt_hash(struct pl_arena *arena, const struct pl_prompt_text *text,
                              struct pl_str *ret_hash)
{
    struct pl_sha256_run run;
    unsigned char *digest = pl_arena_alloc(arena, 1, PL_SHA256_BYTES);
    if (!digest)
        return PL_NOMEM;
    pl_sha256_begin(&run);
    pl_sha256_add(&run, pl_prompt_type_text(text->is_structured));
    pl_sha256_add(&run, (struct pl_str){"", 1});
    pl_sha256_add(&run, text->content);
    pl_sha256_end(&run, digest);
    *ret_hash = (struct pl_str){(const char *)digest, PL_SHA256_BYTES};
    return PL_OK;
}

/* --- what it says ---------------------------------------------------------------------------- */

static const struct pl_json_opts content_opts = {.refuses_nul = true};

static enum pl_status add_terms_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                                   const struct pl_json_node *node, struct pl_buf *to)
{
    struct pl_str text;
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return PL_OK;
    enum pl_status status = pl_json_text(arena, doc, node, &text);
    if (status != PL_OK)
        return status;
    if (to->len)
        pl_buf_addc(to, ' ');
    pl_terms_of_text(text, to);
    return PL_OK;
}

static enum pl_status add_chat_terms(struct pl_arena *arena, struct pl_str chat, struct pl_buf *to)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, chat, &content_opts, &doc, NULL);
    if (status != PL_OK)
        return status;
    status = add_terms_of(arena, &doc, pl_json_get(&doc, doc.root, PL_STR("system_prompt")), to);
    const struct pl_json_node *messages = pl_json_get(&doc, doc.root, PL_STR("messages"));
    if (!messages || pl_json_kind(messages) != PL_JSON_ARRAY)
        return status;
    for (const struct pl_json_node *message = pl_json_first(messages);
         message < pl_json_end(messages) && status == PL_OK; message = pl_json_next(message))
        status = add_terms_of(arena, &doc, pl_json_get(&doc, message, PL_STR("content")), to);
    return status;
}

static enum pl_status add_tag_terms(struct pl_arena *arena, struct pl_str tags, struct pl_buf *to)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, tags, NULL, &doc, NULL);
    if (status != PL_OK)
        return status;
    for (const struct pl_json_node *tag = pl_json_first(doc.root);
         tag < pl_json_end(doc.root) && status == PL_OK; tag = pl_json_next(tag))
        status = add_terms_of(arena, &doc, tag, to);
    return status;
}

enum pl_status pl_prompt_index(struct pl_arena *arena, const struct pl_prompt_text *text,
                               struct pl_prompt_row *prompt)
{
    PL_CLEANUP_BUF struct pl_buf terms, directory;
    pl_buf_init(&terms, 0);
    pl_buf_init(&directory, 0);
    pl_prompt_directory(&directory, prompt->folder, prompt->name);
    pl_terms_of_text(prompt->name, &terms);
    pl_buf_addc(&terms, ' ');
    pl_terms_of_text(prompt->description, &terms);
    enum pl_status status = add_tag_terms(arena, prompt->tags, &terms);
    if (status == PL_OK && text->is_structured) {
        status = add_chat_terms(arena, text->content, &terms);
    } else if (status == PL_OK) {
        pl_buf_addc(&terms, ' ');
        pl_terms_of_text(text->content, &terms);
    }
    if (status == PL_OK)
        status = keep(arena, &directory, &prompt->directory);
    return status == PL_OK ? keep(arena, &terms, &prompt->terms) : status;
}

enum pl_status pl_prompt_chat(struct pl_arena *arena, const struct pl_prompt_text *text,
                              struct pl_str *ret_chat)
{
    if (text->is_structured) {
        *ret_chat = text->content;
        return PL_OK;
    }
    PL_CLEANUP_BUF struct pl_buf chat;
    pl_buf_init(&chat, 0);
    pl_buf_adds(&chat, "{\"protocol\":\"structured-chat\",\"messages\":[{\"id\":\"msg_1\","
                       "\"role\":\"user\",\"content\":");
    pl_json_quote(&chat, text->content);
    pl_buf_adds(&chat, "}]}");
    return keep(arena, &chat, ret_chat);
}

/* --- rules ----------------------------------------------------------------------------------- */

static enum pl_status check_schema(struct pl_arena *arena, const struct pl_json_doc *doc,
                                   const char *base, struct pl_error *err)
{
    const struct pl_schema *schema;
    struct pl_schema_run *run = NULL;
    struct pl_schema_report report = {0};
    bool is_valid = true;
    enum pl_status status = pl_request_schema_get("StructuredChat", &schema, err);
    if (status == PL_OK)
        status = pl_schema_run_create(schema, &run);
    if (status == PL_OK)
        status = pl_schema_check(run, doc, doc->root, &is_valid);
    if (status == PL_OK && !is_valid)
        status = pl_schema_explain(run, arena, doc, doc->root, PL_SCHEMA_EN, &report);
    if (status == PL_OK && !is_valid) {
        const struct pl_schema_unit *first = report.n_units ? &report.units[0] : NULL;
        status = pl_fail(err, PL_INVALID, "This is not a structured chat: %.*s",
                         first ? (int)first->message.len : 0, first ? first->message.ptr : "");
        if (first)
            pl_error_point(err, "%s%.*s", base, PL_STR_ARG(first->instance_location));
    }
    pl_schema_run_destroy(run);
    return status;
}

enum pl_status pl_prompt_check(struct pl_arena *arena, const struct pl_prompt_text *text,
                               const char *base, struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_error own = {0};
    if (text->content.len > PL_PROMPT_MAX_CONTENT)
        return pl_fail(err, PL_LIMIT, "The content has %zu bytes; the maximum is %u.",
                       text->content.len, PL_PROMPT_MAX_CONTENT);
    if (!text->is_structured) {
        if (!text->content.len || !memchr(text->content.ptr, 0, text->content.len))
            return PL_OK;
        enum pl_status status = pl_fail(err, PL_INVALID,
                                        "A text must not contain a NUL "
                                        "character.");
        pl_error_point(err, "%s", base);
        return status;
    }
    enum pl_status status = pl_json_parse(arena, text->content, &content_opts, &doc, &own);
    if (status == PL_OK)
        return check_schema(arena, &doc, base, err);
    if (status == PL_NOMEM)
        return status;
    /* The pointer is relative to the whole body, because the parser knew only the content. */
    status = pl_fail(err, PL_INVALID, "This is not a structured chat: %s", own.message);
    pl_error_point(err, "%s%s", base, own.pointer);
    return status;
}

static bool is_number(struct pl_str text)
{
    size_t n = 0;
    while (n < text.len && text.ptr[n] >= '0' && text.ptr[n] <= '9')
        n++;
    return text.len && n == text.len;
}

bool pl_prompt_label_is(struct pl_str label)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    for (size_t i = 0; i < label.len; i++)
        if (!label.ptr[i] || !strchr(allowed, label.ptr[i]))
            return false;
    return label.len && label.len <= MAX_LABEL && !is_number(label) &&
           !pl_str_eq(label, PL_STR("latest"));
}

enum pl_status pl_prompt_label_get(struct pl_arena *arena, const struct pl_prompt_row *prompt,
                                   struct pl_str label, int64_t *ret_version)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, prompt->labels, NULL, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *node = pl_json_get(&doc, doc.root, label);
    *ret_version = 0;
    if (node && !pl_json_number_int64(pl_json_span(&doc, node), ret_version))
        *ret_version = 0;
    return PL_OK;
}

static void write_label(struct pl_json_out *out, struct pl_str label, int64_t version)
{
    if (!version)
        return;
    pl_json_out_key_str(out, label);
    pl_json_out_int(out, version);
}

enum pl_status pl_prompt_labels_with(struct pl_arena *arena, struct pl_str labels,
                                     struct pl_str label, int64_t version,
                                     struct pl_str *ret_labels)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, labels, NULL, &doc, NULL);
    if (status != PL_OK)
        return status;
    PL_CLEANUP_BUF struct pl_buf made;
    pl_buf_init(&made, 0);
    struct pl_json_out out = pl_json_out(&made);
    bool is_placed = false;
    pl_json_out_open(&out, '{');
    for (const struct pl_json_node *key = pl_json_first_member(doc.root);
         key < pl_json_end(doc.root); key = pl_json_next_member(key)) {
        struct pl_str name = pl_json_raw(&doc, key);
        int order = pl_str_cmp(name, label);
        if (order >= 0 && !is_placed) {
            write_label(&out, label, version);
            is_placed = true;
        }
        if (order != 0) {
            pl_json_out_key_str(&out, name);
            pl_json_out_raw(&out, pl_json_span(&doc, key + 1));
        }
    }
    if (!is_placed)
        write_label(&out, label, version);
    pl_json_out_close(&out, '}');
    return keep(arena, &made, ret_labels);
}

enum pl_status pl_prompt_version_number(struct pl_arena *arena, const struct pl_prompt_row *prompt,
                                        struct pl_str name, int64_t *ret_version)
{
    int64_t version = 0;
    enum pl_status status = PL_OK;
    if (!name.len || pl_str_eq(name, PL_STR("latest")))
        version = prompt->latest_version;
    else if (is_number(name))
        version = pl_decimal_read(name, &version) ? version : 0;
    else
        status = pl_prompt_label_get(arena, prompt, name, &version);
    if (status == PL_OK && (version < 1 || version > prompt->latest_version))
        status = PL_NOT_FOUND;
    if (status == PL_OK)
        *ret_version = version;
    return status;
}

static int order_strs(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    return pl_str_cmp(*(const struct pl_str *)a, *(const struct pl_str *)b);
}

/* Writes the JSON array of tags, sorted, each once. */
static void write_tags(const struct pl_str *tags, size_t n, struct pl_buf *to)
{
    const void *sorted[MAX_TAGS], *scratch[MAX_TAGS];
    for (size_t i = 0; i < n; i++)
        sorted[i] = &tags[i];
    pl_sort(sorted, scratch, n, order_strs, NULL);
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < n; i++)
        if (!i || order_strs(NULL, sorted[i], sorted[i - 1]) != 0)
            pl_json_out_text(&out, *(const struct pl_str *)sorted[i]);
    pl_json_out_close(&out, ']');
}

enum pl_status pl_prompt_tags(struct pl_arena *arena, struct pl_str json, struct pl_str *ret_tags,
                              struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_str tags[MAX_TAGS];
    size_t n = 0;
    enum pl_status status =
        pl_json_parse(arena, json.len ? json : PL_STR("[]"), &content_opts, &doc, err);
    if (status != PL_OK)
        return status;
    if (pl_json_kind(doc.root) != PL_JSON_ARRAY || pl_json_count(doc.root) > MAX_TAGS)
        return pl_fail(err, PL_INVALID, "Tags must be an array of at most %d strings.", MAX_TAGS);
    for (const struct pl_json_node *tag = pl_json_first(doc.root); tag < pl_json_end(doc.root);
         tag = pl_json_next(tag)) {
        bool is_text = pl_json_kind(tag) == PL_JSON_STRING;
        size_t n_chars = is_text ? pl_json_text_count(&doc, tag) : 0;
        if (!n_chars || n_chars > MAX_TAG)
            return pl_fail(err, PL_INVALID, "A tag must be a string of 1 to %d characters.",
                           MAX_TAG);
        status = pl_json_text(arena, &doc, tag, &tags[n++]);
        if (status != PL_OK)
            return status;
    }
    PL_CLEANUP_BUF struct pl_buf made;
    pl_buf_init(&made, 0);
    write_tags(tags, n, &made);
    return keep(arena, &made, ret_tags);
}

static bool is_folder_part(struct pl_str part)
{
    for (size_t i = 0; i < part.len; i++)
        if ((unsigned char)part.ptr[i] < 0x20)
            return false;
    return part.len && !pl_str_eq(part, PL_STR(".")) && !pl_str_eq(part, PL_STR(".."));
}

bool pl_prompt_folder(struct pl_str text, struct pl_str *ret_folder)
{
    if (text.len && text.ptr[0] == '/')
        text = pl_str_slice(text, 1, text.len);
    if (text.len && text.ptr[text.len - 1] == '/')
        text.len--;
    for (struct pl_str rest = text; rest.len;) {
        const char *slash = memchr(rest.ptr, '/', rest.len);
        size_t n = slash ? (size_t)(slash - rest.ptr) : rest.len;
        if (!is_folder_part(pl_str_slice(rest, 0, n)))
            return false;
        rest = pl_str_slice(rest, n + 1, rest.len);
    }
    *ret_folder = text.ptr ? text : PL_STR("");
    return true;
}

/* --- writing --------------------------------------------------------------------------------- */

void pl_prompt_content_write(struct pl_json_out *out, const struct pl_prompt_text *text)
{
    if (text->is_structured)
        pl_json_out_raw(out, text->content);
    else
        pl_json_out_text(out, text->content);
}

static void write_hash(struct pl_json_out *out, struct pl_str hash)
{
    char text[7 + PL_SHA256_HEX + 1] = "sha256:";
    if (hash.len == PL_SHA256_BYTES)
        pl_sha256_spell((const unsigned char *)hash.ptr, text + 7);
    pl_put_text(out, "content_hash", pl_str_of(text));
}

static enum pl_status write_version(struct pl_arena *arena, struct pl_json_out *out,
                                    const struct pl_prompt_version_row *version,
                                    struct pl_error *err)
{
    struct pl_prompt_text text = pl_prompt_text_of(version);
    PL_CLEANUP_BUF struct pl_buf variables;
    pl_buf_init(&variables, 0);
    enum pl_status status = pl_prompt_variables(arena, &text, &variables, err);
    if (status != PL_OK)
        return status;
    pl_json_out_open(out, '{');
    pl_put_text(out, "prompt_id", version->prompt_id);
    pl_put_number(out, "version", version->version);
    pl_put_text(out, "type", version->type);
    pl_json_out_key(out, "content");
    pl_prompt_content_write(out, &text);
    pl_put_text(out, "note", version->note);
    write_hash(out, version->hash);
    pl_put_raw(out, "variables", pl_buf_str(&variables));
    pl_put_number(out, "based_on", version->based_on);
    pl_put_number(out, "restored_from", version->restored_from);
    pl_put_time(out, "created_at", version->created_ms);
    pl_json_out_close(out, '}');
    return variables.status;
}

enum pl_status pl_prompt_version_write(struct pl_arena *arena,
                                       const struct pl_prompt_version_row *version,
                                       struct pl_buf *to, struct pl_error *err)
{
    struct pl_json_out out = pl_json_out(to);
    return write_version(arena, &out, version, err);
}

enum pl_status pl_prompt_write(struct pl_arena *arena, const struct pl_prompt_row *prompt,
                               const struct pl_prompt_version_row *latest, struct pl_buf *to,
                               struct pl_error *err)
{
    struct pl_json_out out = pl_json_out(to);
    enum pl_status status = PL_OK;
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "id", prompt->id);
    pl_put_text(&out, "name", prompt->name);
    pl_put_text(&out, "description", prompt->description);
    pl_put_text(&out, "folder", prompt->folder);
    pl_put_raw(&out, "tags", prompt->tags);
    pl_put_bool(&out, "is_pinned", prompt->is_pinned);
    pl_put_text(&out, "type", prompt->type);
    pl_put_number(&out, "latest_version", prompt->latest_version);
    pl_put_raw(&out, "labels", prompt->labels);
    pl_put_number(&out, "revision", prompt->revision);
    pl_put_time(&out, "created_at", prompt->created_ms);
    pl_put_time(&out, "updated_at", prompt->updated_ms);
    if (latest) {
        pl_json_out_key(&out, "latest");
        status = write_version(arena, &out, latest, err);
    }
    pl_json_out_close(&out, '}');
    return status;
}
