/* Finds the recorded turns that answer a message: counts the user's messages of the replaying
 * session, and skips the same number of messages in the source's root loop. */
#include "agent/context/replay_source.h"

#include "agent/session_copy.h"
#include "json/number.h"
#include "json/text.h"
#include "json/write.h"
#include "model/model.h"

#include <stdio.h>

#define PAGE 64
/* Turns of an answer: more than the text of one turn can have in any encoding. */
#define MAX_PLAYED_BYTES (64u << 20)

enum pl_status pl_replay_check(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str user_id, struct pl_str model, struct pl_error *err)
{
    struct pl_str source = pl_model_replayed(model);
    struct pl_session_record record;
    if (!source.len)
        return PL_OK;
    enum pl_status status = pl_store_session_get(store, arena, user_id, source, &record, err);
    if (status != PL_NOT_FOUND)
        return status;
    status = pl_fail(err, PL_INVALID,
                     "There is no model %.*s: it would replay a session of yours, but no session "
                     "has this id.",
                     PL_STR_ARG(model));
    pl_error_point(err, "/model");
    return status;
}

/* --- whose turn ------------------------------------------------------------------------------ */

enum whose { WHOSE_USER, WHOSE_ASSISTANT, WHOSE_OTHER };

static enum pl_status whose_turn(const struct pl_turn_row *row, enum whose *ret_whose)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    *ret_whose = WHOSE_OTHER;
    if (row->is_compaction)
        return PL_OK;
    enum pl_status status = pl_json_parse(&arena, row->body, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *role = pl_json_get(&doc, doc.root, PL_STR("role"));
    if (!role || pl_json_text_is(&doc, role, PL_STR("assistant")))
        *ret_whose = WHOSE_ASSISTANT;
    else if (pl_json_text_is(&doc, role, PL_STR("user")))
        *ret_whose = WHOSE_USER;
    return PL_OK;
}

static struct pl_turn_query turns_of(struct pl_str session_id, struct pl_str loop_id, int64_t from)
{
    return (struct pl_turn_query){
        .session_id = session_id,
        .loop_id = loop_id,
        .before = INT64_MAX,
        .after = from - 1,
        .changed_after = -1,
        .limit = PAGE,
        .is_terminal_only = true,
    };
}

/* --- finding the answer ---------------------------------------------------------------------- */

/* The position of the loop. */
struct place {
    int64_t n_users;   /* turns of the user */
    int64_t n_answers; /* turns of the assistant after the last one of the user */
};

static enum pl_status find_place(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    struct place *place = walk->ctx;
    enum whose whose;
    enum pl_status status = whose_turn(row, &whose);
    if (status != PL_OK)
        return status;
    place->n_users += whose == WHOSE_USER;
    place->n_answers = whose == WHOSE_USER ? 0 : place->n_answers + (whose == WHOSE_ASSISTANT);
    return PL_OK;
}

struct playing {
    struct pl_buf *to;
    int64_t n_passed; /* user's turns still to skip */
    bool is_found;
    size_t n_written;
};

static enum pl_status find_answers(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    struct playing *playing = walk->ctx;
    enum whose whose;
    enum pl_status status = whose_turn(row, &whose);
    if (status != PL_OK)
        return status;
    if (whose == WHOSE_USER) {
        walk->is_over = playing->is_found;
        playing->is_found = playing->is_found || playing->n_passed-- == 0;
        return PL_OK;
    }
    if (whose != WHOSE_ASSISTANT || !playing->is_found)
        return PL_OK;
    if (playing->n_written++)
        pl_buf_addc(playing->to, ',');
    status = pl_turn_row_write(row, playing->to);
    walk->is_over = playing->to->len > MAX_PLAYED_BYTES;
    return status;
}

/* One turn of an answer. */
struct picking {
    struct pl_buf *to;
    struct pl_buf failed; /* a failed turn: used only if nothing follows */
    int64_t n_passed;     /* user's turns still to skip */
    int64_t n_skipped;    /* turns of the answer still to skip */
    bool is_found;        /* the user's turn was found */
    bool is_picked, has_more;
};

static enum pl_status pick(struct picking *picking, const struct pl_turn_row *row)
{
    picking->has_more = picking->is_picked;
    if (picking->is_picked || picking->n_skipped-- > 0)
        return PL_OK;
    picking->is_picked = true;
    return pl_turn_row_write(row, picking->to);
}

