/* A kernel memory limit for a whole cell, if the server may create control groups: version 2
 * (delegated by systemd) or 1. */
#ifndef PL_EXT_CELL_CGROUP_H
#define PL_EXT_CELL_CGROUP_H

#include "base/buf.h"

/* Creates a group below the server's own, with this limit. `to` gets its directory. If none can
 * be created, `to` is empty and *why is the reason. */
void pl_cell_cgroup_make(uint64_t n_memory, struct pl_buf *to, const char **why);
/* Removes it; *ret_is_full: a process in it was killed for lack of memory. An empty path: does
 * nothing. */
void pl_cell_cgroup_remove(const char *path, bool *ret_is_full);

#endif
