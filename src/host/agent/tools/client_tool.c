/* A tool that a client has defined: its arguments are validated by the client's schema, then the
 * client runs the call (core/session/client_call.c). Without a client to run it, it fails. */
#include "agent/tools/offer.h"
#include "agent/tools/tool_int.h"
#include "agent/background/unattended.h"

static void hand_over(struct pl_activity *activity)
{
    struct pl_session_event event = {.kind = PL_SE_TOOL_CLIENT};
    event.tool.tool_call_id = activity->effect.tool_call_id;
    event.tool.wait_ms = activity->setup->config.client_tool_ms;
    pl_activity_bring_last(activity, &event);
}

bool pl_client_tool_run(struct pl_activity *activity)
{
    struct pl_str schema;
    struct pl_json_doc doc;
    char says[1000] = "";
    enum pl_tool_error error = PL_TOOL_ERROR_ARGUMENTS;
    if (pl_offer_find_own(&activity->arena, activity->offer, activity->effect.tool_name, &schema) !=
        PL_OK) {
        pl_activity_fail_tool(activity, PL_TOOL_ERROR_MEMORY, "Out of memory.");
        return true;
    }
    if (!schema.ptr)
        return false;
    if (pl_json_parse(&activity->arena, activity->effect.arguments, NULL, &doc, &activity->err) !=
        PL_OK)
        snprintf(says, sizeof says, "The arguments are not JSON: %s", activity->err.message);
    else if (pl_tool_check(activity, schema, &doc, says, sizeof says) != PL_OK)
        snprintf(says, sizeof says, "The arguments could not be checked: %s",
                 activity->err.message[0] ? activity->err.message : "out of memory");
    else if (!says[0] && pl_unattended_skips(activity->server->unattended, activity->session_id)) {
        error = PL_TOOL_ERROR_NOT_AVAILABLE;
        snprintf(says, sizeof says,
                 "Nobody is there to run this tool: it belongs to a client, and this session works "
                 "alone. Go on without it.");
    }
    if (says[0])
        pl_activity_fail_tool(activity, error, says);
    else
        hand_over(activity);
    return true;
}
