/* The cell of an MCP server. Its adapter does not make a host call for each file, so readable
 * and writable paths are mounted at their path on the machine: a directory (`docs/` and `**`), a
 * file to read, or the whole workspace. Its hosts go through the outbound guard. The calls
 * inside such a server are not visible, so if it may write or reach hosts, a person is asked
 * before the first call of each tool (broker/first_call.c). An adapter of pi does everything by
 * host calls and has no mounts. */
#include "ext/run/ext_int.h"

#include "base/mem.h"
#include "ext/cell/hosts.h"
#include "ext/run/method/exec_scope.h"
#include "extproto/path_scope.h"
#include "io/file/file_tree.h"
#include "shard/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum pl_ext_decision decision_of(const struct pl_ext_package *package,
                                        enum pl_ext_capability capability)
{
    return pl_ext_reason_decision(
        pl_ext_policy_judge(&package->policy, pl_str_of(pl_ext_capability_name(capability))));
}

static int open_below(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve};
    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

/* Opens the workspace of the user, creates it if missing, and gets its real path. */
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

/* The path that a glob covers completely: a directory, or one name. False: it has other
 * wildcards. */
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

struct opening {
    struct pl_ext_adapter *adapter; /* borrowed */
    const struct pl_ext_package *package;
    int root;
    char real[PATH_MAX]; /* the path of root */
    struct pl_error *err;
};

static bool is_in(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (!path[n] || path[n] == '/');
}

static bool is_writable_already(const struct pl_ext_adapter *adapter, const char *to)
{
    for (size_t i = 0; i < adapter->n_mounts; i++)
        if (adapter->mounts[i].is_writable && is_in(to, adapter->mounts[i].to))
            return true;
    return false;
}

