/* Structured chat, seed 002: a hand-written prompt with a system prompt, examples and a
 * configuration. Texts may hold {{variables}}, which are left unchanged.
 *
 * "filled": [{"at": a pointer to a text, "variables": [{"name", "from", "to"}]}] may record the
 * values that rendering filled in, so that a format with variables gets them back.
 *
 * The content of a message is one string. Its images, audio and files are beside it, in "media": a
 * list of seed 001's content parts, which follow the text. A reader that does not know this member
 * still has the text. Tool calls and results have the same form as in harmony, since config.tools
 * may define tools; thinking has no place. */
#include "format/harmony/harmony_int.h"

#include "conv/call_ids.h"
#include "format/pieces/fresh_ids.h"
#include "format/pieces/own_settings.h"
#include "format/pieces/text_run.h"
#include "format/pieces/variables.h"
#include "json/pointer.h"
#include "json/text.h"

static int detect(const struct pl_json_doc *doc)
{
    const struct pl_json_node *protocol =
        pl_json_member(doc, doc->root, "protocol", PL_JSON_STRING);
    if (protocol)
        return pl_json_text_is(doc, protocol, PL_STR("structured-chat")) ? 100 : 0;
    if (!pl_json_member(doc, doc->root, "messages", PL_JSON_ARRAY))
        return 0;
    return pl_json_member(doc, doc->root, "system_prompt", PL_JSON_STRING) ? 85 : 0;
}

static void read_system_prompt(struct pl_conv *conv, const struct pl_json_node *prompt)
{
    if (!prompt)
        return;
    if (pl_conv_is_blank(conv, pl_val_node(prompt))) {
        pl_conv_know(conv, prompt); /* an empty prompt is no prompt */
        return;
    }
    pl_conv_add_message(conv, PL_ROLE_SYSTEM, NULL, PL_NO_ELEMENT);
    pl_conv_add_part(conv, PL_PART_TEXT, NULL)->text = pl_val_node(prompt);
}

/* The part of a text, from *at on: parts and entries are in document order. */
static struct pl_part *part_of(struct pl_conv *conv, const struct pl_json_node *text, size_t *at)
{
    while (*at < conv->parts.len && conv->parts.ptr[*at].text.node < text)
        ++*at;
    struct pl_part *part = *at < conv->parts.len ? &conv->parts.ptr[*at] : NULL;
    return part && part->kind == PL_PART_TEXT && part->text.node == text ? part : NULL;
}

/* Ignores an entry that no longer fits because the text was edited. */
static void read_filled(struct pl_conv *conv, const struct pl_json_node *filled)
{
    size_t next_part = 0;
    if (!filled)
        return;
    for (const struct pl_json_node *n = pl_json_first(filled);
         n < pl_json_end(filled) && conv->status == PL_OK; n = pl_json_next(n)) {
        const struct pl_json_node *at = pl_conv_node(conv, n, "at"), *text = NULL;
        if (!pl_json_is(at, PL_JSON_STRING) ||
            pl_json_pointer_get(conv->doc, pl_conv_text(conv, pl_val_node(at)), &text, NULL) !=
                PL_OK)
            continue;
        struct pl_part *part = part_of(conv, text, &next_part);
        if (!part)
            continue;
        part->text = pl_variables_read(conv, text, pl_conv_node(conv, n, "variables"));
        if (part->text.kind == PL_VAL_RUN)
            pl_conv_know(conv, at);
    }
}

