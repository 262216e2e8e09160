/* Tools for scripts of the demo models: enough to see a session use a tool, wait for one, and ask a
 * person first. The models of vendors are not offered them. */
#include "agent/tools/tool_int.h"
#include "json/number.h"

#include <stdio.h>

#define MAX_WAIT_MS 600000

void pl_tool_echo(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    pl_activity_finish_tool(activity, arguments->text, false);
}

static void on_waited(struct pl_timer *timer)
{
    struct pl_activity *activity = PL_CONTAINER_OF(timer, struct pl_activity, timer);
    char text[64];
    int n = snprintf(text, sizeof text, "{\"waited_ms\":%lld}",
                     (long long)(pl_loop_now_ms(activity->loop) - activity->started_ms));
    pl_activity_finish_tool(activity, (struct pl_str){text, (size_t)n}, false);
}

void pl_tool_wait(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    int64_t ms = 0;
    const struct pl_json_node *node = pl_json_get(arguments, arguments->root, PL_STR("ms"));
    if (!pl_json_number_int64(pl_json_span(arguments, node), &ms) || ms > MAX_WAIT_MS)
        ms = MAX_WAIT_MS;
    pl_timer_start(activity->loop, &activity->timer, ms, on_waited);
}

void pl_tool_publish(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    const struct pl_json_node *title = pl_json_get(arguments, arguments->root, PL_STR("title"));
    const struct pl_json_node *html = pl_json_get(arguments, arguments->root, PL_STR("html"));
    pl_buf_adds(&activity->text, "{\"ok\":true,\"_meta\":{\"ui\":{\"resourceHTML\":");
    pl_buf_add(&activity->text, pl_json_span(arguments, html));
    pl_buf_adds(&activity->text, ",\"target\":\"inline\",\"height\":320,\"title\":");
    pl_buf_add(&activity->text, pl_json_span(arguments, title));
    pl_buf_adds(&activity->text, "}}}");
    if (activity->text.status == PL_OK)
        pl_activity_finish_tool(activity, pl_buf_str(&activity->text), false);
    else
        pl_activity_fail_tool(activity, PL_TOOL_ERROR_MEMORY, "Out of memory.");
}
