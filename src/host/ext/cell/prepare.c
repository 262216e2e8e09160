/* Converts a spec to a plan: copies words and hosts, opens and sorts mounts, adds protected
 * paths and defaults. Refuses everything that `parley cell` would refuse. */
#include "ext/cell/prepare_int.h"

#include "base/text/utf8.h"
#include "ext/cell/guard_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct preparing {
    const struct pl_cell_spec *spec;   /* borrowed */
    struct pl_cell_prepared *prepared; /* borrowed */
    struct pl_error *err;              /* borrowed */
    PL_VEC(struct pl_cell_plan_mount) mounts;
};

static enum pl_status no_memory(struct preparing *p)
{
    return pl_fail(p->err, PL_NOMEM, "out of memory");
}

static const char *copy(struct preparing *p, const char *text)
{
    return pl_arena_dup(&p->prepared->arena, (struct pl_str){text, strlen(text) + 1}).ptr;
}

/* --- words ------------------------------------------------------------------------------------- */

static bool has_variable(const char *const *env, const char *name, size_t n)
{
    for (; env && *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return true;
    return false;
}

static enum pl_status copy_words(struct preparing *p, const char *what, const char *const *words,
                                 const char *const *more, char ***ret_words)
{
    size_t n = 0, n_more = 0;
    while (words && words[n])
        n++;
    while (more && more[n_more])
        n_more++;
    if (n + n_more > PL_CELL_MAX_WORDS)
        return pl_fail(p->err, PL_USAGE, "%s has more than %d words", what, PL_CELL_MAX_WORDS);
    char **list = pl_arena_alloc(&p->prepared->arena, n + n_more + 1, sizeof *list);
    if (!list)
        return no_memory(p);
    for (size_t i = 0; i < n; i++) {
        if (!pl_utf8_is_valid(pl_str_of(words[i])))
            return pl_fail(p->err, PL_USAGE, "word %zu of %s is not UTF-8", i, what);
        list[i] = (char *)copy(p, words[i]);
        if (!list[i])
            return no_memory(p);
    }
    size_t n_list = n;
    for (size_t i = 0; i < n_more; i++)
        if (!has_variable(words, more[i], strcspn(more[i], "=")))
            list[n_list++] = (char *)more[i];
    list[n_list] = NULL;
    *ret_words = list;
    return PL_OK;
}

static enum pl_status add_words(struct preparing *p)
{
    struct pl_cell_plan *plan = &p->prepared->plan;
    const char *more[8] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8",
                           "TMPDIR=/tmp"};
    struct pl_cell_place places[PL_CELL_MAX_PLACES];
    size_t n_places = pl_cell_plan_places(plan, places);
    if (n_places && places[n_places - 1].name[0] == '*') {
        static const char *const names[] = {"HTTPS_PROXY", "https_proxy"};
        char address[16];
        pl_cell_slot_address(places[n_places - 1].slot, address);
        for (size_t i = 0; i < 2; i++) {
            char line[80];
            snprintf(line, sizeof line, "%s=http://%s:%d", names[i], address, PL_CELL_PROXY_PORT);
            more[4 + i] = copy(p, line);
            if (!more[4 + i])
                return no_memory(p);
        }
    }
    for (size_t i = 0; p->spec->env && p->spec->env[i]; i++)
        if (!strchr(p->spec->env[i], '=') || p->spec->env[i][0] == '=')
            return pl_fail(p->err, PL_USAGE,
                           "a variable of the cell is not of the form NAME=value");
    enum pl_status status = copy_words(p, "argv", p->spec->argv, NULL, &plan->argv);
    if (status == PL_OK)
        status = copy_words(p, "env", p->spec->env, more, &plan->env);
    return status;
}

/* --- hosts ------------------------------------------------------------------------------------- */

static enum pl_status add_hosts(struct preparing *p)
{
    struct pl_cell_plan *plan = &p->prepared->plan;
    if (p->spec->n_hosts > PL_CELL_MAX_HOSTS)
        return pl_fail(p->err, PL_USAGE, "a cell may have %d hosts, not %zu; use a wildcard",
                       PL_CELL_MAX_HOSTS, p->spec->n_hosts);
    plan->hosts = pl_arena_zalloc(&p->prepared->arena, p->spec->n_hosts + 1, sizeof *plan->hosts);
    if (!plan->hosts)
        return no_memory(p);
    for (; plan->n_hosts < p->spec->n_hosts; plan->n_hosts++) {
        const struct pl_cell_host *host = &p->spec->hosts[plan->n_hosts];
        plan->hosts[plan->n_hosts] = (struct pl_cell_host){copy(p, host->name), host->port};
        if (!plan->hosts[plan->n_hosts].name)
            return no_memory(p);
    }
    return PL_OK;
}

/* --- mounts ------------------------------------------------------------------------------------ */

