/* Planning by tools: the session acts when it gets the result (session/planning.c); this is the
 * result for the model. */
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
