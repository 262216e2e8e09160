/* A line of the log for each request, when it is over. */
#ifndef PL_HTTP_REQUEST_LOG_H
#define PL_HTTP_REQUEST_LOG_H

#include "http/client_address.h"
#include "http/exchange.h"

void pl_log_request(struct pl_exchange *x);

/* The line of an exchange whose connection is taken (pl_exchange_take_conn), to be written when that
 * is over. To be called before; then pl_log_request says nothing. NULL: out of memory, and
 * pl_log_request says what is known when the connection is taken. */
struct pl_held_line; /* owned */
struct pl_held_line *pl_log_hold(struct pl_exchange *x);

struct pl_held_end {
    struct pl_str model; /* empty: none was called */
    int64_t n_input, n_output;
    int64_t bytes_out; /* with the head */
    bool is_aborted;
};
/* Adds a name to a list with commas, unless it has it. */
void pl_log_add_model(struct pl_buf *list, struct pl_str model);
/* Writes it and frees it; accepts NULL. On the shard of its exchange. */
void pl_log_held(struct pl_held_line *held, struct pl_shard *shard, const struct pl_held_end *end);
/* Where it came from; empty: its client is gone. */
void pl_log_client(const struct pl_exchange *x, char to[PL_CLIENT_ADDRESS_SIZE]);

#endif
