/* openai-chat: writing messages and requests. Settings and tools are in settings.c, responses and
 * errors in answer.c.
 *
 * One utterance is one message. A message that is exactly one text without a cache marker has a
 * string as its content, any other an array; an assistant message with only tool calls has null.
 * The order between text and calls cannot be expressed and is reported. Reasoning goes to
 * reasoning_content, the name that compatible servers share. If a stored turn has proofs that such
 * a server can check, it goes to reasoning_details instead. Other signatures are invalid here and
 * stay in the carry. */
#include "format/openai_chat/openai_chat_int.h"

#include "format/profile.h"

#include "conv/media/sniff.h"
#include "format/pieces/content.h"
#include "format/pieces/tool_name.h"

static bool is_openai(const struct pl_conversion *conversion)
{
    return conversion->from == &pl_format_openai_responses ||
           conversion->from == &pl_format_openai_chat;
}

/* ---- content parts ---- */

/* Only the position of the marker is written. Cache lifetimes differ between vendors and are not
 * guessed. */
static void write_cache(struct pl_chat_out *c, struct pl_val cache)
{
    if (!pl_val_is_set(cache))
        return;
    struct pl_writer *w = c->w;
    pl_w_key(w, "prompt_cache_breakpoint");
    if (is_openai(c->conversion) && pl_conv_node(w->conv, cache.node, "mode")) {
        pl_w_value(w, cache);
        return;
    }
    pl_w_open(w, '{');
    pl_w_key_word(w, "mode", "explicit");
    pl_w_close(w, '}');
    pl_content_know_mark(w->conv, cache.node);
    struct pl_val ttl = pl_conv_get(w->conv, cache.node, "ttl", PL_WANT_STRING);
    if (pl_val_is_set(ttl))
        pl_w_loss(w, PL_LOSS_APPROXIMATED, ttl,
                  "the marker is kept; there is no equivalent of this lifetime (30m, 12h)");
}

static const char *audio_format(struct pl_conv *conv, const struct pl_part *part)
{
    static const struct {
        const char *mime, *format;
    } formats[] = {
        {"audio/wav", "wav"},  {"audio/x-wav", "wav"}, {"audio/wave", "wav"},
        {"audio/mpeg", "mp3"}, {"audio/mp3", "mp3"},
    };
    struct pl_str mime = pl_conv_text(conv, part->mime);
    if (!mime.len)
        mime = pl_str_of(pl_sniff_mime(pl_str_slice(pl_conv_text(conv, part->data), 0, 32)));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (pl_str_eq(mime, pl_str_of(formats[i].mime)))
            return formats[i].format;
    return NULL;
}

/* A router that fetches documents itself takes their address in place of the data. */
static bool has_file_url(const struct pl_chat_out *c, const struct pl_part *part)
{
    return c->conversion->profile && c->conversion->profile->takes_file_url &&
           pl_val_is_set(part->url);
}

/* Whether a user message can hold the part. */
static bool is_sayable(struct pl_chat_out *c, const struct pl_part *part)
{
    switch (part->kind) {
    case PL_PART_TEXT:
        return pl_val_is_set(part->text);
    case PL_PART_IMAGE:
        return pl_val_is_set(part->data) || pl_val_is_set(part->url) ||
               (pl_val_is_set(part->file_id) && is_openai(c->conversion));
    case PL_PART_AUDIO:
        return pl_val_is_set(part->data) && audio_format(c->w->conv, part);
    case PL_PART_VIDEO:
        return c->conversion->profile && c->conversion->profile->takes_video_url &&
               (pl_val_is_set(part->data) || pl_val_is_set(part->url));
    case PL_PART_FILE:
        return pl_val_is_set(part->data) || pl_val_is_set(part->text) || has_file_url(c, part) ||
               (pl_val_is_set(part->file_id) && is_openai(c->conversion));
    case PL_PART_OTHER: /* of a compatible server, back to it */
        return c->conversion->from == c->conversion->to && part->node;
    default:
        return false;
    }
}

