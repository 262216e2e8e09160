/* The cell of an MCP server. Its adapter does not make a host call for each file, so what it may read is mounted, read-only
 * and at the same path as on the machine: a directory (`docs/` and `**`), a file, or the whole workspace. What such a server
 * writes or sends would be seen by nobody, and a protected path that it made would stay as long as it runs. So one that may
 * write, or reach hosts, is refused. An adapter of pi does everything by host calls and has no mounts. */
#include "ext/run/ext_int.h"

#include "extproto/path_scope.h"
#include "io/file/file_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_denied(const struct pl_ext_package *package, enum pl_ext_capability capability)
{
    return pl_ext_reason_decision(pl_ext_policy_judge(
               &package->policy, pl_str_of(pl_ext_capability_name(capability)))) == PL_EXT_DENY;
}

static enum pl_status refuse_more(const struct pl_ext_package *package, struct pl_error *err)
{
    for (size_t i = 0; i < package->manifest.n; i++) {
        const struct pl_ext_requirement *one = &package->manifest.requirements[i];
        bool writes = one->capability == PL_EXT_CAP_WRITE && (!one->paths.is_given || one->paths.n);
        bool reaches = one->capability == PL_EXT_CAP_HTTP && one->n_hosts;
        if ((writes || reaches) && !is_denied(package, one->capability))
            return pl_fail(
                err, PL_INVALID,
                "an MCP server runs with directories to read only; this one may also %s. "
                "Add it without %s, or with --deny %s",
                writes ? "write" : "reach hosts", writes ? "--write" : "--host",
                writes ? "write" : "http");
    }
    return PL_OK;
}

static int open_below(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve};
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

/* The workspace of the user, made if it is not there, and where it really is. */
static int open_root(const char *path, char real[PATH_MAX])
{
    char inside[PATH_MAX], link[40];
    int fd = open_below(AT_FDCWD, path, O_DIRECTORY, 0);
    if (fd < 0 && snprintf(inside, sizeof inside, "%s/x", path) < (int)sizeof inside &&
        pl_path_make_parents(inside, NULL) == PL_OK) {
        (void)chmod(path, 0700);
        fd = open_below(AT_FDCWD, path, O_DIRECTORY, 0);
    }
    if (fd < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, real, PATH_MAX - 1);
    real[n > 0 ? n : 0] = '\0';
    return fd;
}

/* What a glob is all of: a directory, or one name. False: it has other signs. */
static bool place_of(struct pl_str glob, struct pl_str *ret_path)
{
    struct pl_str tail = PL_STR("/**");
    *ret_path = glob;
    if (pl_str_eq(glob, PL_STR("**")))
        *ret_path = PL_STR("");
    else if (glob.len > tail.len &&
             pl_str_eq(pl_str_slice(glob, glob.len - tail.len, glob.len), tail))
        *ret_path = pl_str_slice(glob, 0, glob.len - tail.len);
    return !ret_path->len || (!memchr(ret_path->ptr, '*', ret_path->len) &&
                              !memchr(ret_path->ptr, '?', ret_path->len));
}

/* What is not there, or behind a link, is left out. */
static enum pl_status add_place(struct pl_ext_adapter *adapter, struct pl_arena *arena, int root,
                                const char *real, struct pl_str glob, struct pl_error *err)
{
    struct pl_str path;
    char name[PATH_MAX];
    if (!place_of(glob, &path) || path.len >= sizeof name ||
        adapter->n_mounts == PL_EXT_ADAPTER_MOUNTS)
        return PL_OK;
    snprintf(name, sizeof name, "%.*s", PL_STR_ARG(path));
    size_t size = strlen(real) + path.len + 2;
    char *to = pl_arena_alloc(arena, size, 1);
    if (!to)
        return pl_fail(err, PL_NOMEM, "out of memory");
    snprintf(to, size, "%s%s%s", real, path.len ? "/" : "", name);
    int fd = open_below(root, path.len ? name : ".", O_NOFOLLOW,
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    if (fd >= 0)
        adapter->mounts[adapter->n_mounts++] = (struct pl_cell_mount){.fd = fd, .to = to};
    return PL_OK;
}

static enum pl_status add_places(struct pl_ext_adapter *adapter, struct pl_arena *arena,
                                 const struct pl_ext_package *package, int root, const char *real,
                                 struct pl_error *err)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < package->manifest.n; i++) {
        const struct pl_ext_requirement *one = &package->manifest.requirements[i];
        if (one->capability != PL_EXT_CAP_READ || one->methods.is_given)
            continue;
        if (!one->paths.is_given)
            status = add_place(adapter, arena, root, real, PL_STR("**"), err);
        for (size_t j = 0; j < one->paths.n && status == PL_OK; j++)
            status = add_place(adapter, arena, root, real, one->paths.items[j], err);
    }
    return status;
}

enum pl_status pl_ext_adapter_open(struct pl_arena *arena, const struct pl_ext_package *package,
                                   const char *workspace, struct pl_ext_adapter *ret_adapter,
                                   struct pl_error *err)
{
    char real[PATH_MAX];
    *ret_adapter = (struct pl_ext_adapter){0};
    if (package->runtime != PL_EXT_RUNTIME_MCP)
        return PL_OK;
    enum pl_status status = refuse_more(package, err);
    enum pl_ext_reason reason = pl_ext_policy_judge(&package->policy, PL_STR("read"));
    if (status != PL_OK || !workspace[0] || pl_ext_reason_decision(reason) != PL_EXT_ALLOW)
        return status;
    int root = open_root(workspace, real);
    if (root < 0)
        return pl_fail(err, PL_IO, "the workspace cannot be opened: %s", strerror(errno));
    status = add_places(ret_adapter, arena, package, root, real, err);
    close(root);
    if (status != PL_OK || !ret_adapter->n_mounts)
        return status;
    size_t size = strlen(real) + sizeof "PARLEY_WORKSPACE=";
    char *line = pl_arena_alloc(arena, size, 1);
    if (!line)
        return pl_fail(err, PL_NOMEM, "out of memory");
    snprintf(line, size, "PARLEY_WORKSPACE=%s", real);
    ret_adapter->env[0] = line;
    return PL_OK;
}

void pl_ext_adapter_close(struct pl_ext_adapter *adapter)
{
    for (size_t i = 0; i < adapter->n_mounts; i++)
        close(adapter->mounts[i].fd);
    adapter->n_mounts = 0;
}