/* Skips missing paths, and paths through a link. */
static enum pl_status add_place(struct opening *o, struct pl_str glob, bool writes)
{
    struct pl_ext_adapter *adapter = o->adapter;
    struct pl_str path;
    char name[PATH_MAX];
    if (!place_of(glob, &path) || path.len >= sizeof name ||
        adapter->n_mounts == PL_EXT_ADAPTER_MOUNTS || (writes && pl_exec_dir_is_blind(path)))
        return PL_OK;
    snprintf(name, sizeof name, "%.*s", PL_STR_ARG(path));
    size_t size = strlen(o->real) + path.len + 2;
    char *to = pl_arena_alloc(&adapter->arena, size, 1);
    if (!to)
        return pl_fail(o->err, PL_NOMEM, "out of memory");
    snprintf(to, size, "%s%s%s", o->real, path.len ? "/" : "", name);
    if (is_writable_already(adapter, to))
        return PL_OK;
    int fd = open_below(o->root, path.len ? name : ".", O_NOFOLLOW | (writes ? O_DIRECTORY : 0),
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    if (fd < 0)
        return PL_OK;
    adapter->mounts[adapter->n_mounts++] =
        (struct pl_cell_mount){.fd = fd, .to = to, .is_writable = writes, .is_guarded = writes};
    adapter->writes = adapter->writes || writes;
    /* A protected path that the server creates there is removed after the call, and at its end. */
    return writes ? pl_ext_ward_add(adapter->ward, name, fd, o->err) : PL_OK;
}

static enum pl_status add_places(struct opening *o, enum pl_ext_capability capability)
{
    enum pl_status status = PL_OK;
    bool writes = capability == PL_EXT_CAP_WRITE;
    for (size_t i = 0; i < o->package->manifest.n; i++) {
        const struct pl_ext_requirement *one = &o->package->manifest.requirements[i];
        if (one->capability != capability || one->methods.is_given)
            continue;
        if (!one->paths.is_given)
            status = add_place(o, PL_STR("**"), writes);
        for (size_t j = 0; j < one->paths.n && status == PL_OK; j++)
            status = add_place(o, one->paths.items[j], writes);
    }
    return status;
}

/* A mount hides earlier mounts below its path, so mounts above come first. */
static int by_path(const void *a, const void *b)
{
    const struct pl_cell_mount *one = a, *other = b;
    return strcmp(one->to, other->to);
}

static enum pl_status open_workspace(struct pl_ext_instance *instance, struct opening *o)
{
    struct pl_ext_adapter *adapter = o->adapter;
    o->root = open_root(instance->workspace, o->real);
    if (o->root < 0)
        return pl_fail(o->err, PL_IO, "the workspace cannot be opened: %s", strerror(errno));
    enum pl_status status = PL_OK;
    if (decision_of(o->package, PL_EXT_CAP_WRITE) != PL_EXT_DENY)
        status = add_places(o, PL_EXT_CAP_WRITE);
    if (status == PL_OK && decision_of(o->package, PL_EXT_CAP_READ) == PL_EXT_ALLOW)
        status = add_places(o, PL_EXT_CAP_READ);
    close(o->root);
    if (status != PL_OK || !adapter->n_mounts)
        return status;
    qsort(adapter->mounts, adapter->n_mounts, sizeof *adapter->mounts, by_path);
    size_t size = strlen(o->real) + sizeof "PARLEY_WORKSPACE=";
    char *line = pl_arena_alloc(&adapter->arena, size, 1);
    if (!line)
        return pl_fail(o->err, PL_NOMEM, "out of memory");
    snprintf(line, size, "PARLEY_WORKSPACE=%s", o->real);
    adapter->env[0] = line;
    return PL_OK;
}

static enum pl_status read_hosts(struct opening *o)
{
    struct pl_ext_adapter *adapter = o->adapter;
    for (size_t i = 0; i < o->package->manifest.n; i++) {
        const struct pl_ext_requirement *one = &o->package->manifest.requirements[i];
        if (one->capability != PL_EXT_CAP_HTTP || one->methods.is_given)
            continue;
        for (size_t j = 0; j < one->n_hosts && adapter->n_hosts < PL_CELL_MAX_HOSTS; j++) {
            const struct pl_ext_host *host = &one->hosts[j];
            size_t size = host->host.len + 3;
            char *name = pl_arena_alloc(&adapter->arena, size, 1);
            if (!name)
                return pl_fail(o->err, PL_NOMEM, "out of memory");
            snprintf(name, size, "%s%.*s", host->is_suffix ? "*." : "", PL_STR_ARG(host->host));
            adapter->hosts[adapter->n_hosts++] = (struct pl_cell_host){name, (uint16_t)host->port};
        }
    }
    return PL_OK;
}

enum pl_status pl_ext_adapter_open(struct pl_ext_instance *instance, struct pl_error *err)
{
    const struct pl_ext_package *package = &instance->known->package;
    if (package->runtime != PL_EXT_RUNTIME_MCP)
        return PL_OK;
    struct pl_ext_adapter *adapter = pl_mem_alloc(1, sizeof *adapter);
    if (!adapter)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *adapter = (struct pl_ext_adapter){.instance = instance};
    pl_arena_init(&adapter->arena, 0);
    instance->adapter = adapter;
    struct pl_ext_warded_call of = {.extension_id = package->id,
                                    .user_id = instance->place->user_id,
                                    .instance_id = pl_str_of(instance->id.text),
                                    .is_renewed = true};
    adapter->ward = pl_ext_ward_create(&of);
    if (!adapter->ward)
        return pl_fail(err, PL_NOMEM, "out of memory");
    struct opening o = {.adapter = adapter, .package = package, .err = err};
    enum pl_status status = instance->workspace[0] ? open_workspace(instance, &o) : PL_OK;
    if (status == PL_OK && decision_of(package, PL_EXT_CAP_HTTP) != PL_EXT_DENY)
        status = read_hosts(&o);
    return status;
}

void pl_ext_adapter_close_mounts(struct pl_ext_adapter *adapter)
{
    for (size_t i = 0; adapter && i < adapter->n_mounts; i++)
        close(adapter->mounts[i].fd);
    if (adapter)
        adapter->n_mounts = 0;
}

/* --- hosts ------------------------------------------------------------------------------------ */

static void on_connect(void *ctx, const char *host, uint16_t port, bool is_let, const char *why)
{
    enum { MAX_CONNECTS = 32 };
    PL_CLEANUP_BUF struct pl_buf detail;
    struct pl_ext_adapter *adapter = ctx;
    if (adapter->n_connects++ >= MAX_CONNECTS)
        return;
    pl_buf_init(&detail, 0);
    struct pl_json_out out = pl_json_out(&detail);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "instance_id");
    pl_json_out_text(&out, pl_str_of(adapter->instance->id.text));
    pl_json_out_key(&out, "host");
    pl_json_out_text(&out, pl_str_of(host));
    pl_json_out_key(&out, "port");
    pl_json_out_int(&out, port);
    if (!is_let) {
        pl_json_out_key(&out, "error");
        pl_json_out_text(&out, pl_str_of(why ? why : "refused"));
    }
    pl_json_out_close(&out, '}');
    struct pl_ext_audited what = {
        .user_id = adapter->instance->place->user_id,
        .action = "host_call.connect",
        .object = adapter->instance->known->package.id,
        .detail = pl_buf_str(&detail),
    };
    if (detail.status == PL_OK)
        pl_ext_audit(adapter->instance->exts, &what, NULL, NULL);
}

