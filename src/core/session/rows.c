/* Writes rows as the objects of seed 003. */
#include "session/rows.h"
#include "session/turn/turn_int.h"

void pl_session_record_write(const struct pl_session_record *record, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    const struct {
        const char *key;
        bool value;
    } flags[] = {
        {"shared", record->shared},
        {"is_pinned", record->is_pinned},
        {"memory_enabled", record->memory_enabled},
        {"is_persistent", record->is_persistent},
    };
    pl_json_out_open(&out, '{');
    pl_out_member(&out, "id", record->id);
    pl_out_member(&out, "intent", record->intent.ptr ? record->intent : PL_STR(""));
    pl_out_member(&out, "status", pl_str_of(pl_session_status_text(record->status)));
    pl_out_time(&out, "created_at", record->created_ms);
    pl_out_time(&out, "updated_at", record->updated_ms);
    pl_out_member(&out, "user_id", record->user_id);
    pl_out_member(&out, "solution_id", record->solution_id);
    pl_out_member(&out, "biz_role_id", record->biz_role_id);
    pl_out_member(&out, "model", record->model);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        pl_json_out_key(&out, flags[i].key);
        pl_json_out_bool(&out, flags[i].value);
    }
    pl_out_json(&out, "replay_state", record->replay_state);
    if (record->source.ptr)
        pl_out_member(&out, "source", record->source);
    if (record->system_prompt.ptr)
        pl_out_member(&out, "system_prompt", record->system_prompt);
    if (record->settings.ptr)
        pl_out_json(&out, "settings", record->settings);
    if (record->tools.ptr)
        pl_out_json(&out, "tools", record->tools);
    pl_json_out_close(&out, '}');
}

static void hide(struct pl_turn *turn)
{
    turn->memory_refs = (struct pl_str){0};
    for (size_t i = 0; i < turn->blocks.len; i++)
        turn->blocks.ptr[i].proof = (struct pl_str){0};
    for (size_t i = 0; i < turn->calls.len; i++)
        turn->calls.ptr[i].proof = (struct pl_str){0};
    pl_turn_reduce_metadata(turn);
}

static enum pl_status write_row(const struct pl_turn_row *row, bool is_shared, struct pl_buf *to)
{
    struct pl_turn turn;
    pl_turn_init(&turn);
    enum pl_status status = pl_turn_from_row(&turn, row, NULL);
    if (status == PL_OK) {
        if (is_shared)
            hide(&turn);
        struct pl_json_out out = pl_json_out(to);
        pl_turn_write(&turn, &out);
        status = turn.is_oom ? PL_NOMEM : to->status;
    }
    pl_turn_deinit(&turn);
    return status;
}

enum pl_status pl_turn_row_write(const struct pl_turn_row *row, struct pl_buf *to)
{
    return write_row(row, false, to);
}

enum pl_status pl_turn_row_write_shared(const struct pl_turn_row *row, struct pl_buf *to)
{
    return write_row(row, true, to);
}