static enum pl_status read(struct pl_conv *conv, enum pl_format_kind kind, struct pl_error *err)
{
    (void)kind;
    const struct pl_json_node *root = conv->doc->root;
    const struct pl_json_node *list = pl_conv_node(conv, root, "messages");
    const struct pl_json_node *prompt = pl_conv_member(conv, root, "system_prompt", PL_WANT_STRING);
    if ((!list && !prompt) || (list && pl_json_kind(list) != PL_JSON_ARRAY))
        return pl_fail(err, PL_INVALID,
                       "not a structured chat: there must be an object with \"system_prompt\" and "
                       "\"messages\", an array");
    pl_conv_know(conv, pl_conv_node(conv, root, "protocol"));
    read_system_prompt(conv, prompt);
    const struct pl_json_node *config = pl_conv_member(conv, root, "config", PL_WANT_OBJECT);
    pl_own_settings_read(conv, config);
    pl_own_tools_read(conv, pl_conv_member(conv, config, "tools", PL_WANT_ARRAY));
    conv->list = list;
    uint32_t element = 0;
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         list && n < pl_json_end(list) && conv->status == PL_OK; n = pl_json_next(n), element++) {
        if (pl_json_kind(n) != PL_JSON_OBJECT)
            return pl_fail(
                err, PL_INVALID,
                "message %u is not an object; a message is {\"id\":…,\"role\":…,\"content\":…}",
                element);
        pl_harmony_read_message(conv, n, element, "media");
    }
    read_filled(conv, pl_conv_member(conv, root, "filled", PL_WANT_ARRAY));
    return conv->status;
}

struct chat {
    struct pl_writer *w;
    struct pl_utterances said;
    struct pl_fresh_ids ids;
    uint32_t n_messages;
};

static void open_message(struct chat *c, const struct pl_utterance *u, const char *role)
{
    pl_w_open(c->w, '{');
    pl_w_key(c->w, "id");
    struct pl_val id = {0};
    if (!u->is_rest)
        id = u->message->id;
    pl_w_string(c->w, pl_fresh_ids_take(&c->ids, id, ++c->n_messages));
    pl_w_key_word(c->w, "role", role);
}

/* Writes the member media, if there are any. A text after media moves before it. */
static void write_media(struct pl_writer *w, const struct pl_part *const parts[], size_t n_parts)
{
    bool has_any = false;
    for (size_t i = 0; i < n_parts; i++) {
        if (has_any && pl_text_run_has(parts[i]) && !pl_harmony_can_show(parts[i]))
            pl_w_loss(w, PL_LOSS_MOVED, parts[i]->text,
                      "structured chat has the text of a message in front of its media");
        if (!pl_harmony_can_show(parts[i]))
            continue;
        if (!has_any) {
            pl_w_key(w, "media");
            pl_w_open(w, '[');
        }
        has_any = true;
        pl_harmony_write_shown(w, parts[i]);
    }
    if (has_any)
        pl_w_close(w, ']');
}

static void write_result(struct chat *c, const struct pl_utterance *u)
{
    struct pl_writer *w = c->w;
    const struct pl_part *result = u->parts[0];
    open_message(c, u, "tool");
    pl_w_opt_string(w, "tool_call_id", result->id);
    pl_w_opt_string(w, "name", result->name);
    pl_w_key(w, "content");
    const struct pl_part **children = pl_text_run_children(w, result);
    if (children) {
        pl_text_run_write(w, children, result->n_children, "\n");
        write_media(w, children, result->n_children);
    }
    pl_w_close(w, '}');
}

static bool has_words(const struct pl_utterance *u)
{
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (pl_text_run_has(u->parts[i]) || pl_harmony_can_show(u->parts[i]))
            return true;
    return false;
}

static void report_developer(struct chat *c, const struct pl_utterance *u)
{
    const struct pl_json_node *role = pl_conv_node(c->w->conv, u->message->node, "role");
    if (u->role == PL_ROLE_DEVELOPER && role)
        pl_conv_loss(c->w->conv, PL_LOSS_APPROXIMATED, role,
                     "structured chat has no developer role; this is a system message");
}

/* Writes each system text as a message of its own: joining would change them. */
static void write_system(struct chat *c, const struct pl_utterance *u, uint32_t from)
{
    report_developer(c, u);
    for (uint32_t i = from; i < u->n_parts; i++) {
        if (!pl_text_run_has(u->parts[i]))
            continue;
        struct pl_utterance one = *u;
        one.is_rest = u->is_rest || i > 0;
        open_message(c, &one, "system");
        pl_w_key(c->w, "content");
        pl_text_run_write(c->w, &u->parts[i], 1, "");
        pl_w_close(c->w, '}');
    }
}

