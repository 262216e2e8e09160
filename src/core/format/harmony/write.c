/* Writing harmony: an array of messages, or an object if there are tools or settings. Thinking is a
 * part with a type that readers may ignore. The result itself says that a tool failed
 * (format/adapt/flag_errors.h). Cache markers have no place here and are reported. */
#include "format/harmony/harmony_int.h"

#include "conv/call_ids.h"
#include "format/pieces/content.h"
#include "format/pieces/instant.h"
#include "format/pieces/own_settings.h"
#include "format/pieces/metadata.h"
#include "json/number.h"

struct harmony {
    struct pl_writer *w;
    const struct pl_conversion *conversion;
    struct pl_utterances said;
    struct pl_cites_list cites;
    const struct pl_json_node *last_turn; /* its metadata was written */
    struct pl_val turn_id;                /* its id, and the number of messages with it */
    uint32_t n_of_turn;
};

static bool has_media(const struct pl_part *part)
{
    return pl_val_is_set(part->data) || pl_val_is_set(part->url);
}

static bool can_say(const struct pl_part *part)
{
    switch (part->kind) {
    case PL_PART_TEXT:
    case PL_PART_REFUSAL:
    case PL_PART_THINKING:
        return pl_val_is_set(part->text);
    case PL_PART_IMAGE:
        return has_media(part);
    case PL_PART_AUDIO:
        return pl_val_is_set(part->data);
    case PL_PART_FILE:
        return has_media(part) || pl_val_is_set(part->file_id) || pl_val_is_set(part->text);
    default:
        return false;
    }
}

static void write_url(struct pl_writer *w, const char *key, const struct pl_part *part)
{
    pl_w_key(w, key);
    pl_content_write_url(w, part);
}

static void write_detail(struct pl_writer *w, struct pl_val detail)
{
    static const char *const words[] = {"low", "high", "auto", NULL};
    if (!pl_val_is_set(detail))
        return;
    if (pl_conv_word(w->conv, detail.node, words) >= 0) {
        pl_w_opt_string(w, "detail", detail);
    } else if (pl_conv_says(w->conv, detail.node, "original")) {
        pl_w_key_word(w, "detail", "high");
        pl_w_loss(w, PL_LOSS_APPROXIMATED, detail,
                  "harmony has the details low, high and auto; this one is written as high");
    }
}

/* Harmony has only multiples of 90 degrees. */
static void write_rotation(struct pl_writer *w, struct pl_val rotation)
{
    int64_t degrees = -1;
    if (rotation.kind == PL_VAL_NODE && pl_json_is(rotation.node, PL_JSON_NUMBER) &&
        pl_json_number_int64(pl_json_span(w->conv->doc, rotation.node), &degrees) &&
        degrees % 90 == 0 && degrees >= 0 && degrees < 360)
        pl_w_opt_value(w, "rotation", rotation);
}

static void write_image(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_key_word(w, "type", "image_url");
    pl_w_key(w, "image_url");
    pl_w_open(w, '{');
    write_url(w, "url", part);
    write_detail(w, part->detail);
    write_rotation(w, part->rotation);
    pl_w_close(w, '}');
    if (part->context.kind == PL_VAL_NODE && pl_json_kind(part->context.node) == PL_JSON_OBJECT)
        pl_w_opt_value(w, "video_metadata", part->context);
}

/* Whether the source's word for a media type is the word of this format: `word`, or for a type that
 * has none, its second half. */
static bool says_type(struct pl_conv *conv, struct pl_val mime, const char *word)
{
    struct pl_str own = pl_conv_text(conv, pl_val_node(mime.node));
    struct pl_str type = pl_conv_text(conv, mime), head = PL_STR("audio/");
    return word ? pl_str_eq(own, pl_str_of(word))
                : pl_str_starts(type, head) &&
                      pl_str_eq(own, pl_str_slice(type, head.len, type.len));
}

static void write_audio(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_key_word(w, "type", "input_audio");
    pl_w_key(w, "input_audio");
    pl_w_open(w, '{');
    pl_w_key(w, "data");
    pl_w_string(w, part->data);
    struct pl_val mime = pl_content_mime(w->conv, part);
    const char *word = pl_harmony_audio_word(pl_conv_text(w->conv, mime));
    if (mime.node && says_type(w->conv, mime, word)) {
        pl_w_opt_string(w, "format", pl_val_node(mime.node));
    } else if (word) {
        pl_w_key_word(w, "format", word);
        pl_w_mapped(w, mime);
    } else {
        pl_w_opt_string(w, "format", mime);
    }
    pl_w_opt_value(w, "sample_rate", part->rate);
    pl_w_close(w, '}');
}

static void write_thinking(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_key_word(w, "type", "thinking");
    pl_w_opt_string(w, "text", part->text);
}

static void write_text(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_key_word(w, "type", "text");
    pl_w_opt_string(w, "text", part->text);
}

static void write_refusal(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_key_word(w, "type", "refusal");
    pl_w_opt_string(w, "refusal", part->text);
}

