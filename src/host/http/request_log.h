/* Writes a log line for each finished request. */
#ifndef PL_HTTP_REQUEST_LOG_H
#define PL_HTTP_REQUEST_LOG_H

#include "http/client_address.h"
#include "http/exchange.h"

void pl_log_request(struct pl_exchange *x);

/* Holds the log line of an exchange whose connection will be taken (pl_exchange_take_conn), to be
 * written when that connection ends. Call it before; pl_log_request then writes nothing. NULL: out
 * of memory, and pl_log_request logs what is known when the connection is taken. */
struct pl_held_line; /* owned */
struct pl_held_line *pl_log_hold(struct pl_exchange *x);

struct pl_held_end {
    struct pl_str model; /* empty: no model was called */
    int64_t n_input, n_output;
    int64_t bytes_out; /* including the head */
    bool is_aborted;
};
/* Adds a name to a comma-separated list, unless the list has it. */
void pl_log_add_model(struct pl_buf *list, struct pl_str model);
/* Writes the line and frees it; accepts NULL. On the shard of its exchange. */
void pl_log_held(struct pl_held_line *held, struct pl_shard *shard, const struct pl_held_end *end);
/* The client's address; empty if the client is gone. */
void pl_log_client(const struct pl_exchange *x, char to[PL_CLIENT_ADDRESS_SIZE]);

#endif