/* Uses the quota of http; exceeding it ends the process. */
static void on_bytes(void *ctx, uint64_t n_bytes)
{
    struct pl_ext_adapter *adapter = ctx;
    struct pl_ext_instance *instance = adapter->instance;
    if (!pl_ext_bucket_take(&instance->buckets[PL_EXT_QUOTA_HTTP_BYTES], PL_EXT_QUOTA_HTTP_BYTES,
                            (int64_t)n_bytes, pl_loop_now_ms(instance->exts->loop)))
        pl_ext_child_kill(instance->child);
}

bool pl_ext_adapter_start(struct pl_ext_instance *instance, struct pl_cell *cell)
{
    static const struct pl_cell_hosts_ops ops = {on_connect, on_bytes};
    struct pl_ext_adapter *adapter = instance->adapter;
    struct pl_shard *shard = instance->exts->shard;
    const struct pl_server_config *config = &shard->setup->config;
    size_t n_allowed = 0;
    if (!adapter || !adapter->n_hosts)
        return true;
    while (config->fetch_hosts && config->fetch_hosts[n_allowed])
        n_allowed++;
    adapter->rules =
        (struct pl_fetch_rules){.allowed = config->fetch_hosts, .n_allowed = n_allowed};
    struct pl_cell_spec spec = {.hosts = adapter->hosts, .n_hosts = adapter->n_hosts};
    struct pl_fetch_from from = {shard->loop, shard->server->workers,
                                 pl_owner_of(instance->place->user_id)};
    return pl_cell_hosts_start(&from, cell, &spec, &adapter->rules, &ops, adapter,
                               &adapter->running, NULL) == PL_OK;
}

/* --- protected paths -------------------------------------------------------------------------- */

/* A server runs on after a call, so protected paths are not left until its end. */
struct pl_ext_sweeping {
    struct pl_job job;
    struct pl_ext_shard *exts;      /* borrowed */
    struct pl_ext_adapter *adapter; /* borrowed; NULL: it was left */
    struct pl_ext_ward *old, *fresh;
};

static void sweep_run(struct pl_job *job)
{
    struct pl_ext_sweeping *s = PL_CONTAINER_OF(job, struct pl_ext_sweeping, job);
    s->fresh = pl_ext_ward_renew(s->old);
}

static void sweep_done(struct pl_job *job)
{
    struct pl_ext_sweeping *s = PL_CONTAINER_OF(job, struct pl_ext_sweeping, job);
    struct pl_ext_adapter *adapter = s->adapter;
    struct pl_ext_shard *exts = s->exts;
    struct pl_ext_ward *ward = s->fresh ? s->fresh : s->old;
    if (s->fresh)
        pl_ext_ward_free(exts, s->old);
    pl_mem_free(s);
    if (adapter) {
        adapter->ward = ward;
        adapter->sweeping = NULL;
        if (adapter->sweeps_again)
            pl_ext_adapter_sweep(adapter->instance);
    } else {
        pl_ext_cell_leave(exts, NULL, ward);
    }
    exts->n_ending--;
    if (exts->is_stopping)
        pl_loop_hook_add(exts->loop, &exts->stop_hook);
}

void pl_ext_adapter_sweep(struct pl_ext_instance *instance)
{
    struct pl_ext_adapter *adapter = instance->adapter;
    if (!adapter || !adapter->writes || instance->is_over)
        return;
    adapter->sweeps_again = adapter->sweeping;
    struct pl_ext_sweeping *s = adapter->sweeping ? NULL : pl_mem_alloc(1, sizeof *s);
    if (!s)
        return; /* later, or at its end */
    *s = (struct pl_ext_sweeping){
        .exts = instance->exts, .adapter = adapter, .old = PL_TAKE(adapter->ward)};
    s->job = (struct pl_job){
        .lane = PL_WORK_FILE, .owner = 1, .is_begun = true, .run = sweep_run, .done = sweep_done};
    adapter->sweeping = s;
    s->exts->n_ending++;
    pl_workers_submit(s->exts->shard->server->workers, s->exts->loop, &s->job);
}

struct pl_ext_ward *pl_ext_adapter_leave(struct pl_ext_instance *instance)
{
    struct pl_ext_adapter *adapter = PL_TAKE(instance->adapter);
    if (!adapter)
        return NULL;
    struct pl_ext_ward *ward = adapter->ward;
    if (adapter->sweeping)
        adapter->sweeping->adapter = NULL;
    pl_cell_hosts_stop(adapter->running);
    pl_ext_adapter_close_mounts(adapter);
    pl_arena_deinit(&adapter->arena);
    pl_mem_free(adapter);
    return ward;
}
