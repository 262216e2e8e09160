/* openai-chat: writing responses and errors.
 *
 * A response is one choice with one message for everything the assistant said. Several texts of
 * other formats are joined without a separator, like the pieces of a streamed answer. */
#include "format/openai_chat/openai_chat_int.h"

#include "conv/pairing.h"
#include "format/openai_chat/words.h"
#include "format/pieces/citation.h"
#include "format/pieces/usage.h"

/* Joins everything that the assistant says in an answer into one message, including items that
 * other formats keep separate, whether or not they were marked as one utterance. A call that the
 * vendor has already answered has no place in it: the client would answer it again. */
static enum pl_status gather_answer(struct pl_conv *conv, struct pl_utterance *ret)
{
    const struct pl_part **parts = pl_arena_alloc(conv->arena, conv->parts.len + 1, sizeof *parts);
    if (!parts)
        return conv->status = PL_NOMEM;
    *ret = (struct pl_utterance){.role = PL_ROLE_ASSISTANT, .parts = parts};
    for (size_t i = 0; i < conv->messages.len; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        if (m->role != PL_ROLE_ASSISTANT)
            continue;
        if (!ret->message)
            ret->message = m;
        for (uint32_t k = 0; k < m->n_parts; k++)
            if (!pl_conv_parts(conv, m)[k].is_served)
                parts[ret->n_parts++] = pl_conv_parts(conv, m) + k;
    }
    return PL_OK;
}

static bool is_plain_finish(struct pl_conv *conv, const struct pl_answer *a)
{
    return pl_chat_is_plain_finish(a->finish, pl_conv_text(conv, a->finish_val));
}

static void write_finish(struct pl_writer *w, const struct pl_utterance *u)
{
    const struct pl_answer *a = &w->conv->answer;
    bool has_calls = pl_chat_count(u, PL_PART_CALL) > 0;
    pl_w_key_word(w, "finish_reason", pl_chat_finish_word(a->finish, has_calls));
    if (!pl_val_is_set(a->finish_val))
        pl_conv_loss(w->conv, PL_LOSS_SYNTHESISED, w->conv->doc->root,
                     "the source does not say why the answer ended; finish_reason is required");
    else if (is_plain_finish(w->conv, a))
        pl_w_mapped(w, a->finish_val);
    else if (a->finish_val.node && pl_conv_fate_of(w->conv, a->finish_val.node) != PL_FATE_SAID)
        pl_w_loss(w, PL_LOSS_APPROXIMATED, a->finish_val, "finish_reason has no value for this");
}

static void write_annotation(struct pl_writer *w, const struct pl_cite_entry *entry, size_t base,
                             size_t n_points, bool *is_open)
{
    if (!entry->cited.url)
        return;
    if (!*is_open) {
        pl_w_key(w, "annotations");
        pl_w_open(w, '[');
        *is_open = true;
    }
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", "url_citation");
    pl_w_key(w, "url_citation");
    pl_w_open(w, '{');
    pl_cites_write_range(w, entry, base, n_points);
    pl_cites_write_page(w, entry, "url", true);
    pl_w_close(w, '}');
    pl_w_close(w, '}');
}

/* url_citation is the only kind, and its positions count in the whole content. */
static void write_annotations(struct pl_chat_out *c, const struct pl_utterance *u)
{
    struct pl_conv *conv = c->w->conv;
    struct pl_cites_list list;
    bool is_open = false;
    if (!c->conversion->from->is_vendor)
        return;
    pl_cites_list_pages(conv, c->conversion->from, &list);
    for (uint32_t i = 0, base = 0; list.anchors.len && i < u->n_parts; i++) {
        if (u->parts[i]->kind != PL_PART_TEXT)
            continue;
        size_t n, n_points = pl_cites_count_points(pl_conv_text(conv, u->parts[i]->text));
        const struct pl_cite_anchor *anchors = pl_cites_of(conv, &list, u->parts[i], &n);
        for (size_t k = 0; k < n; k++)
            write_annotation(c->w, &list.entries.ptr[anchors[k].entry], base, n_points, &is_open);
        base += (uint32_t)n_points;
    }
    if (is_open)
        pl_w_close(c->w, ']');
    pl_cites_list_deinit(&list);
}

