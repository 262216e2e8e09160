/* The directory walk that guard.c and prepare.c share. */
#ifndef PL_EXT_CELL_GUARD_INT_H
#define PL_EXT_CELL_GUARD_INT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

#include <sys/types.h>

struct pl_cell_guarded {
    const char *path; /* relative to the directory; arena */
    dev_t dev;
    ino_t ino;
    mode_t mode;
    bool is_linked; /* not a protected path, but a file with another name elsewhere */
};

struct pl_cell_guarded_list {
    PL_VEC(struct pl_cell_guarded) items; /* owned */
};

/* Finds the existing protected paths below a directory, but nothing below them. `finds_linked`:
 * also finds files with another name that is outside of the directory or below a protected path:
 * by that name it may be a protected file. */
enum pl_status pl_cell_guarded_find(struct pl_arena *arena, int dir_fd, bool finds_linked,
                                    struct pl_cell_guarded_list *list, struct pl_error *err);
/* Opens a path relative to the directory, without following any link. -1: errno. */
int pl_cell_open_beneath(int dir_fd, const char *path, int flags);

#endif
