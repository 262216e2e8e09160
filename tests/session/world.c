#include "session/world.h"

#include <stdio.h>

void world_fail(struct world *world, const char *format, ...)
{
    if (world->problem[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(world->problem, sizeof world->problem, format, args);
    va_end(args);
}

/* --- the shelf ------------------------------------------------------------------------------- */

static struct pl_str copy(struct pl_arena *arena, struct pl_str s)
{
    return s.ptr ? pl_arena_dup(arena, s) : s;
}

/* Adds the settings: they have their own row, and are not part of the session's. */
static void add_settings(struct world *w)
{
    w->record.system_prompt = w->settings.system_prompt;
    w->record.settings = w->settings.settings;
    w->record.tools = w->settings.tools;
    w->record.handoff = w->settings.handoff;
    w->record.chat_override = w->settings.chat_override;
}

static void keep_session(struct world *w, const struct pl_session_record *row)
{
    if (w->record.id.ptr && row->next_event < w->record.next_event)
        world_fail(w, "the session's row went back to event %lld", (long long)row->next_event);
    pl_arena_reset(&w->record_arena);
    w->record = *row;
    struct pl_str *strings[] = {&w->record.id,          &w->record.user_id,     &w->record.intent,
                                &w->record.solution_id, &w->record.biz_role_id, &w->record.model,
                                &w->record.replay_state};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        *strings[i] = copy(&w->record_arena, *strings[i]);
    add_settings(w);
}

static void keep_settings(struct world *w, const struct pl_session_record *row)
{
    pl_arena_reset(&w->settings_arena);
    w->settings = *row;
    struct pl_str *strings[] = {&w->settings.system_prompt, &w->settings.settings,
                                &w->settings.tools, &w->settings.handoff,
                                &w->settings.chat_override};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        *strings[i] = copy(&w->settings_arena, *strings[i]);
    add_settings(w);
}

static bool is_open(enum pl_turn_status status)
{
    return status == PL_TURN_STREAMING || status == PL_TURN_PAUSED;
}

static void drop_turn(struct world *w, size_t i)
{
    pl_arena_deinit(&w->turns.ptr[i].arena);
    pl_buf_deinit(&w->turns.ptr[i].last);
    w->turns.ptr[i] = w->turns.ptr[--w->turns.len];
}

static void keep_turn(struct world *w, const struct pl_turn_row *row)
{
    size_t i = 0;
    while (i < w->turns.len && !pl_str_eq(w->turns.ptr[i].row.turn_id, row->turn_id))
        i++;
    if (i == w->turns.len) {
        struct shelf_turn *turn = pl_vec_add(&w->turns);
        pl_arena_init(&turn->arena, 0);
        pl_buf_init(&turn->last, 0);
        turn->row = (struct pl_turn_row){.status = PL_TURN_STREAMING};
    } else if (!is_open(w->turns.ptr[i].row.status)) {
        world_fail(w, "the row of a turn that had ended was written again");
    }
    struct shelf_turn *turn = &w->turns.ptr[i];
    pl_arena_reset(&turn->arena);
    turn->row = *row;
    struct pl_str *strings[] = {&turn->row.session_id, &turn->row.turn_id, &turn->row.loop_id,
                                &turn->row.client_message_id, &turn->row.body};
    for (size_t k = 0; k < sizeof strings / sizeof *strings; k++)
        *strings[k] = copy(&turn->arena, *strings[k]);
}

static void keep_question(struct world *w, const struct pl_question_row *row)
{
    size_t i = 0;
    while (i < w->questions.len &&
           !pl_str_eq(w->questions.ptr[i].row.tool_call_id, row->tool_call_id))
        i++;
    if (i == w->questions.len)
        pl_arena_init(&pl_vec_add(&w->questions)->arena, 0);
    struct shelf_question *q = &w->questions.ptr[i];
    pl_arena_reset(&q->arena);
    q->row = *row;
    struct pl_str *strings[] = {&q->row.session_id, &q->row.tool_call_id, &q->row.turn_id,
                                &q->row.loop_id,    &q->row.kind,         &q->row.questions,
                                &q->row.state,      &q->row.answer};
    for (size_t k = 0; k < sizeof strings / sizeof *strings; k++)
        *strings[k] = copy(&q->arena, *strings[k]);
}

static void keep_queued(struct world *w, const struct pl_queued_row *row)
{
    struct shelf_queued *q = pl_vec_add(&w->queue);
    pl_arena_init(&q->arena, 0);
    q->row = *row;
    q->row.session_id = copy(&q->arena, row->session_id);
    q->row.client_message_id = copy(&q->arena, row->client_message_id);
    q->row.body = copy(&q->arena, row->body);
}

static void drop_queued(struct world *w, int64_t position)
{
    for (size_t i = 0; i < w->queue.len; i++) {
        if (w->queue.ptr[i].row.position != position)
            continue;
        pl_arena_deinit(&w->queue.ptr[i].arena);
        w->queue.len--;
        memmove(&w->queue.ptr[i], &w->queue.ptr[i + 1], (w->queue.len - i) * sizeof *w->queue.ptr);
        return;
    }
    world_fail(w, "a message left the queue that was not in it");
}

static void keep_rows(struct world *w)
{
    for (size_t i = 0; i < w->out.rows.len; i++) {
        const struct pl_session_row *row = &w->out.rows.ptr[i];
        switch (row->kind) {
        case PL_ROW_NEW_SESSION:
            keep_settings(w, &row->session);
            keep_session(w, &row->session);
            break;
        case PL_ROW_SESSION:
            keep_session(w, &row->session);
            break;
        case PL_ROW_SETTINGS:
            keep_settings(w, &row->session);
            break;
        case PL_ROW_TURN:
            keep_turn(w, &row->turn);
            break;
        case PL_ROW_QUESTION:
            keep_question(w, &row->question);
            break;
        case PL_ROW_QUEUED:
            keep_queued(w, &row->queued);
            break;
        case PL_ROW_UNQUEUED:
            drop_queued(w, row->queued.position);
            break;
        }
    }
}

/* The rows of ended turns must equal the last frames. */
static void check_ended(struct world *w)
{
    PL_CLEANUP_BUF struct pl_buf stored, told;
    pl_buf_init(&stored, 0);
    pl_buf_init(&told, 0);
    for (size_t i = 0; i < w->seen.len;) {
        struct reader_turn *seen = &w->seen.ptr[i];
        if (!seen->is_terminal) {
            i++;
            continue;
        }
        size_t k = 0;
        while (k < w->turns.len && !pl_str_eq(w->turns.ptr[k].row.turn_id, pl_buf_str(&seen->id)))
            k++;
        pl_buf_clear(&stored);
        pl_buf_clear(&told);
        reader_turn_write(seen, &told);
        if (k == w->turns.len || is_open(w->turns.ptr[k].row.status))
            world_fail(w, "a turn ended and its row does not say so");
        else if (pl_turn_row_write(&w->turns.ptr[k].row, &stored) != PL_OK ||
                 !pl_str_eq(pl_buf_str(&stored), pl_buf_str(&told)))
            world_fail(w, "the row of a turn says\n%.*s\nand turn:end said\n%.*s",
                       PL_STR_ARG(pl_buf_str(&stored)), PL_STR_ARG(pl_buf_str(&told)));
        else if (!w->keeps_terminal)
            drop_turn(w, k);
        reader_turn_deinit(seen);
        *seen = w->seen.ptr[--w->seen.len];
    }
}

/* --- steps ----------------------------------------------------------------------------------- */

static void next_seed(struct world *w)
{
    w->n_steps++;
    w->seed.random[0] = w->n_steps * 0x9E3779B97F4A7C15u;
    w->seed.random[1] = ~w->n_steps * 0xD1B54A32D192ED03u;
    w->seed.n_taken = 0;
}

void world_init(struct world *w, const struct pl_session_record *record, int64_t now_ms)
{
    *w = (struct world){.seed.unix_ms = now_ms};
    pl_session_out_init(&w->out);
    pl_arena_init(&w->record_arena, 0);
    pl_arena_init(&w->settings_arena, 0);
    if (pl_session_create(record, &w->out, &w->session, &w->err) != PL_OK)
        world_fail(w, "create: %s", w->err.message);
    else
        keep_rows(w);
    w->last_sequence = pl_session_position(w->session);
}

void world_deinit(struct world *w)
{
    pl_session_destroy(w->session);
    pl_session_out_deinit(&w->out);
    pl_arena_deinit(&w->record_arena);
    pl_arena_deinit(&w->settings_arena);
    while (w->turns.len)
        drop_turn(w, w->turns.len - 1);
    for (size_t i = 0; i < w->questions.len; i++)
        pl_arena_deinit(&w->questions.ptr[i].arena);
    for (size_t i = 0; i < w->queue.len; i++)
        pl_arena_deinit(&w->queue.ptr[i].arena);
    reader_forget(w);
    pl_vec_deinit(&w->turns);
    pl_vec_deinit(&w->questions);
    pl_vec_deinit(&w->queue);
    pl_vec_deinit(&w->seen);
}

static void check_refused(struct world *w, int64_t position)
{
    if (w->out.frames.len || w->out.rows.len || w->out.effects.len ||
        pl_session_position(w->session) != position)
        world_fail(w, "an event was refused and something came out");
    if (w->out.refusal == PL_REFUSAL_NONE)
        world_fail(w, "an event was refused without saying how");
}

enum pl_status world_apply(struct world *w, struct pl_session_event *event)
{
    next_seed(w);
    event->seed = &w->seed;
    int64_t position = pl_session_position(w->session);
    enum pl_status status = pl_session_apply(w->session, event, &w->out, &w->err);
    if (status != PL_OK) {
        check_refused(w, position);
        reader_compare(w);
        return status;
    }
    bool has_durable = false, has_session = false;
    for (size_t i = 0; i < w->out.frames.len; i++) {
        has_durable |= w->out.frames.ptr[i].is_durable;
        reader_read(w, &w->out.frames.ptr[i]);
    }
    for (size_t i = 0; i < w->out.rows.len; i++)
        has_session |= w->out.rows.ptr[i].kind == PL_ROW_SESSION;
    if (has_durable && !has_session)
        world_fail(w, "a durable frame without the session's row");
    if (event->kind == PL_SE_RECOVER && w->out.effects.len)
        world_fail(w, "recovering had an effect");
    keep_rows(w);
    if (w->last_sequence != pl_session_position(w->session))
        world_fail(w, "the position is %lld after event %lld",
                   (long long)pl_session_position(w->session), (long long)w->last_sequence);
    check_ended(w);
    reader_compare(w);
    if (!pl_session_is_running(w->session))
        world_compare_loaded(w);
    return status;
}

/* --- loading --------------------------------------------------------------------------------- */

static struct pl_session *load(struct world *w)
{
    struct pl_turn_row *turns = pl_mem_alloc(w->turns.len + 1, sizeof *turns);
    struct pl_question_row *questions = pl_mem_alloc(w->questions.len + 1, sizeof *questions);
    struct pl_queued_row *queued = pl_mem_alloc(w->queue.len + 1, sizeof *queued);
    size_t n_turns = 0, n_questions = 0;
    for (size_t i = 0; i < w->turns.len; i++)
        if (is_open(w->turns.ptr[i].row.status))
            turns[n_turns++] = w->turns.ptr[i].row;
    for (size_t i = 0; i < w->questions.len; i++)
        if (pl_str_eq(w->questions.ptr[i].row.state, PL_STR("pending")))
            questions[n_questions++] = w->questions.ptr[i].row;
    for (size_t i = 0; i < w->queue.len; i++)
        queued[i] = w->queue.ptr[i].row;
    struct pl_session *loaded = NULL;
    if (pl_session_load(&w->record, turns, n_turns, questions, n_questions, queued, w->queue.len,
                        &loaded, &w->err) != PL_OK)
        world_fail(w, "load: %s", w->err.message);
    pl_mem_free(turns);
    pl_mem_free(questions);
    pl_mem_free(queued);
    return loaded;
}

static void describe(const struct pl_session *session, struct pl_buf *to)
{
    pl_session_write(session, to);
    pl_buf_addf(to, " at %lld quiet %d\n", (long long)pl_session_position(session),
                pl_session_is_quiet(session));
    for (size_t i = 0; i < pl_session_n_open_turns(session); i++)
        pl_session_write_open_turn(session, i, to);
    pl_session_write_questions(session, to);
    pl_session_write_queue(session, to);
}

void world_compare_loaded(struct world *w)
{
    if (w->problem[0])
        return;
    struct pl_session *loaded = load(w);
    if (!loaded)
        return;
    PL_CLEANUP_BUF struct pl_buf here, there;
    pl_buf_init(&here, 0);
    pl_buf_init(&there, 0);
    describe(w->session, &here);
    describe(loaded, &there);
    pl_session_destroy(loaded);
    /* An open question of an extension has no row: it ends with the process of the extension. */
    if (pl_str_find(pl_buf_str(&here), PL_STR("\"tool_call_id\":\"ask_")) != SIZE_MAX)
        return;
    if (!pl_str_eq(pl_buf_str(&here), pl_buf_str(&there)))
        world_fail(w, "in memory:\n%.*s\nloaded:\n%.*s", PL_STR_ARG(pl_buf_str(&here)),
                   PL_STR_ARG(pl_buf_str(&there)));
}

void world_reload(struct world *w)
{
    struct pl_session *loaded = load(w);
    if (!loaded)
        return;
    pl_session_destroy(w->session);
    w->session = loaded;
    w->last_sequence = pl_session_position(loaded);
    /* A reader gets a snapshot: the current open turns. */
    reader_forget(w);
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    for (size_t i = 0; i < pl_session_n_open_turns(loaded); i++) {
        pl_buf_clear(&data);
        pl_buf_addf(&data, "{\"sequence\":%lld,\"turn\":", (long long)w->last_sequence);
        pl_session_write_open_turn(loaded, i, &data);
        pl_buf_addc(&data, '}');
        struct pl_session_frame frame = {
            .kind = PL_FRAME_TURN_START, .sequence = w->last_sequence, .data = pl_buf_str(&data)};
        w->last_sequence--;
        reader_read(w, &frame);
    }
}