static enum pl_status pick_turn(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    struct picking *picking = walk->ctx;
    enum whose whose;
    enum pl_status status = whose_turn(row, &whose);
    if (status != PL_OK || whose == WHOSE_OTHER)
        return status;
    if (whose == WHOSE_USER) {
        walk->is_over = picking->is_found;
        picking->is_found = picking->is_found || picking->n_passed-- == 0;
        return PL_OK;
    }
    if (!picking->is_found)
        return PL_OK;
    pl_buf_clear(&picking->failed);
    if (row->status == PL_TURN_FAILED) {
        picking->has_more = picking->is_picked;
        status = pl_turn_row_write(row, &picking->failed);
    } else {
        status = pick(picking, row);
    }
    walk->is_over = picking->has_more;
    return status;
}

struct state {
    int64_t from_sequence;
    struct pl_replay_pace pace;
};

enum pl_status pl_replay_read_pace(struct pl_str replay_state, struct pl_replay_pace *ret_pace)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    *ret_pace = (struct pl_replay_pace){.speed = 1};
    enum pl_status status =
        replay_state.len ? pl_json_parse(&arena, replay_state, NULL, &doc, NULL) : PL_OK;
    if (status != PL_OK || !replay_state.len || pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return status;
    const struct pl_json_node *speed = pl_json_get(&doc, doc.root, PL_STR("speed"));
    const struct pl_json_node *word = pl_json_get(&doc, doc.root, PL_STR("status"));
    if (pl_json_is(speed, PL_JSON_NUMBER))
        ret_pace->speed = pl_json_number_double(pl_json_span(&doc, speed));
    ret_pace->is_paused =
        pl_json_is(word, PL_JSON_STRING) && pl_json_text_is(&doc, word, PL_STR("paused"));
    return PL_OK;
}

