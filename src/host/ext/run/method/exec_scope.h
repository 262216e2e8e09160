/* What the cell of a program (method/exec.c) has beyond the workspace to read: directories to write to, variables and
 * hosts, each only as far as every manifest that binds the extension and its policy grant it. */
#ifndef PL_EXT_EXEC_SCOPE_H
#define PL_EXT_EXEC_SCOPE_H

#include "ext/run/method/method.h"

enum { PL_EXEC_MAX_DIRS = 64 };

struct pl_exec_scope {
    /* From the workspace; "" is all of it. None is below another one. Arena. */
    const char *dirs[PL_EXEC_MAX_DIRS];
    size_t n_dirs;
    const char **env; /* "NAME=value", NULL at the end; arena */
    struct pl_cell_host hosts[PL_CELL_MAX_HOSTS];
    size_t n_hosts;
};

/* Whether what is protected in a directory cannot be told by the path within it: below .git, or protected itself. */
bool pl_exec_dir_is_blind(struct pl_str dir);

/* On the loop, while the call is there. False: out of memory. */
bool pl_exec_scope_read(const struct pl_ext_hostcall *call, struct pl_arena *arena,
                        struct pl_exec_scope *ret_scope);

/* The mounts: the workspace as /work, and in it what may be written. */
struct pl_exec_mounts {
    struct pl_cell_mount list[PL_EXEC_MAX_DIRS + 1];
    size_t n;
};
/* Opens the directories below the root without following a link; one that is not there stays read-only. Each one that may
 * be written is watched over by the ward. On a worker. PL_NOMEM, PL_IO, PL_LIMIT; the mounts are to be closed in any
 * case. */
enum pl_status pl_exec_mounts_open(const struct pl_exec_scope *scope, struct pl_arena *arena,
                                   int root_fd, struct pl_ext_ward *ward,
                                   struct pl_exec_mounts *ret_mounts, struct pl_error *err);
void pl_exec_mounts_close(struct pl_exec_mounts *mounts); /* not the root */

#endif
