/* A WebSocket: socket.c has its bytes and its lifetime, socket_messages.c its messages. */
#ifndef PL_LIVE_SOCKET_INT_H
#define PL_LIVE_SOCKET_INT_H

#include "live/listener.h"

#define PL_SOCKET_FIRST_BYTES 4096 /* limit of a message before authentication */

struct pl_ws_live {
    struct pl_live live; /* first */
    struct pl_ws ws;
    struct pl_hold hold;      /* in the memory for bodies: the part of a message that has arrived */
    struct pl_timer deadline; /* for the first message, and for the close of the other side */
    int64_t tokens_ms;        /* when a token was last earned */
    uint16_t n_tokens;
    uint16_t n_asks; /* unanswered ones: the memory stays until they are answered */
    uint8_t n_missed;
    char trace_id[33];     /* of its opening request; "": none */
    bool is_held;          /* a message is being checked: later bytes wait … */
    struct pl_buf waiting; /* … here; owned */
    bool has_failed;       /* the input broke the protocol: nothing more is read */
};

/* --- socket.c -------------------------------------------------------------------------------- */

/* Frees it if it is over, nothing is unanswered, and no caller uses it. */
void pl_socket_free_if_over(struct pl_ws_live *ws);

/* Later messages wait, and the connection is not read, until pl_socket_release. */
void pl_socket_hold(struct pl_ws_live *ws);
/* Reads the waiting bytes. The socket may be over afterwards. */
void pl_socket_release(struct pl_ws_live *ws);

/* --- socket_auth.c --------------------------------------------------------------------------- */

struct pl_socket_message;
void pl_socket_on_auth(struct pl_ws_live *ws, const struct pl_socket_message *m);

/* --- socket_messages.c ----------------------------------------------------------------------- */

/* Sends {"event":…,"data":…}; `data` is JSON. */
void pl_socket_say(struct pl_live *live, const char *event, struct pl_str data);
/* Sends {"ack":id,"ok":true,"data":…}; nothing if the client gave no id. Both are JSON. */
void pl_socket_ack(struct pl_live *live, struct pl_str id, struct pl_str data);
/* Sends {"ack":id,"ok":false,"error":…}, or system:error if the client gave no id. */
void pl_socket_refuse(struct pl_live *live, struct pl_str id, struct pl_str problem);
/* Handles a text message of the client. */
void pl_socket_read(struct pl_ws_live *ws, struct pl_str text);

#endif
