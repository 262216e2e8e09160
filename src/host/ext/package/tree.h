/* The files of a package: gathered from a directory or from a request, hashed, and written as a copy.
 *
 * A tree has regular files only. Links, devices and sockets are refused, not skipped: what a person looked
 * at is what runs. Nothing of it is executed here. */
#ifndef PL_EXT_PACKAGE_TREE_H
#define PL_EXT_PACKAGE_TREE_H

#include "extproto/frame.h"

enum {
    PL_EXT_TREE_FILES_MAX = 20000,
    PL_EXT_TREE_PATH_MAX = 400,
    PL_EXT_TREE_BYTES_MAX = 64 << 20,
};

struct pl_ext_file {
    struct pl_str path;  /* arena; clean, from the root of the package */
    struct pl_str bytes; /* arena */
    bool is_executable;
};

struct pl_ext_tree {
    struct pl_ext_file *files; /* arena; by path once it is hashed */
    size_t n, cap, n_bytes;
};

/* Adds a file, whose bytes must stay. PL_INVALID: its path is not clean, or is there already; PL_LIMIT: one
 * file or one byte too many; PL_NOMEM. */
enum pl_status pl_ext_tree_add(struct pl_arena *arena, struct pl_ext_tree *tree,
                               const struct pl_ext_file *file, struct pl_error *err);

/* Everything below the directory. Blocks. PL_NOT_FOUND: it is no directory; PL_INVALID: there is something
 * other than a regular file or a directory; PL_LIMIT; PL_IO; PL_NOMEM. */
enum pl_status pl_ext_tree_load(struct pl_arena *arena, const char *dir,
                                struct pl_ext_tree *ret_tree, struct pl_error *err);

/* Sorts the files. One line each: x or -, SHA-256, path; the hash of these lines is the artifact. PL_INVALID:
 * a path is there twice, or is also a directory; PL_NOMEM. */
enum pl_status pl_ext_tree_hash(struct pl_arena *arena, struct pl_ext_tree *tree,
                                char ret_hash[PL_EXT_HASH_SIZE]);

/* The file of this path; NULL: none. */
const struct pl_ext_file *pl_ext_tree_find(const struct pl_ext_tree *tree, struct pl_str path);

/* Writes the copy DATA/extensions/ID/HASH, or finds that it is there. Beside its name first, so it is whole
 * or not there. Blocks. PL_IO; PL_LIMIT: the disk is full; PL_NOMEM. */
enum pl_status pl_ext_tree_store(const char *data_dir, struct pl_str id,
                                 const struct pl_ext_tree *tree, const char *hash,
                                 struct pl_error *err);

/* Removes the copies of an extension, but for the one of this hash (NULL: all). Blocks. What cannot be
 * removed stays; it is removed the next time. */
void pl_ext_tree_sweep(const char *data_dir, struct pl_str id, const char *keep_hash);

struct pl_store;
/* Puts the files into the store, where other nodes find them. Blocks. */
enum pl_status pl_ext_tree_share(struct pl_store *store, const struct pl_ext_tree *tree,
                                 const char *hash, int64_t now_ms, struct pl_error *err);
/* The copy DATA/extensions/ID/ARTIFACT from there. Blocks. PL_NOT_FOUND: they are not in the store; PL_CONFLICT: they
 * are not those of the artifact; and as pl_ext_tree_store. */
enum pl_status pl_ext_tree_fetch(struct pl_store *store, const char *data_dir, struct pl_str id,
                                 struct pl_str artifact, struct pl_error *err);

#endif