static void write_data_url(struct pl_writer *w, const struct pl_part *part)
{
    struct pl_val mime = part->mime;
    if (!pl_val_is_set(mime)) {
        struct pl_str head = part->data.kind == PL_VAL_NODE
                                 ? pl_json_raw(w->conv->doc, part->data.node)
                                 : part->data.str;
        const char *sniffed = pl_sniff_mime(head);
        if (sniffed)
            mime = pl_val_text(pl_str_of(sniffed));
    }
    pl_w_data_url(w, mime, part->data);
}

/* Opens the object `key` with its member "url". */
static void open_url(struct pl_writer *w, const char *key, const struct pl_part *part)
{
    pl_w_key(w, key);
    pl_w_open(w, '{');
    pl_w_key(w, "url");
    if (pl_val_is_set(part->data))
        write_data_url(w, part);
    else
        pl_w_string(w, part->url);
}

static void write_image_body(struct pl_writer *w, const struct pl_part *part)
{
    static const char *const details[] = {"auto", "low", "high", "original", NULL};
    open_url(w, "image_url", part);
    if (pl_conv_word(w->conv, part->detail.node, details) >= 0)
        pl_w_opt_string(w, "detail", part->detail);
    pl_w_close(w, '}');
}

static void write_video_body(struct pl_writer *w, const struct pl_part *part)
{
    open_url(w, "video_url", part);
    pl_w_close(w, '}');
}

static void write_file_body(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_key(w, "file");
    pl_w_open(w, '{');
    pl_w_opt_string(w, "filename", part->name);
    if (pl_val_is_set(part->data)) {
        pl_w_key(w, "file_data");
        write_data_url(w, part);
    } else if (!pl_val_is_set(part->file_id)) {
        pl_w_opt_string(w, "file_data", part->url);
    } else {
        pl_w_opt_string(w, "file_id", part->file_id);
    }
    pl_w_close(w, '}');
}

static void write_audio_body(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_key(w, "input_audio");
    pl_w_open(w, '{');
    pl_w_opt_string(w, "data", part->data);
    const char *format = audio_format(w->conv, part);
    pl_w_key_word(w, "format", format);
    pl_w_mapped(w, part->mime);
    /* audio/wav and wav are the same word; audio/mpeg and mp3 are not. */
    struct pl_str mime = pl_conv_text(w->conv, part->mime);
    if (part->mime.kind != PL_VAL_TEXT && mime.len &&
        !pl_str_eq(pl_str_slice(mime, strlen("audio/"), mime.len), pl_str_of(format)))
        pl_w_loss(w, PL_LOSS_MOVED, part->mime, "the format identifies the kind of audio");
    pl_w_close(w, '}');
}

static void write_text_body(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_key_word(w, "type", "text");
    pl_w_opt_string(w, "text", part->text);
    if (part->kind == PL_PART_FILE)
        pl_w_loss(w, PL_LOSS_APPROXIMATED, part->text,
                  "there is no plain-text document here; its content is written as text");
}

static void write_part(struct pl_chat_out *c, const struct pl_part *part, struct pl_val cache)
{
    struct pl_writer *w = c->w;
    bool has_data = pl_val_is_set(part->data);
    if (part->kind == PL_PART_OTHER) {
        pl_w_value(w, pl_val_node(part->node));
        return;
    }
    pl_w_open(w, '{');
    if (part->kind == PL_PART_AUDIO) {
        pl_w_key_word(w, "type", "input_audio");
        write_audio_body(w, part);
    } else if (part->kind == PL_PART_VIDEO) {
        pl_w_key_word(w, "type", "video_url");
        write_video_body(w, part);
    } else if (part->kind == PL_PART_IMAGE && (has_data || pl_val_is_set(part->url))) {
        pl_w_key_word(w, "type", "image_url");
        write_image_body(w, part);
    } else if (part->kind == PL_PART_IMAGE ||
               (part->kind == PL_PART_FILE && (has_data || !pl_val_is_set(part->text)))) {
        pl_w_key_word(w, "type", "file");
        write_file_body(w, part);
    } else {
        write_text_body(w, part);
    }
    write_cache(c, cache);
    pl_w_close(w, '}');
}

