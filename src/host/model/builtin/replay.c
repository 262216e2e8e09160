/* Plays recorded turns again: `replay/<session>`. The turns to play come with the request; the
 * server checks the owner of the session and chooses the next turns.
 *
 * Text and thinking come word by word, calls with their results, everything else as whole blocks.
 * The words and blocks of a turn are spread evenly over its recorded duration. Nothing is executed
 * again. Actions on a page (tool_bridge) are left out, so that they never happen twice.
 *
 * Time is recording time: it runs `rate` times as fast as the clock, and stops while the replay is
 * paused. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text/uuid.h"
#include "base/vec.h"
#include "io/clock.h"
#include "json/json.h"
#include "json/number.h"
#include "json/text.h"
#include "json/write.h"
#include "model/builtin/paced.h"

#define MAX_TURN_MS 10000            /* a replay does not wait for a slow tool again */
#define MAX_MS      (20 * 60 * 1000) /* of a whole replay, to stay within the limit of a turn */
#define PAUSE_MS    60000            /* interval of checks while paused; resuming wakes it */
#define AT_ONCE     1e9              /* the rate for playing without delays */

static const struct pl_model_info family = {
    "replay/", "Replays a recorded session, without running anything", 0, true};

struct pl_str pl_model_replayed(struct pl_str name)
{
    struct pl_str prefix = pl_str_of(family.name);
    if (!pl_str_starts(name, prefix))
        return (struct pl_str){0};
    struct pl_str id = pl_str_slice(name, prefix.len, name.len);
    return pl_id_is(id, "sess_") ? id : (struct pl_str){0};
}

static bool owns(struct pl_str name)
{
    return pl_model_replayed(name).len;
}

/* A block and its time: its n_units words are spread evenly over for_ms, starting at from_ms. */
struct piece {
    struct pl_model_block block; /* arena */
    struct pl_str text;          /* of a block that is played word by word; arena */
    bool is_worded, is_thinking;
    const struct pl_model_played *call; /* arena; for a block that makes a call … */
    bool is_result;                     /* … or holds its result */
    int64_t n_units;                    /* words; 1 for a whole block */
    double from_ms, for_ms;
};

struct replay_call {
    struct pl_paced paced;
    PL_VEC(struct piece) pieces;
    size_t at_piece;
    int64_t at_unit;    /* within the piece */
    struct pl_str rest; /* of the piece's text */
    double end_ms;
    double rate, played_ms;            /* recording time when the rate was set … */
    int64_t paced_ms;                  /* … and the clock at that time */
    struct pl_str model, usage, error; /* arena; error is {NULL, 0} on success */
};

static struct replay_call *replay_of(struct pl_paced *paced)
{
    return PL_CONTAINER_OF(paced, struct replay_call, paced);
}

static void deinit(struct pl_paced *paced)
{
    pl_vec_deinit(&replay_of(paced)->pieces);
}

/* --- playing --------------------------------------------------------------------------------- */

/* Plays one word or block. Returns true if the piece is complete. */
static bool play_unit(struct replay_call *call, const struct piece *piece)
{
    const struct pl_model_ops *ops = call->paced.ops;
    if (piece->call) {
        (piece->is_result ? ops->on_played_result : ops->on_played_call)(call->paced.ctx,
                                                                         piece->call);
        return true;
    }
    if (!piece->is_worded) {
        call->paced.ops->on_block(call->paced.ctx, &piece->block);
        return true;
    }
    if (!call->at_unit++)
        call->rest = piece->text;
    struct pl_str word = pl_word_take(&call->rest);
    pl_paced_say(&call->paced, piece->is_thinking, word);
    return !call->rest.len;
}

static double elapsed_ms(const struct replay_call *call)
{
    return call->played_ms + (double)(pl_clock_ms() - call->paced_ms) * call->rate;
}

/* Clock time until this recording time; 0 if it is reached. */
static int64_t until_ms(const struct replay_call *call, double due_ms, double now_ms)
{
    if (!(due_ms > now_ms))
        return 0;
    double wait_ms = call->rate > 0 ? (due_ms - now_ms) / call->rate : PAUSE_MS;
    return wait_ms < PAUSE_MS ? (int64_t)wait_ms + 1 : PAUSE_MS;
}

