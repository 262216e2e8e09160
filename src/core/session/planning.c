/* Planning: a mode of the session in which nothing is changed. A person chooses it with a message;
 * a model enters and leaves it by tools, and reports its plan with another tool. The host checks
 * the arguments and asks the person before planning ends. This file applies the tools' effects when
 * their results come. */
#include "session/session_int.h"

static void add_block(struct pl_step *x, struct pl_turn *turn, enum pl_block_type type,
                      struct pl_str content, bool is_told)
{
    struct pl_block *block = pl_turn_add_block(turn, type);
    if (!block)
        return;
    block->content = pl_turn_keep(turn, content);
    if (is_told)
        pl_turn_tell_block(x, turn);
}

void pl_mode_change(struct pl_step *x, struct pl_turn *turn, enum pl_chat_mode mode, bool is_told)
{
    if (mode == PL_CHAT_MODE_KEEP || mode == x->s->mode)
        return;
    bool is_entering = mode == PL_CHAT_MODE_PLANNING;
    x->s->mode = mode;
    x->s->record.is_planning = is_entering;
    add_block(x, turn, PL_BLOCK_MODE_CHANGE,
              is_entering ? PL_STR("{\"from\":\"executing\",\"to\":\"planning\"}")
                          : PL_STR("{\"from\":\"planning\",\"to\":\"executing\"}"),
              is_told);
    add_block(x, turn, is_entering ? PL_BLOCK_PLANNING_ENTER : PL_BLOCK_PLANNING_EXIT,
              (struct pl_str){0}, is_told);
}

static void enter(struct pl_step *x, struct pl_turn *turn, const struct pl_tool_call *call)
{
    (void)call;
    pl_mode_change(x, turn, PL_CHAT_MODE_PLANNING, true);
}

static void leave(struct pl_step *x, struct pl_turn *turn, const struct pl_tool_call *call)
{
    (void)call;
    pl_mode_change(x, turn, PL_CHAT_MODE_EXECUTING, true);
}

/* Reports the arguments as the current plan. */
static void report(struct pl_step *x, struct pl_turn *turn, const struct pl_tool_call *call)
{
    struct pl_json_doc plan;
    if (pl_step_json(x, call->arguments, &plan) != PL_OK ||
        pl_json_kind(plan.root) != PL_JSON_OBJECT)
        return;
    struct pl_block *block = pl_turn_add_block(turn, PL_BLOCK_PLAN_STATUS);
    if (!block)
        return;
    block->content = pl_turn_keep(turn, plan.text);
    block->tool_call_id = pl_turn_keep(turn, pl_str_of(call->id.text));
    block->tool_name = call->tool_name;
    block->display_name = call->display_name;
    pl_turn_tell_block(x, turn);
}

static const struct {
    const char *tool_name;
    void (*follow)(struct pl_step *x, struct pl_turn *turn, const struct pl_tool_call *call);
} tools[] = {
    {"planning_enter", enter},
    {"planning_exit", leave},
    {"plan_status", report},
};

void pl_planning_follow(struct pl_step *x, struct pl_turn *turn, const struct pl_tool_call *call)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (pl_str_eq(pl_str_of(tools[i].tool_name), call->tool_name))
            tools[i].follow(x, turn, call);
}