static void write_file(struct pl_writer *w, const struct pl_part *part)
{
    if (!has_media(part) && !pl_val_is_set(part->file_id)) {
        write_text(w, part);
        pl_w_loss(w, PL_LOSS_APPROXIMATED, part->text,
                  "harmony has no plain-text documents; it is written as a text part");
        return;
    }
    pl_w_key_word(w, "type", "file");
    pl_w_key(w, "file");
    pl_w_open(w, '{');
    pl_w_opt_string(w, "filename", part->name);
    if (has_media(part))
        write_url(w, pl_val_is_set(part->data) ? "file_data" : "file_url", part);
    pl_w_opt_string(w, "file_id", part->file_id);
    pl_w_close(w, '}');
}

static void (*const writers[PL_PART_KIND_COUNT])(struct pl_writer *, const struct pl_part *) = {
    [PL_PART_TEXT] = write_text,   [PL_PART_REFUSAL] = write_refusal,
    [PL_PART_IMAGE] = write_image, [PL_PART_AUDIO] = write_audio,
    [PL_PART_FILE] = write_file,   [PL_PART_THINKING] = write_thinking,
};

bool pl_harmony_can_show(const struct pl_part *part)
{
    return part->kind >= PL_PART_IMAGE && part->kind <= PL_PART_FILE && can_say(part) &&
           (has_media(part) || pl_val_is_set(part->file_id));
}

void pl_harmony_write_shown(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_open(w, '{');
    writers[part->kind](w, part);
    pl_w_close(w, '}');
}

static void write_part(const struct harmony *h, const struct pl_part *part, int64_t index)
{
    struct pl_writer *w = h->w;
    pl_w_open(w, '{');
    if (part->kind == PL_PART_TEXT && pl_cites_is_cited(w->conv, &h->cites, part)) {
        pl_w_key_word(w, "type", "text");
        pl_w_key(w, "text");
        pl_cites_write_text(w, &h->cites, part);
    } else {
        writers[part->kind](w, part);
    }
    pl_w_key(w, "index");
    pl_w_int(w, index);
    pl_w_close(w, '}');
}

bool pl_harmony_has_calls(const struct pl_utterance *u)
{
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (u->parts[i]->kind == PL_PART_CALL)
            return true;
    return false;
}

void pl_harmony_write_calls(struct pl_writer *w, const struct pl_utterance *u)
{
    pl_w_key(w, "tool_calls");
    pl_w_open(w, '[');
    for (uint32_t i = 0; i < u->n_parts; i++) {
        const struct pl_part *part = u->parts[i];
        if (part->kind != PL_PART_CALL)
            continue;
        const char *type = part->is_custom ? "custom" : "function";
        pl_w_open(w, '{');
        pl_w_opt_string(w, "id", part->id);
        pl_w_key_word(w, "type", type);
        pl_w_key(w, type);
        pl_w_open(w, '{');
        pl_w_opt_string(w, "name", part->name);
        pl_w_key(w, part->is_custom ? "input" : "arguments");
        if (pl_val_is_set(part->args))
            pl_w_string(w, part->args);
        else
            pl_w_word(w, part->is_custom ? "" : "{}");
        pl_w_close(w, '}');
        pl_w_close(w, '}');
    }
    pl_w_close(w, ']');
}

/* Null only for an assistant message with nothing but calls. */
static void write_content(const struct harmony *h, const struct pl_utterance *u)
{
    struct pl_writer *w = h->w;
    const struct pl_part *const *parts = u->parts;
    uint32_t n_parts = u->n_parts;
    const struct pl_part *children = NULL;
    if (u->role == PL_ROLE_TOOL && n_parts) {
        children = pl_conv_children(w->conv, parts[0]);
        n_parts = parts[0]->n_children;
    }
    int64_t index = 0;
    pl_w_key(w, "content");
    for (uint32_t i = 0; i < n_parts; i++) {
        const struct pl_part *part = children ? &children[i] : parts[i];
        if (!can_say(part))
            continue;
        if (index == 0)
            pl_w_open(w, '[');
        write_part(h, part, index++);
    }
    if (index > 0) {
        pl_w_close(w, ']');
    } else if (pl_harmony_has_calls(u)) {
        pl_w_null(w);
    } else {
        pl_w_open(w, '[');
        pl_w_close(w, ']');
    }
}

static const char *role_word(struct pl_writer *w, const struct pl_utterance *u)
{
    static const char *const words[] = {
        [PL_ROLE_SYSTEM] = "system",       [PL_ROLE_DEVELOPER] = "system", [PL_ROLE_USER] = "user",
        [PL_ROLE_ASSISTANT] = "assistant", [PL_ROLE_TOOL] = "tool",
    };
    const struct pl_json_node *role = pl_conv_node(w->conv, u->message->node, "role");
    if (u->role == PL_ROLE_DEVELOPER && role)
        pl_conv_loss(w->conv, PL_LOSS_APPROXIMATED, role,
                     "harmony has no developer role; this is a system message");
    return words[u->role];
}

