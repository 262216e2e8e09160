/* A WebSocket: its bytes and its life are in socket.c, its messages in socket_messages.c. */
#ifndef PL_LIVE_SOCKET_INT_H
#define PL_LIVE_SOCKET_INT_H

#include "live/listener.h"

#define PL_SOCKET_FIRST_BYTES 4096 /* of a message before a key was shown */

struct pl_ws_live {
    struct pl_live live; /* first */
    struct pl_ws ws;
    struct pl_hold hold;      /* the part of a message that has arrived, of the memory for bodies */
    struct pl_timer deadline; /* for the first message, and for the other side's close */
    int64_t tokens_ms;        /* when a token was last earned */
    uint16_t n_tokens;
    uint16_t n_asks; /* on their way: the memory stays until they are back */
    uint8_t n_missed;
    char trace_id[33];     /* of its opening request; "": it had none */
    bool is_held;          /* a message is looked at: what comes after it waits */
    struct pl_buf waiting; /* owned; … here */
    bool has_failed;       /* what came broke the protocol: nothing more is read */
};

/* --- socket.c -------------------------------------------------------------------------------- */

/* Once it is over, nothing is on its way any more, and nobody up the stack looks at it. */
void pl_socket_free_if_over(struct pl_ws_live *ws);

/* The messages that follow wait, and the connection is not read, until they are released. */
void pl_socket_hold(struct pl_ws_live *ws);
/* Reads what has waited. The socket may be over then. */
void pl_socket_release(struct pl_ws_live *ws);

/* --- socket_auth.c --------------------------------------------------------------------------- */

struct pl_socket_message;
void pl_socket_on_auth(struct pl_ws_live *ws, const struct pl_socket_message *m);

/* --- socket_messages.c ----------------------------------------------------------------------- */

/* {"event":…,"data":…}: `data` is JSON. */
void pl_socket_say(struct pl_live *live, const char *event, struct pl_str data);
/* {"ack":id,"ok":true,"data":…}; nothing where the client gave no id. Both are JSON. */
void pl_socket_ack(struct pl_live *live, struct pl_str id, struct pl_str data);
/* {"ack":id,"ok":false,"error":…}, or system:error where the client gave no id. */
void pl_socket_refuse(struct pl_live *live, struct pl_str id, struct pl_str problem);
/* A text message of the client's. */
void pl_socket_read(struct pl_ws_live *ws, struct pl_str text);

#endif
