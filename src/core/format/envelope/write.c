/* Writing envelopes. The schema of seed 000 is normative: every message has an id, a time and at
 * least one segment, arguments are an object, a result is one string. Values without a segment
 * field (reasoning, bytes of a file, settings) are left alone. */
#include "format/envelope/envelope_int.h"

#include "base/text/utf8.h"
#include "conv/call_ids.h"
#include "format/pieces/content.h"
#include "format/pieces/fresh_ids.h"
#include "format/gemini/schema.h"
#include "format/pieces/instant.h"
#include "format/pieces/text_run.h"
#include "format/pieces/utterance.h"

enum {
    LONG_TEXT = 2000, /* code points; a longer text is folded */
    SNIPPET = 200,
};

struct envelope {
    struct pl_writer *w;
    const struct pl_conversion *conversion;
    struct pl_utterances said;
    struct pl_fresh_ids ids;
    struct pl_call_index calls;
    uint32_t n_messages, n_timeless, n_later, n_empty;
    struct pl_val last_time; /* the last one that could be written */
    bool needs_tools;        /* the tool overview is not written yet */
};

static void open_segment(struct pl_writer *w, const char *kind)
{
    pl_w_open(w, '{');
    pl_w_key_word(w, "kind", kind);
}

static void close_folded(struct pl_writer *w, bool is_collapsed)
{
    pl_w_key(w, "collapsed");
    pl_w_bool(w, is_collapsed);
    pl_w_close(w, '}');
}

static void write_words(struct pl_writer *w, const struct pl_part *part, bool is_system)
{
    size_t n_points = pl_utf8_count(pl_conv_text(w->conv, part->text));
    bool is_long = !is_system && n_points > LONG_TEXT;
    open_segment(w, is_system ? "system_prompt" : is_long ? "long_text" : "text");
    pl_w_key(w, "content");
    pl_text_run_write(w, &part, 1, "");
    if (is_long) {
        pl_w_key(w, "charCount");
        pl_w_int(w, (int64_t)n_points);
    }
    if (is_system || is_long)
        close_folded(w, is_long);
    else
        pl_w_close(w, '}');
}

/* The value of a variable, or the text between two variables. */
static void write_piece(struct pl_writer *w, const struct pl_part *part,
                        const struct pl_piece *piece, bool is_system)
{
    struct pl_part words = {.kind = part->kind, .text = piece->text};
    if (!pl_val_is_set(piece->name)) {
        write_words(w, &words, is_system);
        return;
    }
    open_segment(w, "static_var");
    pl_w_opt_string(w, "name", piece->name);
    pl_w_key(w, "value");
    pl_w_string(w, piece->text);
    pl_w_opt_string(w, "description", piece->about);
    pl_w_close(w, '}');
}

/* A text that is a list becomes a segment with that list. */
static bool write_list(struct pl_writer *w, const struct pl_part *part)
{
    static const char *const kinds[] = {
        [PL_PURPOSE_MEMORY] = "memory",
        [PL_PURPOSE_SKILLS] = "skills",
    };
    if (!part->purpose || !pl_val_is_set(part->context))
        return false;
    open_segment(w, kinds[part->purpose]);
    pl_w_key(w, "items");
    pl_w_value(w, part->context);
    pl_w_mapped(w, part->text);
    close_folded(w, true);
    return true;
}

static bool has_variables(struct pl_val text)
{
    for (size_t i = 0; text.kind == PL_VAL_RUN && i < text.n_pieces; i++)
        if (pl_val_is_set(text.pieces[i].name))
            return true;
    return false;
}

static void write_text(struct pl_writer *w, const struct pl_part *part, bool is_system)
{
    if (write_list(w, part))
        return;
    if (!has_variables(part->text)) {
        write_words(w, part, is_system);
        return;
    }
    for (size_t i = 0; i < part->text.n_pieces; i++)
        write_piece(w, part, &part->text.pieces[i], is_system);
}

