/* The listeners of this shard. The session's shard builds a frame once and passes it to every shard
 * that has listeners, as a counted chunk; the queue of a subscriber holds references.
 *
 * A socket is a WebSocket or an event stream. It may listen to many sessions. */
#ifndef PL_LIVE_HUB_H
#define PL_LIVE_HUB_H

#include "http/exchange.h"
#include "io/net/conn.h"
#include "wire/websocket.h"

/* The encoding of a frame. */
enum pl_lane {
    PL_LANE_WS,       /* WebSocket text frames */
    PL_LANE_WS_WHOLE, /* with content in every patch */
    PL_LANE_SSE,
    PL_LANE_SSE_WHOLE,
    PL_LANE_COUNT,
};

enum pl_status pl_hub_create(struct pl_shard *shard, struct pl_hub **ret_hub);
void pl_hub_destroy(struct pl_hub *hub);
/* Tells every socket that the server goes away, then closes it (1001), except those that outlast.
 * Spread over this time, so that other nodes do not get them all at once; 0: immediately. */
void pl_hub_go_away(struct pl_hub *hub, int64_t over_ms);
/* Drops every socket without a message. Call before the loop is destroyed. Accepts NULL. */
void pl_hub_drop_all(struct pl_hub *hub);
size_t pl_hub_n_sockets(const struct pl_hub *hub);

/* Opens a WebSocket for an exchange that requested an upgrade and passed the checks of Host and
 * Origin. If the caller is not known yet, the first message must be `auth`, within 10 s. */
void pl_socket_open(struct pl_exchange *x);
/* Checks the handshake of a WebSocket and sets its Sec-WebSocket-Accept. False after making a
 * problem. */
bool pl_socket_is_handshake(struct pl_exchange *x, char accept[PL_WS_ACCEPT_SIZE]);
/* Opens an event stream of one session. */
void pl_events_open(struct pl_exchange *x, struct pl_str session_id);
/* An event stream of one chat; it ends with the chat. */
struct pl_chat_events {
    struct pl_str session_id;
    int64_t epoch, since; /* the position before the chat message */
    int64_t position;     /* in the queue; 0: it does not wait */
    bool is_begun;        /* the next event already belongs to it */
};
void pl_chat_events_open(struct pl_exchange *x, const struct pl_chat_events *chat);

/* Closes the sockets (4401) that a key, or a user, has opened, on every shard. False: out of
 * memory, and some sockets may still be open. */
bool pl_hub_close_key_everywhere(struct pl_server *server, struct pl_str key_id);
bool pl_hub_close_user_everywhere(struct pl_server *server, struct pl_str user_id);

/* Sends an event that belongs to no session to every WebSocket of the user, on every shard. It has
 * no sequence number, and users who are not connected do not get it. `data` is a JSON object. Any
 * thread; dropped when out of memory. */
void pl_hub_tell_user(struct pl_server *server, struct pl_str user_id, const char *event,
                      struct pl_str data);
/* Delivers an event that another node has sent to a user, or to the followers of the user's lists
 * (PL_BELL_USER), to the sockets of this node only. Any thread; drops an invalid text. */
void pl_hub_hear_user(struct pl_server *server, struct pl_str text);

#endif
