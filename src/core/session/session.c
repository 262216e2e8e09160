/* The life of a session: it is created or loaded, handles events one step at a time, and can be
 * read. The handlers of the events are in the other files of this room. */
#include "session/session_int.h"

#include <assert.h>

void pl_session_out_init(struct pl_session_out *out)
{
    *out = (struct pl_session_out){0};
    pl_arena_init(&out->arena, 0);
    pl_buf_init(&out->text, 0);
}

void pl_session_out_deinit(struct pl_session_out *out)
{
    pl_arena_deinit(&out->arena);
    pl_vec_deinit(&out->frames);
    pl_vec_deinit(&out->rows);
    pl_vec_deinit(&out->effects);
    pl_buf_deinit(&out->text);
    *out = (struct pl_session_out){0};
}

static void clear_lists(struct pl_session_out *out)
{
    out->frames.len = out->rows.len = out->effects.len = 0;
    out->reply = (struct pl_str){0};
}

static void reset(struct pl_session_out *out)
{
    clear_lists(out);
    pl_arena_reset(&out->arena);
    pl_buf_clear(&out->text);
    out->refusal = PL_REFUSAL_NONE;
}

/* --- creating and loading -------------------------------------------------------------------- */

void pl_session_destroy(struct pl_session *session)
{
    if (!session)
        return;
    for (size_t i = 0; i < session->loops.len; i++)
        pl_agent_loop_destroy(session->loops.ptr[i]);
    for (size_t i = 0; i < session->questions.len; i++)
        pl_question_destroy(session->questions.ptr[i]);
    for (size_t i = 0; i < session->queue.len; i++)
        pl_queued_destroy(session->queue.ptr[i]);
    pl_vec_deinit(&session->loops);
    pl_vec_deinit(&session->questions);
    pl_vec_deinit(&session->queue);
    struct pl_session_record *r = &session->record;
    const struct pl_str strings[] = {r->id,          r->user_id, r->intent,       r->solution_id,
                                     r->biz_role_id, r->model,   r->replay_state, r->system_prompt,
                                     r->settings,    r->tools,   r->handoff,      r->chat_override,
                                     r->source,      r->allowed};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        pl_mem_free((char *)strings[i].ptr);
    pl_mem_free(session);
}

/* Empty strings become null, except in members that must be text. */
static void copy_record(struct pl_step *x, const struct pl_session_record *from)
{
    struct pl_session_record *to = &x->s->record;
    *to = *from;
    const struct {
        struct pl_str *to;
        struct pl_str from;
        bool is_text;
    } strings[] = {
        {&to->id, from->id, true},
        {&to->user_id, from->user_id, true},
        {&to->intent, from->intent, true},
        {&to->solution_id, from->solution_id, false},
        {&to->biz_role_id, from->biz_role_id, false},
        {&to->model, from->model, false},
        {&to->replay_state, from->replay_state, false},
        {&to->system_prompt, from->system_prompt, false},
        {&to->settings, from->settings, false},
        {&to->tools, from->tools, false},
        {&to->handoff, from->handoff, false},
        {&to->chat_override, from->chat_override, false},
        {&to->source, from->source, false},
        {&to->allowed, from->allowed, false},
    };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        *strings[i].to = (struct pl_str){0};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        struct pl_str value = strings[i].from;
        if (!value.len)
            value = strings[i].is_text ? PL_STR("") : (struct pl_str){0};
        pl_step_set_text(x, strings[i].to, value);
    }
}

static struct pl_session *make(struct pl_step *x, const struct pl_session_record *record)
{
    struct pl_session *s = pl_mem_alloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct pl_session){.next_position = 1};
    x->s = s;
    copy_record(x, record);
    s->next_event = s->record.next_event;
    s->mode = s->record.is_planning ? PL_CHAT_MODE_PLANNING : PL_CHAT_MODE_EXECUTING;
    if (x->is_oom) {
        pl_session_destroy(s);
        return NULL;
    }
    return s;
}

