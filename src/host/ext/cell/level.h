/* How isolated a cell is. A cell always gets everything that the machine supports. The level
 * names the result, and a setting names the least accepted level. */
#ifndef PL_EXT_CELL_LEVEL_H
#define PL_EXT_CELL_LEVEL_H

#include "base/str.h"

#include <stdbool.h>

/* In rising order. */
enum pl_cell_level {
    PL_CELL_NONE,       /* limits and a system call filter, if available; not a sandbox */
    PL_CELL_LANDLOCK,   /* Landlock (ABI 6 or newer) without namespaces */
    PL_CELL_NAMESPACES, /* namespaces without Landlock */
    PL_CELL_FULL,       /* both */
    PL_CELL_N_LEVELS,
};

/* "none", "landlock", "namespaces", "full". */
const char *pl_cell_level_name(enum pl_cell_level level);
/* False: no such level. */
bool pl_cell_level_find(struct pl_str name, enum pl_cell_level *ret_level);
/* pl_choice_fn over the names. */
const char *pl_cell_level_choice(size_t i);

/* The parts of a cell that a machine may lack. X(name, "word", what it is) */
#define PL_CELL_PART_TABLE(X)                                                                      \
    X(UID, "uid", "a user id for cells that is not root")                                          \
    X(NAMESPACES, "namespaces", "user namespaces of our own")                                      \
    X(BWRAP, "bubblewrap", "namespaces made by /usr/bin/bwrap")                                    \
    X(LANDLOCK, "landlock", "Landlock")                                                            \
    X(SECCOMP, "seccomp", "a filter of system calls")                                              \
    X(CGROUP, "cgroup", "a memory limit of the kernel for a whole cell")                           \
    X(PROC, "proc", "a /proc of the cell's own")

enum pl_cell_part {
#define X(name, word, text) PL_CELL_PART_##name,
    PL_CELL_PART_TABLE(X)
#undef X
        PL_CELL_N_PARTS,
};
const char *pl_cell_part_name(enum pl_cell_part part);
const char *pl_cell_part_text(enum pl_cell_part part);

/* A set of parts, one bit each. */
#define PL_CELL_HAS(part) (1u << PL_CELL_PART_##part)

/* The level that a machine with these parts reaches. */
enum pl_cell_level pl_cell_level_of(unsigned parts, int landlock_abi);

#endif
