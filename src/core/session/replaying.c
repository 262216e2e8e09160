/* replay_state of a session that replays another: {source_session_id, from_sequence, total,
 * position, speed, status}. The session updates two of its members: `status` (running, paused,
 * stopped, finished), which follows the session's own status, and `position`, the number of
 * messages replayed. Both are published and stored with the change that causes them, so that a
 * replay never seems to run when it does not. */
#include "session/session_int.h"

#include "json/number.h"
#include "json/text.h"

/* Reads the state as a document; false: not a replay. */
static bool read_state(struct pl_step *x, struct pl_json_doc *ret_state)
{
    const struct pl_session_record *record = &x->s->record;
    return record->replay_state.len && pl_step_json(x, record->replay_state, ret_state) == PL_OK &&
           pl_json_kind(ret_state->root) == PL_JSON_OBJECT;
}

/* Sets or adds a member. */
static void set_member(struct pl_step *x, const char *key, struct pl_str value)
{
    struct pl_json_doc state;
    if (!read_state(x, &state))
        return;
    const struct pl_json_node *node = pl_json_get(&state, state.root, pl_str_of(key));
    struct pl_str now = node ? pl_json_span(&state, node) : (struct pl_str){0};
    size_t at = node ? (size_t)(now.ptr - state.text.ptr) : state.text.len - 1;
    if (node && pl_str_eq(now, value))
        return;
    pl_buf_clear(&x->out->text);
    pl_buf_add(&x->out->text, pl_str_slice(state.text, 0, at));
    if (!node)
        pl_buf_addf(&x->out->text, ",\"%s\":", key);
    pl_buf_add(&x->out->text, value);
    pl_buf_add(&x->out->text, pl_str_slice(state.text, at + now.len, state.text.len));
    struct pl_str text = pl_step_take_text(x);
    if (x->is_oom)
        return;
    pl_step_set_text(x, &x->s->record.replay_state, text);
    x->is_changed = true;
}

static struct pl_str status_of(const struct pl_json_doc *state)
{
    const struct pl_json_node *status = pl_json_get(state, state->root, PL_STR("status"));
    return status ? pl_json_span(state, status) : (struct pl_str){0};
}

static bool is_under_way(struct pl_str status)
{
    return pl_str_eq(status, PL_STR("\"running\"")) || pl_str_eq(status, PL_STR("\"paused\""));
}

/* The replay's next status when the session's status changes; NULL: unchanged. */
static const char *next_status(const struct pl_session *s, struct pl_str now)
{
    switch (s->record.status) {
    case PL_SESSION_RUNNING:
        return s->queue.len && pl_str_eq(now, PL_STR("\"stopped\"")) ? "\"running\"" : NULL;
    case PL_SESSION_INTERRUPTED:
        return is_under_way(now) ? "\"stopped\"" : NULL;
    case PL_SESSION_COMPLETED:
    case PL_SESSION_FAILED:
        return is_under_way(now) && !s->queue.len ? "\"finished\"" : NULL;
    default:
        return NULL;
    }
}

void pl_replay_follow(struct pl_step *x)
{
    struct pl_json_doc state;
    if (!read_state(x, &state))
        return;
    struct pl_str now = status_of(&state);
    const char *next = now.len ? next_status(x->s, now) : NULL;
    if (next)
        set_member(x, "status", pl_str_of(next));
}

void pl_replay_count(struct pl_step *x)
{
    struct pl_json_doc state;
    int64_t n = 0, total = 0;
    if (!read_state(x, &state))
        return;
    const struct pl_json_node *position = pl_json_get(&state, state.root, PL_STR("position"));
    const struct pl_json_node *all = pl_json_get(&state, state.root, PL_STR("total"));
    if (!pl_json_is(position, PL_JSON_NUMBER) || !pl_json_is(all, PL_JSON_NUMBER) ||
        !pl_json_number_int64(pl_json_span(&state, position), &n) ||
        !pl_json_number_int64(pl_json_span(&state, all), &total) || n >= total)
        return;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, "%lld", (long long)n + 1);
    x->is_oom |= text.status != PL_OK;
    if (!x->is_oom)
        set_member(x, "position", pl_buf_str(&text));
}

enum pl_status pl_replay_change(struct pl_step *x)
{
    const struct pl_session_settings *set = &x->event->settings;
    struct pl_json_doc state;
    if (!set->has_replay_speed && !set->has_replay_paused)
        return PL_OK;
    if (!read_state(x, &state) || !is_under_way(status_of(&state)))
        return pl_step_refuse(x, PL_CONFLICT, PL_REFUSAL_INVALID,
                              "No replay is under way in this session");
    if (set->has_replay_speed)
        set_member(x, "speed", set->replay_speed);
    if (set->has_replay_paused)
        set_member(x, "status", set->replay_paused ? PL_STR("\"paused\"") : PL_STR("\"running\""));
    return PL_OK;
}