static void write_media(struct pl_writer *w, const struct pl_part *part)
{
    open_segment(w, "media");
    pl_w_key_word(w, "mediaType",
                  part->kind == PL_PART_IMAGE   ? "image"
                  : part->kind == PL_PART_AUDIO ? "audio"
                                                : "video");
    pl_w_key(w, "url");
    pl_content_write_url(w, part);
    pl_w_close(w, '}');
}

/* The start of a text, for a person to recognise it. */
static struct pl_str snippet_of(struct pl_str text)
{
    size_t at = 0;
    for (int n = 0; at < text.len && n < SNIPPET; n++)
        if (pl_utf8_next(text, &at) < 0)
            break;
    return pl_str_slice(text, 0, at);
}

/* The size of a file: the decoded length of its base64, or the length of its text. */
static int64_t size_of(struct pl_conv *conv, const struct pl_part *part)
{
    struct pl_str data = pl_conv_text(conv, part->data);
    if (!data.len)
        return (int64_t)pl_conv_text(conv, part->text).len;
    while (data.len && data.ptr[data.len - 1] == '=')
        data.len--;
    return (int64_t)(data.len / 4 * 3 + (data.len % 4 ? data.len % 4 - 1 : 0));
}

static void write_document(struct pl_writer *w, const struct pl_part *part)
{
    struct pl_val mime = pl_content_mime(w->conv, part);
    open_segment(w, "document");
    pl_w_key(w, "fileName");
    pl_w_string(w, pl_val_is_set(part->name) ? part->name : pl_val_text(PL_STR("document")));
    pl_w_key(w, "mimeType");
    if (mime.kind == PL_VAL_SPAN) /* a piece of the data URL; the rest is not written */
        pl_w_string(w, pl_val_text(pl_conv_text(w->conv, mime)));
    else if (pl_val_is_set(mime))
        pl_w_string(w, mime);
    else
        pl_w_word(w, pl_val_is_set(part->text) ? "text/plain" : "application/octet-stream");
    pl_w_key(w, "snippet");
    pl_w_string(w, pl_val_text(snippet_of(pl_conv_text(w->conv, part->text))));
    pl_w_key(w, "sizeBytes");
    pl_w_int(w, size_of(w->conv, part));
    pl_w_opt_string(w, "parsedContent", part->text);
    pl_w_close(w, '}');
    if (part->data.node)
        pl_w_loss(w, PL_LOSS_DROPPED, part->data,
                  "an envelope shows that a document exists; it does not contain its bytes");
}

static void write_call(struct pl_writer *w, const struct pl_part *part)
{
    open_segment(w, "tool_call_request");
    pl_w_key(w, "toolName");
    pl_w_string(w, part->name);
    pl_w_opt_string(w, "callId", part->id);
    pl_w_key(w, "arguments");
    if (!part->is_custom && pl_w_holds_object(w, part->args)) {
        pl_w_json(w, part->args);
    } else {
        pl_w_open(w, '{');
        pl_w_opt_string(w, "_raw", part->args);
        pl_w_close(w, '}');
        pl_w_loss(w, PL_LOSS_APPROXIMATED, part->args,
                  "arguments are an object in an envelope; this text is its member \"_raw\"");
    }
    close_folded(w, true);
}

/* The tool name of a result, or of its call. */
static struct pl_val name_of(struct envelope *e, const struct pl_part *result)
{
    if (pl_val_is_set(result->name))
        return result->name;
    const struct pl_part *call = pl_call_index_find(&e->calls, e->w->conv, result);
    return pl_val_text(call ? pl_conv_text(e->w->conv, call->name) : PL_STR("unknown"));
}

static bool is_media(const struct pl_part *part)
{
    return (part->kind == PL_PART_IMAGE || part->kind == PL_PART_AUDIO ||
            part->kind == PL_PART_VIDEO) &&
           (pl_val_is_set(part->data) || pl_val_is_set(part->url));
}

