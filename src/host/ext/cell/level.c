/* Names of levels and parts, and the parts of each level. */
#include "ext/cell/level.h"

static const char *const level_names[] = {"none", "landlock", "namespaces", "full", NULL};

const char *pl_cell_level_name(enum pl_cell_level level)
{
    return level_names[level];
}

const char *pl_cell_level_choice(size_t i)
{
    return level_names[i];
}

bool pl_cell_level_find(struct pl_str name, enum pl_cell_level *ret_level)
{
    for (size_t i = 0; level_names[i]; i++)
        if (pl_str_eq(name, pl_str_of(level_names[i]))) {
            *ret_level = (enum pl_cell_level)i;
            return true;
        }
    return false;
}

static const struct {
    const char *name, *text;
} parts[] = {
#define X(name, word, text) {word, text},
    PL_CELL_PART_TABLE(X)
#undef X
};

const char *pl_cell_part_name(enum pl_cell_part part)
{
    return parts[part].name;
}

const char *pl_cell_part_text(enum pl_cell_part part)
{
    return parts[part].text;
}

/* Below this ABI, Landlock has no scope for signals, and the program could kill its own process
 * 1. */
#define LEAST_ABI_ALONE 6

enum pl_cell_level pl_cell_level_of(unsigned has, int landlock_abi)
{
    if (!(has & PL_CELL_HAS(UID)) || !(has & PL_CELL_HAS(SECCOMP)))
        return PL_CELL_NONE;
    bool has_namespaces = has & (PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP));
    bool has_landlock = has & PL_CELL_HAS(LANDLOCK);
    if (has_namespaces)
        return has_landlock ? PL_CELL_FULL : PL_CELL_NAMESPACES;
    return has_landlock && landlock_abi >= LEAST_ABI_ALONE ? PL_CELL_LANDLOCK : PL_CELL_NONE;
}