static int64_t play(struct pl_paced *paced)
{
    struct replay_call *call = replay_of(paced);
    double now_ms = elapsed_ms(call);
    if (call->rate <= 0)
        return PAUSE_MS;
    for (int budget = PL_PACED_SLICE; call->at_piece < call->pieces.len; budget--) {
        const struct piece *piece = &call->pieces.ptr[call->at_piece];
        double due_ms =
            piece->from_ms + piece->for_ms * (double)call->at_unit / (double)piece->n_units;
        int64_t wait_ms = until_ms(call, due_ms, now_ms);
        if (wait_ms || !budget)
            return wait_ms;
        bool is_over = play_unit(call, piece);
        if (pl_paced_is_cancelled(paced))
            return PL_PACED_OVER;
        if (is_over) {
            call->at_piece++;
            call->at_unit = 0;
        }
    }
    int64_t wait_ms = until_ms(call, call->end_ms, now_ms);
    return wait_ms ? wait_ms : PL_PACED_OVER;
}

static void finish(struct pl_paced *paced)
{
    const struct replay_call *call = replay_of(paced);
    if (call->error.ptr)
        pl_paced_fail(paced, &(struct pl_model_failure){.reason = call->error});
    else
        pl_paced_end(paced, call->model, call->usage);
}

static const struct pl_paced_kind kind_of_call = {play, finish, deinit};

/* --- reading --------------------------------------------------------------------------------- */

struct reading {
    struct replay_call *call;
    const struct pl_json_doc *doc;
    struct pl_str last_type; /* of the previous block: view of a literal or the document */
    const struct pl_json_node *tool_calls; /* of the turn; NULL to play them as blocks */
};

static enum pl_status read_text(const struct reading *r, const struct pl_json_node *object,
                                const char *name, struct pl_str *ret_text)
{
    const struct pl_json_node *node = pl_json_get(r->doc, object, pl_str_of(name));
    *ret_text = (struct pl_str){0};
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return PL_OK;
    return pl_json_text(&r->call->paced.arena, r->doc, node, ret_text);
}

static int64_t count_words(struct pl_str text)
{
    int64_t n = 0;
    for (; text.len; n++)
        (void)pl_word_take(&text);
    return n;
}

/* The result without the action on a page. */
static enum pl_status read_result(const struct reading *r, const struct pl_json_node *result,
                                  struct pl_str *ret_json)
{
    const struct pl_json_node *meta =
        pl_json_is(result, PL_JSON_OBJECT) ? pl_json_get(r->doc, result, PL_STR("_meta")) : NULL;
    const struct pl_json_node *bridge =
        pl_json_is(meta, PL_JSON_OBJECT) ? pl_json_get(r->doc, meta, PL_STR("bridge")) : NULL;
    *ret_json = result ? pl_json_span(r->doc, result) : (struct pl_str){0};
    if (!bridge)
        return PL_OK;
    struct pl_buf text PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    struct pl_json_out out = pl_json_out(&text);
    const struct pl_json_node *const objects[] = {result, meta};
    /* Copy the result without its _meta, then the _meta without its bridge. */
    for (size_t i = 0; i < 2; i++) {
        pl_json_out_open(&out, '{');
        for (const struct pl_json_node *k = pl_json_first_member(objects[i]);
             k < pl_json_end(objects[i]); k = pl_json_next_member(k)) {
            struct pl_str key;
            enum pl_status status = pl_json_text(&r->call->paced.arena, r->doc, k, &key);
            if (status != PL_OK)
                return status;
            if (k + 1 == meta || k + 1 == bridge)
                continue;
            pl_json_out_key_str(&out, key);
            pl_json_out_raw(&out, pl_json_span(r->doc, k + 1));
        }
        if (i == 0)
            pl_json_out_key(&out, "_meta");
    }
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, '}');
    *ret_json = pl_arena_dup(&r->call->paced.arena, pl_buf_str(&text));
    return text.status == PL_OK && ret_json->ptr ? PL_OK : PL_NOMEM;
}

