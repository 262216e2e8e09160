/* Messages of clients on their sockets. live/ answers those about the socket itself; server/ passes
 * a table of the others. On the shard of the socket. */
#ifndef PL_LIVE_SOCKET_H
#define PL_LIVE_SOCKET_H

#include "http/reply/problem.h"
#include "http/routes/scope.h"
#include "json/json.h"
#include "shard/shard.h"

struct pl_ws_live; /* a WebSocket */

/* A client's frame, valid until the handler returns. */
struct pl_socket_message {
    struct pl_arena *arena;
    struct pl_json_doc doc;
    const struct pl_json_node *data; /* an object that is valid for its schema; NULL: not sent */
    struct pl_str id;                /* JSON; empty: the client wants no answer */
    /* W3C, 32 digits: from the frame, or from the request that opened the socket; empty: none. */
    struct pl_str trace_id;
};

struct pl_socket_event {
    const char *event;  /* NULL ends a table */
    bool is_public;     /* also allowed before authentication */
    unsigned scopes;    /* PL_FOR_…: the scopes of keys that may send it, besides `all` */
    const char *schema; /* of `data`, a component of schemas/api.json; `run` gets only valid data */
    void (*run)(struct pl_ws_live *ws, const struct pl_socket_message *m);
};

struct pl_shard *pl_socket_shard(const struct pl_ws_live *ws);
struct pl_str pl_socket_user(const struct pl_ws_live *ws);
/* The id of its key; empty: the control socket. */
struct pl_str pl_socket_key(const struct pl_ws_live *ws);
/* The Accept-Language of the request that opened it. */
bool pl_socket_is_chinese(const struct pl_ws_live *ws);

/* The answer: the result as JSON, or a problem; err and detail may be NULL. */
void pl_socket_succeed(struct pl_ws_live *ws, struct pl_str id, struct pl_str data);
void pl_socket_fail(struct pl_ws_live *ws, struct pl_str id, enum pl_problem problem,
                    const struct pl_error *err, const char *detail);

/* A handler that answers later keeps the memory of the socket until then. False: the socket is
 * closed and must not be used any more. */
void pl_socket_begin_answer(struct pl_ws_live *ws);
bool pl_socket_end_answer(struct pl_ws_live *ws);

#endif
