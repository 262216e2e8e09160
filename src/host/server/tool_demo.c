/* Tools for scripts of the demo models: enough to see a session use one, wait for one, and ask a
 * person first. The models of vendors are not offered them. */
#include "json/number.h"
#include "server/tool_int.h"

#include <stdio.h>

#define MAX_WAIT_MS 600000

void pl_tool_echo(struct pl_run *run, const struct pl_json_doc *arguments)
{
    pl_run_finish_tool(run, arguments->text, false);
}

static void on_waited(struct pl_timer *timer)
{
    struct pl_run *run = PL_CONTAINER_OF(timer, struct pl_run, timer);
    char text[64];
    int n = snprintf(text, sizeof text, "{\"waited_ms\":%lld}",
                     (long long)(pl_loop_now_ms(run->loop) - run->started_ms));
    pl_run_finish_tool(run, (struct pl_str){text, (size_t)n}, false);
}

void pl_tool_wait(struct pl_run *run, const struct pl_json_doc *arguments)
{
    int64_t ms = 0;
    const struct pl_json_node *node = pl_json_get(arguments, arguments->root, PL_STR("ms"));
    if (!pl_json_number_int64(pl_json_span(arguments, node), &ms) || ms > MAX_WAIT_MS)
        ms = MAX_WAIT_MS;
    pl_timer_start(run->loop, &run->timer, ms, on_waited);
}

void pl_tool_publish(struct pl_run *run, const struct pl_json_doc *arguments)
{
    const struct pl_json_node *title = pl_json_get(arguments, arguments->root, PL_STR("title"));
    const struct pl_json_node *html = pl_json_get(arguments, arguments->root, PL_STR("html"));
    pl_buf_adds(&run->text, "{\"ok\":true,\"_meta\":{\"ui\":{\"resourceHTML\":");
    pl_buf_add(&run->text, pl_json_span(arguments, html));
    pl_buf_adds(&run->text, ",\"target\":\"inline\",\"height\":320,\"title\":");
    pl_buf_add(&run->text, pl_json_span(arguments, title));
    pl_buf_adds(&run->text, "}}}");
    if (run->text.status == PL_OK)
        pl_run_finish_tool(run, pl_buf_str(&run->text), false);
    else
        pl_run_fail_tool(run, "Out of memory.");
}
