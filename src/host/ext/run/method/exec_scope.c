/* Converts manifests to the mounts, variables and hosts of a program's cell.
 *
 * A mount is a directory, a scope is a glob. So only a glob that covers a whole directory (`**`,
 * `src/` and `**`) can be writable in a cell; other globs stay read-only there, and `fs` writes to
 * them. Three manifests bind an extension: an entry of one counts if all of them cover it. */
#include "ext/run/method/exec_scope.h"

#include "base/ascii.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { N_MANIFESTS = 3 };

struct reading {
    const struct pl_ext_hostcall *call; /* borrowed */
    struct pl_arena *arena;             /* borrowed */
    struct pl_exec_scope *scope;        /* borrowed */
    const struct pl_ext_manifest *manifests[N_MANIFESTS];
};

/* Whether a requirement is about this capability, and not for other methods only. */
static bool concerns(const struct pl_ext_requirement *requirement,
                     enum pl_ext_capability capability)
{
    if (requirement->capability != capability)
        return false;
    for (size_t i = 0; i < requirement->methods.n; i++)
        if (pl_str_eq(requirement->methods.items[i], PL_STR("exec")))
            return true;
    return !requirement->methods.is_given;
}

static char *keep(struct reading *r, struct pl_str text)
{
    char *copy = pl_arena_alloc(r->arena, text.len + 1, 1);
    if (copy && text.len)
        memcpy(copy, text.ptr, text.len);
    if (copy)
        copy[text.len] = '\0';
    return copy;
}

/* --- directories ------------------------------------------------------------------------------ */

static bool covers_glob(const struct pl_ext_requirement *requirement, struct pl_str glob)
{
    for (size_t i = 0; i < requirement->paths.n; i++)
        if (pl_ext_glob_covers(requirement->paths.items[i], glob))
            return true;
    return !requirement->paths.is_given;
}

static bool all_cover_glob(const struct reading *r, struct pl_str glob)
{
    for (size_t m = 0; m < N_MANIFESTS; m++) {
        bool is_covered = false;
        for (size_t i = 0; i < r->manifests[m]->n && !is_covered; i++)
            is_covered = concerns(&r->manifests[m]->requirements[i], PL_EXT_CAP_WRITE) &&
                         covers_glob(&r->manifests[m]->requirements[i], glob);
        if (!is_covered)
            return false;
    }
    return true;
}

/* Protected paths are found by the path within a directory, which does not work below .git. */
bool pl_exec_dir_is_blind(struct pl_str dir)
{
    const char *slash = dir.len ? memrchr(dir.ptr, '/', dir.len) : NULL;
    struct pl_str last = slash ? pl_str_slice(dir, (size_t)(slash - dir.ptr) + 1, dir.len) : dir;
    char name[5] = "";
    for (size_t i = 0; i < last.len && i < 4; i++)
        name[i] = pl_ascii_lower(last.ptr[i]);
    return (last.len == 4 && strcmp(name, ".git") == 0) || pl_ext_path_is_protected(dir);
}

/* The directory that a glob covers completely. False: another kind of glob. */
static bool directory_of(struct pl_str glob, struct pl_str *ret_dir)
{
    struct pl_str tail = PL_STR("/**");
    *ret_dir = PL_STR("");
    if (pl_str_eq(glob, PL_STR("**")))
        return true;
    if (glob.len <= tail.len || !pl_str_eq(pl_str_slice(glob, glob.len - tail.len, glob.len), tail))
        return false;
    *ret_dir = pl_str_slice(glob, 0, glob.len - tail.len);
    return !memchr(ret_dir->ptr, '*', ret_dir->len) && !memchr(ret_dir->ptr, '?', ret_dir->len);
}

static bool is_in(struct pl_str path, struct pl_str dir)
{
    return !dir.len ||
           (pl_str_starts(path, dir) && (path.len == dir.len || path.ptr[dir.len] == '/'));
}