/* Takes the descriptor, even if it fails. */
static enum pl_status push_mount(struct preparing *p, int fd, const char *to, bool is_writable)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    if (n <= 0 || !pl_utf8_is_valid(pl_str_of(path)))
        snprintf(path, sizeof path, "a path that is not UTF-8");
    struct pl_cell_plan_mount mount = {
        .fd = fd, .from = copy(p, path), .to = copy(p, to), .is_writable = is_writable};
    if (mount.from && mount.to && pl_vec_push(&p->mounts, mount))
        return PL_OK;
    close(fd);
    return no_memory(p);
}

static enum pl_status push_path(struct preparing *p, const struct pl_cell_mount *mount, int dir,
                                const char *path, bool is_writable)
{
    char to[8192];
    int fd = pl_cell_open_beneath(dir, path, O_PATH);
    snprintf(to, sizeof to, "%s/%s", mount->to, path);
    if (fd < 0 && errno == ENOENT)
        return PL_OK;
    if (fd < 0)
        return pl_fail(p->err, PL_IO, "%s cannot be protected: %s", to, strerror(errno));
    return push_mount(p, fd, to, is_writable);
}

/* Makes a protected path read-only. Its parent becomes a mount as well: a mount cannot be
 * renamed, so nothing else gets its name. A symbolic link is not mounted; afterwards it must be
 * the same one. For a file with other names elsewhere, only its content is protected, not its
 * name. */
static enum pl_status protect(struct preparing *p, const struct pl_cell_mount *mount, int dir)
{
    struct pl_cell_guarded_list list = {0};
    enum pl_status status = pl_cell_guarded_find(&p->prepared->arena, dir, true, &list, p->err);
    const char *last_parent = "";
    for (size_t i = 0; i < list.items.len && status == PL_OK; i++) {
        const struct pl_cell_guarded *item = &list.items.ptr[i];
        char parent[4096];
        const char *slash = strrchr(item->path, '/');
        snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - item->path) : 0, item->path);
        if (S_ISLNK(item->mode))
            continue;
        p->prepared->plan.has_guarded = true;
        if (slash && !item->is_linked && strcmp(parent, last_parent) != 0) {
            status = push_path(p, mount, dir, parent, true);
            last_parent = copy(p, parent);
            if (status == PL_OK && !last_parent)
                status = no_memory(p);
        }
        if (status == PL_OK)
            status = push_path(p, mount, dir, item->path, false);
    }
    pl_vec_deinit(&list.items);
    return status;
}

static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

static enum pl_status check_place(struct preparing *p, const char *to)
{
    static const char *const taken[] = {"/proc", "/dev", "/etc", "/.parley"};
    bool is_taken = !to || !pl_cell_path_is_clean(to) || !to[1] || strcmp(to, "/tmp") == 0 ||
                    strcmp(to, "/usr") == 0;
    for (size_t i = 0; !is_taken && i < sizeof taken / sizeof *taken; i++)
        is_taken = is_below(to, taken[i]);
    return is_taken ? pl_fail(p->err, PL_USAGE, "nothing can be mounted at \"%.200s\" in a cell",
                              to ? to : "")
                    : PL_OK;
}

static enum pl_status add_mount(struct preparing *p, const struct pl_cell_mount *mount,
                                const char *to, bool is_writable)
{
    int fd = mount->fd >= 0 ? fcntl(mount->fd, F_DUPFD_CLOEXEC, 3)
                            : open(mount->from, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return pl_fail(p->err, errno == ENOENT ? PL_NOT_FOUND : PL_IO,
                       "%.300s cannot be opened: %s", mount->from ? mount->from : "a descriptor",
                       strerror(errno));
    enum pl_status status = PL_OK;
    if (is_writable && mount->is_guarded)
        status = protect(p, mount, fd);
    if (status != PL_OK) {
        close(fd);
        return status;
    }
    return push_mount(p, fd, to, is_writable);
}

/* Sorts each mount after those whose path it is below. There are few mounts. */
static void order_mounts(struct preparing *p)
{
    for (size_t i = 1; i < p->mounts.len; i++) {
        struct pl_cell_plan_mount mount = p->mounts.ptr[i];
        size_t j = i;
        for (; j > 0 && strcmp(p->mounts.ptr[j - 1].to, mount.to) > 0; j--)
            p->mounts.ptr[j] = p->mounts.ptr[j - 1];
        p->mounts.ptr[j] = mount;
    }
}

/* If a path is mounted twice, the narrower mount counts. */
static enum pl_status merge_mounts(struct preparing *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->mounts.len; i++) {
        struct pl_cell_plan_mount *mount = &p->mounts.ptr[i];
        struct pl_cell_plan_mount *last = n ? &p->mounts.ptr[n - 1] : NULL;
        if (!last || strcmp(last->to, mount->to) != 0) {
            p->mounts.ptr[n++] = *mount;
            continue;
        }
        last->is_writable = last->is_writable && mount->is_writable;
        close(mount->fd);
    }
    p->mounts.len = n;
    return n > 2 * (size_t)PL_CELL_MAX_MOUNTS
               ? pl_fail(p->err, PL_USAGE,
                         "the cell would have %zu mounts, with one for each protected path and "
                         "each file that "
                         "has a hard link elsewhere; %d are possible: make a smaller directory "
                         "writable",
                         n, 2 * PL_CELL_MAX_MOUNTS)
               : PL_OK;
}