/* A filter may say what it objects to, in place of the text it removed. A word that finish_reason
 * repeats is no message. */
static void write_refusal(struct pl_writer *w, const struct pl_utterance *u)
{
    const struct pl_answer *a = &w->conv->answer;
    const struct pl_part *refusal = pl_chat_words(u, PL_PART_REFUSAL);
    struct pl_val why = refusal ? refusal->text : (struct pl_val){0};
    if (!refusal && a->finish == PL_FINISH_FILTER) {
        const struct pl_json_node *detail = a->finish_detail.node;
        why = detail && pl_json_kind(detail) == PL_JSON_OBJECT
                  ? pl_conv_get(w->conv, detail, "explanation", PL_WANT_STRING)
                  : a->finish_detail;
        if (!pl_val_is_set(why) && !u->n_parts && !is_plain_finish(w->conv, a))
            why = a->finish_val;
    }
    pl_w_key(w, "refusal");
    if (pl_val_is_set(why))
        pl_w_string(w, why);
    else
        pl_w_null(w);
}

static void write_logprobs(struct pl_writer *w)
{
    struct pl_val logprobs = w->conv->settings.logprobs;
    pl_w_key(w, "logprobs");
    if (logprobs.node && pl_json_kind(logprobs.node) == PL_JSON_OBJECT) {
        pl_w_value(w, logprobs);
    } else if (logprobs.node && pl_json_kind(logprobs.node) == PL_JSON_ARRAY &&
               pl_json_count(logprobs.node)) {
        pl_w_open(w, '{');
        pl_w_opt_value(w, "content", logprobs);
        pl_w_key(w, "refusal");
        pl_w_null(w);
        pl_w_close(w, '}');
    } else {
        pl_w_null(w);
    }
}

static void write_choice(struct pl_chat_out *c, const struct pl_utterance *u)
{
    struct pl_writer *w = c->w;
    pl_w_open(w, '{');
    pl_w_key(w, "index");
    pl_w_int(w, 0);
    pl_w_key(w, "message");
    pl_w_open(w, '{');
    pl_w_key_word(w, "role", "assistant");
    pl_chat_report_order(w, u);
    /* Google may divide one thought; the thoughts of others are paragraphs. */
    pl_chat_write_reasoning(c, u, c->conversion->from == &pl_format_gemini ? "" : "\n\n");
    pl_w_key(w, "content");
    if (pl_chat_words(u, PL_PART_TEXT))
        pl_chat_write_joined(w, u, PL_PART_TEXT, "");
    else
        pl_w_null(w);
    write_refusal(w, u);
    write_annotations(c, u);
    pl_chat_write_images(c, u);
    pl_chat_write_calls(c, u);
    pl_w_close(w, '}');
    write_logprobs(w);
    write_finish(w, u);
    pl_w_close(w, '}');
}

static void write_usage(struct pl_writer *w)
{
    int64_t ignored;
    if (!w->conv->answer.usage.node)
        return;
    bool has_read = pl_usage_get(w->conv, PL_COUNT_CACHE_READ, &ignored);
    bool has_write = pl_usage_get(w->conv, PL_COUNT_CACHE_WRITE, &ignored);
    pl_w_key(w, "usage");
    pl_w_open(w, '{');
    pl_usage_write(w, "prompt_tokens", PL_COUNT_INPUT, true);
    pl_usage_write(w, "completion_tokens", PL_COUNT_OUTPUT, true);
    pl_usage_write(w, "total_tokens", PL_COUNT_TOTAL, true);
    if (has_read || has_write) {
        pl_w_key(w, "prompt_tokens_details");
        pl_w_open(w, '{');
        pl_usage_write(w, "cached_tokens", PL_COUNT_CACHE_READ, false);
        pl_usage_write(w, "cache_write_tokens", PL_COUNT_CACHE_WRITE, false);
        pl_w_close(w, '}');
    }
    if (pl_usage_get(w->conv, PL_COUNT_REASONING, &ignored)) {
        pl_w_key(w, "completion_tokens_details");
        pl_w_open(w, '{');
        pl_usage_write(w, "reasoning_tokens", PL_COUNT_REASONING, false);
        pl_w_close(w, '}');
    }
    pl_w_close(w, '}');
}