/* Finds the call of this turn that a block belongs to; *ret_call stays NULL if there is none. */
static enum pl_status read_call(const struct reading *r, struct pl_str id,
                                const struct pl_model_played **ret_call)
{
    size_t i = 0;
    const struct pl_json_node *found = NULL;
    if (!r->tool_calls || !id.len)
        return PL_OK;
    for (const struct pl_json_node *n = pl_json_first(r->tool_calls);
         n < pl_json_end(r->tool_calls) && !found; n = pl_json_next(n)) {
        const struct pl_json_node *name = pl_json_get(r->doc, n, PL_STR("id"));
        if (pl_json_is(name, PL_JSON_STRING) && pl_json_text_is(r->doc, name, id))
            found = n;
        else
            i++;
    }
    struct pl_model_played *call =
        found ? pl_arena_zalloc(&r->call->paced.arena, 1, sizeof *call) : NULL;
    if (!call)
        return found ? PL_NOMEM : PL_OK;
    const struct pl_json_node *duration = pl_json_get(r->doc, found, PL_STR("duration_ms"));
    const struct pl_json_node *status_node = pl_json_get(r->doc, found, PL_STR("status"));
    call->call = i;
    call->is_error = pl_json_is(status_node, PL_JSON_STRING) &&
                     pl_json_text_is(r->doc, status_node, PL_STR("error"));
    if (!pl_json_is(duration, PL_JSON_NUMBER) ||
        !pl_json_number_int64(pl_json_span(r->doc, duration), &call->duration_ms))
        call->duration_ms = 0;
    enum pl_status status = read_text(r, found, "tool_name", &call->tool_name);
    if (status == PL_OK)
        status = read_text(r, found, "display_name", &call->display_name);
    if (status == PL_OK)
        status = read_text(r, found, "arguments", &call->arguments);
    if (status == PL_OK)
        status = read_result(r, pl_json_get(r->doc, found, PL_STR("result")), &call->result);
    if (status == PL_OK)
        *ret_call = call;
    return status;
}

/* Words are appended to the preceding text, so a text directly after another of its type is played
 * as a whole block. */
static enum pl_status read_block(struct reading *r, const struct pl_json_node *block)
{
    struct piece piece = {.n_units = 1};
    const struct {
        const char *name;
        struct pl_str *to;
    } texts[] = {{"type", &piece.block.type},
                 {"tool_call_id", &piece.block.tool_call_id},
                 {"tool_name", &piece.block.tool_name},
                 {"display_name", &piece.block.display_name}};
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == PL_OK; i++)
        status = read_text(r, block, texts[i].name, texts[i].to);
    if (status != PL_OK || pl_str_eq(piece.block.type, PL_STR("tool_bridge")))
        return status;
    const struct pl_model_played *of = NULL;
    status = read_call(r, piece.block.tool_call_id, &of);
    if (status != PL_OK)
        return status;
    piece.is_result = pl_str_eq(piece.block.type, PL_STR("tool_result"));
    if (of && pl_str_eq(piece.block.type, PL_STR("tool_ui")))
        return PL_OK; /* it comes with the result */
    if (of && (piece.is_result || pl_str_eq(piece.block.type, PL_STR("tool_use"))))
        piece.call = of;
    const struct pl_json_node *content = pl_json_get(r->doc, block, PL_STR("content"));
    if (content && pl_json_kind(content) != PL_JSON_NULL)
        piece.block.content = pl_json_span(r->doc, content);
    piece.is_thinking = pl_str_eq(piece.block.type, PL_STR("thinking"));
    bool is_words = piece.is_thinking || pl_str_eq(piece.block.type, PL_STR("text"));
    if (is_words && !piece.block.tool_call_id.len && !pl_str_eq(piece.block.type, r->last_type)) {
        status = read_text(r, block, "content", &piece.text);
        piece.is_worded = piece.text.len;
        piece.n_units = piece.is_worded ? count_words(piece.text) : 1;
    }
    r->last_type = piece.block.type;
    if (status == PL_OK && !pl_vec_push(&r->call->pieces, piece))
        status = PL_NOMEM;
    return status;
}

