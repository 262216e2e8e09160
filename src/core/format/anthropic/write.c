/* Writing Anthropic Messages: requests, responses and error bodies.
 *
 * Leading system instructions go to `system`, one block each; later ones stay in place. The results
 * that answer one turn go into one user message. A message without anything to write is left out
 * and reported, since the vendor refuses an empty one. */
#include "format/anthropic/anthropic_int.h"

#include "conv/call_ids.h"
#include "conv/pairing.h"
#include "format/anthropic/words.h"
#include "format/pieces/usage.h"

#define MAX_MARKS 4

static bool is_system(const struct pl_message *m)
{
    return m->role == PL_ROLE_SYSTEM || m->role == PL_ROLE_DEVELOPER;
}

static void open_message(struct pl_writer *w, const struct pl_message *m)
{
    if (is_system(m))
        pl_w_open_with(w, "\"role\":\"system\",\"content\":");
    else if (m->role == PL_ROLE_ASSISTANT)
        pl_w_open_with(w, "\"role\":\"assistant\",\"content\":");
    else
        pl_w_open_with(w, "\"role\":\"user\",\"content\":");
}

/* A run of canonical messages that becomes one message here. */
struct group {
    size_t first, end;
};

static bool joins(const struct pl_message *a, const struct pl_message *b)
{
    if (is_system(a) || is_system(b) ||
        (a->role == PL_ROLE_ASSISTANT) != (b->role == PL_ROLE_ASSISTANT))
        return false;
    return (a->role == PL_ROLE_TOOL && b->role == PL_ROLE_TOOL) || b->is_phase_split ||
           (a->node && a->node == b->node);
}

static struct group group_at(const struct pl_conv *conv, size_t first)
{
    struct group g = {first, first + 1};
    while (g.end < conv->messages.len &&
           joins(&conv->messages.ptr[g.end - 1], &conv->messages.ptr[g.end]))
        g.end++;
    return g;
}

/* The output of a group: the number of its blocks, the first one, and whether it calls a tool. */
struct said {
    uint32_t n, n_all;
    const struct pl_part *first;
    bool has_call;
};

static struct said said_by(struct pl_anthropic_out *o, struct group g)
{
    struct said said = {0};
    for (size_t i = g.first; i < g.end; i++) {
        const struct pl_message *m = &o->conv->messages.ptr[i];
        const struct pl_part *parts = pl_conv_parts(o->conv, m);
        said.n_all += m->n_parts;
        for (uint32_t k = 0; k < m->n_parts; k++) {
            if (!pl_anthropic_can_say(o, m->role, &parts[k]))
                continue;
            if (said.n++ == 0)
                said.first = &parts[k];
            said.has_call |= parts[k].kind == PL_PART_CALL;
        }
    }
    return said;
}

static void drop(struct pl_anthropic_out *o, const struct pl_part *part, bool has_call)
{
    /* Some formats write "" beside calls for an absent text. */
    if (part->kind == PL_PART_TEXT && !part->node && has_call &&
        pl_conv_text(o->conv, part->text).len == 0)
        pl_w_mapped(o->w, part->text);
    else
        pl_anthropic_drop(o, part);
}

static void put_blocks(struct pl_anthropic_out *o, struct group g, struct said said)
{
    bool says_all = said.n == said.n_all;
    pl_w_open(o->w, '[');
    for (size_t i = g.first; i < g.end; i++) {
        const struct pl_message *m = &o->conv->messages.ptr[i];
        const struct pl_part *parts = pl_conv_parts(o->conv, m);
        for (uint32_t k = 0; k < m->n_parts; k++)
            if (says_all || pl_anthropic_can_say(o, m->role, &parts[k]))
                pl_anthropic_put_block(o, &parts[k]);
    }
    pl_w_close(o->w, ']');
}

