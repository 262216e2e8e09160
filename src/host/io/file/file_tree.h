/* Directories: listing the files below one, and making the parents of a file. */
#ifndef PL_IO_FILE_TREE_H
#define PL_IO_FILE_TREE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

struct pl_file_tree_entry {
    const char *path; /* arena; for opening the file */
    const char *name; /* the end of path, relative to the listed directory */
};

struct pl_file_tree {
    PL_VEC(struct pl_file_tree_entry) files;
};

typedef bool pl_file_tree_wants_fn(struct pl_str name);

/* Appends the wanted files below `dir`, at any depth, in the byte order of their names. Links to
 * directories are not followed, so there are no cycles. A directory that cannot be opened is listed
 * in place of its files: reading it as a file gives the reason. PL_NOMEM; *tree must be
 * deinitialised in either case. */
enum pl_status pl_file_tree_list(struct pl_file_tree *tree, struct pl_arena *arena, const char *dir,
                                 pl_file_tree_wants_fn *wants, struct pl_error *err);
void pl_file_tree_deinit(struct pl_file_tree *tree);

bool pl_path_exists(const char *path);
bool pl_path_is_directory(const char *path);
/* Whether both paths name the same existing file. */
bool pl_path_is_same(const char *a, const char *b);

/* Makes the missing parent directories of `path`. */
enum pl_status pl_path_make_parents(const char *path, struct pl_error *err);

#endif