/* Spreads the duration of the turn over its words and blocks, from its first piece on. */
static void spread(struct replay_call *call, size_t first, int64_t duration_ms)
{
    int64_t n_units = 0, at = 0;
    double all_ms = (double)(duration_ms < MAX_TURN_MS ? duration_ms : MAX_TURN_MS);
    for (size_t i = first; i < call->pieces.len; i++)
        n_units += call->pieces.ptr[i].n_units;
    for (size_t i = first; i < call->pieces.len; i++) {
        struct piece *piece = &call->pieces.ptr[i];
        piece->from_ms = call->end_ms + all_ms * (double)at / (double)n_units;
        piece->for_ms = all_ms * (double)piece->n_units / (double)n_units;
        at += piece->n_units;
    }
    call->end_ms += all_ms;
}

static enum pl_status read_turn(struct reading *r, const struct pl_json_node *turn)
{
    struct replay_call *call = r->call;
    size_t first = call->pieces.len;
    int64_t duration_ms = 0;
    const struct pl_json_node *blocks = pl_json_get(r->doc, turn, PL_STR("blocks"));
    const struct pl_json_node *duration = pl_json_get(r->doc, turn, PL_STR("duration_ms"));
    const struct pl_json_node *calls = pl_json_get(r->doc, turn, PL_STR("tool_calls"));
    r->tool_calls =
        call->paced.ops->on_played_call && pl_json_is(calls, PL_JSON_ARRAY) ? calls : NULL;
    if (duration && pl_json_kind(duration) == PL_JSON_NUMBER &&
        (!pl_json_number_int64(pl_json_span(r->doc, duration), &duration_ms) || duration_ms < 0))
        duration_ms = 0;
    enum pl_status status = PL_OK;
    if (blocks && pl_json_kind(blocks) == PL_JSON_ARRAY)
        for (const struct pl_json_node *b = pl_json_first(blocks);
             b < pl_json_end(blocks) && status == PL_OK; b = pl_json_next(b))
            status = read_block(r, b);
    struct pl_str model = {0};
    if (status == PL_OK)
        status = read_text(r, turn, "model", &model);
    if (status == PL_OK && model.len)
        call->model = model;
    /* Only the result of the last turn is the result of the answer. */
    if (status == PL_OK)
        status = read_text(r, turn, "error", &call->error);
    spread(call, first, duration_ms);
    return status;
}

static const struct pl_json_node *usage_of(const struct pl_json_doc *doc,
                                           const struct pl_json_node *turn)
{
    const struct pl_json_node *usage = pl_json_get(doc, turn, PL_STR("usage"));
    return usage && pl_json_kind(usage) == PL_JSON_OBJECT ? usage : NULL;
}

/* Sums the integers under this key in the usage of all turns; other values count as 0. */
static int64_t sum_of(const struct pl_json_doc *doc, struct pl_str key)
{
    int64_t sum = 0;
    for (const struct pl_json_node *turn = pl_json_first(doc->root); turn < pl_json_end(doc->root);
         turn = pl_json_next(turn)) {
        const struct pl_json_node *usage = usage_of(doc, turn);
        const struct pl_json_node *value = usage ? pl_json_get(doc, usage, key) : NULL;
        int64_t n = 0;
        if (value && pl_json_kind(value) == PL_JSON_NUMBER &&
            pl_json_number_int64(pl_json_span(doc, value), &n) &&
            __builtin_add_overflow(sum, n, &sum))
            return INT64_MAX;
    }
    return sum;
}

