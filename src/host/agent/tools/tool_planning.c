/* Planning by tools: the session does what they mean when the result comes (session/planning.c); here
 * is what the model is told. */
#include "agent/tools/tool_int.h"

void pl_tool_planning_enter(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    (void)arguments;
    pl_activity_finish_tool(activity,
                            activity->effect.mode == PL_CHAT_MODE_PLANNING
                                ? PL_STR("{\"mode\":\"planning\",\"changed\":false}")
                                : PL_STR("{\"mode\":\"planning\",\"changed\":true}"),
                            false);
}

void pl_tool_planning_exit(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    (void)arguments;
    pl_activity_finish_tool(activity, PL_STR("{\"mode\":\"executing\",\"approved\":true}"), false);
}

void pl_tool_plan_status(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    (void)arguments;
    pl_activity_finish_tool(activity, PL_STR("{\"shown\":true}"), false);
}
