/* The method exec, and the tool bash: a program in its own cell. The workspace is read-only in
 * it, except the directories for which `write` is granted. The network reaches granted hosts
 * only (exec_scope.c). Its output is collected, 1 MiB of each stream, or streamed. After a
 * timeout: SIGTERM, two seconds, SIGKILL. When all its processes are gone, a worker removes new
 * protected paths (ward.c); then the answer is sent.
 *
 *     machine exec
 *
 *     NEW -> STARTING -> RUNNING -> EXITED -> SWEEPING -> SWEPT -> LEFT -> OVER
 *     NEW, STARTING, RUNNING, EXITED, SWEEPING -> LEFT     the call ended first, or needs no sweep
 */
#include "ext/run/method/exec_scope.h"

#include "base/mem.h"
#include "ext/cell/hosts.h"
#include "io/move.h"
#include "json/text.h"
#include "shard/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    MAX_SAID = 1 << 20,
    MAX_ARGS = 1000,
    TERM_MS = 2000,
    SWEEP_MS = 30000,  /* for the ward, after the program's timeout */
    MAX_CONNECTS = 32, /* number of audited connections */
    READ = 32 << 10,
    N_SAID = 2,
};

enum state {
    EXEC_NEW,
    EXEC_STARTING, /* a worker makes the cell */
    EXEC_RUNNING,
    EXEC_EXITED,   /* the rest of its output is read, and sent */
    EXEC_SWEEPING, /* a worker ends the ward */
    EXEC_SWEPT,
    EXEC_LEFT, /* nothing is running, and the call is not freed yet */
    EXEC_OVER, /* freed when its watches are removed */
};