static bool add_dir(struct reading *r, struct pl_str glob)
{
    struct pl_exec_scope *scope = r->scope;
    struct pl_str dir;
    if (!directory_of(glob, &dir) || pl_exec_dir_is_blind(dir) || !all_cover_glob(r, glob))
        return true;
    size_t n = 0;
    for (size_t i = 0; i < scope->n_dirs; i++)
        if (is_in(dir, pl_str_of(scope->dirs[i])))
            return true;
    for (size_t i = 0; i < scope->n_dirs; i++) /* removes those below it */
        if (!is_in(pl_str_of(scope->dirs[i]), dir))
            scope->dirs[n++] = scope->dirs[i];
    scope->n_dirs = n;
    if (scope->n_dirs == PL_EXEC_MAX_DIRS)
        return true;
    const char *kept = keep(r, dir);
    if (kept)
        scope->dirs[scope->n_dirs++] = kept;
    return kept;
}

static bool read_dirs(struct reading *r, const struct pl_ext_requirement *requirement)
{
    bool is_whole = requirement->paths.is_given || add_dir(r, PL_STR("**"));
    for (size_t i = 0; i < requirement->paths.n && is_whole; i++)
        is_whole = add_dir(r, requirement->paths.items[i]);
    return is_whole;
}

/* --- variables -------------------------------------------------------------------------------- */

static bool has_variable(const struct pl_exec_scope *scope, struct pl_str name)
{
    for (size_t i = 0; scope->env[i]; i++)
        if (strncmp(scope->env[i], name.ptr, name.len) == 0 && scope->env[i][name.len] == '=')
            return true;
    return false;
}

/* A secret is a placeholder here too. */
static bool add_variable(struct reading *r, struct pl_str name, size_t *n)
{
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_ext_wish wish = {
        .capability = PL_EXT_CAP_ENV, .method = PL_STR("exec"), .env = &name};
    struct pl_str value = pl_ext_env_find(r->call->exts->shard, name);
    if (!value.ptr || has_variable(r->scope, name) ||
        pl_hostcall_judge_scope(r->call, r->arena, &wish) != PL_EXT_REASON_COUNT)
        return true;
    pl_buf_init(&line, 0);
    if (pl_ext_env_is_secret(r->call->exts->shard, name))
        pl_buf_addf(&line, "%.*s=" PL_EXT_SECRET_MARK "%.*s}}", PL_STR_ARG(name), PL_STR_ARG(name));
    else
        pl_buf_addf(&line, "%.*s=%.*s", PL_STR_ARG(name), PL_STR_ARG(value));
    const char *kept = line.status == PL_OK ? keep(r, pl_buf_str(&line)) : NULL;
    if (kept)
        r->scope->env[(*n)++] = kept;
    return kept;
}

static bool read_variables(struct reading *r)
{
    const struct pl_ext_manifest *accepted = r->manifests[0];
    size_t most = 0, n = 0;
    for (size_t i = 0; i < accepted->n; i++)
        most += accepted->requirements[i].env.n;
    r->scope->env = pl_arena_zalloc(r->arena, most + 1, sizeof *r->scope->env);
    bool is_whole = r->scope->env != NULL;
    if (!pl_hostcall_is_granted(r->call, PL_EXT_CAP_ENV))
        return is_whole;
    for (size_t i = 0; i < accepted->n && is_whole; i++)
        for (size_t j = 0; j < accepted->requirements[i].env.n && is_whole; j++)
            is_whole = add_variable(r, accepted->requirements[i].env.items[j], &n);
    return is_whole;
}

/* --- hosts ------------------------------------------------------------------------------------ */

static bool all_cover_host(const struct reading *r, const struct pl_ext_host *host)
{
    for (size_t m = 0; m < N_MANIFESTS; m++) {
        bool is_covered = false;
        for (size_t i = 0; i < r->manifests[m]->n; i++) {
            const struct pl_ext_requirement *requirement = &r->manifests[m]->requirements[i];
            for (size_t j = 0; j < requirement->n_hosts && !is_covered; j++)
                is_covered = concerns(requirement, PL_EXT_CAP_HTTP) &&
                             pl_ext_host_covers(&requirement->hosts[j], host);
        }
        if (!is_covered)
            return false;
    }
    return true;
}