static void drop_rest(struct pl_anthropic_out *o, struct group g, bool has_call)
{
    for (size_t i = g.first; i < g.end; i++) {
        const struct pl_message *m = &o->conv->messages.ptr[i];
        const struct pl_part *parts = pl_conv_parts(o->conv, m);
        for (uint32_t k = 0; k < m->n_parts; k++)
            if (!pl_anthropic_can_say(o, m->role, &parts[k]))
                drop(o, &parts[k], has_call);
    }
}

/* A content string stays a string if it is the only block. */
static bool is_plain(struct said said)
{
    return said.n == 1 && said.first->kind == PL_PART_TEXT && !said.first->node &&
           !pl_val_is_set(said.first->cache) && !pl_val_is_set(said.first->citations);
}

static void report_unsaid(struct pl_anthropic_out *o, struct group g)
{
    const struct pl_conv *conv = o->conv;
    for (size_t i = g.first; i < g.end; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        bool is_shared = (i > 0 && conv->messages.ptr[i - 1].node == m->node) ||
                         (i + 1 < conv->messages.len && conv->messages.ptr[i + 1].node == m->node);
        if (m->node && !is_shared)
            pl_conv_loss(o->conv, PL_LOSS_DROPPED, m->node,
                         "this message has nothing that Anthropic accepts, and an empty one is "
                         "refused; it is left out");
    }
}

/* True if a message was written. */
static bool put_message(struct pl_anthropic_out *o, struct group g)
{
    struct said said = said_by(o, g);
    if (!said.n) {
        report_unsaid(o, g);
        return false;
    }
    open_message(o->w, &o->conv->messages.ptr[g.first]);
    if (is_plain(said))
        pl_w_string(o->w, said.first->text);
    else
        put_blocks(o, g, said);
    pl_w_close(o->w, '}');
    if (said.n < said.n_all)
        drop_rest(o, g, said.has_call);
    return true;
}

/* The number of leading messages that go to `system`. If there are no others, the last one stays: a
 * request without messages is refused. */
static size_t count_leading(struct pl_anthropic_out *o)
{
    const struct pl_conv *conv = o->conv;
    size_t n = 0, last_said = 0;
    for (; n < conv->messages.len && is_system(&conv->messages.ptr[n]); n++)
        if (said_by(o, (struct group){n, n + 1}).n)
            last_said = n;
    return n == conv->messages.len ? last_said : n;
}

static void put_system(struct pl_anthropic_out *o, size_t n_leading)
{
    struct group g = {0, n_leading};
    struct said said = said_by(o, g);
    bool is_text = said.n == 1 && said.first->kind == PL_PART_TEXT &&
                   !pl_val_is_set(said.first->cache) && !(o->is_home && said.first->node);
    if (said.n)
        pl_w_key(o->w, "system");
    if (is_text)
        pl_w_string(o->w, said.first->text);
    else if (said.n)
        put_blocks(o, g, said);
    drop_rest(o, g, false);
}

/* A marker on a message moves to its last block; one inside a result moves to the result, where the
 * vendor looks for it. */
static void settle_marks(struct pl_anthropic_out *o, struct pl_message *m)
{
    struct pl_part *parts = pl_conv_parts(o->conv, m), *last = NULL;
    for (uint32_t k = 0; k < m->n_parts; k++) {
        struct pl_part *part = &parts[k], *children = pl_conv_children(o->conv, part);
        for (uint32_t c = part->n_children; c-- && !o->is_home;)
            if (pl_val_is_set(children[c].cache) && !pl_val_is_set(part->cache)) {
                part->cache = children[c].cache;
                children[c].cache = (struct pl_val){0};
            }
        if (pl_anthropic_can_say(o, m->role, part) && part->kind != PL_PART_THINKING &&
            part->kind != PL_PART_REDACTED && part->kind != PL_PART_OTHER)
            last = part;
    }
    if (!last || !pl_val_is_set(m->cache))
        return;
    if (pl_val_is_set(last->cache))
        pl_conv_know_all(o->conv, m->cache.node);
    else
        last->cache = m->cache;
    m->cache = (struct pl_val){0};
}

