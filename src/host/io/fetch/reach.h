/* Connecting on somebody's word, with the guard of fetch.h: the name is resolved once, every address
 * of it is global or the operator has named the host, and the connection goes to one of them. For
 * those who speak their own protocol over it. On the loop. */
#ifndef PL_IO_REACH_H
#define PL_IO_REACH_H

#include "io/fetch/fetch.h"
#include "io/net/conn.h"

struct pl_reach; /* owned by its starter, until `done` or pl_reach_cancel */

/* PL_OK: the connection is the callee's, and on its way (pl_conn_open). Otherwise err says why, as
 * for pl_fetch_ops.on_end, and there is none. The reach is gone. */
typedef void pl_reach_fn(void *ctx, enum pl_status status, struct pl_conn *conn,
                         const struct pl_error *err);

/* `host` is copied; the rules outlive it. No callback comes before this has returned. NULL when out
 * of memory. */
struct pl_reach *pl_reach_start(const struct pl_fetch_from *from, struct pl_str host, uint16_t port,
                                const struct pl_fetch_rules *rules, pl_reach_fn *done, void *ctx);
/* No callback. Accepts NULL. */
void pl_reach_cancel(struct pl_reach *reach);

#endif