/* A result is one string; images in it come right after it. */
static void write_result(struct envelope *e, const struct pl_part *result)
{
    struct pl_writer *w = e->w;
    const struct pl_part *children = pl_conv_children(w->conv, result);
    const struct pl_part **list =
        pl_arena_alloc(w->conv->arena, result->n_children + (size_t)1, sizeof *list);
    if (!list) {
        w->conv->status = PL_NOMEM;
        return;
    }
    size_t n_texts = 0;
    for (uint32_t i = 0; i < result->n_children; i++)
        if (children[i].kind != PL_PART_FILE)
            list[n_texts++] = &children[i];
    open_segment(w, "tool_call_result");
    pl_w_key(w, "toolName");
    pl_w_string(w, name_of(e, result));
    pl_w_opt_string(w, "callId", result->id);
    pl_w_key(w, "result");
    pl_text_run_write(w, list, n_texts, "\n");
    pl_w_key(w, "success");
    pl_w_bool(w, !(result->is_error.is_set && result->is_error.value));
    pl_w_mapped(w, result->is_error.val);
    close_folded(w, true);
    for (uint32_t i = 0; i < result->n_children; i++) {
        if (is_media(&children[i]))
            write_media(w, &children[i]);
        else if (children[i].kind == PL_PART_FILE)
            write_document(w, &children[i]);
    }
}

static void add_parameter(struct pl_conv *conv, struct pl_buf *text, const struct pl_json_node *key,
                          const struct pl_json_node *required)
{
    const struct pl_json_node *type = pl_conv_node(conv, key + 1, "type");
    if (text->len)
        pl_buf_adds(text, ", ");
    struct pl_str name = pl_conv_text(conv, pl_val_node(key));
    pl_buf_add(text, name);
    if (type) {
        pl_buf_adds(text, ": ");
        pl_buf_add(text, pl_conv_text(conv, pl_val_node(type)));
    }
    for (const struct pl_json_node *n = required ? pl_json_first(required) : NULL;
         required && n < pl_json_end(required); n = pl_json_next(n))
        if (pl_json_kind(n) == PL_JSON_STRING &&
            pl_str_eq(pl_conv_text(conv, pl_val_node(n)), name)) {
            pl_buf_adds(text, " (required)");
            break;
        }
}

/* "city: string (required), days: integer" */
static void write_parameters(struct pl_writer *w, const struct pl_tool *tool)
{
    struct pl_conv *conv = w->conv;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    const struct pl_json_node *schema = tool->schema.node;
    const struct pl_json_node *properties = pl_conv_node(conv, schema, "properties");
    const struct pl_json_node *required = pl_conv_node(conv, schema, "required");
    if (required && pl_json_kind(required) != PL_JSON_ARRAY)
        required = NULL;
    if (!tool->is_custom && properties && pl_json_kind(properties) == PL_JSON_OBJECT)
        for (const struct pl_json_node *k = pl_json_first_member(properties);
             k < pl_json_end(properties); k = pl_json_next_member(k))
            add_parameter(conv, &text, k, required);
    if (text.status != PL_OK)
        conv->status = text.status;
    else if (text.len)
        pl_w_string(w, pl_val_text(pl_buf_str(&text)));
    else
        pl_w_word(w, tool->is_custom ? "free text" : "none");
}

static bool is_shown(const struct pl_tool *tool)
{
    return !tool->is_hosted && pl_val_is_set(tool->name);
}

static void write_tool(struct pl_writer *w, const struct pl_tool *tool)
{
    bool has_schema = !tool->is_custom && tool->schema.kind == PL_VAL_NODE &&
                      pl_json_kind(tool->schema.node) == PL_JSON_OBJECT;
    pl_w_open(w, '{');
    pl_w_opt_string(w, "name", tool->name);
    pl_w_key(w, "description");
    if (pl_val_is_set(tool->description))
        pl_w_string(w, tool->description);
    else
        pl_w_word(w, "");
    pl_w_key(w, "parameters");
    write_parameters(w, tool);
    if (has_schema) {
        pl_w_key(w, "schema");
        pl_gemini_schema_write_any(w, tool->schema, tool->is_openapi_schema);
    }
    pl_w_close(w, '}');
}