/* The parts of a list that a message can hold: texts only, or whatever is_sayable() allows. */
struct content {
    const struct pl_part *const *parts;
    uint32_t n_parts;
    bool is_text_only;
    struct pl_val last_cache; /* a marker on the whole, for its last part */
};

static bool is_in(struct pl_chat_out *c, const struct content *content, const struct pl_part *part)
{
    return is_sayable(c, part) &&
           (part->kind == PL_PART_TEXT || part->kind == PL_PART_OTHER || !content->is_text_only);
}

static void write_content(struct pl_chat_out *c, const struct content *content)
{
    uint32_t n = 0, last = 0;
    for (uint32_t i = 0; i < content->n_parts; i++)
        if (is_in(c, content, content->parts[i])) {
            n++;
            last = i;
        }
    struct pl_writer *w = c->w;
    const struct pl_part *only = n == 1 ? content->parts[last] : NULL;
    if (n == 0) {
        pl_w_word(w, "");
        return;
    }
    if (only && only->kind == PL_PART_TEXT && !pl_val_is_set(only->cache) &&
        !pl_val_is_set(content->last_cache)) {
        pl_w_string(w, only->text);
        return;
    }
    pl_w_open(w, '[');
    for (uint32_t i = 0; i < content->n_parts; i++) {
        const struct pl_part *part = content->parts[i];
        if (!is_in(c, content, part))
            continue;
        bool takes_mark = i == last && !pl_val_is_set(part->cache);
        write_part(c, part, takes_mark ? content->last_cache : part->cache);
    }
    pl_w_close(w, ']');
}

/* ---- assistant messages ---- */

uint32_t pl_chat_count(const struct pl_utterance *u, enum pl_part_kind kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->n_parts; i++)
        n += u->parts[i]->kind == kind;
    return n;
}

static bool has_words(const struct pl_part *part, enum pl_part_kind kind)
{
    return part->kind == kind && pl_val_is_set(part->text);
}

/* Writes the texts of all parts of one kind as one string: a single one is copied, several are
 * joined and reported. */
