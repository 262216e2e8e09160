/* The socket of an extension that runs elsewhere: a WebSocket (subprotocol pi.ext.v1) whose text
 * messages are the lines of the protocol. The connection is on the shard that accepted it, the
 * instance on the shard of its place. Two pipes are between them, so that the instance has the same
 * channel as a child:
 *
 *     other machine ══ WebSocket ══ socket.c │ pipe ──> pl_ext_channel_open_pipes
 *                                            │ <── pipe
 *                                    shard A │ shard B
 *
 * A side that does not read holds up the other through the pipes. The end of either closes them. */
#ifndef PL_EXT_CHANNEL_SOCKET_H
#define PL_EXT_CHANNEL_SOCKET_H

#include "http/exchange.h"
#include "wire/websocket.h"

#include <stdatomic.h>

struct pl_ext_shard;

/* Why a side has ended, for the other one: written before the pipes are closed, read after that.
 * Reference-counted. */
struct pl_ext_wire {
    atomic_uint n_refs;
    atomic_bool has_socket_said, has_host_said;
    char socket_why[128];         /* of the WebSocket */
    bool is_fault;                /* the other machine broke a rule: treated as a crash */
    char host_why[128];           /* of the instance */
    uint16_t host_code;           /* enum pl_ws_close_code */
    int to_host[2], to_socket[2]; /* the pipes; -1 after a side has taken or closed its ends */
};

/* NULL: no memory, or no descriptor. One reference. */
struct pl_ext_wire *pl_ext_wire_create(void);
struct pl_ext_wire *pl_ext_wire_hold(struct pl_ext_wire *wire);
void pl_ext_wire_release(struct pl_ext_wire *wire); /* closes unused descriptors; accepts NULL */
/* The instance is over; call it before its channel is closed. Accepts NULL. */
void pl_ext_wire_say(struct pl_ext_wire *wire, uint16_t code, const char *why);

/* Switches the exchange to a WebSocket that is joined to the wire, or finishes it with a
 * problem. Takes the reference. */
void pl_ext_socket_open(struct pl_exchange *x, struct pl_ext_shard *exts, struct pl_ext_wire *wire,
                        const char accept[PL_WS_ACCEPT_SIZE]);

#endif
