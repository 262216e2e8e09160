/* Drafts of prompts: the content of a file, as text or as a structured chat. */
#include "app/frame/input.h"
#include "app/prompt/prompt_int.h"

#include "base/text/utf8.h"
#include "promptfile/yaml.h"
#include "io/file/file.h"
#include "json/text.h"

enum pl_draft_type pl_draft_type_of(const struct pl_deed *deed, enum pl_draft_type otherwise)
{
    const char *type = pl_deed_option(deed, PL_OPT_TYPE);
    if (!type)
        return otherwise;
    return strcmp(type, "text") == 0 ? PL_DRAFT_TEXT : PL_DRAFT_STRUCTURED;
}

static bool ends_in(const char *name, const char *end)
{
    size_t n_name = strlen(name), n_end = strlen(end);
    return n_name > n_end && strcmp(name + n_name - n_end, end) == 0;
}

static bool is_yaml_name(const char *name)
{
    return ends_in(name, ".yaml") || ends_in(name, ".yml");
}

static bool starts_like_json(struct pl_str text)
{
    size_t at = 0;
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t' || text.ptr[at] == '\n' ||
                             text.ptr[at] == '\r'))
        at++;
    return at < text.len && text.ptr[at] == '{';
}

/* Parses JSON or YAML to an object. */
static enum pl_status read_structured(struct pl_deed *deed, struct pl_str text,
                                      struct pl_json_doc *ret_doc, struct pl_error *err)
{
    struct pl_arena *arena = &deed->api.texts.arena;
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    struct pl_str source = text;
    enum pl_status status = PL_OK;
    if (!starts_like_json(text)) {
        status = pl_yaml_read(&json, text, err);
        if (status == PL_OK)
            status = json.status;
        source = pl_buf_str(&json);
    }
    struct pl_str kept = status == PL_OK ? pl_arena_dup(arena, source) : (struct pl_str){0};
    if (status == PL_OK)
        status = kept.ptr ? pl_json_parse(arena, kept, NULL, ret_doc, err) : PL_NOMEM;
    if (status == PL_OK && pl_json_kind(ret_doc->root) != PL_JSON_OBJECT)
        status = pl_fail(err, PL_SYNTAX,
                         "a structured chat is an object with system_prompt and messages");
    return status;
}

/* Whether a document is a chat: it has the protocol member, or it has messages and is in a data
 * file. */
static bool is_chat(const struct pl_json_doc *doc, bool is_data_file)
{
    const struct pl_json_node *protocol =
        pl_json_member(doc, doc->root, "protocol", PL_JSON_STRING);
    if (protocol && pl_json_text_is(doc, protocol, PL_STR("structured-chat")))
        return true;
    return is_data_file && pl_json_member(doc, doc->root, "messages", PL_JSON_ARRAY);
}

enum pl_status pl_draft_read(struct pl_deed *deed, const char *name, struct pl_str text,
                             enum pl_draft_type type, struct pl_draft *ret_draft,
                             struct pl_error *err)
{
    struct pl_json_doc doc = {0};
    bool is_data_file = ends_in(name, ".json") || is_yaml_name(name);
    if (!pl_utf8_is_valid(text))
        return pl_fail(err, PL_UNREADABLE, "the file is not UTF-8");
    bool may_be_chat = type == PL_DRAFT_STRUCTURED ||
                       (type == PL_DRAFT_ANY && (is_yaml_name(name) || starts_like_json(text)));
    enum pl_status status = may_be_chat ? read_structured(deed, text, &doc, err) : PL_OK;
    if (status == PL_NOMEM || (status != PL_OK && (type == PL_DRAFT_STRUCTURED || is_data_file)))
        return status;
    /* Without an explicit type, it may be a text that only looks like a chat. */
    if (status != PL_OK || (type == PL_DRAFT_ANY && doc.root && !is_chat(&doc, is_data_file)))
        doc.root = NULL;
    *ret_draft = (struct pl_draft){.is_structured = doc.root != NULL};
    ret_draft->content = doc.root   ? pl_json_span(&doc, doc.root)
                         : text.len ? pl_arena_dup(&deed->api.texts.arena, text)
                                    : PL_STR("");
    return ret_draft->content.ptr ? PL_OK : PL_NOMEM;
}

enum pl_exit pl_draft_read_file(struct pl_deed *deed, const char *path, enum pl_draft_type type,
                                struct pl_draft *ret_draft)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    enum pl_status status = pl_file_read(path, PL_DRAFT_MAX, NULL, &file, &err);
    if (status == PL_OK)
        status = pl_draft_read(deed, path, file.bytes, type, ret_draft, &err);
    if (status == PL_OK)
        return PL_EXIT_OK;
    err.status = status;
    return pl_console_fail(deed->console, pl_input_name(path), &err);
}

void pl_draft_out(struct pl_deed *deed, const struct pl_draft *draft)
{
    pl_json_out_key(&deed->out, "type");
    pl_json_out_text(&deed->out, draft->is_structured ? PL_STR("structured") : PL_STR("text"));
    pl_json_out_key(&deed->out, "content");
    if (draft->is_structured)
        pl_json_out_raw(&deed->out, draft->content);
    else
        pl_json_out_text(&deed->out, draft->content);
}

/* A single --tag '' means no tags. */
void pl_deed_out_tags(struct pl_deed *deed)
{
    if (!pl_args_has(deed->args, PL_OPT_TAG))
        return;
    pl_json_out_key(&deed->out, "tags");
    pl_json_out_open(&deed->out, '[');
    for (size_t i = 0; i < deed->args->uses.len; i++) {
        const struct pl_option_use *use = &deed->args->uses.ptr[i];
        if (use->option->id == PL_OPT_TAG && use->values[0][0])
            pl_json_out_text(&deed->out, pl_str_of(use->values[0]));
    }
    pl_json_out_close(&deed->out, ']');
}
