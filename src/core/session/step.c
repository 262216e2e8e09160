/* The output of a step: frames with their sequence, rows, effects, the reply. Everything is
 * copied into the output's arena, so that it can be passed to another thread while the session
 * continues. */
#include "session/session_int.h"

#include "json/text.h"

struct pl_str pl_step_keep(struct pl_step *x, struct pl_str s)
{
    if (!s.ptr)
        return s;
    struct pl_str copy = pl_arena_dup(&x->out->arena, s);
    x->is_oom |= !copy.ptr;
    return copy;
}

struct pl_str pl_step_take_text(struct pl_step *x)
{
    x->is_oom |= x->out->text.status != PL_OK;
    return x->out->text.ptr ? pl_step_keep(x, pl_buf_str(&x->out->text)) : PL_STR("");
}

/* --- frames ---------------------------------------------------------------------------------- */

static void flush_all(struct pl_step *x)
{
    for (size_t i = 0; i < x->s->loops.len; i++) {
        struct pl_turn *turn = x->s->loops.ptr[i]->turn;
        if (turn && turn->waiting.len)
            pl_turn_flush(x, turn, false);
    }
}

struct pl_json_out pl_frame_begin(struct pl_step *x, enum pl_frame_kind kind, bool is_durable)
{
    if (is_durable)
        flush_all(x);
    x->frame_kind = kind;
    x->is_frame_durable = is_durable;
    x->has_durable |= is_durable;
    pl_buf_clear(&x->out->text);
    struct pl_json_out out = pl_json_out(&x->out->text);
    pl_json_out_open(&out, '{');
    pl_out_member(&out, "session_id", x->s->record.id);
    pl_json_out_key(&out, "sequence");
    pl_json_out_int(&out, x->s->next_event);
    return out;
}

void pl_frame_end(struct pl_step *x, struct pl_json_out *out)
{
    pl_json_out_close(out, '}');
    struct pl_session_frame frame = {
        .kind = x->frame_kind,
        .is_durable = x->is_frame_durable,
        .sequence = x->s->next_event++,
        .data = pl_step_take_text(x),
    };
    x->is_oom |= !pl_vec_push(&x->out->frames, frame);
}

struct pl_json_out pl_patch_begin(struct pl_step *x, struct pl_turn *turn, const char *type,
                                  bool is_durable)
{
    struct pl_json_out out = pl_frame_begin(x, PL_FRAME_TURN_PATCH, is_durable);
    pl_out_member(&out, "turn_id", pl_str_of(turn->id.text));
    pl_out_member(&out, "loop_id", turn->loop_id);
    pl_out_member(&out, "patch_type", pl_str_of(type));
    pl_json_out_key(&out, "data");
    pl_json_out_open(&out, '{');
    turn->is_dirty |= is_durable;
    return out;
}

void pl_patch_end(struct pl_step *x, struct pl_turn *turn, struct pl_json_out *out)
{
    pl_json_out_close(out, '}');
    turn->last_event = x->s->next_event;
    pl_frame_end(x, out);
}

void pl_step_tell_turn(struct pl_step *x, enum pl_frame_kind kind, struct pl_turn *turn)
{
    struct pl_json_out out = pl_frame_begin(x, kind, true);
    pl_json_out_key(&out, "turn");
    pl_turn_write(turn, &out);
    turn->last_event = x->s->next_event;
    turn->is_dirty = true;
    pl_frame_end(x, &out);
}

void pl_question_write(const struct pl_question *question, struct pl_str state,
                       struct pl_str answer, int64_t settled_ms, struct pl_json_out *out)
{
    pl_json_out_open(out, '{');
    pl_out_member(out, "tool_call_id", question->tool_call_id);
    pl_out_member(out, "turn_id", question->turn_id);
    pl_out_member(out, "loop_id", question->loop_id);
    pl_out_member(out, "kind", question->kind);
    pl_out_json(out, "questions", question->questions);
    pl_out_member(out, "state", state);
    pl_out_json(out, "answer", answer);
    pl_out_time(out, "asked_at", question->asked_ms);
    if (settled_ms)
        pl_out_time(out, "settled_at", settled_ms);
    else
        pl_out_member(out, "settled_at", (struct pl_str){0});
    pl_json_out_close(out, '}');
}

