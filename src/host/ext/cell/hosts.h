/* The hosts of a cell: accepts connections on its listeners, connects through the outbound guard
 * (io/fetch: one lookup, every address must be global unless the operator named the host) and
 * copies both ways, until one side ends. CONNECT on the listener of the wildcards. On one loop. */
#ifndef PL_EXT_CELL_HOSTS_H
#define PL_EXT_CELL_HOSTS_H

#include "ext/cell/cell.h"
#include "io/fetch/fetch.h"

struct pl_cell_hosts; /* owned by its starter */

struct pl_cell_hosts_ops {
    /* A connection was requested; is_let is the guard's decision. For the audit; may be NULL. */
    void (*on_connect)(void *ctx, const char *host, uint16_t port, bool is_let, const char *why);
    /* Bytes copied both ways since the last call; for quotas. May be NULL. */
    void (*on_bytes)(void *ctx, uint64_t n_bytes);
};

/* `cell` and `rules` must outlive it; a cell may have no listeners. PL_NOMEM, PL_IO. */
enum pl_status pl_cell_hosts_start(const struct pl_fetch_from *from, struct pl_cell *cell,
                                   const struct pl_cell_spec *spec,
                                   const struct pl_fetch_rules *rules,
                                   const struct pl_cell_hosts_ops *ops, void *ctx,
                                   struct pl_cell_hosts **ret_hosts, struct pl_error *err);
/* Closes all connections; call it before the cell is freed. Accepts NULL. */
void pl_cell_hosts_stop(struct pl_cell_hosts *hosts);

#endif