/* The recorded usage: that of the last turn, with the counters summed over all turns. */
static enum pl_status read_usage(struct reading *r)
{
    const struct pl_json_node *last = NULL;
    for (const struct pl_json_node *turn = pl_json_first(r->doc->root);
         turn < pl_json_end(r->doc->root); turn = pl_json_next(turn))
        last = usage_of(r->doc, turn) ? usage_of(r->doc, turn) : last;
    if (!last)
        return PL_OK;
    struct pl_buf text PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    for (const struct pl_json_node *key = pl_json_first_member(last); key < pl_json_end(last);
         key = pl_json_next_member(key)) {
        struct pl_str value = pl_json_span(r->doc, pl_json_next(key)), name;
        enum pl_status status = pl_json_text(&r->call->paced.arena, r->doc, key, &name);
        if (status != PL_OK)
            return status;
        pl_buf_addc(&text, text.len ? ',' : '{');
        pl_buf_add(&text, pl_json_span(r->doc, key));
        pl_buf_addc(&text, ':');
        int64_t n;
        if (pl_json_kind(pl_json_next(key)) == PL_JSON_NUMBER && pl_json_number_int64(value, &n))
            pl_buf_addf(&text, "%lld", (long long)sum_of(r->doc, name));
        else
            pl_buf_add(&text, value);
    }
    pl_buf_adds(&text, text.len ? "}" : "{}");
    r->call->usage = pl_arena_dup(&r->call->paced.arena, pl_buf_str(&text));
    return text.status == PL_OK && r->call->usage.ptr ? PL_OK : PL_NOMEM;
}

static void set_rate(struct replay_call *call, double speed, bool is_paused)
{
    double slowest = call->end_ms / MAX_MS;
    call->played_ms = elapsed_ms(call);
    call->paced_ms = pl_clock_ms();
    if (is_paused)
        call->rate = 0;
    else if (speed > 0)
        call->rate = speed > slowest ? speed : slowest;
    else
        call->rate = AT_ONCE;
    /* Without delays means now, not in the next millisecond. */
    if (call->rate == AT_ONCE)
        call->played_ms = call->end_ms;
}

static void pace(struct pl_model_call *base, double speed, bool is_paused)
{
    struct pl_paced *paced = PL_CONTAINER_OF(base, struct pl_paced, base);
    set_rate(replay_of(paced), speed, is_paused);
    pl_paced_wake(paced);
}

static enum pl_status read_turns(struct replay_call *call, struct pl_str given,
                                 struct pl_error *err)
{
    struct pl_json_doc doc;
    struct pl_str text = pl_arena_dup(&call->paced.arena, given);
    if (!text.ptr)
        return PL_NOMEM;
    enum pl_status status = pl_json_parse(&call->paced.arena, text, &pl_json_own, &doc, err);
    if (status != PL_OK)
        return status;
    if (pl_json_kind(doc.root) != PL_JSON_ARRAY)
        return pl_fail(err, PL_INVALID, "The recording is not an array of turns.");
    struct reading reading = {.call = call, .doc = &doc};
    for (const struct pl_json_node *turn = pl_json_first(doc.root);
         turn < pl_json_end(doc.root) && status == PL_OK; turn = pl_json_next(turn))
        status = read_turn(&reading, turn);
    return status == PL_OK ? read_usage(&reading) : status;
}

static enum pl_status start(struct pl_loop *loop, const struct pl_model_request *request,
                            const struct pl_model_info *info, const struct pl_model_ops *ops,
                            void *ctx, struct pl_model_call **ret_call, struct pl_error *err)
{
    (void)info;
    struct replay_call *call = pl_mem_alloc(1, sizeof *call);
    if (!call)
        return PL_NOMEM;
    *call = (struct replay_call){0};
    pl_paced_init(&call->paced, &kind_of_call, loop, ops, ctx);
    enum pl_status status = read_turns(call, request->turns, err);
    if (status != PL_OK) {
        pl_paced_destroy(&call->paced);
        return status;
    }
    call->paced.base.pace = pace;
    call->paced_ms = pl_clock_ms();
    set_rate(call, request->speed, request->is_paused);
    pl_paced_go_on(&call->paced, 0);
    *ret_call = &call->paced.base;
    return PL_OK;
}

const struct pl_provider pl_provider_replay = {
    .name = "replay",
    .family = &family,
    .owns = owns,
    .start = start,
};
