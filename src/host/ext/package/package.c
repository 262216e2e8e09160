/* Added packages: converts the row of the store for the supervisor, and makes the command that
 * runs it. */
#include "ext/package/package.h"

#include "ext/package/tree.h"
#include "io/file/file_tree.h"

static const struct {
    const char *word;
    bool is_adapter;
} runtimes[] = {
#define X(name, word, is_adapter) [PL_EXT_RUNTIME_##name] = {word, is_adapter},
    PL_EXT_RUNTIME_TABLE(X)
#undef X
};

static const char *const states[] = {[PL_EXT_STATE_ENABLED] = "enabled",
                                     [PL_EXT_STATE_DISABLED] = "disabled",
                                     [PL_EXT_STATE_QUARANTINED] = "quarantined"};

const char *pl_ext_runtime_word(enum pl_ext_runtime runtime)
{
    return runtimes[runtime].word;
}

enum pl_ext_runtime pl_ext_runtime_find(struct pl_str word)
{
    for (size_t i = 0; i < PL_EXT_RUNTIME_COUNT; i++)
        if (pl_str_eq(word, pl_str_of(runtimes[i].word)))
            return (enum pl_ext_runtime)i;
    return PL_EXT_RUNTIME_COUNT;
}

bool pl_ext_runtime_is_adapter(enum pl_ext_runtime runtime)
{
    return runtimes[runtime].is_adapter;
}

const char *pl_ext_state_word(enum pl_ext_state state)
{
    return states[state];
}

enum pl_ext_state pl_ext_state_find(struct pl_str word)
{
    for (size_t i = 0; i < PL_EXT_STATE_COUNT; i++)
        if (pl_str_eq(word, pl_str_of(states[i])))
            return (enum pl_ext_state)i;
    return PL_EXT_STATE_COUNT;
}

enum pl_status pl_ext_capabilities_read(struct pl_str lines, uint32_t *ret_set,
                                        struct pl_error *err)
{
    uint32_t set = 0;
    while (lines.len) {
        const char *end = memchr(lines.ptr, '\n', lines.len);
        size_t n = end ? (size_t)(end - lines.ptr) : lines.len;
        struct pl_str name = pl_str_slice(lines, 0, n);
        enum pl_ext_capability capability = pl_ext_capability_find(name);
        if (capability == PL_EXT_CAP_NONE)
            return pl_fail(err, PL_INVALID,
                           "\"%.*s\" is not a capability; there are read, write, http, events, "
                           "session, ui, exec, env, tool and log",
                           PL_STR_ARG(pl_str_slice(name, 0, 60)));
        set |= PL_EXT_CAP_BIT(capability);
        lines = pl_str_slice(lines, n + 1, lines.len);
    }
    *ret_set = set;
    return PL_OK;
}

static enum pl_status damaged(const struct pl_extension_row *row, const struct pl_error *why,
                              struct pl_error *err)
{
    return pl_fail(err, PL_INVALID, "the record of extension \"%.*s\" is damaged: %.300s",
                   PL_STR_ARG(pl_str_slice(row->id, 0, 64)), why->message);
}

static enum pl_status place(struct pl_arena *arena, const char *data_dir,
                            const struct pl_extension_row *row, struct pl_ext_package *package)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/extensions/%.*s/%.*s", data_dir, PL_STR_ARG(row->id),
                PL_STR_ARG(row->artifact));
    pl_buf_addc(&path, '\0');
    package->artifact = pl_arena_dup(arena, row->artifact);
    struct pl_str kept =
        path.status == PL_OK ? pl_arena_dup(arena, pl_buf_str(&path)) : (struct pl_str){0};
    if (!kept.ptr || !package->artifact.ptr)
        return PL_NOMEM;
    if (package->runtime != PL_EXT_RUNTIME_REMOTE)
        package->dir = pl_str_slice(kept, 0, kept.len - 1);
    return PL_OK;
}