void pl_step_tell_question(struct pl_step *x, enum pl_frame_kind kind,
                           const struct pl_question *question, struct pl_str state,
                           struct pl_str answer)
{
    int64_t settled_ms = kind == PL_FRAME_QUESTION_RESOLVED ? x->now_ms : 0;
    if (!question->is_client) { /* a client's call is published as a call, and no person answers
                                 * it */
        struct pl_json_out out = pl_frame_begin(x, kind, true);
        pl_json_out_key(&out, "question");
        pl_question_write(question, state, answer, settled_ms, &out);
        pl_frame_end(x, &out);
    }
    if (question->is_aside)
        return;
    struct pl_session_row row = {
        .kind = PL_ROW_QUESTION,
        .question =
            {
                .session_id = pl_step_keep(x, x->s->record.id),
                .tool_call_id = pl_step_keep(x, question->tool_call_id),
                .turn_id = pl_step_keep(x, question->turn_id),
                .loop_id = pl_step_keep(x, question->loop_id),
                .kind = pl_step_keep(x, question->kind),
                .questions = pl_step_keep(x, question->questions),
                .state = pl_step_keep(x, state),
                .answer = pl_step_keep(x, answer),
                .asked_ms = question->asked_ms,
                .settled_ms = settled_ms,
            },
    };
    pl_step_put_row(x, &row);
}

/* --- rows and effects ------------------------------------------------------------------------ */

void pl_step_put_row(struct pl_step *x, const struct pl_session_row *row)
{
    x->is_oom |= !pl_vec_push(&x->out->rows, *row);
}

void pl_step_put_turn(struct pl_step *x, struct pl_turn *turn)
{
    struct pl_session_row row = {.kind = PL_ROW_TURN};
    turn->n_chat_calls = x->s->n_calls;
    turn->is_dirty = false;
    turn->n_unsaved = 0;
    turn->saved_ms = x->now_ms;
    if (pl_turn_to_row(turn, x->s->record.id, &x->out->text, &x->out->arena, &row.turn) == PL_OK)
        pl_step_put_row(x, &row);
    else
        x->is_oom = true;
}

void pl_step_put_session(struct pl_step *x, enum pl_row_kind kind)
{
    struct pl_session_record *r = &x->s->record;
    const struct pl_str none = {0};
    r->next_event = x->s->next_event;
    struct pl_session_row row = {.kind = kind, .session = *r};
    row.session.id = pl_step_keep(x, r->id);
    row.session.user_id = pl_step_keep(x, r->user_id);
    row.session.intent = pl_step_keep(x, r->intent);
    row.session.solution_id = pl_step_keep(x, r->solution_id);
    row.session.biz_role_id = pl_step_keep(x, r->biz_role_id);
    row.session.model = pl_step_keep(x, r->model);
    row.session.replay_state = pl_step_keep(x, r->replay_state);
    row.session.source = pl_step_keep(x, r->source);
    /* Settings may be long and change rarely: a row of the session does not contain them. */
    bool has_settings = kind != PL_ROW_SESSION;
    row.session.system_prompt = has_settings ? pl_step_keep(x, r->system_prompt) : none;
    row.session.settings = has_settings ? pl_step_keep(x, r->settings) : none;
    row.session.tools = has_settings ? pl_step_keep(x, r->tools) : none;
    row.session.handoff = has_settings ? pl_step_keep(x, r->handoff) : none;
    row.session.allowed = has_settings ? pl_step_keep(x, r->allowed) : none;
    row.session.chat_override = has_settings ? pl_step_keep(x, r->chat_override) : none;
    pl_step_put_row(x, &row);
}

void pl_step_want(struct pl_step *x, const struct pl_session_effect *effect)
{
    struct pl_session_effect copy = *effect;
    struct pl_str *strings[] = {
        &copy.loop_id,      &copy.turn_id,   &copy.model,     &copy.compaction_id, &copy.trigger,
        &copy.tool_call_id, &copy.tool_name, &copy.arguments, &copy.trace_id,      &copy.key_id};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        *strings[i] = pl_step_keep(x, *strings[i]);
    x->is_oom |= !pl_vec_push(&x->out->effects, copy);
}