enum pl_status pl_session_create(const struct pl_session_record *record, struct pl_session_out *out,
                                 struct pl_session **ret_session, struct pl_error *err)
{
    struct pl_session_record first = *record;
    first.status = PL_SESSION_CREATED;
    first.version = first.epoch = first.next_event = 1;
    if (first.updated_ms < first.created_ms)
        first.updated_ms = first.created_ms;
    reset(out);
    struct pl_step x = {.out = out, .err = err};
    struct pl_session *s = make(&x, &first);
    if (s)
        pl_step_put_session(&x, PL_ROW_NEW_SESSION);
    if (!s || x.is_oom) {
        clear_lists(out);
        pl_session_destroy(s);
        return pl_fail(err, PL_NOMEM, "Out of memory while creating a session");
    }
    *ret_session = s;
    return PL_OK;
}

/* A loop is identified by its open turn, its parent loop by the call in that turn. */
static enum pl_status load_turn(struct pl_step *x, const struct pl_turn_row *row)
{
    struct pl_session *s = x->s;
    struct pl_str id = row->loop_id;
    if (row->status != PL_TURN_STREAMING && row->status != PL_TURN_PAUSED)
        return PL_OK;
    if (!id.len || id.len >= PL_ID_MAX || pl_agent_loop_find(s, id))
        return pl_fail(x->err, PL_INVALID, "The stored loop %.*s has two open turns",
                       PL_STR_ARG(id));
    struct pl_agent_loop *loop =
        pl_agent_loop_add(x, NULL, (struct pl_str){0}, (struct pl_str){0}, 0);
    struct pl_turn *turn = loop ? pl_mem_alloc(1, sizeof *turn) : NULL;
    if (!turn) {
        x->is_oom = true;
        return PL_OK;
    }
    pl_turn_init(turn);
    loop->turn = turn;
    loop->id = (struct pl_id){0};
    memcpy(loop->id.text, id.ptr, id.len);
    enum pl_status status = pl_turn_from_row(turn, row, x->err);
    if (status != PL_OK)
        return status;
    struct pl_str model = {0};
    pl_step_set_text(x, &model, turn->model);
    loop->model = (char *)model.ptr;
    loop->context_window = turn->context_window;
    s->language = turn->language;
    if (turn->trace_id.len == PL_TRACE_ID)
        memcpy(s->trace_id, turn->trace_id.ptr, PL_TRACE_ID);
    s->n_calls = turn->n_chat_calls > s->n_calls ? turn->n_chat_calls : s->n_calls;
    s->next_event = turn->last_event >= s->next_event ? turn->last_event + 1 : s->next_event;
    return PL_OK;
}

/* Sorts by age of the turns: a parent's turn is older than its children's. */
static void sort_loops(struct pl_session *s)
{
    for (size_t i = 1; i < s->loops.len; i++) {
        struct pl_agent_loop *loop = s->loops.ptr[i];
        size_t k = i;
        for (; k && s->loops.ptr[k - 1]->turn->sequence > loop->turn->sequence; k--)
            s->loops.ptr[k] = s->loops.ptr[k - 1];
        s->loops.ptr[k] = loop;
    }
}

static void find_parents(struct pl_session *s)
{
    for (size_t i = 0; i < s->loops.len; i++) {
        struct pl_agent_loop *loop = s->loops.ptr[i], *parent = NULL;
        struct pl_str call_id = loop->turn ? loop->turn->parent_call_id : (struct pl_str){0};
        if (!call_id.len || call_id.len >= PL_ID_MAX || !pl_tool_call_find(s, call_id, &parent))
            continue;
        for (size_t k = 0; k < i; k++) {
            if (s->loops.ptr[k] != parent) /* a parent precedes its children; otherwise the data is
                                            * damaged */
                continue;
            loop->parent = parent;
            loop->depth = parent->depth + 1;
            memcpy(loop->parent_call_id.text, call_id.ptr, call_id.len);
        }
    }
}

/* During a chat the root loop is first, with or without a turn: adds it if missing. */
static void find_root(struct pl_step *x)
{
    struct pl_session *s = x->s;
    s->is_chatting =
        s->record.status == PL_SESSION_RUNNING || s->record.status == PL_SESSION_WAITING;
    if (!s->is_chatting || pl_agent_loop_find(s, PL_STR("root")))
        return;
    struct pl_agent_loop *root =
        pl_agent_loop_add(x, NULL, (struct pl_str){0}, s->record.model, s->context_window);
    if (!root)
        return;
    memmove(&s->loops.ptr[1], &s->loops.ptr[0], (s->loops.len - 1) * sizeof *s->loops.ptr);
    s->loops.ptr[0] = root;
}