static bool add_host(struct reading *r, const struct pl_ext_host *host)
{
    struct pl_exec_scope *scope = r->scope;
    char name[260];
    int n =
        snprintf(name, sizeof name, "%s%.*s", host->is_suffix ? "*." : "", PL_STR_ARG(host->host));
    if (n >= (int)sizeof name || scope->n_hosts == PL_CELL_MAX_HOSTS || !all_cover_host(r, host))
        return true;
    for (size_t i = 0; i < scope->n_hosts; i++)
        if (scope->hosts[i].port == host->port && strcmp(scope->hosts[i].name, name) == 0)
            return true;
    const char *kept = keep(r, pl_str_of(name));
    if (kept)
        scope->hosts[scope->n_hosts++] = (struct pl_cell_host){kept, (uint16_t)host->port};
    return kept;
}

static bool read_hosts(struct reading *r, const struct pl_ext_requirement *requirement)
{
    bool is_whole = true;
    for (size_t i = 0; i < requirement->n_hosts && is_whole; i++)
        is_whole = add_host(r, &requirement->hosts[i]);
    return is_whole;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool read_all(struct reading *r, enum pl_ext_capability capability,
                     bool (*read)(struct reading *r, const struct pl_ext_requirement *requirement))
{
    bool is_whole = true;
    if (!pl_hostcall_is_granted(r->call, capability))
        return true;
    for (size_t m = 0; m < N_MANIFESTS; m++)
        for (size_t i = 0; i < r->manifests[m]->n && is_whole; i++)
            if (concerns(&r->manifests[m]->requirements[i], capability))
                is_whole = read(r, &r->manifests[m]->requirements[i]);
    return is_whole;
}

bool pl_exec_scope_read(const struct pl_ext_hostcall *call, struct pl_arena *arena,
                        struct pl_exec_scope *ret_scope)
{
    struct reading r = {call,
                        arena,
                        ret_scope,
                        {&call->known->package.manifest, &call->registered->said.manifest,
                         &call->first->said.manifest}};
    *ret_scope = (struct pl_exec_scope){0};
    return read_all(&r, PL_EXT_CAP_WRITE, read_dirs) && read_all(&r, PL_EXT_CAP_HTTP, read_hosts) &&
           read_variables(&r);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int open_dir(int root_fd, const char *dir)
{
    struct open_how how = {
        .flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, root_fd, dir, &how, sizeof how);
}

enum pl_status pl_exec_mounts_open(const struct pl_exec_scope *scope, struct pl_arena *arena,
                                   int root_fd, struct pl_ext_ward *ward,
                                   struct pl_exec_mounts *ret_mounts, struct pl_error *err)
{
    bool is_all = scope->n_dirs == 1 && !scope->dirs[0][0];
    enum pl_status status = PL_OK;
    *ret_mounts = (struct pl_exec_mounts){.n = 1};
    ret_mounts->list[0] = (struct pl_cell_mount){
        .fd = root_fd, .to = "/work", .is_writable = is_all, .is_guarded = is_all};
    if (is_all)
        return pl_ext_ward_add(ward, "", root_fd, err);
    for (size_t i = 0; i < scope->n_dirs && status == PL_OK; i++) {
        size_t size = strlen(scope->dirs[i]) + sizeof "/work/";
        char *to = pl_arena_alloc(arena, size, 1);
        if (!to)
            return pl_fail(err, PL_NOMEM, "out of memory");
        snprintf(to, size, "/work/%s", scope->dirs[i]);
        int fd = open_dir(root_fd, scope->dirs[i]);
        if (fd < 0)
            continue;
        ret_mounts->list[ret_mounts->n++] =
            (struct pl_cell_mount){.fd = fd, .to = to, .is_writable = true, .is_guarded = true};
        status = pl_ext_ward_add(ward, scope->dirs[i], fd, err);
    }
    return status;
}

void pl_exec_mounts_close(struct pl_exec_mounts *mounts)
{
    for (size_t i = 1; i < mounts->n; i++)
        close(mounts->list[i].fd);
    mounts->n = 0;
}
