/* Live events: a socket for many sessions, or an event stream of one. */
#include "http/routes/route.h"
#include "live/hub.h"
#include "service/sessions/routes.h"
#include "service/sessions/session_request.h"

static void socket_open(struct pl_exchange *x)
{
    pl_socket_open(x);
}

static void events_looked(struct pl_exchange *x, struct pl_session_command *command)
{
    pl_session_command_deinit(command);
    if (x->method == PL_METHOD_HEAD) {
        x->content_type = "text/event-stream";
        pl_exchange_finish(x);
        return;
    }
    pl_events_open(x, x->args[0]);
}

/* Finds the session first, so that another user's session is a plain 404. */
static void events_open(struct pl_exchange *x)
{
    pl_exchange_look(x, events_looked);
}

static const struct pl_route_param socket_params[] = {
    {"ticket", "{\"type\":\"string\"}", "From POST /api/ws-tickets"},
    {NULL, NULL, NULL},
};
static const struct pl_route_param event_params[] = {
    {"since", "{\"type\":\"string\"}", "EPOCH:SEQUENCE of the last event seen"},
    {"content", "{\"type\":\"string\",\"enum\":[\"always\"]}",
     "Send the whole content in every "
     "patch"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_live[] = {
    {PL_METHOD_GET, "/api/ws", PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY, PL_FOR_ANYBODY, socket_open,
     "socket", "Open a WebSocket (subprotocol parley.v1)", "live", NULL, NULL, 101, socket_params},
    {PL_METHOD_GET, "/api/sessions/{id}/events", PL_ROUTE_ANY_REPLY, PL_FOR_SESSIONS | PL_FOR_READ,
     events_open, "session_events", "Follow a session as an event stream (SSE)", "live", NULL, NULL,
     200, event_params},
    {0},
};