static void load_question(struct pl_step *x, const struct pl_question_row *row)
{
    if (!pl_str_eq(row->state, PL_STR("pending")))
        return;
    struct pl_question *q = pl_mem_alloc(1, sizeof *q);
    if (!q || !pl_vec_push(&x->s->questions, q)) {
        pl_mem_free(q);
        x->is_oom = true;
        return;
    }
    *q = (struct pl_question){.asked_ms = row->asked_ms};
    q->is_client = pl_str_eq(row->kind, PL_STR(PL_CLIENT_KIND));
    pl_arena_init(&q->arena, 0);
    q->tool_call_id = pl_arena_dup(&q->arena, row->tool_call_id);
    q->turn_id = pl_arena_dup(&q->arena, row->turn_id);
    q->loop_id = pl_arena_dup(&q->arena, row->loop_id);
    q->kind = pl_arena_dup(&q->arena, row->kind);
    q->questions = pl_arena_dup(&q->arena, row->questions);
    x->is_oom |= !q->tool_call_id.ptr || !q->turn_id.ptr || !q->loop_id.ptr || !q->kind.ptr ||
                 !q->questions.ptr;
    if (q->is_client && !x->is_oom)
        pl_client_call_load(x, q);
}

static enum pl_status load_queued(struct pl_step *x, const struct pl_queued_row *row)
{
    struct pl_session *s = x->s;
    struct pl_queued *queued = pl_queued_create(row->position, row->client_message_id, row->body);
    if (!queued || !pl_vec_push(&s->queue, queued)) {
        pl_queued_destroy(queued);
        x->is_oom = true;
        return PL_OK;
    }
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_said said;
    enum pl_status status = pl_queued_read(queued, &arena, &said);
    x->is_oom |= status == PL_NOMEM;
    if (status == PL_INVALID)
        return pl_fail(x->err, PL_INVALID, "A stored waiting message is damaged");
    queued->steers = status == PL_OK && said.steers && s->is_chatting;
    if (row->position >= s->next_position)
        s->next_position = row->position + 1;
    return PL_OK;
}

enum pl_status pl_session_load(const struct pl_session_record *record,
                               const struct pl_turn_row *turns, size_t n_turns,
                               const struct pl_question_row *questions, size_t n_questions,
                               const struct pl_queued_row *queued, size_t n_queued,
                               struct pl_session **ret_session, struct pl_error *err)
{
    struct pl_step x = {.err = err};
    struct pl_session *s = make(&x, record);
    enum pl_status status = PL_OK;
    for (size_t i = 0; s && i < n_turns && status == PL_OK && !x.is_oom; i++)
        status = load_turn(&x, &turns[i]);
    if (s && status == PL_OK && !x.is_oom) {
        sort_loops(s);
        find_parents(s);
        find_root(&x);
    }
    for (size_t i = 0; s && i < n_questions && !x.is_oom; i++)
        load_question(&x, &questions[i]);
    for (size_t i = 0; s && i < n_queued && status == PL_OK && !x.is_oom; i++)
        status = load_queued(&x, &queued[i]);
    if (!s || x.is_oom)
        status = pl_fail(err, PL_NOMEM, "Out of memory while loading a session");
    if (status != PL_OK) {
        pl_session_destroy(s);
        return status;
    }
    *ret_session = s;
    return PL_OK;
}

/* --- one step -------------------------------------------------------------------------------- */

static struct pl_str or_null(struct pl_str text)
{
    return text.len ? text : (struct pl_str){0};
}