/* An item that only its vendor understands is not a message here. */
static bool is_sayable(const struct pl_utterance *u)
{
    if (u->role != PL_ROLE_ASSISTANT || u->n_parts == 0)
        return u->role != PL_ROLE_TOOL || u->n_parts > 0;
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (can_say(u->parts[i]) || u->parts[i]->kind == PL_PART_CALL)
            return true;
    return false;
}

/* The first message of a turn has the turn's metadata; a result has its own. */
static void write_metadata(struct harmony *h, const struct pl_message *m)
{
    if (h->conversion->from != &pl_format_turns || m->role == PL_ROLE_TOOL) {
        pl_metadata_write_message(h->w, &h->cites, m);
        return;
    }
    if (m->node != h->last_turn && pl_metadata_is_in_turn(h->w->conv, m->node))
        pl_metadata_write_turn(h->w, m->node);
    h->last_turn = m->node;
}

/* A turn of several messages has one id: later messages append a number to it. */
static void write_id(struct harmony *h, const struct pl_utterance *u, bool is_answer)
{
    struct pl_conv *conv = h->w->conv;
    const struct pl_message *m = u->message;
    if (u->is_rest)
        return;
    if (pl_val_is_set(m->id) || h->conversion->from != &pl_format_turns) {
        pl_w_opt_string(h->w, "id", pl_val_is_set(m->id) || !is_answer ? m->id : conv->answer.id);
        h->turn_id = m->id;
        h->n_of_turn = 0;
        return;
    }
    if (!pl_val_is_set(h->turn_id) || m->node != h->last_turn)
        return;
    struct pl_str id = pl_conv_text(conv, h->turn_id);
    pl_w_key(h->w, "id");
    pl_w_string(h->w, pl_val_text(pl_conv_printf(conv, "%.*s_%u", PL_STR_ARG(id), ++h->n_of_turn)));
}

static void write_message(struct harmony *h, const struct pl_utterance *u, bool is_answer)
{
    struct pl_writer *w = h->w;
    const struct pl_message *m = u->message;
    pl_w_open(w, '{');
    write_id(h, u, is_answer);
    pl_w_key_word(w, "role", role_word(w, u));
    if (u->role == PL_ROLE_TOOL) {
        pl_w_opt_string(w, "tool_call_id", u->parts[0]->id);
        pl_w_opt_string(w, "name", u->parts[0]->name);
    } else if (!u->is_rest) {
        pl_w_opt_string(w, "name", m->name);
    }
    if (!u->is_rest &&
        !pl_instant_write(w, "created_at", m->created_at, h->conversion, PL_INSTANT_SECONDS) &&
        is_answer)
        pl_instant_write(w, "created_at", w->conv->answer.created, h->conversion,
                         PL_INSTANT_SECONDS);
    write_content(h, u);
    if (pl_harmony_has_calls(u))
        pl_harmony_write_calls(w, u);
    if (is_answer)
        pl_metadata_write_answer(w, h->conversion->from, &h->cites, m, false);
    else if (!u->is_rest)
        write_metadata(h, m);
    pl_w_close(w, '}');
}

static void write_messages(struct harmony *h)
{
    bool has_answered = !h->w->conv->answer.is_set;
    pl_w_open(h->w, '[');
    for (size_t i = 0; i < h->said.len; i++) {
        const struct pl_utterance *u = &h->said.ptr[i];
        if (!is_sayable(u))
            continue;
        bool is_answer = !has_answered && u->role == PL_ROLE_ASSISTANT;
        has_answered |= is_answer;
        write_message(h, u, is_answer);
    }
    pl_w_close(h->w, ']');
}

static void write_document(struct harmony *h)
{
    struct pl_writer *w = h->w;
    bool has_tools = pl_own_tools_are_set(w->conv), has_settings = pl_own_settings_are_set(w->conv);
    if (!has_tools && !has_settings) {
        write_messages(h);
        return;
    }
    pl_w_open(w, '{');
    pl_w_key(w, "messages");
    write_messages(h);
    if (has_tools) {
        pl_w_key(w, "tools");
        pl_own_tools_write(w);
    }
    if (has_settings) {
        pl_w_key(w, "settings");
        pl_w_open(w, '{');
        pl_own_settings_write(w);
        pl_w_close(w, '}');
    }
    pl_w_close(w, '}');
}

enum pl_status pl_harmony_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                struct pl_error *err)
{
    struct pl_conv *conv = w->conv;
    if (conv->answer.is_error) {
        pl_conv_loss(conv, PL_LOSS_DROPPED, conv->doc->root, "harmony has no error bodies");
        return pl_fail(err, PL_INVALID,
                       "harmony contains messages; it has no form for an error "
                       "body");
    }
    struct harmony h = {.w = w, .conversion = conversion};
    pl_conv_give_ids(conv);
    enum pl_status status = pl_utterances_make(conv, &h.said);
    if (status != PL_OK)
        return status;
    pl_cites_list(conv, conversion->from, &h.cites);
    write_document(&h);
    pl_cites_list_deinit(&h.cites);
    return conv->status;
}