static void count_mark(struct pl_anthropic_out *o, struct pl_val *mark, size_t *n_marks)
{
    (void)o;
    *n_marks += pl_val_is_set(*mark);
}

/* Drops a marker while there are too many: later markers cover a longer prefix. */
static void thin_mark(struct pl_anthropic_out *o, struct pl_val *mark, size_t *n_over)
{
    if (!pl_val_is_set(*mark) || *n_over == 0)
        return;
    --*n_over;
    pl_w_loss(o->w, PL_LOSS_DROPPED, *mark,
              "Anthropic accepts at most 4 cache markers; the last ones are kept");
    *mark = (struct pl_val){0};
}

static bool has_marks(const struct pl_conv *conv)
{
    bool has = false;
    for (size_t i = 0; i < conv->tools.len; i++)
        has |= pl_val_is_set(conv->tools.ptr[i].cache);
    for (size_t i = 0; i < conv->messages.len; i++)
        has |= pl_val_is_set(conv->messages.ptr[i].cache);
    for (size_t i = 0; i < conv->parts.len; i++)
        has |= pl_val_is_set(conv->parts.ptr[i].cache);
    for (size_t i = 0; i < conv->children.len; i++)
        has |= pl_val_is_set(conv->children.ptr[i].cache);
    return has;
}

/* Calls `visit` for every marker in prompt order. */
static void each_mark(struct pl_anthropic_out *o,
                      void (*visit)(struct pl_anthropic_out *, struct pl_val *, size_t *),
                      size_t *count)
{
    struct pl_conv *conv = o->conv;
    for (size_t i = 0; i < conv->tools.len; i++)
        visit(o, &conv->tools.ptr[i].cache, count);
    for (size_t i = 0; i < conv->messages.len; i++) {
        struct pl_part *parts = pl_conv_parts(conv, &conv->messages.ptr[i]);
        for (uint32_t k = 0; k < conv->messages.ptr[i].n_parts; k++) {
            struct pl_part *children = pl_conv_children(conv, &parts[k]);
            for (uint32_t c = 0; c < parts[k].n_children; c++)
                visit(o, &children[c].cache, count);
            visit(o, &parts[k].cache, count);
        }
    }
}

static void thin_marks(struct pl_anthropic_out *o)
{
    size_t n_marks = 0, n_over = 0;
    if (!has_marks(o->conv))
        return;
    for (size_t i = 0; i < o->conv->messages.len; i++)
        settle_marks(o, &o->conv->messages.ptr[i]);
    each_mark(o, count_mark, &n_marks);
    if (n_marks > MAX_MARKS)
        n_over = n_marks - MAX_MARKS;
    each_mark(o, thin_mark, &n_over);
}

static enum pl_status put_request(struct pl_anthropic_out *o, struct pl_error *err)
{
    struct pl_conv *conv = o->conv;
    size_t n_leading = count_leading(o), n_written = 0;
    thin_marks(o);
    pl_w_open(o->w, '{');
    pl_w_opt_string(o->w, "model", conv->settings.model);
    pl_anthropic_put_limit(o);
    put_system(o, n_leading);
    pl_w_key(o->w, "messages");
    pl_w_open(o->w, '[');
    for (size_t i = n_leading; i < conv->messages.len;) {
        struct group g = group_at(conv, i);
        n_written += put_message(o, g);
        i = g.end;
    }
    pl_w_close(o->w, ']');
    pl_anthropic_put_tools(o);
    pl_anthropic_put_settings(o);
    pl_w_close(o->w, '}');
    if (n_written || conv->status != PL_OK)
        return conv->status;
    if (!conv->messages.len)
        pl_conv_loss(conv, PL_LOSS_DROPPED, conv->list ? conv->list : conv->doc->root,
                     "it contains no message, but Anthropic requires one");
    return pl_fail(err, PL_INVALID,
                   "Anthropic requires at least one message, but accepts nothing of this "
                   "conversation; the report says why");
}

