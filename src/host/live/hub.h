/* Who listens to what on this shard. Frames are built once by the session's shard and handed to
 * every shard that has listeners, as counted chunks; a subscriber's queue holds references.
 *
 * A socket is a WebSocket or an event stream. It may listen to many sessions. */
#ifndef PL_LIVE_HUB_H
#define PL_LIVE_HUB_H

#include "http/exchange.h"
#include "io/net/conn.h"
#include "wire/websocket.h"

/* How a frame is spelled. */
enum pl_lane {
    PL_LANE_WS,       /* WebSocket text frames */
    PL_LANE_WS_WHOLE, /* with content in every patch */
    PL_LANE_SSE,
    PL_LANE_SSE_WHOLE,
    PL_LANE_COUNT,
};

enum pl_status pl_hub_create(struct pl_shard *shard, struct pl_hub **ret_hub);
void pl_hub_destroy(struct pl_hub *hub);
/* Tells every socket that the server goes away, then closes them (1001); not those that outlast. One after
 * the other within this time, so that other nodes do not get them all at once; 0: at once. */
void pl_hub_go_away(struct pl_hub *hub, int64_t over_ms);
/* Ends every socket without a word; before the loop goes. Accepts NULL. */
void pl_hub_drop_all(struct pl_hub *hub);
size_t pl_hub_n_sockets(const struct pl_hub *hub);

/* A WebSocket from an exchange that asked for an upgrade and passed the checks of Host and Origin;
 * the caller may be unknown yet (then `auth` must be the first message, within 10 s). */
void pl_socket_open(struct pl_exchange *x);
/* The check of a WebSocket's handshake, for its Sec-WebSocket-Accept. False after making a problem. */
bool pl_socket_is_handshake(struct pl_exchange *x, char accept[PL_WS_ACCEPT_SIZE]);
/* An event stream of one session. */
void pl_events_open(struct pl_exchange *x, struct pl_str session_id);
/* An event stream of one chat, which ends with it. */
struct pl_chat_events {
    struct pl_str session_id;
    int64_t epoch, since; /* the position before it was said */
    int64_t position;     /* in the queue; 0: it does not wait */
    bool is_begun;        /* what comes next is already of it */
};
void pl_chat_events_open(struct pl_exchange *x, const struct pl_chat_events *chat);

/* Closes the sockets (4401) that were opened with a key, or by a user, on every shard. False: out of
 * memory, and some sockets may still be open. */
bool pl_hub_close_key_everywhere(struct pl_server *server, struct pl_str key_id);
bool pl_hub_close_user_everywhere(struct pl_server *server, struct pl_str user_id);

/* An event that belongs to no session, to every WebSocket of the user on every shard: it has no
 * sequence number, and users who are not connected do not get it. `data` is a JSON object. Any
 * thread; out of memory it is left out. */
void pl_hub_tell_user(struct pl_server *server, struct pl_str user_id, const char *event,
                      struct pl_str data);
/* Passes on an event that another node has sent to a user, or to the followers of the user's lists
 * (PL_BELL_USER), to the sockets of this node only. Any thread; an invalid text is left out. */
void pl_hub_hear_user(struct pl_server *server, struct pl_str text);

#endif
