/* The walk over a directory that guard.c and prepare.c share. */
#ifndef PL_EXT_CELL_GUARD_INT_H
#define PL_EXT_CELL_GUARD_INT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

#include <sys/types.h>

struct pl_cell_guarded {
    const char *path; /* from the directory; arena */
    dev_t dev;
    ino_t ino;
    mode_t mode;
    bool is_linked; /* no protected path, but a file that has another name somewhere else */
};

struct pl_cell_guarded_list {
    PL_VEC(struct pl_cell_guarded) items; /* owned */
};

/* The protected paths that exist below a directory; not what is below them. `finds_linked`: also the files with a name
 * that is not below it, or below a protected path: by that name it may be a protected file. */
enum pl_status pl_cell_guarded_find(struct pl_arena *arena, int dir_fd, bool finds_linked,
                                    struct pl_cell_guarded_list *list, struct pl_error *err);
/* Opens what is at a path from the directory, without following a link anywhere. -1: errno. */
int pl_cell_open_beneath(int dir_fd, const char *path, int flags);

#endif