void pl_step_reply(struct pl_step *x, const char *key, struct pl_str text)
{
    pl_buf_clear(&x->out->text);
    struct pl_json_out out = pl_json_out(&x->out->text);
    pl_json_out_open(&out, '{');
    pl_out_member(&out, key, text);
    pl_json_out_close(&out, '}');
    x->out->reply = pl_step_take_text(x);
}

/* --- the session ----------------------------------------------------------------------------- */

void pl_step_tell_session(struct pl_step *x)
{
    if (!x->is_changed)
        return;
    x->is_changed = false;
    x->s->record.version++;
    x->s->record.updated_ms = x->now_ms;
    struct pl_json_out out = pl_frame_begin(x, PL_FRAME_SESSION_UPDATED, true);
    pl_json_out_key(&out, "session");
    pl_session_record_write(&x->s->record, out.buf);
    out.is_after_key = false;
    pl_frame_end(x, &out);
}

void pl_step_set_status(struct pl_step *x, enum pl_session_status status)
{
    struct pl_session_record *record = &x->s->record;
    if (pl_session_may_become(record->status, status)) {
        record->status = status;
        x->is_changed = true;
        if (status == PL_SESSION_RUNNING)
            x->s->working_ms = x->now_ms;
        pl_replay_follow(x);
    }
    pl_step_tell_session(x);
}

void pl_step_set_text(struct pl_step *x, struct pl_str *field, struct pl_str value)
{
    char *copy = NULL;
    if (value.ptr) {
        copy = pl_mem_alloc(value.len + 1, 1);
        x->is_oom |= !copy;
        if (!copy)
            return;
        memcpy(copy, value.ptr, value.len);
        copy[value.len] = '\0';
    }
    pl_mem_free((char *)field->ptr);
    *field = (struct pl_str){copy, copy ? value.len : 0};
}

/* --- checking the input ---------------------------------------------------------------------- */

enum pl_status pl_step_refuse(struct pl_step *x, enum pl_status status, enum pl_refusal refusal,
                              const char *message)
{
    x->out->refusal = refusal;
    return pl_fail(x->err, status, "%s", message);
}

enum pl_status pl_step_json(struct pl_step *x, struct pl_str text, struct pl_json_doc *ret_doc)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(&x->out->arena, text, NULL, &doc, x->err);
    if (status == PL_OK && doc.n_space) {
        pl_buf_clear(&x->out->text);
        pl_json_write_min(&x->out->text, &doc, doc.root);
        status = pl_json_parse(&x->out->arena, pl_step_take_text(x), NULL, &doc, x->err);
    }
    x->is_oom |= status == PL_NOMEM;
    if (x->is_oom)
        return PL_NOMEM;
    if (status != PL_OK) {
        x->out->refusal = PL_REFUSAL_INVALID;
        return PL_INVALID;
    }
    *ret_doc = doc;
    return PL_OK;
}

enum pl_status pl_step_optional_json(struct pl_step *x, struct pl_str text, struct pl_str *ret_json)
{
    struct pl_json_doc doc;
    *ret_json = (struct pl_str){0};
    if (!text.len)
        return PL_OK;
    enum pl_status status = pl_step_json(x, text, &doc);
    if (status == PL_OK && pl_json_kind(doc.root) != PL_JSON_NULL)
        *ret_json = doc.text;
    return status;
}

enum pl_status pl_step_read_end(struct pl_step *x, struct pl_str model, struct pl_str usage,
                                struct pl_str timing, struct pl_str metadata,
                                struct pl_turn_end *ret_end)
{
    struct pl_turn_end end = {.model = model.len ? model : (struct pl_str){0}};
    enum pl_status status = pl_step_optional_json(x, usage, &end.usage);
    if (status == PL_OK)
        status = pl_step_optional_json(x, timing, &end.timing);
    if (status == PL_OK)
        status = pl_step_optional_json(x, metadata, &end.metadata);
    if (status == PL_OK)
        *ret_end = end;
    return status;
}
