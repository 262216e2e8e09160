#include "agent/tools/calc.h"
#include "agent/tools/tool_int.h"
#include "base/text/utc.h"
#include "json/text.h"

void pl_tool_calc(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    struct pl_str expression;
    enum pl_status status = pl_tool_text(activity, arguments, "expression", &expression);
    if (status == PL_OK)
        status = pl_calc(expression, &activity->text, &activity->err);
    if (status == PL_OK)
        pl_activity_finish_tool(activity, pl_buf_str(&activity->text), false);
    else
        pl_tool_fail(activity, status);
}

void pl_tool_clock(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    (void)arguments;
    char text[PL_UTC_SIZE + 2];
    text[0] = text[PL_UTC_SIZE + 1] = '"';
    pl_utc_write(text + 1, pl_loop_unix_ms(activity->loop));
    pl_activity_finish_tool(activity, (struct pl_str){text, sizeof text}, false);
}
