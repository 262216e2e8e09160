/* Maps a structured chat to the members of .prompt.yml and back, by a table of parameters and a
 * function for each other member. */
#include "promptfile/export.h"
#include "promptfile/github_int.h"
#include "promptfile/yaml.h"
#include "json/parse/lenient.h"
#include "json/text.h"
#include "json/write.h"

#include <stdio.h>

/* Model parameters that are spelled differently. */
static const struct {
    const char *config, *file;
} renamed[] = {{"top_p", "topP"}, {"max_tokens", "maxTokens"}, {NULL, NULL}};

static bool is_key(const struct pl_json_doc *doc, const struct pl_json_node *key,
                   const char *const names[])
{
    for (; *names; names++)
        if (pl_json_text_is(doc, key, pl_str_of(*names)))
            return true;
    return false;
}

/* A value without the comments or line breaks of its source. */
static void put_value(struct pl_json_out *out, const struct pl_json_doc *doc,
                      const struct pl_json_node *value)
{
    pl_json_out_raw(out, PL_STR(""));
    pl_json_write_min(out->buf, doc, value);
}

static void put_member(struct pl_json_out *out, const struct pl_json_doc *doc, const char *key,
                       const struct pl_json_node *value)
{
    if (!value)
        return;
    pl_json_out_key(out, key);
    put_value(out, doc, value);
}

/* A key (escaped as it was) and its value. */
static void put_same(struct pl_json_out *out, const struct pl_json_doc *doc,
                     const struct pl_json_node *key)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_str name;
    if (pl_json_text(&arena, doc, key, &name) != PL_OK) {
        out->buf->status = PL_NOMEM;
        return;
    }
    pl_json_out_key_str(out, name);
    put_value(out, doc, key + 1);
}

enum pl_status pl_prompt_parse(struct pl_arena *arena, struct pl_str chat,
                               struct pl_json_doc *ret_doc, struct pl_error *err)
{
    struct pl_json_notes notes;
    enum pl_status status = pl_json_parse_lenient(arena, chat, &pl_json_any, ret_doc, &notes, err);
    if (status == PL_OK && pl_json_kind(ret_doc->root) != PL_JSON_OBJECT)
        status = pl_fail(err, PL_INVALID, "a prompt is an object with \"messages\"");
    return status;
}

/* From a structured chat to the file. */

static const char *file_name_of(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    for (size_t i = 0; renamed[i].config; i++)
        if (pl_json_text_is(doc, key, pl_str_of(renamed[i].config)))
            return renamed[i].file;
    return NULL;
}

/* The schema of a response_format, if the file can hold it. */
static const struct pl_json_node *schema_of(const struct pl_json_doc *doc,
                                            const struct pl_json_node *format)
{
    const struct pl_json_node *type = pl_json_member(doc, format, "type", PL_JSON_STRING);
    const struct pl_json_node *schema = pl_json_member(doc, format, "json_schema", PL_JSON_OBJECT);
    return type && schema && pl_json_count(format) == 2 &&
                   pl_json_text_is(doc, type, PL_STR("json_schema"))
               ? schema
               : NULL;
}

static bool put_format(struct pl_json_out *out, const struct pl_json_doc *doc,
                       const struct pl_json_node *format)
{
    const struct pl_json_node *type = pl_json_member(doc, format, "type", PL_JSON_STRING);
    const struct pl_json_node *schema = schema_of(doc, format);
    if (!type || (!schema && pl_json_count(format) != 1))
        return false;
    put_member(out, doc, "responseFormat", type);
    if (schema) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        pl_json_write_pretty(&text, doc, schema);
        pl_json_out_key(out, "jsonSchema");
        pl_json_out_text(out, pl_buf_str(&text));
        if (text.status != PL_OK)
            out->buf->status = text.status;
    }
    return true;
}

static void put_config(struct pl_json_out *out, const struct pl_json_doc *doc,
                       const struct pl_json_node *config)
{
    const struct pl_json_node *model = pl_json_member(doc, config, "model", PL_JSON_STRING);
    const struct pl_json_node *format =
        pl_json_member(doc, config, "response_format", PL_JSON_OBJECT);
    put_member(out, doc, "model", model);
    bool has_format = format && put_format(out, doc, format);
    bool is_open = false;
    for (const struct pl_json_node *key = pl_json_first_member(config); key < pl_json_end(config);
         key = pl_json_next_member(key)) {
        if (key + 1 == model || (has_format && key + 1 == format))
            continue;
        if (!is_open) {
            pl_json_out_key(out, "modelParameters");
            pl_json_out_open(out, '{');
        }
        is_open = true;
        const char *name = file_name_of(doc, key);
        if (name)
            put_member(out, doc, name, key + 1);
        else
            put_same(out, doc, key);
    }
    if (is_open)
        pl_json_out_close(out, '}');
}

