/* Hands this session over: the result is the packet, which has everything that another agent needs.
 * Nothing is sent; the receiver accepts it with POST /api/handoffs. */
#include "agent/context/handoff.h"
#include "agent/tools/tool_int.h"
#include "shard/shard.h"

static enum pl_status make_packet(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    struct pl_handoff_opts options = {0};
    struct pl_handoff_of of = {activity->user_id, activity->session_id};
    enum pl_status status =
        pl_handoff_opts_read(&activity->arena, arguments, arguments->root, &options);
    pl_buf_adds(&activity->text, "{\"packet\":");
    if (status == PL_OK)
        status = pl_handoff_write(activity->server->store, &of, options, &activity->text,
                                  &activity->err);
    pl_buf_addc(&activity->text, '}');
    return status;
}

void pl_tool_handoff(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    (void)arguments;
    pl_tool_work(activity, make_packet);
}
