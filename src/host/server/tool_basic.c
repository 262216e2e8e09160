#include "base/utc.h"
#include "json/text.h"
#include "server/calc.h"
#include "server/tool_int.h"

void pl_tool_calc(struct pl_run *run, const struct pl_json_doc *arguments)
{
    struct pl_str expression;
    enum pl_status status = pl_tool_text(run, arguments, "expression", &expression);
    if (status == PL_OK)
        status = pl_calc(expression, &run->text, &run->err);
    if (status == PL_OK)
        pl_run_finish_tool(run, pl_buf_str(&run->text), false);
    else
        pl_run_fail_tool(run, status == PL_INVALID ? run->err.message : "Out of memory.");
}

void pl_tool_clock(struct pl_run *run, const struct pl_json_doc *arguments)
{
    (void)arguments;
    char text[PL_UTC_SIZE + 2];
    text[0] = text[PL_UTC_SIZE + 1] = '"';
    pl_utc_write(text + 1, pl_loop_unix_ms(run->loop));
    pl_run_finish_tool(run, (struct pl_str){text, sizeof text}, false);
}