/* The state of this source that the replaying session has stored. */
static enum pl_status read_state(struct pl_arena *arena, struct pl_str replay_state,
                                 struct pl_str source, struct state *ret_state,
                                 struct pl_error *err)
{
    *ret_state = (struct state){.pace.speed = 1};
    struct pl_json_doc doc;
    if (!replay_state.len)
        return PL_OK;
    enum pl_status status = pl_json_parse(arena, replay_state, NULL, &doc, err);
    if (status != PL_OK || pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return status;
    const struct pl_json_node *id = pl_json_get(&doc, doc.root, PL_STR("source_session_id"));
    const struct pl_json_node *from = pl_json_get(&doc, doc.root, PL_STR("from_sequence"));
    if (!id || pl_json_kind(id) != PL_JSON_STRING || !pl_json_text_is(&doc, id, source))
        return PL_OK;
    if (from && !pl_json_number_int64(pl_json_span(&doc, from), &ret_state->from_sequence))
        ret_state->from_sequence = 0;
    return pl_replay_read_pace(replay_state, &ret_state->pace);
}

static enum pl_status write_answers(struct pl_store *store, struct pl_str source,
                                    const struct state *state, int64_t n_answers, struct pl_buf *to,
                                    struct pl_error *err)
{
    struct playing playing = {.to = to, .n_passed = n_answers};
    struct pl_turn_walk walk = {
        .query = turns_of(source, PL_STR("root"), state->from_sequence),
        .each = find_answers,
        .ctx = &playing,
    };
    pl_buf_addc(to, '[');
    enum pl_status status = pl_turn_walk(&walk, store, err);
    pl_buf_addc(to, ']');
    if (status == PL_OK && !playing.is_found)
        status =
            pl_fail(err, PL_NOT_FOUND,
                    "The recorded session has ended after %lld messages. Choose another model to "
                    "continue.",
                    (long long)(n_answers - playing.n_passed));
    return status == PL_OK ? to->status : status;
}

static enum pl_status find_source(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str user_id, struct pl_str source_id,
                                  struct pl_error *err)
{
    struct pl_session_record source;
    enum pl_status status = pl_store_session_get(store, arena, user_id, source_id, &source, err);
    if (status == PL_NOT_FOUND)
        status = pl_fail(err, status, "There is no session %.*s to replay.", PL_STR_ARG(source_id));
    return status;
}

enum pl_status pl_replay_answers(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str source_id, int64_t n_answers,
                                 struct pl_buf *to, struct pl_error *err)
{
    struct state state = {.pace.speed = 1};
    enum pl_status status = find_source(store, arena, user_id, source_id, err);
    return status == PL_OK ? write_answers(store, source_id, &state, n_answers, to, err) : status;
}

static enum pl_status write_turn(struct pl_store *store, struct pl_str source,
                                 const struct state *state, const struct place *place,
                                 struct pl_buf *to, bool *ret_is_last, struct pl_error *err)
{
    int64_t n_before = place->n_users > 0 ? place->n_users - 1 : 0;
    struct picking picking = {.to = to, .n_passed = n_before, .n_skipped = place->n_answers};
    struct pl_turn_walk walk = {
        .query = turns_of(source, PL_STR("root"), state->from_sequence),
        .each = pick_turn,
        .ctx = &picking,
    };
    pl_buf_init(&picking.failed, 0);
    pl_buf_addc(to, '[');
    enum pl_status status = pl_turn_walk(&walk, store, err);
    if (status == PL_OK && !picking.is_picked && picking.failed.len && picking.n_skipped <= 0) {
        pl_buf_add(to, pl_buf_str(&picking.failed));
        picking.is_picked = true;
    }
    pl_buf_addc(to, ']');
    if (status == PL_OK)
        status = picking.failed.status;
    pl_buf_deinit(&picking.failed);
    if (status == PL_OK && !picking.is_found)
        status =
            pl_fail(err, PL_NOT_FOUND,
                    "The recorded session has ended after %lld messages. Choose another model to "
                    "continue.",
                    (long long)(n_before - picking.n_passed));
    *ret_is_last = !picking.has_more;
    return status == PL_OK ? to->status : status;
}

enum pl_status pl_replay_write(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str session_id, struct pl_str loop_id, struct pl_str model,
                               struct pl_buf *to, struct pl_replay_pace *ret_pace,
                               bool *ret_is_last, struct pl_error *err)
{
    struct pl_session_record record;
    struct state state = {0};
    struct place place = {0};
    struct pl_str source_id = pl_model_replayed(model);
    enum pl_status status =
        pl_store_session_get(store, arena, (struct pl_str){0}, session_id, &record, err);
    if (status == PL_OK)
        status = find_source(store, arena, record.user_id, source_id, err);
    if (status == PL_OK)
        status = read_state(arena, record.replay_state, source_id, &state, err);
    struct pl_turn_walk walk = {
        .query = turns_of(session_id, loop_id, 0), .each = find_place, .ctx = &place};
    if (status == PL_OK)
        status = pl_turn_walk(&walk, store, err);
    if (status == PL_OK)
        status = write_turn(store, source_id, &state, &place, to, ret_is_last, err);
    if (status == PL_OK)
        *ret_pace = state.pace;
    return status;
}

/* --- planning a replay ----------------------------------------------------------------------- */

struct planning {
    struct pl_arena *arena;
    struct pl_replay_plan *plan;
    size_t n_bytes;
    int64_t from_sequence; /* of the first message; -1: none */
};

/* The blocks of a user's turn are a valid message. Blocks that acted on a page are omitted; if
 * nothing is left, an empty text is used. */
static enum pl_status write_message(const struct pl_turn_row *row, struct pl_buf *to)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    struct pl_buf projection PL_CLEANUP_BUF;
    pl_arena_init(&arena, 0);
    pl_buf_init(&projection, 0);
    struct pl_json_doc doc;
    enum pl_status status = pl_turn_row_write(row, &projection);
    if (status == PL_OK)
        status = pl_json_parse(&arena, pl_buf_str(&projection), &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *blocks = pl_json_get(&doc, doc.root, PL_STR("blocks"));
    for (const struct pl_json_node *b = pl_json_first(blocks); b < pl_json_end(blocks);
         b = pl_json_next(b)) {
        const struct pl_json_node *type = pl_json_get(&doc, b, PL_STR("type"));
        if (pl_json_text_is(&doc, type, PL_STR("tool_bridge")))
            continue;
        pl_buf_addc(to, to->len ? ',' : '[');
        pl_buf_add(to, pl_json_span(&doc, b));
    }
    pl_buf_adds(to, to->len ? "]" : "[{\"type\":\"text\",\"content\":\"\"}]");
    return to->status;
}

static enum pl_status plan_message(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    struct planning *planning = walk->ctx;
    struct pl_replay_plan *plan = planning->plan;
    enum whose whose;
    enum pl_status status = whose_turn(row, &whose);
    if (status != PL_OK || whose != WHOSE_USER)
        return status;
    struct pl_buf text PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    status = write_message(row, &text);
    if (status != PL_OK)
        return status;
    planning->n_bytes += text.len;
    walk->is_over = text.len > PL_SESSION_MAX_TURN_TEXT || planning->n_bytes > PL_REPLAY_MAX_BYTES;
    if (walk->is_over)
        return PL_OK;
    struct pl_str message = pl_arena_dup(planning->arena, pl_buf_str(&text));
    if (!message.ptr)
        return PL_NOMEM;
    if (!plan->n_says)
        planning->from_sequence = row->sequence;
    struct pl_session_event *event = &plan->says[plan->n_says++];
    *event = (struct pl_session_event){.kind = PL_SE_CHAT};
    event->chat.message = message;
    event->chat.is_recorded = true;
    event->chat.model = plan->model;
    walk->is_over = plan->n_says == PL_REPLAY_MAX_MESSAGES;
    return PL_OK;
}

static enum pl_status write_state(struct pl_arena *arena, const struct pl_replay_options *options,
                                  int64_t from_sequence, size_t total, struct pl_str *ret_state)
{
    struct pl_buf text PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "source_session_id");
    pl_json_out_text(&out, options->source_id);
    pl_json_out_key(&out, "from_sequence");
    pl_json_out_int(&out, from_sequence);
    pl_json_out_key(&out, "total");
    pl_json_out_int(&out, (int64_t)total);
    pl_json_out_key(&out, "position");
    pl_json_out_int(&out, 0);
    pl_json_out_key(&out, "speed");
    pl_json_out_raw(&out, options->speed.len ? options->speed : PL_STR("1"));
    pl_json_out_key(&out, "status");
    pl_json_out_text(&out, PL_STR("running"));
    pl_json_out_close(&out, '}');
    *ret_state = pl_arena_dup(arena, pl_buf_str(&text));
    return text.status == PL_OK && ret_state->ptr ? PL_OK : PL_NOMEM;
}