static void write_tools(struct envelope *e)
{
    struct pl_writer *w = e->w;
    open_segment(w, "tool_overview");
    pl_w_key(w, "items");
    pl_w_open(w, '[');
    for (size_t i = 0; i < w->conv->tools.len; i++)
        if (is_shown(&w->conv->tools.ptr[i]))
            write_tool(w, &w->conv->tools.ptr[i]);
    pl_w_close(w, ']');
    close_folded(w, true);
    e->needs_tools = false;
}

static bool can_say(const struct pl_part *part)
{
    switch (part->kind) {
    case PL_PART_TEXT:
    case PL_PART_REFUSAL:
        return pl_val_is_set(part->text);
    case PL_PART_FILE:
    case PL_PART_CALL:
    case PL_PART_RESULT:
        return true;
    default:
        return is_media(part);
    }
}

static void write_part(struct envelope *e, const struct pl_part *part, bool is_system)
{
    switch (part->kind) {
    case PL_PART_TEXT:
    case PL_PART_REFUSAL:
        write_text(e->w, part, is_system);
        break;
    case PL_PART_FILE:
        write_document(e->w, part);
        break;
    case PL_PART_CALL:
        write_call(e->w, part);
        break;
    case PL_PART_RESULT:
        write_result(e, part);
        break;
    default:
        write_media(e->w, part);
    }
}

static void open_message(struct envelope *e, const char *role, struct pl_val id)
{
    pl_w_open(e->w, '{');
    pl_w_key(e->w, "id");
    pl_w_string(e->w, pl_fresh_ids_take(&e->ids, id, ++e->n_messages));
    pl_w_key_word(e->w, "role", role);
}

static void close_message(struct envelope *e, struct pl_val created_at)
{
    if (pl_instant_write(e->w, "timestamp", created_at, e->conversion, PL_INSTANT_MILLISECONDS)) {
        e->last_time = created_at;
    } else if (pl_instant_write(e->w, "timestamp", e->last_time, e->conversion,
                                PL_INSTANT_MILLISECONDS)) {
        e->n_later++;
    } else {
        pl_w_key(e->w, "timestamp");
        pl_w_int(e->w, 0);
        e->n_timeless++;
    }
    pl_w_close(e->w, '}');
}

static void write_segments(struct envelope *e, const struct pl_utterance *u)
{
    struct pl_writer *w = e->w;
    bool is_system = u->role <= PL_ROLE_DEVELOPER, is_empty = true;
    pl_w_key(w, "segments");
    pl_w_open(w, '[');
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (can_say(u->parts[i])) {
            write_part(e, u->parts[i], is_system);
            is_empty = false;
        }
    if (is_system && e->needs_tools) {
        write_tools(e);
        is_empty = false;
    }
    if (is_empty) {
        open_segment(w, "text");
        pl_w_key_word(w, "content", "");
        pl_w_close(w, '}');
        e->n_empty++;
    }
    pl_w_close(w, ']');
}

static void write_message(struct envelope *e, const struct pl_utterance *u)
{
    static const char *const words[] = {
        [PL_ROLE_SYSTEM] = "system",       [PL_ROLE_DEVELOPER] = "system", [PL_ROLE_USER] = "user",
        [PL_ROLE_ASSISTANT] = "assistant", [PL_ROLE_TOOL] = "tool",
    };
    const struct pl_json_node *role = pl_conv_node(e->w->conv, u->message->node, "role");
    if (u->role == PL_ROLE_DEVELOPER && role)
        pl_conv_loss(e->w->conv, PL_LOSS_APPROXIMATED, role,
                     "an envelope has no developer role; this is a system message");
    struct pl_val none = {0};
    open_message(e, words[u->role], u->is_rest ? none : u->message->id);
    write_segments(e, u);
    close_message(e, u->is_rest ? none : u->message->created_at);
}

