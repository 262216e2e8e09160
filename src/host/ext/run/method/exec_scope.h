/* The rights of a program's cell (method/exec.c) beyond the readable workspace: writable
 * directories, variables and hosts, each only if every manifest that binds the extension and its
 * policy grant it. */
#ifndef PL_EXT_EXEC_SCOPE_H
#define PL_EXT_EXEC_SCOPE_H

#include "ext/run/method/method.h"

enum { PL_EXEC_MAX_DIRS = 64 };

struct pl_exec_scope {
    /* Relative to the workspace; "" is all of it. None is below another. Arena. */
    const char *dirs[PL_EXEC_MAX_DIRS];
    size_t n_dirs;
    const char **env; /* "NAME=value", NULL-terminated; arena */
    struct pl_cell_host hosts[PL_CELL_MAX_HOSTS];
    size_t n_hosts;
};

/* Whether the protected paths in a directory cannot be found by the path within it: it is below
 * .git, or protected itself. */
bool pl_exec_dir_is_blind(struct pl_str dir);

/* On the loop, while the call exists. False if out of memory. */
bool pl_exec_scope_read(const struct pl_ext_hostcall *call, struct pl_arena *arena,
                        struct pl_exec_scope *ret_scope);

/* The mounts: the workspace as /work, and the writable directories in it. */
struct pl_exec_mounts {
    struct pl_cell_mount list[PL_EXEC_MAX_DIRS + 1];
    size_t n;
};
/* Opens the directories below the root without following links; a missing one stays read-only.
 * The ward guards each writable one. On a worker. PL_NOMEM, PL_IO, PL_LIMIT. Close the mounts in
 * any case. */
enum pl_status pl_exec_mounts_open(const struct pl_exec_scope *scope, struct pl_arena *arena,
                                   int root_fd, struct pl_ext_ward *ward,
                                   struct pl_exec_mounts *ret_mounts, struct pl_error *err);
void pl_exec_mounts_close(struct pl_exec_mounts *mounts); /* except the root */

#endif