enum pl_status pl_ext_package_of_row(struct pl_arena *arena, const char *data_dir,
                                     const struct pl_extension_row *row,
                                     struct pl_ext_package *ret_package, struct pl_error *err)
{
    struct pl_ext_package package;
    struct pl_error why = {0};
    enum pl_status status = pl_ext_package_read(arena, row->manifest, &package, &why);
    if (status == PL_OK && !pl_ext_policy_of_profile(row->profile, &package.policy))
        status = pl_fail(&why, PL_INVALID, "there is no such profile");
    if (status == PL_OK)
        status = pl_ext_capabilities_read(row->granted, &package.policy.extension_allow, &why);
    if (status == PL_OK)
        status = pl_ext_capabilities_read(row->denied, &package.policy.extension_deny, &why);
    if (status == PL_OK) {
        package.state = pl_ext_state_find(row->state);
        if (package.state == PL_EXT_STATE_COUNT || !pl_str_eq(package.id, row->id))
            status = pl_fail(&why, PL_INVALID, "its id or its state makes no sense");
    }
    if (status == PL_OK)
        status = place(arena, data_dir, row, &package);
    if (status == PL_NOMEM)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (status != PL_OK)
        return damaged(row, &why, err);
    *ret_package = package;
    return PL_OK;
}

bool pl_ext_package_is_here(const struct pl_ext_package *package)
{
    return !package->dir.len || pl_path_is_directory(package->dir.ptr);
}

enum pl_status pl_ext_package_verify(const struct pl_ext_package *package, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_ext_tree tree;
    char hash[PL_EXT_HASH_SIZE];
    /* The messages of the tree would contain its path on the disk. */
    if (!pl_ext_package_is_here(package))
        return pl_fail(err, PL_NOT_FOUND, "%s", PL_EXT_NOT_HERE);
    enum pl_status status = pl_ext_tree_load(&arena, package->dir.ptr, &tree, err);
    if (status == PL_INVALID || status == PL_LIMIT)
        status = PL_CONFLICT;
    if (status == PL_OK)
        status = pl_ext_tree_hash(&arena, &tree, hash);
    if (status == PL_OK && !pl_str_eq(pl_str_of(hash), package->artifact))
        status = PL_CONFLICT;
    if (status == PL_CONFLICT)
        return pl_fail(
            err, status,
            "the files of extension \"%.*s\" are not those that were added; add it again",
            PL_STR_ARG(package->id));
    if (status == PL_NOMEM)
        return pl_fail(err, status, "out of memory");
    return status;
}

/* "/ext/" and the path, NUL-terminated. */
static const char *in_cell(struct pl_arena *arena, struct pl_str path)
{
    static const char root[] = "/ext/";
    char *text = pl_arena_alloc(arena, sizeof root + path.len, 1);
    if (!text)
        return NULL;
    memcpy(text, root, sizeof root - 1);
    memcpy(text + sizeof root - 1, path.ptr, path.len);
    text[sizeof root - 1 + path.len] = '\0';
    return text;
}

static const char *cstr(struct pl_arena *arena, struct pl_str text)
{
    char *copy = pl_arena_alloc(arena, text.len + 1, 1);
    if (!copy)
        return NULL;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

enum pl_status pl_ext_package_command(struct pl_arena *arena, const struct pl_ext_package *package,
                                      const char *const **ret_argv, struct pl_error *err)
{
    /* The words before the entry point. An adapter is in the package too, added at installation,
     * and gets the entry point as an argument. */
    static const char *const before[PL_EXT_RUNTIME_COUNT][3] = {
        [PL_EXT_RUNTIME_PROCESS] = {NULL},
        [PL_EXT_RUNTIME_PYTHON] = {"python3", "-B", NULL},
        [PL_EXT_RUNTIME_NODE] = {"node", NULL},
        [PL_EXT_RUNTIME_JS] = {"node", "/ext/" PL_EXT_ADAPTER_PI, NULL},
        [PL_EXT_RUNTIME_MCP] = {"node", "/ext/" PL_EXT_ADAPTER_MCP, NULL},
    };
    const char **argv = pl_arena_zalloc(arena, package->args.n + 4, sizeof *argv);
    size_t n = 0;
    if (!argv)
        return pl_fail(err, PL_NOMEM, "out of memory");
    for (; n < 2 && before[package->runtime][n]; n++)
        argv[n] = before[package->runtime][n];
    argv[n++] = in_cell(arena, package->entrypoint);
    bool is_ok = argv[n - 1] != NULL;
    for (size_t i = 0; i < package->args.n && is_ok; i++, n++) {
        argv[n] = cstr(arena, package->args.items[i]);
        is_ok = argv[n] != NULL;
    }
    if (!is_ok)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *ret_argv = argv;
    return PL_OK;
}