static enum pl_status add_mounts(struct preparing *p)
{
    enum pl_status status = PL_OK;
    const struct pl_cell_mount *package = &p->spec->package;
    if (p->spec->n_mounts > PL_CELL_MAX_MOUNTS)
        return pl_fail(p->err, PL_USAGE, "a cell may have %d mounts, not %zu", PL_CELL_MAX_MOUNTS,
                       p->spec->n_mounts);
    if (package->fd >= 0 || package->from)
        status = add_mount(p, package, PL_CELL_PACKAGE_DIR, false);
    for (size_t i = 0; i < p->spec->n_mounts && status == PL_OK; i++) {
        const struct pl_cell_mount *mount = &p->spec->mounts[i];
        status = check_place(p, mount->to);
        if (status == PL_OK)
            status = add_mount(p, mount, mount->to, mount->is_writable);
    }
    order_mounts(p);
    return status == PL_OK ? merge_mounts(p) : status;
}

/* --- the whole --------------------------------------------------------------------------------- */

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
    return value ? value : otherwise;
}

static enum pl_status fill(struct preparing *p)
{
    const struct pl_cell_spec *spec = p->spec;
    struct pl_cell_plan *plan = &p->prepared->plan;
    if (!spec->argv || !spec->argv[0])
        return pl_fail(p->err, PL_USAGE, "a cell needs a program");
    *plan = (struct pl_cell_plan){
        .limits = {or_default(spec->limits.n_processes, PL_CELL_MAX_PROCESSES),
                   or_default(spec->limits.n_memory, PL_CELL_MAX_MEMORY),
                   or_default(spec->limits.n_file, PL_CELL_MAX_FILE),
                   or_default(spec->limits.n_fds, PL_CELL_MAX_FDS)},
        .uid = spec->uid,
        .least = spec->least,
    };
    bool has_package = spec->package.fd >= 0 || spec->package.from;
    const char *cwd = spec->cwd ? spec->cwd : has_package ? PL_CELL_PACKAGE_DIR : "/";
    plan->cwd = copy(p, cwd);
    if (!plan->cwd)
        return no_memory(p);
    enum pl_status status = add_hosts(p);
    if (status == PL_OK)
        status = add_words(p);
    return status == PL_OK ? add_mounts(p) : status;
}

/* Makes the same checks as the cell. */
static enum pl_status check(struct preparing *p)
{
    PL_CLEANUP_BUF struct pl_buf json;
    struct pl_cell_plan again;
    pl_buf_init(&json, PL_CELL_MAX_PLAN);
    enum pl_status status = pl_cell_plan_write(&p->prepared->plan, &json);
    if (status != PL_OK)
        return pl_fail(p->err, status, "the plan of the cell is too large");
    return pl_cell_plan_read(&p->prepared->arena, pl_buf_str(&json), &again, p->err);
}

enum pl_status pl_cell_prepare(const struct pl_cell_spec *spec,
                               struct pl_cell_prepared *ret_prepared, struct pl_error *err)
{
    *ret_prepared = (struct pl_cell_prepared){0};
    pl_arena_init(&ret_prepared->arena, 0);
    struct preparing p = {.spec = spec, .prepared = ret_prepared, .err = err};
    enum pl_status status = fill(&p);
    struct pl_cell_plan *plan = &ret_prepared->plan;
    plan->mounts = pl_arena_zalloc(&ret_prepared->arena, p.mounts.len + 1, sizeof *plan->mounts);
    if (!plan->mounts) {
        for (size_t i = 0; i < p.mounts.len; i++)
            close(p.mounts.ptr[i].fd);
        status = no_memory(&p);
    } else if (p.mounts.len) {
        memcpy(plan->mounts, p.mounts.ptr, p.mounts.len * sizeof *plan->mounts);
        plan->n_mounts = p.mounts.len;
    }
    pl_vec_deinit(&p.mounts);
    return status == PL_OK ? check(&p) : status;
}

void pl_cell_prepared_deinit(struct pl_cell_prepared *prepared)
{
    for (size_t i = 0; i < prepared->plan.n_mounts; i++)
        close(prepared->plan.mounts[i].fd);
    pl_arena_deinit(&prepared->arena);
}
