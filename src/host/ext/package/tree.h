/* The files of a package: read from a directory or from a request, hashed, and written as a copy.
 *
 * A tree has regular files only. Links, devices and sockets are refused, not skipped, so that the
 * reviewed files are exactly the files that run. Nothing is executed here. */
#ifndef PL_EXT_PACKAGE_TREE_H
#define PL_EXT_PACKAGE_TREE_H

#include "extproto/frame.h"

enum {
    PL_EXT_TREE_FILES_MAX = 20000,
    PL_EXT_TREE_PATH_MAX = 400,
    PL_EXT_TREE_BYTES_MAX = 64 << 20,
};

struct pl_ext_file {
    struct pl_str path;  /* arena; clean, relative to the root of the package */
    struct pl_str bytes; /* arena */
    bool is_executable;
};

struct pl_ext_tree {
    struct pl_ext_file *files; /* arena; sorted by path after hashing */
    size_t n, cap, n_bytes;
};

/* Adds a file; its bytes must stay valid. PL_INVALID: its path is not clean, or already exists;
 * PL_LIMIT: too many files or bytes; PL_NOMEM. */
enum pl_status pl_ext_tree_add(struct pl_arena *arena, struct pl_ext_tree *tree,
                               const struct pl_ext_file *file, struct pl_error *err);

/* Reads everything below the directory. Blocks. PL_NOT_FOUND: not a directory; PL_INVALID:
 * something in it is neither a regular file nor a directory; PL_LIMIT; PL_IO; PL_NOMEM. */
enum pl_status pl_ext_tree_load(struct pl_arena *arena, const char *dir,
                                struct pl_ext_tree *ret_tree, struct pl_error *err);

/* Sorts the files. One line each: x or -, SHA-256, path; the hash of these lines is the
 * artifact. PL_INVALID: a path is duplicate, or is also a directory; PL_NOMEM. */
enum pl_status pl_ext_tree_hash(struct pl_arena *arena, struct pl_ext_tree *tree,
                                char ret_hash[PL_EXT_HASH_SIZE]);

/* The file with this path; NULL if there is none. */
const struct pl_ext_file *pl_ext_tree_find(const struct pl_ext_tree *tree, struct pl_str path);

/* Writes the copy DATA/extensions/ID/HASH, unless it exists. Written under another name first,
 * so the copy is complete or absent. Blocks. PL_IO; PL_LIMIT: the disk is full; PL_NOMEM. */
enum pl_status pl_ext_tree_store(const char *data_dir, struct pl_str id,
                                 const struct pl_ext_tree *tree, const char *hash,
                                 struct pl_error *err);

/* Removes the copies of an extension, except the one with this hash (NULL: all). Blocks. Files
 * that cannot be removed now are removed the next time. */
void pl_ext_tree_sweep(const char *data_dir, struct pl_str id, const char *keep_hash);

struct pl_store;
/* Puts the files into the store, for other nodes. Blocks. */
enum pl_status pl_ext_tree_share(struct pl_store *store, const struct pl_ext_tree *tree,
                                 const char *hash, int64_t now_ms, struct pl_error *err);
/* Writes the copy DATA/extensions/ID/ARTIFACT from the store. Blocks. PL_NOT_FOUND: it is not in
 * the store; PL_CONFLICT: the files are not those of the artifact; and as pl_ext_tree_store. */
enum pl_status pl_ext_tree_fetch(struct pl_store *store, const char *data_dir, struct pl_str id,
                                 struct pl_str artifact, struct pl_error *err);

#endif
