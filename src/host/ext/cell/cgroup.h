/* A memory limit of the kernel for a whole cell, where the server may make control groups: version 2
 * (delegated by systemd) or 1. */
#ifndef PL_EXT_CELL_CGROUP_H
#define PL_EXT_CELL_CGROUP_H

#include "base/buf.h"

/* A new group below the server's own, with this limit. Its directory is in `to`, which is empty if
 * none can be made; *why is then a sentence. */
void pl_cell_cgroup_make(uint64_t n_memory, struct pl_buf *to, const char **why);
/* Removes it; *ret_is_full: somebody in it was ended for lack of memory. An empty path: nothing. */
void pl_cell_cgroup_remove(const char *path, bool *ret_is_full);

#endif
