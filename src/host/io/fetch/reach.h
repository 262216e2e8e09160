/* Guarded connections, with the checks of fetch.h: the name is resolved once, every address is
 * global unless the operator allowed the host, and the connection goes to one of these addresses.
 * For callers with a protocol of their own. Runs on the loop. */
#ifndef PL_IO_REACH_H
#define PL_IO_REACH_H

#include "io/fetch/fetch.h"
#include "io/net/conn.h"

struct pl_reach; /* owned by its starter, until `done` or pl_reach_cancel */

/* PL_OK: the callee owns the connection, which is being made (pl_conn_open). Otherwise there is no
 * connection, and err has the reason, as in pl_fetch_ops.on_end. The reach no longer exists. */
typedef void pl_reach_fn(void *ctx, enum pl_status status, struct pl_conn *conn,
                         const struct pl_error *err);

/* `host` is copied; the rules must outlive the reach. No callback comes before this has returned.
 * NULL when out of memory. */
struct pl_reach *pl_reach_start(const struct pl_fetch_from *from, struct pl_str host, uint16_t port,
                                const struct pl_fetch_rules *rules, pl_reach_fn *done, void *ctx);
/* No callback comes after this. Accepts NULL. */
void pl_reach_cancel(struct pl_reach *reach);

#endif