/* Tools are shown with the system message; without one, in a message before all others. */
static void write_tool_message(struct envelope *e)
{
    struct pl_val none = {0};
    open_message(e, "system", none);
    pl_w_key(e->w, "segments");
    pl_w_open(e->w, '[');
    write_tools(e);
    pl_w_close(e->w, ']');
    close_message(e, none);
    pl_conv_loss(e->w->conv, PL_LOSS_SYNTHESISED, NULL,
                 "a system message was added to list the tools");
}

/* An item that only its vendor understands is not a message. */
static bool is_sayable(const struct pl_utterance *u)
{
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (can_say(u->parts[i]))
            return true;
    return u->n_parts == 0 || u->role != PL_ROLE_ASSISTANT;
}

static void report_made(struct envelope *e)
{
    struct pl_conv *conv = e->w->conv;
    if (e->ids.n_made)
        pl_conv_loss(conv, PL_LOSS_SYNTHESISED, NULL, "%u messages without an id got one",
                     e->ids.n_made);
    if (e->n_timeless)
        pl_conv_loss(conv, PL_LOSS_SYNTHESISED, NULL,
                     "%u messages without a time got the timestamp 0", e->n_timeless);
    if (e->n_later)
        pl_conv_loss(conv, PL_LOSS_SYNTHESISED, NULL,
                     "%u messages without a time got that of the message before", e->n_later);
    if (e->n_empty)
        pl_conv_loss(conv, PL_LOSS_SYNTHESISED, NULL,
                     "%u messages without content for an envelope got an empty text", e->n_empty);
}

static void write_messages(struct envelope *e)
{
    bool begins_with_system = false;
    for (size_t i = 0; i < e->said.len && !begins_with_system; i++)
        if (is_sayable(&e->said.ptr[i])) {
            begins_with_system = e->said.ptr[i].role <= PL_ROLE_DEVELOPER;
            break;
        }
    pl_w_key(e->w, "messages");
    pl_w_open(e->w, '[');
    if (e->needs_tools && !begins_with_system)
        write_tool_message(e);
    for (size_t i = 0; i < e->said.len && e->w->conv->status == PL_OK; i++)
        if (is_sayable(&e->said.ptr[i]))
            write_message(e, &e->said.ptr[i]);
    pl_w_close(e->w, ']');
    report_made(e);
}

/* The error if no envelope can be written. */
static enum pl_status refuse(struct pl_conv *conv, struct pl_error *err)
{
    bool is_error = conv->answer.is_error;
    pl_conv_loss(conv, PL_LOSS_DROPPED, conv->doc->root,
                 is_error ? "an envelope has no error bodies"
                          : "an envelope needs at least one message; there is none");
    return pl_fail(err, PL_INVALID,
                   is_error ? "an envelope describes a prompt; it has no form for an error body"
                            : "an envelope needs at least one message; this conversation has none");
}

enum pl_status pl_envelope_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                 struct pl_error *err)
{
    struct pl_conv *conv = w->conv;
    struct envelope e = {.w = w, .conversion = conversion};
    for (size_t i = 0; i < conv->tools.len; i++)
        e.needs_tools |= is_shown(&conv->tools.ptr[i]);
    pl_conv_give_ids(conv);
    enum pl_status status = pl_utterances_make(conv, &e.said);
    if (status != PL_OK)
        return status;
    bool is_empty = !e.needs_tools;
    for (size_t i = 0; i < e.said.len && is_empty; i++)
        is_empty = !is_sayable(&e.said.ptr[i]);
    if (conv->status != PL_OK)
        return conv->status;
    if (conv->answer.is_error || is_empty)
        return refuse(conv, err);
    pl_fresh_ids_init(&e.ids, conv, "msg");
    pl_call_index_init(&e.calls, conv);
    pl_w_open(w, '{');
    pl_w_key_word(w, "version", "1.0");
    struct pl_val model =
        pl_val_is_set(conv->settings.model) ? conv->settings.model : conv->answer.model;
    pl_w_opt_string(w, "model", model);
    write_messages(&e);
    pl_w_close(w, '}');
    pl_fresh_ids_deinit(&e.ids);
    return conv->status;
}