void pl_chat_write_joined(struct pl_writer *w, const struct pl_utterance *u, enum pl_part_kind kind,
                          const char *glue)
{
    struct pl_val *texts = pl_arena_alloc(w->conv->arena, u->n_parts + 1, sizeof *texts);
    size_t n = 0;
    if (!texts) {
        w->conv->status = PL_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (has_words(u->parts[i], kind))
            texts[n++] = u->parts[i]->text;
    if (n == 1)
        pl_w_string(w, texts[0]);
    else
        pl_w_joined(w, texts, n, glue);
    for (size_t i = 1; i < n; i++)
        pl_w_loss(w, PL_LOSS_MERGED, texts[i],
                  "there is only one string for all of it; this follows the previous text");
}

/* The only possible order is reasoning, then text, then calls. */
void pl_chat_report_order(struct pl_writer *w, const struct pl_utterance *u)
{
    static const int ranks[PL_PART_KIND_COUNT] = {
        [PL_PART_THINKING] = 1, [PL_PART_TEXT] = 2, [PL_PART_CALL] = 3};
    int highest = 0;
    for (uint32_t i = 0; i < u->n_parts; i++) {
        int rank = ranks[u->parts[i]->kind];
        if (rank && rank < highest && pl_val_is_set(u->parts[i]->text))
            pl_w_loss(w, PL_LOSS_REORDERED, u->parts[i]->text,
                      "reasoning, text and tool calls have fixed places here; this came after what "
                      "now follows it");
        if (rank > highest)
            highest = rank;
    }
}

/* Google's own compatible server documents this member. */
static void write_google_signature(struct pl_writer *w, struct pl_val signature)
{
    if (!pl_val_is_set(signature))
        return;
    pl_w_key(w, "extra_content");
    pl_w_open(w, '{');
    pl_w_key(w, "google");
    pl_w_open(w, '{');
    pl_w_opt_string(w, "thought_signature", signature);
    pl_w_close(w, '}');
    pl_w_close(w, '}');
}

static void write_call(struct pl_chat_out *c, const struct pl_part *call)
{
    struct pl_writer *w = c->w;
    const char *type = call->is_custom ? "custom" : "function";
    pl_w_open(w, '{');
    pl_w_opt_string(w, "id", call->id);
    pl_w_key_word(w, "type", type);
    pl_w_key(w, type);
    pl_w_open(w, '{');
    pl_w_key(w, "name");
    pl_tool_name_write(w, call->name, PL_CHAT_NAME_MAX);
    pl_w_key(w, call->is_custom ? "input" : "arguments");
    pl_w_string(w, pl_val_is_set(call->args)
                       ? call->args
                       : pl_val_text(call->is_custom ? PL_STR("") : PL_STR("{}")));
    pl_w_close(w, '}');
    bool is_googles = !call->home && c->conversion->from == &pl_format_gemini;
    if (is_googles || pl_chat_is_kept(c, call))
        write_google_signature(w, call->signature);
    pl_w_close(w, '}');
}

void pl_chat_write_calls(struct pl_chat_out *c, const struct pl_utterance *u)
{
    if (!pl_chat_count(u, PL_PART_CALL))
        return;
    pl_w_key(c->w, "tool_calls");
    pl_w_open(c->w, '[');
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (u->parts[i]->kind == PL_PART_CALL)
            write_call(c, u->parts[i]);
    pl_w_close(c->w, ']');
}

void pl_chat_write_images(struct pl_chat_out *c, const struct pl_utterance *u)
{
    bool is_open = false;
    for (uint32_t i = 0; i < u->n_parts; i++) {
        const struct pl_part *part = u->parts[i];
        if (part->kind != PL_PART_IMAGE ||
            (!pl_val_is_set(part->data) && !pl_val_is_set(part->url)))
            continue;
        if (!is_open) {
            pl_w_key(c->w, "images");
            pl_w_open(c->w, '[');
            is_open = true;
        }
        pl_w_open(c->w, '{');
        pl_w_key_word(c->w, "type", "image_url");
        write_image_body(c->w, part);
        pl_w_close(c->w, '}');
    }
    if (is_open)
        pl_w_close(c->w, ']');
}

const struct pl_part *pl_chat_words(const struct pl_utterance *u, enum pl_part_kind kind)
{
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (has_words(u->parts[i], kind))
            return u->parts[i];
    return NULL;
}

/* The signature that Google's compatible server puts next to the text belongs to its last part. */
static void write_text_signature(struct pl_chat_out *c, const struct pl_utterance *u)
{
    const struct pl_part *last = NULL;
    for (uint32_t i = 0; i < u->n_parts; i++)
        if (u->parts[i]->kind == PL_PART_TEXT)
            last = u->parts[i];
    if (last && pl_chat_is_kept(c, last))
        write_google_signature(c->w, last->signature);
}

static void write_assistant(struct pl_chat_out *c, const struct pl_utterance *u)
{
    struct pl_writer *w = c->w;
    const struct pl_part *refusal = pl_chat_words(u, PL_PART_REFUSAL);
    bool has_text = pl_chat_words(u, PL_PART_TEXT) != NULL;
    pl_chat_report_order(w, u);
    pl_chat_write_reasoning(c, u, "\n\n");
    pl_w_key(w, "content");
    if (!has_text && (refusal || pl_chat_count(u, PL_PART_CALL)))
        pl_w_null(w);
    else
        write_content(c, &(struct content){u->parts, u->n_parts, true, u->message->cache});
    if (refusal)
        pl_w_opt_string(w, "refusal", refusal->text);
    pl_chat_write_images(c, u);
    pl_chat_write_calls(c, u);
    write_text_signature(c, u);
}

/* ---- tool results ---- */

/* The call names its tool, so dropping the name in the result is no loss. */
static void know_name(struct pl_chat_out *c, const struct pl_part *result)
{
    struct pl_conv *conv = c->w->conv;
    if (!pl_val_is_set(result->name))
        return;
    const struct pl_part *call = pl_call_index_find(&c->calls, conv, result);
    if (call && pl_str_eq(pl_conv_text(conv, call->name), pl_conv_text(conv, result->name)))
        pl_w_mapped(c->w, result->name);
}

static void write_result(struct pl_chat_out *c, const struct pl_part *result)
{
    struct pl_writer *w = c->w;
    struct pl_conv *conv = w->conv;
    const struct pl_part *children = pl_conv_children(conv, result);
    const struct pl_part **parts =
        pl_arena_alloc(conv->arena, result->n_children + 1, sizeof *parts);
    if (!parts) {
        conv->status = PL_NOMEM;
        return;
    }
    for (uint32_t i = 0; i < result->n_children; i++)
        parts[i] = &children[i];
    pl_w_opt_string(w, "tool_call_id", result->id);
    pl_w_key(w, "content");
    write_content(c, &(struct content){parts, result->n_children, true, result->cache});
    know_name(c, result);
    /* The content shows the failure (format/adapt/flag_errors.h). */
    if (result->is_error.is_set)
        pl_w_mapped(w, result->is_error.val);
}

/* ---- requests ---- */

static const char *const role_words[] = {
    [PL_ROLE_SYSTEM] = "system",       [PL_ROLE_DEVELOPER] = "developer", [PL_ROLE_USER] = "user",
    [PL_ROLE_ASSISTANT] = "assistant", [PL_ROLE_TOOL] = "tool",
};

static void write_message(struct pl_chat_out *c, const struct pl_utterance *u)
{
    struct pl_writer *w = c->w;
    pl_w_open(w, '{');
    pl_w_key_word(w, "role", role_words[u->role]);
    if (u->role == PL_ROLE_TOOL) {
        write_result(c, u->parts[0]);
    } else {
        if (!u->is_rest)
            pl_w_opt_string(w, "name", u->message->name);
        if (u->role == PL_ROLE_ASSISTANT) {
            write_assistant(c, u);
        } else {
            pl_w_key(w, "content");
            write_content(c, &(struct content){u->parts, u->n_parts, u->role != PL_ROLE_USER,
                                               u->message->cache});
        }
    }
    pl_w_close(w, '}');
}

/* Empty instructions outside the list are not a turn. */
static bool is_nothing(const struct pl_utterance *u)
{
    return u->n_parts == 0 && u->message->element == PL_NO_ELEMENT &&
           (u->role == PL_ROLE_SYSTEM || u->role == PL_ROLE_DEVELOPER);
}

static enum pl_status write_request(struct pl_chat_out *c, struct pl_error *err)
{
    struct pl_writer *w = c->w;
    struct pl_utterances all;
    pl_conv_give_ids(w->conv);
    pl_call_index_init(&c->calls, w->conv);
    enum pl_status status = pl_utterances_make(w->conv, &all);
    if (status != PL_OK)
        return status;
    uint32_t n_written = 0;
    pl_w_open(w, '{');
    pl_w_opt_string(w, "model", w->conv->settings.model);
    pl_w_key(w, "messages");
    pl_w_open(w, '[');
    for (size_t i = 0; i < all.len && w->conv->status == PL_OK; i++)
        if (!is_nothing(&all.ptr[i])) {
            write_message(c, &all.ptr[i]);
            n_written++;
        }
    pl_w_close(w, ']');
    pl_openai_chat_write_settings(w, c->conversion);
    pl_w_close(w, '}');
    if (!n_written && w->conv->status == PL_OK) {
        pl_conv_loss(w->conv, PL_LOSS_DROPPED, w->conv->list ? w->conv->list : w->conv->doc->root,
                     "it contains no message, but a Chat Completions request needs one");
        return pl_fail(err, PL_INVALID,
                       "the conversation has no message, but a Chat Completions request needs one");
    }
    return w->conv->status;
}

enum pl_status pl_openai_chat_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                    struct pl_error *err)
{
    struct pl_chat_out c = {.w = w, .conversion = conversion};
    enum pl_status status =
        conversion->kind == PL_KIND_RESPONSE ? pl_chat_write_answer(&c) : write_request(&c, err);
    return status;
}