/* Responses. */

static const struct pl_part *refusal_of(const struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->parts.len; i++)
        if (conv->parts.ptr[i].kind == PL_PART_REFUSAL && pl_val_is_set(conv->parts.ptr[i].text))
            return &conv->parts.ptr[i];
    return NULL;
}

/* Writes everything the assistant said; returns whether it called a tool that still waits for a
 * result. */
static bool put_answer_content(struct pl_anthropic_out *o)
{
    bool has_call = false;
    pl_w_key(o->w, "content");
    pl_w_open(o->w, '[');
    for (size_t i = 0; i < o->conv->messages.len; i++) {
        const struct pl_message *m = &o->conv->messages.ptr[i];
        for (uint32_t k = 0; k < m->n_parts && m->role == PL_ROLE_ASSISTANT; k++) {
            const struct pl_part *part = pl_conv_parts(o->conv, m) + k;
            if (part->is_served)
                continue;
            has_call |= part->kind == PL_PART_CALL;
            if (pl_anthropic_can_say(o, m->role, part))
                pl_anthropic_put_block(o, part);
            else if (part->kind == PL_PART_TEXT)
                pl_w_mapped(o->w, part->text); /* an empty text in an answer is no text */
        }
    }
    pl_w_close(o->w, ']');
    return has_call;
}

static void put_stop_reason(struct pl_anthropic_out *o, bool has_call, bool has_refusal)
{
    const struct pl_answer *a = &o->conv->answer;
    const char *word = pl_anthropic_finish_word((struct pl_anthropic_ending){
        a->finish, has_call, has_refusal, pl_val_is_set(a->stop_sequence)});
    pl_w_key(o->w, "stop_reason");
    if (o->is_home && pl_val_is_set(a->finish_val)) {
        pl_w_string(o->w, a->finish_val);
        return;
    }
    pl_w_word(o->w, word);
    if (a->finish == PL_FINISH_NONE)
        pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, o->conv->doc->root,
                     "the source does not say why it stopped; stop_reason is %s", word);
    else if (a->finish == PL_FINISH_OTHER)
        pl_conv_loss(o->conv, PL_LOSS_APPROXIMATED, a->finish_val.node,
                     "Anthropic has no such stop reason; it is %s", word);
    else
        pl_w_mapped(o->w, a->finish_val);
}

/* The reason of a refusal, by the vendor or the model. */
static void put_stop_details(struct pl_anthropic_out *o, const struct pl_part *refusal)
{
    const struct pl_answer *a = &o->conv->answer;
    struct pl_val why = refusal ? refusal->text : a->finish_detail;
    if (!pl_val_is_set(why) || (!refusal && a->finish != PL_FINISH_FILTER))
        return;
    if (why.kind == PL_VAL_NODE && pl_json_kind(why.node) != PL_JSON_STRING)
        return;
    pl_w_key(o->w, "stop_details");
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "refusal");
    pl_w_key(o->w, "category");
    pl_w_null(o->w);
    pl_w_key(o->w, "explanation");
    pl_w_string(o->w, why);
    pl_w_close(o->w, '}');
}

static void put_usage(struct pl_anthropic_out *o)
{
    int64_t reasoning = 0;
    pl_w_key(o->w, "usage");
    pl_w_open(o->w, '{');
    pl_usage_write(o->w, "input_tokens", PL_COUNT_INPUT_BARE, true);
    pl_usage_write(o->w, "cache_creation_input_tokens", PL_COUNT_CACHE_WRITE, false);
    pl_usage_write(o->w, "cache_read_input_tokens", PL_COUNT_CACHE_READ, false);
    pl_usage_write(o->w, "output_tokens", PL_COUNT_OUTPUT, true);
    if (pl_usage_get(o->conv, PL_COUNT_REASONING, &reasoning)) {
        pl_w_key(o->w, "output_tokens_details");
        pl_w_open(o->w, '{');
        pl_usage_write(o->w, "thinking_tokens", PL_COUNT_REASONING, false);
        pl_w_close(o->w, '}');
    }
    pl_tier_write(o->w, PL_TIER_ANTHROPIC, "service_tier", o->conv->answer.service_tier);
    pl_w_close(o->w, '}');
    pl_usage_imply_total(o->w);
}