static void write_message(struct chat *c, const struct pl_utterance *u)
{
    struct pl_writer *w = c->w;
    bool has_calls = pl_harmony_has_calls(u), is_user = u->role == PL_ROLE_USER;
    /* An assistant message without text or media is left out. */
    if (!is_user && u->n_parts && !has_calls && !has_words(u))
        return;
    open_message(c, u, is_user ? "user" : "assistant");
    if (!u->is_rest)
        pl_w_opt_string(w, "name", u->message->name);
    pl_w_key(w, "content");
    pl_text_run_write(w, u->parts, u->n_parts, "\n\n");
    write_media(w, u->parts, u->n_parts);
    if (has_calls)
        pl_harmony_write_calls(w, u);
    pl_w_close(w, '}');
}

/* If a conversation begins with a system message, its first text is the system prompt. Returns the
 * number of parts of the first utterance that it contains. */
static uint32_t write_system_prompt(struct chat *c)
{
    const struct pl_utterance *u = c->said.len ? &c->said.ptr[0] : NULL;
    if (!u || u->role > PL_ROLE_DEVELOPER)
        return 0;
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (pl_text_run_has(u->parts[i])) {
            pl_w_key(c->w, "system_prompt");
            pl_text_run_write(c->w, &u->parts[i], 1, "");
            return i + 1;
        }
    return 0;
}

static void write_messages(struct chat *c, uint32_t n_said)
{
    pl_w_key(c->w, "messages");
    pl_w_open(c->w, '[');
    for (size_t i = 0; i < c->said.len && c->w->conv->status == PL_OK; i++) {
        const struct pl_utterance *u = &c->said.ptr[i];
        if (u->role <= PL_ROLE_DEVELOPER)
            write_system(c, u, i == 0 ? n_said : 0);
        else if (u->role == PL_ROLE_TOOL && u->n_parts)
            write_result(c, u);
        else if (u->role != PL_ROLE_TOOL)
            write_message(c, u);
    }
    pl_w_close(c->w, ']');
    if (c->ids.n_made)
        pl_conv_loss(c->w->conv, PL_LOSS_SYNTHESISED, NULL, "%u messages without an id got one",
                     c->ids.n_made);
}

static void write_config(struct pl_writer *w)
{
    bool has_tools = pl_own_tools_are_set(w->conv);
    if (!has_tools && !pl_own_settings_are_set(w->conv))
        return;
    pl_w_key(w, "config");
    pl_w_open(w, '{');
    pl_own_settings_write(w);
    if (has_tools) {
        pl_w_key(w, "tools");
        pl_own_tools_write(w);
    }
    pl_w_close(w, '}');
}

static enum pl_status write(struct pl_writer *w, const struct pl_conversion *conversion,
                            struct pl_error *err)
{
    (void)conversion;
    struct pl_conv *conv = w->conv;
    if (conv->answer.is_error) {
        pl_conv_loss(conv, PL_LOSS_DROPPED, conv->doc->root, "structured chat has no error bodies");
        return pl_fail(err, PL_INVALID,
                       "a structured chat is a prompt; it has no form for an error body");
    }
    struct chat c = {.w = w};
    pl_conv_give_ids(conv);
    enum pl_status status = pl_utterances_make(conv, &c.said);
    if (status != PL_OK)
        return status;
    struct pl_variables vars = {.conv = conv};
    pl_variables_name(&vars);
    pl_fresh_ids_init(&c.ids, conv, "msg");
    pl_w_open(w, '{');
    pl_w_key_word(w, "protocol", "structured-chat");
    uint32_t n_said = write_system_prompt(&c);
    write_messages(&c, n_said);
    write_config(w);
    pl_variables_declare(w, &vars);
    pl_w_close(w, '}');
    pl_variables_deinit(&vars);
    pl_fresh_ids_deinit(&c.ids);
    return conv->status;
}

const struct pl_format pl_format_structured_chat = {
    .name = "structured-chat",
    .title = "structured chat, prompts with {{variables}} (seed 002)",
    .list_key = "messages",
    .is_vendor = false,
    .detect = detect,
    .read = read,
    .write = write,
};