static enum pl_status begin_plan(struct pl_arena *arena, struct pl_str source_id,
                                 struct pl_replay_plan *plan)
{
    struct pl_buf model PL_CLEANUP_BUF;
    pl_buf_init(&model, 0);
    pl_buf_addf(&model, "replay/%.*s", PL_STR_ARG(source_id));
    plan->model = pl_arena_dup(arena, pl_buf_str(&model));
    plan->says = pl_arena_alloc(arena, PL_REPLAY_MAX_MESSAGES, sizeof *plan->says);
    return model.status == PL_OK && plan->model.ptr && plan->says ? PL_OK : PL_NOMEM;
}

enum pl_status pl_replay_plan(struct pl_store *store, struct pl_arena *arena,
                              const struct pl_replay_options *options,
                              struct pl_replay_plan *ret_plan, struct pl_error *err)
{
    struct pl_session_record source;
    struct pl_turn_row first = {0};
    struct pl_replay_plan plan = {0};
    enum pl_status status =
        pl_store_session_get(store, arena, options->user_id, options->source_id, &source, err);
    if (status == PL_OK && options->from.len)
        status = pl_store_turn_get(store, arena, options->source_id, options->from, &first, err);
    if (status == PL_OK)
        status = begin_plan(arena, options->source_id, &plan);
    if (status != PL_OK)
        return status;
    struct planning planning = {.arena = arena, .plan = &plan, .from_sequence = -1};
    struct pl_turn_walk walk = {
        .query = turns_of(options->source_id, PL_STR("root"), first.sequence),
        .each = plan_message,
        .ctx = &planning,
    };
    status = pl_turn_walk(&walk, store, err);
    if (status == PL_OK && !plan.n_says)
        status = pl_fail(err, PL_INVALID,
                         "There is nothing to replay: this session has no message from there on, "
                         "or the first one is over 4 MiB.");
    if (status == PL_OK)
        status =
            write_state(arena, options, planning.from_sequence, plan.n_says, &plan.replay_state);
    if (status != PL_OK)
        return status;
    plan.intent = source.intent;
    *ret_plan = plan;
    return PL_OK;
}