static enum pl_status change_settings(struct pl_step *x)
{
    const struct pl_session_settings *set = &x->event->settings;
    struct pl_session_record *r = &x->s->record;
    struct pl_str replay_state = {0}, settings = {0}, tools = {0}, handoff = {0};
    const struct {
        struct pl_str from;
        struct pl_str *to;
    } values[] = {{set->replay_state, &replay_state},
                  {set->settings, &settings},
                  {set->tools, &tools},
                  {set->handoff, &handoff}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        enum pl_status status = pl_step_optional_json(x, values[i].from, values[i].to);
        if (status != PL_OK)
            return status;
    }
    const struct {
        bool has, value;
        bool *to;
    } flags[] = {
        {set->has_shared, set->shared, &r->shared},
        {set->has_pinned, set->is_pinned, &r->is_pinned},
        {set->has_memory, set->memory_enabled, &r->memory_enabled},
        {set->has_persistent, set->is_persistent, &r->is_persistent},
    };
    const struct {
        bool has;
        struct pl_str value;
        struct pl_str *to;
        bool is_setting; /* stored in a row of its own */
    } texts[] = {
        {set->has_intent, set->intent.len ? set->intent : PL_STR(""), &r->intent, false},
        {set->has_model, set->model.len ? set->model : (struct pl_str){0}, &r->model, false},
        {set->has_replay, replay_state, &r->replay_state, false},
        {set->has_system_prompt, set->system_prompt.len ? set->system_prompt : (struct pl_str){0},
         &r->system_prompt, true},
        {set->has_settings, settings, &r->settings, true},
        {set->has_tools, tools, &r->tools, true},
        {set->has_handoff, handoff, &r->handoff, true},
        {set->has_solution, or_null(set->solution_id), &r->solution_id, false},
        {set->has_biz_role, or_null(set->biz_role_id), &r->biz_role_id, false},
    };
    enum pl_status status = pl_replay_change(x);
    if (status != PL_OK)
        return status;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!flags[i].has || *flags[i].to == flags[i].value)
            continue;
        *flags[i].to = flags[i].value;
        x->is_changed = true;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i].has || pl_str_eq(*texts[i].to, texts[i].value))
            continue;
        pl_step_set_text(x, texts[i].to, texts[i].value);
        x->is_changed = true;
        x->has_settings |= texts[i].is_setting;
    }
    pl_step_tell_session(x);
    pl_buf_clear(&x->out->text);
    pl_session_record_write(r, &x->out->text);
    x->out->reply = pl_step_take_text(x);
    return PL_OK;
}

static enum pl_status (*const handlers[])(struct pl_step *x) = {
    [PL_SE_CHAT] = pl_step_chat,
    [PL_SE_ANSWER] = pl_step_answer,
    [PL_SE_STOP] = pl_step_stop,
    [PL_SE_COMPACT] = pl_step_compact,
    [PL_SE_SETTINGS] = change_settings,
    [PL_SE_TICK] = pl_step_tick,
    [PL_SE_MODEL_TEXT] = pl_step_model_text,
    [PL_SE_MODEL_BLOCK] = pl_step_model_block,
    [PL_SE_MODEL_PROOF] = pl_step_model_proof,
    [PL_SE_MODEL_CALL] = pl_step_model_call,
    [PL_SE_MODEL_RESULT] = pl_step_model_result,
    [PL_SE_MODEL_END] = pl_step_model_end,
    [PL_SE_MODEL_FAILED] = pl_step_model_failed,
    [PL_SE_TOOL_RESULT] = pl_step_tool_result,
    [PL_SE_TOOL_ASKS] = pl_step_tool_asks,
    [PL_SE_TOOL_CLIENT] = pl_step_tool_client,
    [PL_SE_CLIENT_RESULT] = pl_step_client_result,
    [PL_SE_ASIDE] = pl_step_aside,
    [PL_SE_ASIDE_END] = pl_step_aside_end,
    [PL_SE_TOOL_GO] = pl_step_tool_go,
    [PL_SE_SUMMARY] = pl_step_summary,
    [PL_SE_SUMMARY_FAILED] = pl_step_summary_failed,
    [PL_SE_RECOVER] = pl_step_recover,
    [PL_SE_SHUT_DOWN] = pl_step_shut_down,
    [PL_SE_NOTICE] = pl_step_notice,
    [PL_SE_GO_ON] = pl_step_take_up,
    [PL_SE_MEMORY] = pl_step_memory,
};

/* Adds rows of open turns; ended turns have added theirs. */
static void put_rows(struct pl_step *x)
{
    for (size_t i = 0; i < x->s->loops.len; i++) {
        struct pl_turn *turn = x->s->loops.ptr[i]->turn;
        if (turn && turn->is_dirty && !turn->is_oom)
            pl_step_put_turn(x, turn);
        x->is_oom |= turn && turn->is_oom;
    }
    if (x->has_durable)
        pl_step_put_session(x, PL_ROW_SESSION);
    if (x->has_settings)
        pl_step_put_session(x, PL_ROW_SETTINGS);
}

