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
};

struct pl_cell_guarded_list {
    PL_VEC(struct pl_cell_guarded) items; /* owned */
};

/* The protected paths that exist below a directory; not what is below them. */
enum pl_status pl_cell_guarded_find(struct pl_arena *arena, int dir_fd,
                                    struct pl_cell_guarded_list *list, struct pl_error *err);
/* Opens what is at a path from the directory, without following a link anywhere. -1: errno. */
int pl_cell_open_beneath(int dir_fd, const char *path, int flags);

#endif
