/* Packages between nodes: the node that adds an extension puts its files into the store, and the
 * others make their copies from there. The hash proves that the bytes are the accepted ones. */
#include "ext/package/tree.h"

#include "store/node/packages.h"

enum pl_status pl_ext_tree_share(struct pl_store *store, const struct pl_ext_tree *tree,
                                 const char *hash, int64_t now_ms, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_package_file *files = pl_arena_alloc(&arena, tree->n + 1, sizeof *files);
    if (!files)
        return pl_fail(err, PL_NOMEM, "out of memory");
    for (size_t i = 0; i < tree->n; i++)
        files[i] = (struct pl_package_file){.path = tree->files[i].path,
                                            .bytes = tree->files[i].bytes,
                                            .is_executable = tree->files[i].is_executable};
    return pl_store_package_put(store, pl_str_of(hash), files, tree->n, now_ms, err);
}

static enum pl_status damaged(struct pl_str id, struct pl_error *err)
{
    return pl_fail(err, PL_CONFLICT,
                   "the files of extension \"%.*s\" in the store are not those that were added",
                   PL_STR_ARG(id));
}

static enum pl_status gather(struct pl_arena *arena, struct pl_str id,
                             const struct pl_package_file *files, size_t n,
                             struct pl_ext_tree *tree, struct pl_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct pl_ext_file file = {.path = files[i].path,
                                   .bytes = files[i].bytes,
                                   .is_executable = files[i].is_executable};
        enum pl_status status = pl_ext_tree_add(arena, tree, &file, err);
        if (status != PL_OK)
            return status == PL_NOMEM ? status : damaged(id, err);
    }
    return PL_OK;
}

enum pl_status pl_ext_tree_fetch(struct pl_store *store, const char *data_dir, struct pl_str id,
                                 struct pl_str artifact, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_package_file *files = NULL;
    struct pl_ext_tree tree = {0};
    size_t n = 0;
    char hash[PL_EXT_HASH_SIZE];
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_store_package_get(store, &arena, artifact, &files, &n, err);
    if (status == PL_OK)
        status = gather(&arena, id, files, n, &tree, err);
    if (status != PL_OK)
        return status;
    status = pl_ext_tree_hash(&arena, &tree, hash);
    if (status == PL_NOMEM)
        return pl_fail(err, status, "out of memory");
    if (status != PL_OK || !pl_str_eq(pl_str_of(hash), artifact))
        return damaged(id, err);
    return pl_ext_tree_store(data_dir, id, &tree, hash, err);
}
