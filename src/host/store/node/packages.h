/* The files of packages (store/extensions.h), for nodes that do not have them: an extension is
 * added on one node and runs on all. The bytes are stored unchecked: the reader verifies that they
 * match the artifact. */
#ifndef PL_STORE_PACKAGES_H
#define PL_STORE_PACKAGES_H

#include "store/store.h"

struct pl_package_file {
    struct pl_str path, bytes;
    bool is_executable;
};

/* Uses several transactions, because a package may be large; nobody sees it before it is complete.
 * An existing package stays. Blocks. */
enum pl_status pl_store_package_put(struct pl_store *store, struct pl_str artifact,
                                    const struct pl_package_file *files, size_t n, int64_t now_ms,
                                    struct pl_error *err);
enum pl_status pl_store_package_has(struct pl_store *store, struct pl_str artifact, bool *ret_has,
                                    struct pl_error *err);
/* Sorted by path. PL_NOT_FOUND: missing or incomplete. */
enum pl_status pl_store_package_get(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str artifact, struct pl_package_file **ret_files,
                                    size_t *ret_n, struct pl_error *err);
/* Removes packages without an extension, except those put in the last hour: their extension may
 * follow. */
void pl_batch_sweep_packages(struct pl_batch *batch, int64_t now_ms);

#endif