static void put_message(struct pl_json_out *out, const struct pl_json_doc *doc,
                        const struct pl_json_node *message)
{
    static const char *const first[] = {"role", "content", NULL};
    if (pl_json_kind(message) != PL_JSON_OBJECT) {
        put_value(out, doc, message);
        return;
    }
    pl_json_out_open(out, '{');
    for (size_t i = 0; first[i]; i++)
        put_member(out, doc, first[i], pl_json_get(doc, message, pl_str_of(first[i])));
    for (const struct pl_json_node *key = pl_json_first_member(message); key < pl_json_end(message);
         key = pl_json_next_member(key))
        if (!is_key(doc, key, first))
            put_same(out, doc, key);
    pl_json_out_close(out, '}');
}

static void put_messages(struct pl_json_out *out, const struct pl_json_doc *doc,
                         const struct pl_json_node *system, const struct pl_json_node *messages)
{
    pl_json_out_key(out, "messages");
    pl_json_out_open(out, '[');
    if (system) {
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "role");
        pl_json_out_text(out, PL_STR("system"));
        put_member(out, doc, "content", system);
        pl_json_out_close(out, '}');
    }
    if (messages)
        for (const struct pl_json_node *n = pl_json_first(messages); n < pl_json_end(messages);
             n = pl_json_next(n))
            put_message(out, doc, n);
    pl_json_out_close(out, ']');
}

enum pl_status pl_prompt_to_file(struct pl_buf *to, const struct pl_json_doc *doc, bool is_head,
                                 struct pl_error *err)
{
    const struct pl_json_node *protocol =
        pl_json_member(doc, doc->root, "protocol", PL_JSON_STRING);
    const struct pl_json_node *system =
        pl_json_member(doc, doc->root, "system_prompt", PL_JSON_STRING);
    const struct pl_json_node *messages = pl_json_member(doc, doc->root, "messages", PL_JSON_ARRAY);
    const struct pl_json_node *config = pl_json_member(doc, doc->root, "config", PL_JSON_OBJECT);
    if (!system && !messages)
        return pl_fail(err, PL_INVALID, "it contains no prompt: no \"messages\"");
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    for (const struct pl_json_node *key = pl_json_first_member(doc->root);
         key < pl_json_end(doc->root); key = pl_json_next_member(key))
        if (key + 1 != protocol && key + 1 != system && key + 1 != messages && key + 1 != config)
            put_same(&out, doc, key);
    if (config)
        put_config(&out, doc, config);
    if (!is_head)
        put_messages(&out, doc, system, messages);
    pl_json_out_close(&out, '}');
    return to->status;
}

/* From the file to a structured chat. */

static void put_chat_format(struct pl_json_out *out, const struct pl_json_doc *doc)
{
    const struct pl_json_node *format =
        pl_json_member(doc, doc->root, "responseFormat", PL_JSON_STRING);
    const struct pl_json_node *schema = pl_json_get(doc, doc->root, PL_STR("jsonSchema"));
    if (!format)
        return;
    pl_json_out_key(out, "response_format");
    pl_json_out_open(out, '{');
    put_member(out, doc, "type", format);
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc inner;
    struct pl_str text;
    if (schema && pl_json_kind(schema) == PL_JSON_STRING &&
        pl_json_text(&arena, doc, schema, &text) == PL_OK &&
        pl_json_parse(&arena, text, NULL, &inner, NULL) == PL_OK)
        put_member(out, &inner, "json_schema", inner.root);
    else
        put_member(out, doc, "json_schema", schema);
    pl_json_out_close(out, '}');
}

static void put_parameters(struct pl_json_out *out, const struct pl_json_doc *doc,
                           const struct pl_json_node *parameters)
{
    for (const struct pl_json_node *key = parameters ? pl_json_first_member(parameters) : NULL;
         parameters && key < pl_json_end(parameters); key = pl_json_next_member(key)) {
        const char *name = NULL;
        for (size_t i = 0; renamed[i].config; i++)
            if (pl_json_text_is(doc, key, pl_str_of(renamed[i].file)))
                name = renamed[i].config;
        if (name)
            put_member(out, doc, name, key + 1);
        else
            put_same(out, doc, key);
    }
}

static void put_chat_config(struct pl_json_out *out, const struct pl_json_doc *doc)
{
    const struct pl_json_node *model = pl_json_member(doc, doc->root, "model", PL_JSON_STRING);
    const struct pl_json_node *config = pl_json_member(doc, doc->root, "config", PL_JSON_OBJECT);
    const struct pl_json_node *parameters =
        pl_json_member(doc, doc->root, "modelParameters", PL_JSON_OBJECT);
    if (!model && !config && !parameters &&
        !pl_json_member(doc, doc->root, "responseFormat", PL_JSON_STRING))
        return;
    pl_json_out_key(out, "config");
    pl_json_out_open(out, '{');
    put_member(out, doc, "model", model);
    put_parameters(out, doc, config);
    put_parameters(out, doc, parameters);
    put_chat_format(out, doc);
    pl_json_out_close(out, '}');
}