/* Writes a required string, from the source or `fallback`. */
static void put_required(struct pl_anthropic_out *o, const char *key, struct pl_val val,
                         const char *fallback)
{
    pl_w_key(o->w, key);
    if (pl_val_is_set(val)) {
        pl_w_string(o->w, val);
        return;
    }
    pl_w_word(o->w, fallback);
    pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, o->conv->doc->root,
                 "an Anthropic response needs %s, but the source has none; it is \"%s\"", key,
                 fallback);
}

static enum pl_status put_response(struct pl_anthropic_out *o)
{
    struct pl_conv *conv = o->conv;
    const struct pl_answer *a = &conv->answer;
    const struct pl_part *refusal = refusal_of(conv);
    pl_w_open(o->w, '{');
    put_required(o, "id", a->id, "msg_1");
    pl_w_key_word(o->w, "type", "message");
    pl_w_key_word(o->w, "role", "assistant");
    put_required(o, "model", pl_val_is_set(a->model) ? a->model : conv->settings.model, "unknown");
    pl_conv_drop_served(conv);
    bool has_call = put_answer_content(o);
    put_stop_reason(o, has_call, refusal != NULL);
    pl_w_key(o->w, "stop_sequence");
    if (pl_val_is_set(a->stop_sequence))
        pl_w_value(o->w, a->stop_sequence);
    else
        pl_w_null(o->w);
    put_stop_details(o, refusal);
    put_usage(o);
    pl_w_close(o->w, '}');
    return conv->status;
}

static void put_error_type(struct pl_anthropic_out *o)
{
    const struct pl_answer *a = &o->conv->answer;
    const struct pl_val said[] = {a->error_code, a->error_status, a->error_type};
    const char *ours = NULL;
    pl_w_key(o->w, "type");
    if (o->is_home && pl_val_is_set(a->error_type)) {
        pl_w_string(o->w, a->error_type);
        return;
    }
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const char *word = pl_anthropic_error_type(pl_conv_text(o->conv, said[i]));
        if (!ours)
            ours = word;
        /* Marks another name for the same value as said. */
        if (word && word == ours)
            pl_w_mapped(o->w, said[i]);
    }
    pl_w_word(o->w, ours ? ours : "api_error");
    if (!ours)
        pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, o->conv->doc->root,
                     "Anthropic has no such error type; it is api_error");
}

static enum pl_status put_error(struct pl_anthropic_out *o)
{
    const struct pl_answer *a = &o->conv->answer;
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "error");
    pl_w_key(o->w, "error");
    pl_w_open(o->w, '{');
    put_error_type(o);
    put_required(o, "message", a->error_message, "there is no error message");
    pl_w_close(o->w, '}');
    pl_w_opt_string(o->w, "request_id", a->request_id);
    pl_w_close(o->w, '}');
    return o->conv->status;
}

enum pl_status pl_anthropic_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                  struct pl_error *err)
{
    struct pl_anthropic_out o = {
        .w = w,
        .conv = w->conv,
        .conversion = conversion,
        .is_home = conversion->from == &pl_format_anthropic,
        .is_response = conversion->kind == PL_KIND_RESPONSE,
    };
    enum pl_status status;
    pl_conv_give_ids(w->conv);
    if (!o.is_response)
        status = put_request(&o, err);
    else if (w->conv->answer.is_error)
        status = put_error(&o);
    else
        status = put_response(&o);
    pl_map_deinit(&o.calls);
    return status != PL_OK ? status : w->conv->status;
}
