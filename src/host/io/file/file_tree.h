/* Directories: the files below one, and the directories that lead to a file. */
#ifndef PL_IO_FILE_TREE_H
#define PL_IO_FILE_TREE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

struct pl_file_tree_entry {
    const char *path; /* arena; to open it */
    const char *name; /* the end of path: seen from the directory that was listed */
};

struct pl_file_tree {
    PL_VEC(struct pl_file_tree_entry) files;
};

typedef bool pl_file_tree_wants_fn(struct pl_str name);

/* Appends the files below `dir` that are wanted, at any depth, in the byte order of their names.
 * Links to directories are not followed, so there is an end. A directory that cannot be opened is
 * listed in the place of its files: reading it as a file says why. PL_NOMEM;
 * *tree is to be deinitialised either way. */
enum pl_status pl_file_tree_list(struct pl_file_tree *tree, struct pl_arena *arena, const char *dir,
                                 pl_file_tree_wants_fn *wants, struct pl_error *err);
void pl_file_tree_deinit(struct pl_file_tree *tree);

bool pl_path_is_directory(const char *path);
/* Two names of one file that is there. */
bool pl_path_is_same(const char *a, const char *b);

/* Makes the directories that lead to `path`, as far as they are missing. */
enum pl_status pl_path_make_parents(const char *path, struct pl_error *err);

#endif