#define TO(name) PL_TO(EXEC_##name)
static const struct pl_state states[] = {
    [EXEC_NEW] = {"new", TO(STARTING) | TO(LEFT)},
    [EXEC_STARTING] = {"starting", TO(RUNNING) | TO(LEFT), PL_WAIT_SET, PL_CANCEL_LATER,
                       .why = "the timer of the call"},
    [EXEC_RUNNING] = {"running", TO(EXITED) | TO(LEFT), PL_WAIT_SET, PL_CANCEL_ENDS,
                      .why = "timeout_ms of the call, then TERM_MS"},
    [EXEC_EXITED] = {"exited", TO(SWEEPING) | TO(LEFT), PL_WAIT_SET, PL_CANCEL_ENDS,
                     .why = "the timer of the call"},
    [EXEC_SWEEPING] = {"sweeping", TO(SWEPT) | TO(LEFT), PL_WAIT_SET, PL_CANCEL_LATER,
                       .why = "the timer of the call"},
    [EXEC_SWEPT] = {"swept", TO(LEFT)},
    [EXEC_LEFT] = {"left", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER,
                   .why = "the call is freed when its worker is back"},
    [EXEC_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("exec", states);

struct exec;

/* One of the two pipes. */
struct said {
    struct pl_watch watch;
    struct exec *exec;
    int fd;
    bool is_watched, is_ended, is_truncated;
    struct pl_buf bytes; /* collected, or waiting to be sent */
};

/* It outlives the call until its watches are removed. */
struct exec {
    enum state state;
    struct pl_ext_hostcall *call; /* NULL: the call is over (LEFT, OVER) */
    struct pl_ext_shard *exts;    /* borrowed */
    struct pl_arena arena;
    const char **argv;
    const char *cwd;
    struct pl_ext_root root;
    enum pl_cell_level least;
    struct pl_exec_scope scope;  /* arena */
    struct pl_ext_ward *ward;    /* owned */
    struct pl_cell *made;        /* owned; made by the job */
    struct pl_ext_child *child;  /* owned */
    struct pl_cell_hosts *hosts; /* owned; NULL: no hosts */
    struct pl_fetch_rules rules; /* of the hosts */
    unsigned n_connects;
    struct said said[N_SAID];
    unsigned n_watches;
    struct pl_timer late;
    bool is_killed, is_late, is_over_quota;
    struct pl_cell_end end;
    struct pl_loop_hook bury;
};

static void become(struct exec *exec, enum state to)
{
    exec->state = (enum state)pl_move(&machine, exec, exec->state, to);
}

static const char *const keys[N_SAID] = {"stdout", "stderr"};
static const char *const byte_keys[N_SAID] = {"stdout_bytes", "stderr_bytes"};

/* --- the end ---------------------------------------------------------------------------------- */

static void free_if_over(struct exec *exec)
{
    if (exec->state != EXEC_OVER || exec->n_watches)
        return;
    for (int i = 0; i < N_SAID; i++)
        pl_buf_deinit(&exec->said[i].bytes);
    pl_loop_hook_remove(exec->exts->loop, &exec->bury);
    pl_arena_deinit(&exec->arena);
    pl_mem_free(exec);
}

static void on_buried(struct pl_watch *watch)
{
    struct exec *exec = PL_CONTAINER_OF(watch, struct said, watch)->exec;
    exec->n_watches--;
    free_if_over(exec);
}

static void on_bury(struct pl_loop_hook *hook)
{
    free_if_over(PL_CONTAINER_OF(hook, struct exec, bury));
}

static void shut(struct said *said)
{
    if (said->is_watched)
        pl_watch_end(said->exec->exts->loop, &said->watch, on_buried);
    said->is_watched = false;
    if (said->fd >= 0)
        close(said->fd);
    said->fd = -1;
    said->is_ended = true;
}

/* Frees the cell and the ward. */
static void leave_cell(struct exec *exec)
{
    struct pl_ext_ward *ward = PL_TAKE(exec->ward);
    if (ward && pl_ext_ward_is_over(ward))
        pl_ext_ward_free(exec->exts, PL_TAKE(ward));
    if (exec->child)
        pl_ext_child_leave(PL_TAKE(exec->child), ward);
    else
        pl_ext_cell_leave(exec->exts, PL_TAKE(exec->made), ward);
}

/* Ends everything; kills the rest of the cell. What a worker has is freed by `clean`. */
static void leave(struct exec *exec, bool is_away)
{
    if (!exec->call)
        return;
    become(exec, EXEC_LEFT);
    exec->call->own = NULL;
    exec->call = NULL;
    pl_timer_stop(exec->exts->loop, &exec->late);
    for (int i = 0; i < N_SAID; i++)
        shut(&exec->said[i]);
    pl_cell_hosts_stop(PL_TAKE(exec->hosts));
    if (is_away)
        pl_ext_child_leave(PL_TAKE(exec->child), NULL);
    else
        leave_cell(exec);
    pl_loop_hook_add(exec->exts->loop, &exec->bury);
}

void pl_ext_exec_cancel(struct pl_ext_hostcall *call)
{
    struct exec *exec = call->own;
    if (exec)
        leave(exec, pl_machine_is_away(&machine, exec->state));
}

/* --- the result ------------------------------------------------------------------------------- */

static void put_end(struct exec *exec, struct pl_json_out *out)
{
    pl_json_out_key(out, "code");
    pl_json_out_int(out, exec->end.code);
    pl_json_out_key(out, "killed");
    pl_json_out_bool(out, exec->is_killed || exec->end.why != PL_CELL_WHY_EXIT);
    if (exec->ward && pl_ext_ward_has_removed(exec->ward))
        pl_ext_ward_put(exec->ward, out);
}

/* Writes the output, and whether it was truncated. Details of an error contain no secrets. */
static void put_said(struct exec *exec, struct pl_json_out *out, bool is_detail)
{
    bool is_truncated = false;
    for (int i = 0; i < N_SAID; i++) {
        PL_CLEANUP_BUF struct pl_buf clean;
        pl_buf_init(&clean, 0);
        if (is_detail)
            pl_ext_redact_text(&clean, pl_buf_str(&exec->said[i].bytes),
                               &exec->call->instance->secrets);
        pl_ext_put_content(out, keys[i], byte_keys[i],
                           pl_buf_str(is_detail ? &clean : &exec->said[i].bytes));
        is_truncated |= exec->said[i].is_truncated;
    }
    put_end(exec, out);
    pl_json_out_key(out, "truncated");
    pl_json_out_bool(out, is_truncated);
}

/* Output before the timeout goes into details; of a stream, the part that was not sent yet. */
static void finish_late(struct exec *exec)
{
    struct pl_ext_hostcall *call = exec->call;
    pl_buf_clear(&call->output);
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    put_said(exec, &out, true);
    pl_json_out_close(&out, '}');
    call->has_details = true;
    leave(exec, false);
    pl_hostcall_fail(call, "timeout", NULL, "the program took longer than %lld ms",
                     (long long)call->timeout_ms);
}

static void finish_over_quota(struct exec *exec)
{
    struct pl_ext_hostcall *call = exec->call;
    struct pl_ext_instance *instance = call->instance;
    leave(exec, false);
    pl_hostcall_fail(call, "io", "quota", "at most 64 MiB a minute");
    if (!instance->is_over)
        (void)pl_ext_instance_strike(instance, "http bytes");
}

static void finish(struct exec *exec)
{
    struct pl_ext_hostcall *call = exec->call;
    const char *why = "";
    if (exec->is_over_quota) {
        finish_over_quota(exec);
        return;
    }
    if (exec->ward && pl_ext_ward_status(exec->ward, &why) != PL_OK) {
        pl_hostcall_set_error(call, "io", NULL,
                              "the program ended, but what it wrote could not be looked through "
                              "for protected paths: %s",
                              why);
        leave(exec, false);
        pl_hostcall_succeed(call); /* with the error */
        return;
    }
    if (exec->is_late) {
        finish_late(exec);
        return;
    }
    struct pl_json_out out = pl_json_out(&call->output);
    bool is_streamed = call->is_streamed;
    pl_json_out_open(&out, '{');
    if (is_streamed)
        put_end(exec, &out);
    else
        put_said(exec, &out, false);
    pl_json_out_close(&out, '}');
    leave(exec, false);
    if (is_streamed)
        pl_hostcall_send_chunk(call, true);
    else
        pl_hostcall_succeed(call);
}

/* On a worker: the program has no processes left. */
static void sweep(struct pl_job *job)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(job, struct pl_ext_hostcall, job);
    struct exec *exec = call->own_spawn;
    pl_ext_ward_end(exec->ward);
}

static void on_swept(struct pl_ext_hostcall *call)
{
    struct exec *exec = call->own;
    become(exec, EXEC_SWEPT);
    finish(exec);
}

/* Finishes if the program is over and all its output was read (and sent). */
static void finish_if_over(struct exec *exec)
{
    bool is_over = exec->state == EXEC_EXITED;
    for (int i = 0; i < N_SAID && is_over; i++)
        is_over = exec->said[i].is_ended &&
                  (!exec->call->is_streamed || !exec->said[i].bytes.len || exec->is_late);
    if (!is_over)
        return;
    if (!exec->ward || pl_ext_ward_is_over(exec->ward)) {
        finish(exec);
        return;
    }
    become(exec, EXEC_SWEEPING);
    pl_hostcall_work(exec->call, sweep, on_swept);
}

/* --- output ----------------------------------------------------------------------------------- */

static void send_said(struct pl_ext_hostcall *call)
{
    struct exec *exec = call->own;
    for (int i = 0; exec && i < N_SAID; i++) {
        struct said *said = &exec->said[i];
        while (exec->call && said->bytes.len && pl_hostcall_may_send(call)) {
            bool is_text;
            size_t n = pl_ext_chunk_cut(pl_buf_str(&said->bytes), said->is_ended, &is_text);
            if (!n)
                break;
            struct pl_json_out out = pl_json_out(&call->output);
            pl_json_out_open(&out, '{');
            pl_ext_put_content(&out, keys[i], byte_keys[i],
                               pl_str_slice(pl_buf_str(&said->bytes), 0, n));
            pl_json_out_close(&out, '}');
            memmove(said->bytes.ptr, said->bytes.ptr + n, said->bytes.len - n);
            said->bytes.len -= n;
            pl_hostcall_send_chunk(call, false);
            if (!call->instance)
                return;
        }
        if (exec->call && said->is_watched && said->bytes.len < READ)
            pl_watch_want(exec->exts->loop, &said->watch, EPOLLIN);
    }
    if (exec)
        finish_if_over(exec);
}

static void on_said(struct pl_watch *watch, uint32_t events)
{
    struct said *said = PL_CONTAINER_OF(watch, struct said, watch);
    struct exec *exec = said->exec;
    char bytes[READ];
    (void)events;
    ssize_t n = read(said->fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        shut(said);
    } else if (exec->call->is_streamed) {
        pl_buf_add(&said->bytes, (struct pl_str){bytes, (size_t)n});
        if (said->bytes.len >= READ) /* the source pauses until this was sent */
            pl_watch_want(exec->exts->loop, watch, 0);
    } else {
        size_t room = MAX_SAID - said->bytes.len;
        said->is_truncated |= (size_t)n > room;
        pl_buf_add(&said->bytes, (struct pl_str){bytes, (size_t)n < room ? (size_t)n : room});
    }
    if (exec->call->is_streamed)
        send_said(exec->call);
    else
        finish_if_over(exec);
}

/* --- exit and timeout ------------------------------------------------------------------------- */

static void on_child_exit(void *ctx, const struct pl_cell_end *end)
{
    struct exec *exec = ctx;
    become(exec, EXEC_EXITED);
    exec->end = *end;
    pl_timer_stop(exec->exts->loop, &exec->late);
    if (exec->call->is_streamed)
        send_said(exec->call);
    else
        finish_if_over(exec);
}

static void on_late(struct pl_timer *timer)
{
    struct exec *exec = PL_CONTAINER_OF(timer, struct exec, late);
    if (exec->is_late) {
        exec->is_killed = true;
        pl_ext_child_kill(exec->child);
        return;
    }
    exec->is_late = true;
    pl_ext_child_signal(exec->child, SIGTERM);
    pl_timer_start(exec->exts->loop, timer, TERM_MS, on_late);
}

static bool watch_all(struct exec *exec, struct pl_cell *cell)
{
    int *fds[N_SAID] = {&cell->out, &cell->err};
    for (int i = 0; i < N_SAID; i++) {
        struct said *said = &exec->said[i];
        said->fd = *fds[i];
        *fds[i] = -1;
        said->is_watched =
            pl_watch_start(exec->exts->loop, &said->watch, said->fd, EPOLLIN, on_said) == PL_OK;
        exec->n_watches += said->is_watched;
        if (!said->is_watched)
            return false;
    }
    close(cell->in);
    cell->in = -1;
    return true;
}

/* --- hosts ------------------------------------------------------------------------------------ */

static void on_connect(void *ctx, const char *host, uint16_t port, bool is_let, const char *why)
{
    PL_CLEANUP_BUF struct pl_buf detail;
    struct exec *exec = ctx;
    if (!exec->call || !exec->call->instance || exec->n_connects++ >= MAX_CONNECTS)
        return;
    pl_buf_init(&detail, 0);
    struct pl_json_out out = pl_json_out(&detail);
    const struct pl_ext_text members[] = {
        {"instance_id", pl_str_of(exec->call->instance->id.text)},
        {"call_id", pl_str_slice(exec->call->call_id, 0, 100)},
        {"host", pl_str_of(host)},
        {"error", pl_str_of(is_let ? ""
                            : why  ? why
                                   : "refused")},
    };
    pl_json_out_open(&out, '{');
    pl_ext_put_texts(&out, members, sizeof members / sizeof *members);
    pl_json_out_key(&out, "port");
    pl_json_out_int(&out, port);
    pl_json_out_close(&out, '}');
    struct pl_ext_audited what = {
        .user_id = exec->call->user_id,
        .action = "host_call.connect",
        .object = exec->call->extension_id,
        .detail = pl_buf_str(&detail),
    };
    if (detail.status == PL_OK)
        pl_ext_audit(exec->exts, &what, NULL, NULL);
}

/* Uses the quota of http; the answer comes when the program is gone. */
static void on_bytes(void *ctx, uint64_t n_bytes)
{
    struct exec *exec = ctx;
    if (!exec->call || !exec->call->instance || exec->is_over_quota ||
        pl_ext_bucket_take(&exec->call->instance->buckets[PL_EXT_QUOTA_HTTP_BYTES],
                           PL_EXT_QUOTA_HTTP_BYTES, (int64_t)n_bytes,
                           pl_loop_now_ms(exec->exts->loop)))
        return;
    exec->is_over_quota = exec->is_killed = true;
    if (exec->state == EXEC_RUNNING)
        pl_ext_child_kill(exec->child);
}

static bool start_hosts(struct exec *exec, struct pl_cell *cell)
{
    static const struct pl_cell_hosts_ops ops = {on_connect, on_bytes};
    const struct pl_server_config *config = &exec->exts->shard->setup->config;
    struct pl_cell_spec spec = {.hosts = exec->scope.hosts, .n_hosts = exec->scope.n_hosts};
    struct pl_fetch_from from = {exec->exts->loop, exec->exts->shard->server->workers,
                                 pl_owner_of(exec->call->user_id)};
    size_t n_allowed = 0;
    if (!exec->scope.n_hosts)
        return true;
    while (config->fetch_hosts && config->fetch_hosts[n_allowed])
        n_allowed++;
    exec->rules = (struct pl_fetch_rules){.allowed = config->fetch_hosts, .n_allowed = n_allowed};
    return pl_cell_hosts_start(&from, cell, &spec, &exec->rules, &ops, exec, &exec->hosts, NULL) ==
           PL_OK;
}

/* --- starting --------------------------------------------------------------------------------- */

static void on_spawned(struct pl_ext_hostcall *call)
{
    struct exec *exec = call->own;
    struct pl_cell *cell = PL_TAKE(exec->made);
    become(exec, EXEC_RUNNING);
    exec->child = pl_ext_child_take(exec->exts, cell, on_child_exit, exec);
    if (!exec->child)
        exec->made = cell; /* leave() ends it */
    if (!exec->child || !watch_all(exec, cell) || !start_hosts(exec, cell)) {
        leave(exec, false);
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    pl_timer_start(exec->exts->loop, &exec->late, call->timeout_ms, on_late);
    pl_timer_start(call->exts->loop, &call->timer, call->timeout_ms + TERM_MS + SWEEP_MS,
                   call->timer.fn);
}

static enum pl_status spawn_in(struct exec *exec, int root_fd, struct pl_error *err)
{
    struct pl_exec_mounts mounts;
    enum pl_status status =
        pl_exec_mounts_open(&exec->scope, &exec->arena, root_fd, exec->ward, &mounts, err);
    struct pl_cell_spec spec = {
        .argv = exec->argv,
        .env = exec->scope.env,
        .package = {.fd = -1},
        .mounts = mounts.list,
        .n_mounts = mounts.n,
        .cwd = exec->cwd,
        .hosts = exec->scope.hosts,
        .n_hosts = exec->scope.n_hosts,
        .least = exec->least,
    };
    if (status == PL_OK)
        status = pl_cell_spawn(NULL, &spec, &exec->made, err);
    pl_exec_mounts_close(&mounts);
    return status;
}

static void spawn(struct pl_job *job)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(job, struct pl_ext_hostcall, job);
    struct exec *exec = call->own_spawn;
    struct pl_error err = {0};
    int root_fd = pl_ext_root_open(call, &exec->root);
    if (root_fd < 0)
        return;
    enum pl_status status = spawn_in(exec, root_fd, &err);
    close(root_fd);
    if (status != PL_OK)
        pl_hostcall_set_error(call, status == PL_NOT_FOUND ? "invalid_request" : "io",
                              status == PL_NOT_FOUND ? "not_found" : NULL, "%s", err.message);
}

/* Frees a cell that was made for a call that is over. */
static void clean(struct pl_ext_hostcall *call)
{
    struct exec *exec = call->own_spawn;
    if (!exec)
        return;
    leave(exec, false); /* it failed before it began, or no worker was free */
    leave_cell(exec);
    become(exec, EXEC_OVER);
    free_if_over(exec);
}

static const char *keep(struct exec *exec, struct pl_str text)
{
    char *copy = pl_arena_alloc(&exec->arena, text.len + 1, 1);
    if (copy) {
        memcpy(copy, text.ptr, text.len);
        copy[text.len] = '\0';
    }
    return copy && !memchr(text.ptr ? text.ptr : "", '\0', text.len) ? copy : NULL;
}

static bool read_argv(struct pl_ext_hostcall *call, struct exec *exec)
{
    struct pl_str command;
    bool is_bash = pl_str_eq(call->method_name, PL_STR("tool"));
    const struct pl_json_node *object =
        is_bash ? pl_json_get(&call->doc, call->params, PL_STR("input")) : call->params;
    const struct pl_json_node *args =
        is_bash ? NULL : pl_json_get(&call->doc, call->params, PL_STR("args"));
    size_t n = 0, n_args = args && pl_json_is(args, PL_JSON_ARRAY) ? pl_json_count(args) : 0;
    if (!pl_hostcall_text(call, object, is_bash ? "command" : "cmd", &command))
        return false;
    exec->argv = pl_arena_zalloc(&exec->arena, n_args + 4, sizeof *exec->argv);
    bool is_good = exec->argv && n_args <= MAX_ARGS && (!args || pl_json_is(args, PL_JSON_ARRAY));
    if (is_good && is_bash) {
        exec->argv[n++] = "/bin/bash";
        exec->argv[n++] = "-c";
    }
    if (is_good)
        is_good = (exec->argv[n++] = keep(exec, command)) != NULL;
    for (const struct pl_json_node *a = is_good && args ? pl_json_first(args) : NULL;
         a && a < pl_json_end(args) && is_good; a = pl_json_next(a)) {
        struct pl_str text;
        is_good = pl_json_is(a, PL_JSON_STRING) &&
                  pl_json_text(&call->arena, &call->doc, a, &text) == PL_OK &&
                  (exec->argv[n++] = keep(exec, text)) != NULL;
    }
    if (!is_good)
        pl_hostcall_fail(call, "invalid_request", NULL,
                         "cmd is a text, and args an array of at most 1000 texts without NUL");
    return is_good;
}

static bool read_cwd(struct pl_ext_hostcall *call, struct exec *exec)
{
    struct pl_str cwd, clean_path;
    const struct pl_json_node *options =
        pl_json_member(&call->doc, call->params, "options", PL_JSON_OBJECT);
    if (!pl_hostcall_text(call, options, "cwd", &cwd))
        return false;
    if (pl_ext_path_clean(&call->arena, cwd.ptr ? cwd : PL_STR("."), &clean_path) != PL_OK) {
        pl_hostcall_deny(call, PL_EXT_REASON_PATH_ESCAPE);
        return false;
    }
    char path[600];
    snprintf(path, sizeof path, "/work%s%.*s", clean_path.len ? "/" : "",
             (int)(clean_path.len < 500 ? clean_path.len : 500), clean_path.ptr);
    exec->cwd = keep(exec, pl_str_of(path));
    return exec->cwd;
}

static bool read_params(struct pl_ext_hostcall *call, struct exec *exec)
{
    static const char *const members[] = {"cmd", "args", "options", NULL};
    static const char *const options[] = {"cwd", "timeout_ms", "stream", NULL};
    static const char *const of_bash[] = {"command", "timeout", NULL};
    bool is_bash = pl_str_eq(call->method_name, PL_STR("tool"));
    if (is_bash &&
        !pl_hostcall_members(call, pl_json_get(&call->doc, call->params, PL_STR("input")), of_bash))
        return false;
    if (!is_bash &&
        (!pl_hostcall_members(call, call->params, members) ||
         !pl_hostcall_members(
             call, pl_json_member(&call->doc, call->params, "options", PL_JSON_OBJECT), options)))
        return false;
    return read_argv(call, exec) && read_cwd(call, exec) &&
           pl_ext_root_find(call, false, &exec->root);
}

static struct exec *create(struct pl_ext_hostcall *call)
{
    struct exec *exec = pl_mem_alloc(1, sizeof *exec);
    if (!exec)
        return NULL;
    *exec = (struct exec){.call = call, .exts = call->exts, .least = PL_CELL_FULL};
    const char *least = call->exts->shard->setup->config.ext_sandbox;
    if (least)
        (void)pl_cell_level_find(pl_str_of(least), &exec->least);
    pl_arena_init(&exec->arena, 0);
    exec->bury.fn = on_bury;
    for (int i = 0; i < N_SAID; i++) {
        exec->said[i].exec = exec;
        exec->said[i].fd = -1;
        pl_buf_init(&exec->said[i].bytes, 0);
    }
    return exec;
}

static unsigned n_running(const struct pl_ext_instance *instance)
{
    unsigned n = 0;
    for (const struct pl_ext_hostcall *call = instance->hostcalls; call; call = call->next)
        n += call->capability == PL_EXT_CAP_EXEC && call->own;
    return n;
}

void pl_ext_exec_start(struct pl_ext_hostcall *call)
{
    if (n_running(call->instance) >= PL_EXT_EXECS) {
        pl_hostcall_fail(call, "io", "quota", "at most 8 programs run at once");
        return;
    }
    struct exec *exec = create(call);
    if (!exec) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    call->own_spawn = exec;
    call->clean = clean;
    if (!read_params(call, exec)) /* the call is over; `clean` frees */
        return;
    struct pl_ext_warded_call warded = {call->extension_id, call->user_id,
                                        pl_str_of(call->instance->id.text), call->session_id,
                                        call->call_id};
    exec->ward = pl_ext_ward_create(&warded);
    if (!exec->ward || !pl_exec_scope_read(call, &exec->arena, &exec->scope)) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    call->own = exec;
    call->go_on = send_said;
    become(exec, EXEC_STARTING);
    /* The program has its own timeout; this one allows for its termination. */
    pl_timer_start(call->exts->loop, &call->timer, call->timeout_ms + 2 * TERM_MS, call->timer.fn);
    pl_hostcall_work(call, spawn, on_spawned);
}