enum pl_status pl_session_apply(struct pl_session *session, const struct pl_session_event *event,
                                struct pl_session_out *out, struct pl_error *err)
{
    assert((size_t)event->kind < sizeof handlers / sizeof *handlers);
    reset(out);
    struct pl_step x = {
        .s = session, .event = event, .out = out, .err = err, .now_ms = event->seed->unix_ms};
    enum pl_status status = handlers[event->kind](&x);
    if (status == PL_OK && !x.is_oom)
        pl_step_go_on(&x);
    if (status == PL_OK && !x.is_oom)
        put_rows(&x);
    if (x.is_oom)
        status = pl_fail(err, PL_NOMEM, "Out of memory in a session: load it again and recover it");
    if (status != PL_OK)
        clear_lists(out);
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

const struct pl_session_record *pl_session_record(const struct pl_session *session)
{
    return &session->record;
}

int64_t pl_session_position(const struct pl_session *session)
{
    return session->next_event - 1;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t pl_session_next_tick_ms(const struct pl_session *session)
{
    int64_t at_ms = INT64_MAX;
    for (size_t i = 0; i < session->loops.len; i++) {
        const struct pl_turn *turn = session->loops.ptr[i]->turn;
        if (turn && turn->waiting.len)
            at_ms = sooner(at_ms, turn->waiting_since_ms + PL_SESSION_COALESCE_MS);
        if (turn && turn->n_unsaved)
            at_ms = sooner(at_ms, turn->saved_ms + pl_turn_checkpoint_ms(turn));
    }
    for (size_t i = 0; i < session->questions.len; i++)
        if (session->questions.ptr[i]->deadline_ms)
            at_ms = sooner(at_ms, session->questions.ptr[i]->deadline_ms);
    return at_ms;
}

bool pl_session_is_quiet(const struct pl_session *session)
{
    return !session->loops.len && !session->questions.len && !session->queue.len;
}

struct pl_str pl_session_trace(const struct pl_session *s)
{
    return pl_str_of(s->trace_id);
}

bool pl_session_is_running(const struct pl_session *session)
{
    const struct pl_agent_loop *root = session->loops.len ? session->loops.ptr[0] : NULL;
    return root && !(root->turn && root->turn->status == PL_TURN_PAUSED);
}

void pl_session_write(const struct pl_session *session, struct pl_buf *to)
{
    pl_session_record_write(&session->record, to);
}

size_t pl_session_n_open_turns(const struct pl_session *session)
{
    size_t n = 0;
    for (size_t i = 0; i < session->loops.len; i++)
        n += session->loops.ptr[i]->turn != NULL;
    return n;
}

/* Number of open turns that are older than this one. */
static size_t rank_of(const struct pl_session *session, const struct pl_turn *turn)
{
    size_t n = 0;
    for (size_t i = 0; i < session->loops.len; i++) {
        const struct pl_turn *other = session->loops.ptr[i]->turn;
        n += other && other->sequence < turn->sequence;
    }
    return n;
}

void pl_session_write_open_turn(const struct pl_session *session, size_t i, struct pl_buf *to)
{
    for (size_t k = 0; k < session->loops.len; k++) {
        const struct pl_turn *turn = session->loops.ptr[k]->turn;
        if (!turn || rank_of(session, turn) != i)
            continue;
        struct pl_json_out out = pl_json_out(to);
        pl_turn_write(turn, &out);
        return;
    }
}

bool pl_session_write_turn(const struct pl_session *session, struct pl_str turn_id,
                           struct pl_buf *to)
{
    for (size_t i = 0; i < session->loops.len; i++) {
        const struct pl_turn *turn = session->loops.ptr[i]->turn;
        if (!turn || !pl_str_eq(pl_str_of(turn->id.text), turn_id))
            continue;
        struct pl_json_out out = pl_json_out(to);
        pl_turn_write(turn, &out);
        return true;
    }
    return false;
}

void pl_session_write_questions(const struct pl_session *session, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < session->questions.len; i++)
        if (!session->questions.ptr[i]->is_client)
            pl_question_write(session->questions.ptr[i], PL_STR("pending"), (struct pl_str){0}, 0,
                              &out);
    pl_json_out_close(&out, ']');
}

void pl_session_write_queue(const struct pl_session *session, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < session->queue.len; i++)
        pl_queued_write(session->queue.ptr[i], &out);
    pl_json_out_close(&out, ']');
}