/* Ids are required in a structured chat; a message without one gets one from its place. */
static void put_chat_message(struct pl_json_out *out, const struct pl_json_doc *doc,
                             const struct pl_json_node *message, size_t place)
{
    if (pl_json_kind(message) != PL_JSON_OBJECT) {
        put_value(out, doc, message);
        return;
    }
    char id[32];
    snprintf(id, sizeof id, "msg_%zu", place);
    pl_json_out_open(out, '{');
    if (!pl_json_get(doc, message, PL_STR("id"))) {
        pl_json_out_key(out, "id");
        pl_json_out_text(out, pl_str_of(id));
    }
    for (const struct pl_json_node *key = pl_json_first_member(message); key < pl_json_end(message);
         key = pl_json_next_member(key))
        put_same(out, doc, key);
    pl_json_out_close(out, '}');
}

/* The first message if it is the system prompt. */
static const struct pl_json_node *system_message(const struct pl_json_doc *doc,
                                                 const struct pl_json_node *messages)
{
    if (!messages || !pl_json_count(messages) ||
        pl_json_get(doc, doc->root, PL_STR("system_prompt")))
        return NULL;
    const struct pl_json_node *first = pl_json_first(messages);
    const struct pl_json_node *role = pl_json_member(doc, first, "role", PL_JSON_STRING);
    return role && pl_json_text_is(doc, role, PL_STR("system")) && pl_json_count(first) == 2 &&
                   pl_json_member(doc, first, "content", PL_JSON_STRING)
               ? first
               : NULL;
}

static enum pl_status from_file(struct pl_json_out *out, const struct pl_json_doc *doc,
                                struct pl_error *err)
{
    static const char *const told[] = {
        "protocol",       "model",      "config",   "modelParameters",
        "responseFormat", "jsonSchema", "messages", NULL};
    const struct pl_json_node *messages = pl_json_member(doc, doc->root, "messages", PL_JSON_ARRAY);
    const struct pl_json_node *system = system_message(doc, messages);
    if (!messages && !pl_json_get(doc, doc->root, PL_STR("system_prompt")))
        return pl_fail(err, PL_INVALID, "it contains no prompt: no \"messages\"");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "protocol");
    pl_json_out_text(out, PL_STR("structured-chat"));
    for (const struct pl_json_node *key = pl_json_first_member(doc->root);
         key < pl_json_end(doc->root); key = pl_json_next_member(key))
        if (!is_key(doc, key, told))
            put_same(out, doc, key);
    if (system)
        put_member(out, doc, "system_prompt",
                   pl_json_member(doc, system, "content", PL_JSON_STRING));
    pl_json_out_key(out, "messages");
    pl_json_out_open(out, '[');
    size_t place = 0;
    for (const struct pl_json_node *n = messages ? pl_json_first(messages) : NULL;
         messages && n < pl_json_end(messages); n = pl_json_next(n))
        if (n != system)
            put_chat_message(out, doc, n, ++place);
    pl_json_out_close(out, ']');
    put_chat_config(out, doc);
    pl_json_out_close(out, '}');
    return out->buf->status;
}

enum pl_status pl_prompt_from_file(struct pl_buf *to, struct pl_str json, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    struct pl_json_out out = pl_json_out(to);
    enum pl_status status = pl_json_parse(&arena, json, NULL, &doc, err);
    if (status == PL_OK && pl_json_kind(doc.root) != PL_JSON_OBJECT)
        status = pl_fail(err, PL_INVALID, "a prompt is a mapping with \"messages\"");
    else if (status != PL_OK && err)
        err->has_position = false; /* of a text the user has not seen; the message has the
                                      pointer */
    return status == PL_OK ? from_file(&out, &doc, err) : status;
}

static enum pl_status write_yaml(struct pl_buf *to, struct pl_str chat,
                                 const struct pl_export_how *how, struct pl_error *err)
{
    (void)how;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf json;
    pl_arena_init(&arena, 0);
    pl_buf_init(&json, 0);
    struct pl_json_doc doc, shaped;
    enum pl_status status = pl_prompt_parse(&arena, chat, &doc, err);
    if (status == PL_OK)
        status = pl_prompt_to_file(&json, &doc, false, err);
    if (status == PL_OK)
        status = pl_prompt_parse(&arena, pl_buf_str(&json), &shaped, err);
    if (status == PL_OK)
        pl_yaml_write(to, &shaped);
    return status == PL_OK ? to->status : status;
}

static enum pl_status read_yaml(struct pl_buf *to, struct pl_str text, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    enum pl_status status = pl_yaml_read(&json, text, err);
    return status == PL_OK ? pl_prompt_from_file(to, pl_buf_str(&json), err) : status;
}

const struct pl_export pl_export_yaml = {
    .name = "yaml",
    .title = "a prompt as YAML, as in GitHub's .prompt.yml",
    .write = write_yaml,
    .read = read_yaml,
};