/* A required field of the response. */
static void write_required(struct pl_writer *w, const char *key, struct pl_val val,
                           struct pl_str otherwise)
{
    pl_w_key(w, key);
    if (pl_val_is_set(val)) {
        pl_w_value(w, val);
        return;
    }
    pl_w_value(w, pl_val_json(otherwise));
    pl_conv_loss(w->conv, PL_LOSS_SYNTHESISED, w->conv->doc->root,
                 "the source has no %s, but a Chat Completions response needs one", key);
}

static void write_created(struct pl_writer *w, const struct pl_conversion *conversion)
{
    struct pl_val created = w->conv->answer.created;
    pl_w_key(w, "created");
    if (created.node && pl_json_kind(created.node) == PL_JSON_NUMBER) {
        pl_w_value(w, created);
        return;
    }
    pl_w_int(w, conversion->made_s);
    pl_conv_loss(w->conv, PL_LOSS_SYNTHESISED, w->conv->doc->root,
                 "the source has no created, but a Chat Completions response needs one");
}

static enum pl_status write_response(struct pl_chat_out *c)
{
    struct pl_writer *w = c->w;
    const struct pl_answer *a = &w->conv->answer;
    struct pl_utterance u;
    pl_conv_give_ids(w->conv);
    pl_conv_drop_served(w->conv);
    enum pl_status status = gather_answer(w->conv, &u);
    if (status != PL_OK)
        return status;
    pl_w_open(w, '{');
    write_required(w, "id", a->id, PL_STR("\"chatcmpl_1\""));
    pl_w_key_word(w, "object", "chat.completion");
    write_created(w, c->conversion);
    write_required(w, "model", pl_val_is_set(a->model) ? a->model : w->conv->settings.model,
                   PL_STR("\"unknown\""));
    pl_w_key(w, "choices");
    pl_w_open(w, '[');
    write_choice(c, &u);
    pl_w_close(w, ']');
    write_usage(w);
    pl_tier_write(w, PL_TIER_CHAT, "service_tier", a->service_tier);
    pl_w_opt_string(w, "system_fingerprint", a->fingerprint);
    pl_w_close(w, '}');
    return w->conv->status;
}

/* ---- errors ---- */

static void write_error(struct pl_writer *w)
{
    const struct pl_answer *a = &w->conv->answer;
    bool has_type = pl_val_is_set(a->error_type);
    bool is_word = a->error_code.node && pl_json_kind(a->error_code.node) == PL_JSON_STRING;
    pl_w_open(w, '{');
    pl_w_key(w, "error");
    pl_w_open(w, '{');
    pl_w_key(w, "message");
    if (pl_val_is_set(a->error_message))
        pl_w_string(w, a->error_message);
    else
        pl_w_word(w, "");
    pl_w_key(w, "type");
    if (has_type)
        pl_w_string(w, a->error_type);
    else
        pl_w_word(w, pl_chat_error_type(pl_conv_text(w->conv, a->error_status)));
    pl_w_key(w, "param");
    if (pl_val_is_set(a->error_param))
        pl_w_value(w, a->error_param);
    else
        pl_w_null(w);
    pl_w_key(w, "code");
    if (is_word)
        pl_w_string(w, a->error_code);
    else if (pl_val_is_set(a->error_status))
        pl_w_string(w, a->error_status);
    else if (pl_val_is_set(a->error_code))
        pl_w_string(w, a->error_code);
    else
        pl_w_null(w);
    /* A number beside a status is the HTTP status, which is outside the body. */
    if (!is_word && pl_val_is_set(a->error_status))
        pl_w_mapped(w, a->error_code);
    pl_w_close(w, '}');
    pl_w_close(w, '}');
}

enum pl_status pl_chat_write_answer(struct pl_chat_out *c)
{
    if (!c->w->conv->answer.is_error)
        return write_response(c);
    write_error(c->w);
    return c->w->conv->status;
}
