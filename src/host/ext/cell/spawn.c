/* A cell in the server: attempts until a way works, then signals, the end, and cleaning up. */
#include "ext/cell/cell.h"

#include "ext/cell/attempt_int.h"
#include "ext/cell/cgroup.h"
#include "ext/cell/prepare_int.h"
#include "ext/cell/probe_int.h"
#include "ext/cell/uids.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 5000 /* for the last process of a cell without a pid namespace */

struct pl_cell_inner {
    int control; /* owned */
    int first;   /* owned; pidfd of process 1, to kill it; may be the cell's own pidfd */
    pid_t child; /* to be waited for */
    uid_t uid;   /* taken for this cell; 0: none taken */
    bool is_tree;
    bool is_over;
    struct pl_cell_end end;
    struct pl_buf cgroup;  /* its directory, with a NUL; empty: no group */
    struct pl_arena arena; /* names of listeners */
};

/* --- attempts ---------------------------------------------------------------------------------- */

enum pl_status pl_cell_try_ways(const struct pl_cell_settings *settings, struct pl_cell_plan *plan,
                                struct pl_cell_attempt *ret_attempt, struct pl_cell_tried *tried,
                                struct pl_error *err)
{
    const char *program = settings && settings->program ? settings->program : "/proc/self/exe";
    for (;;) {
        plan->missing = tried->missing;
        enum pl_status status = pl_cell_attempt_make(program, plan, ret_attempt, err);
        if (status != PL_OK)
            return status;
        enum pl_cell_part part = (enum pl_cell_part)ret_attempt->last.value;
        bool is_unable = ret_attempt->last.kind == PL_CELL_SAYS_UNABLE && part < PL_CELL_N_PARTS;
        /* Without a user id there is no other way. Without a control group, process 1 counts the
         * memory. */
        if (!is_unable || (tried->missing & (1u << part)) || part == PL_CELL_PART_UID ||
            (part == PL_CELL_PART_CGROUP && !plan->cgroup))
            return PL_OK;
        if (part == PL_CELL_PART_CGROUP)
            plan->cgroup = NULL;
        tried->missing |= 1u << part;
        snprintf(tried->says[part], sizeof tried->says[part], "%.199s", ret_attempt->last.text);
        pl_cell_attempt_close(ret_attempt);
    }
}

/* The status and message for an attempt that started nothing. */
static enum pl_status explain(const struct pl_cell_attempt *attempt,
                              const struct pl_cell_plan *plan, const struct pl_cell_tried *tried,
                              struct pl_error *err)
{
    const struct pl_cell_message *last = &attempt->last;
    if (last->kind == PL_CELL_SAYS_FAILED && last->value > PL_OK && last->value < PL_STATUS_COUNT)
        return pl_fail(err, (enum pl_status)last->value, "%s", last->text);
    struct pl_cell_tried all = *tried;
    if (last->kind == PL_CELL_SAYS_UNABLE && (unsigned)last->value < PL_CELL_N_PARTS) {
        all.missing |= 1u << last->value;
        snprintf(all.says[last->value], sizeof all.says[0], "%.199s", last->text);
    }
    struct pl_cell_probe probe;
    pl_cell_probe_judge(&all, plan->uid, &probe);
    enum pl_status status = pl_cell_accept(&probe, plan->least, err);
    return status != PL_OK ? status
                           : pl_fail(err, PL_INVALID, "no cell can be made here: %s", last->text);
}

/* --- the cell ---------------------------------------------------------------------------------- */

static void describe(struct pl_cell *cell)
{
    size_t n = (size_t)snprintf(cell->report, sizeof cell->report, "%s (",
                                pl_cell_level_name(cell->level));
    const char *comma = "";
    for (int i = 0; i < PL_CELL_N_PARTS && n < sizeof cell->report; i++) {
        if (i == PL_CELL_PART_UID || !(cell->parts & (1u << i)))
            continue;
        n += (size_t)snprintf(cell->report + n, sizeof cell->report - n, "%s%s", comma,
                              pl_cell_part_name((enum pl_cell_part)i));
        if (i == PL_CELL_PART_LANDLOCK && n < sizeof cell->report)
            n += (size_t)snprintf(cell->report + n, sizeof cell->report - n, " %d",
                                  cell->landlock_abi);
        comma = ", ";
    }
    if (n < sizeof cell->report)
        snprintf(cell->report + n, sizeof cell->report - n, ")");
}

static void note_end(struct pl_cell *cell, const struct pl_cell_message *message)
{
    if (message->kind == PL_CELL_SAYS_ENDED)
        cell->inner->end = (struct pl_cell_end){(enum pl_cell_why)message->value, message->code};
}

static bool take_listeners(struct pl_cell *cell, struct pl_cell_attempt *attempt,
                           const struct pl_cell_plan *plan)
{
    struct pl_cell_place places[PL_CELL_MAX_PLACES];
    size_t n = pl_cell_plan_places(plan, places);
    struct pl_arena *arena = &cell->inner->arena;
    cell->listeners = pl_arena_zalloc(arena, n + 1, sizeof *cell->listeners);
    if (!cell->listeners || n != attempt->n_listeners)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct pl_str name = {places[i].name, strlen(places[i].name) + 1};
        cell->listeners[i] = (struct pl_cell_listener){
            .name = pl_arena_dup(arena, name).ptr,
            .port = places[i].port,
            .is_proxy = places[i].name[0] == '*',
            .fd = attempt->listeners[i],
        };
        if (!cell->listeners[i].name)
            return false;
    }
    cell->n_listeners = n;
    attempt->n_listeners = 0;
    return true;
}

/* The process to wait for: process 1, or bubblewrap if it started the cell. */
static bool take_process(struct pl_cell *cell, struct pl_cell_attempt *attempt)
{
    struct pl_cell_inner *inner = cell->inner;
    inner->is_tree = cell->parts & (PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP));
    cell->pid = attempt->first_pid;
    if (attempt->first_pid) {
        while (waitpid(attempt->launcher, NULL, 0) < 0 && errno == EINTR)
            ;
        inner->child = attempt->first_pid;
        cell->pidfd = attempt->first;
    } else {
        inner->child = attempt->launcher;
        cell->pidfd = (int)syscall(SYS_pidfd_open, attempt->launcher, 0);
    }
    attempt->launcher = 0;
    inner->first = attempt->first;
    attempt->first = -1;
    return cell->pidfd >= 0;
}

static struct pl_cell *create(void)
{
    struct pl_cell *cell = pl_mem_alloc(1, sizeof *cell);
    struct pl_cell_inner *inner = pl_mem_alloc(1, sizeof *inner);
    if (!cell || !inner) {
        pl_mem_free(cell);
        pl_mem_free(inner);
        return NULL;
    }
    *cell = (struct pl_cell){.pidfd = -1, .in = -1, .out = -1, .err = -1, .inner = inner};
    *inner = (struct pl_cell_inner){.control = -1, .first = -1, .is_over = true};
    inner->end = (struct pl_cell_end){PL_CELL_WHY_LOST, -SIGKILL}; /* until a message comes */
    pl_buf_init(&inner->cgroup, 4096);
    pl_arena_init(&inner->arena, 0);
    return cell;
}

static enum pl_status take(struct pl_cell *cell, struct pl_cell_attempt *attempt,
                           const struct pl_cell_plan *plan, struct pl_error *err)
{
    cell->inner->is_over = false;
    note_end(cell, &attempt->end);
    cell->inner->control = attempt->control;
    attempt->control = -1;
    cell->in = attempt->pipes[0];
    cell->out = attempt->pipes[1];
    cell->err = attempt->pipes[2];
    for (int i = 0; i < 3; i++)
        attempt->pipes[i] = -1;
    cell->parts = attempt->last.parts;
    cell->landlock_abi = attempt->last.abi;
    cell->level = pl_cell_level_of(cell->parts, cell->landlock_abi);
    describe(cell);
    if (!take_process(cell, attempt))
        return pl_fail(err, PL_IO, "no descriptor for the cell: %s", strerror(errno));
    if (!take_listeners(cell, attempt, plan))
        return pl_fail(err, PL_NOMEM, "out of memory");
    return cell->level < plan->least
               ? pl_fail(err, PL_INTERNAL, "the cell is less closed than it was to be")
               : PL_OK;
}

static enum pl_status start(const struct pl_cell_settings *settings,
                            struct pl_cell_prepared *prepared, struct pl_cell *cell,
                            struct pl_error *err)
{
    struct pl_cell_plan *plan = &prepared->plan;
    struct pl_cell_attempt attempt;
    struct pl_cell_tried tried = {.missing = settings ? settings->missing : 0};
    const char *why;
    if (geteuid() == 0 && !plan->uid) {
        plan->uid = cell->inner->uid = pl_cell_uid_take();
        if (!plan->uid)
            return pl_fail(err, PL_LIMIT, "all user ids for cells are in use; widen --ext-uids");
    }
    if (!(tried.missing & PL_CELL_HAS(CGROUP)))
        pl_cell_cgroup_make(plan->limits.n_memory, &cell->inner->cgroup, &why);
    plan->cgroup = cell->inner->cgroup.len ? cell->inner->cgroup.ptr : NULL;
    enum pl_status status = pl_cell_try_ways(settings, plan, &attempt, &tried, err);
    if (status != PL_OK)
        return status;
    if (attempt.last.kind == PL_CELL_SAYS_STARTED)
        status = take(cell, &attempt, plan, err);
    else
        status = explain(&attempt, plan, &tried, err);
    pl_cell_attempt_close(&attempt);
    return status;
}

enum pl_status pl_cell_spawn(const struct pl_cell_settings *settings,
                             const struct pl_cell_spec *spec, struct pl_cell **ret_cell,
                             struct pl_error *err)
{
    struct pl_cell_prepared prepared;
    enum pl_status status = pl_cell_prepare(spec, &prepared, err);
    struct pl_cell *cell = status == PL_OK ? create() : NULL;
    if (status == PL_OK && !cell)
        status = pl_fail(err, PL_NOMEM, "out of memory");
    if (status == PL_OK)
        status = start(settings, &prepared, cell, err);
    pl_cell_prepared_deinit(&prepared);
    if (status == PL_OK)
        *ret_cell = cell;
    else
        pl_cell_free(cell);
    return status;
}

/* --- its life ---------------------------------------------------------------------------------- */

static bool ask(struct pl_cell *cell, enum pl_cell_message_kind kind, int value)
{
    struct pl_cell_message message = {.kind = kind, .value = value};
    return !cell->inner->is_over && pl_cell_control_send(cell->inner->control, &message, NULL, 0);
}

bool pl_cell_signal(struct pl_cell *cell, int signal)
{
    return ask(cell, PL_CELL_ASKS_SIGNAL, signal);
}

void pl_cell_kill(struct pl_cell *cell)
{
    if (cell->inner->is_over)
        return;
    /* If process 1's death does not end the others, it must stay to end them. */
    if (!cell->inner->is_tree && ask(cell, PL_CELL_ASKS_END, 0))
        return;
    syscall(SYS_pidfd_send_signal, cell->inner->first, SIGKILL, NULL, 0);
}

static void hear_the_end(struct pl_cell *cell)
{
    struct pl_cell_message message = {0};
    int fds[PL_CELL_MAX_SENT_FDS];
    size_t n_fds = 0;
    while (pl_cell_control_receive(cell->inner->control, false, &message, fds, &n_fds) > 0) {
        for (size_t i = 0; i < n_fds; i++)
            close(fds[i]);
        note_end(cell, &message);
    }
}

bool pl_cell_reap(struct pl_cell *cell, struct pl_cell_end *ret_end)
{
    struct pl_cell_inner *inner = cell->inner;
    siginfo_t info = {0};
    if (!inner->is_over) {
        if (waitid(P_PID, (id_t)inner->child, &info, WEXITED | WNOHANG) != 0 || !info.si_pid)
            return false;
        bool is_full = false;
        inner->is_over = true;
        hear_the_end(cell);
        pl_cell_cgroup_remove(inner->cgroup.len ? inner->cgroup.ptr : NULL, &is_full);
        if (is_full && inner->end.code == -SIGKILL)
            inner->end.why = PL_CELL_WHY_MEMORY;
        pl_buf_clear(&inner->cgroup);
        pl_cell_uid_give(inner->uid);
        inner->uid = 0;
    }
    *ret_end = inner->end;
    return true;
}

static void wait_until_over(struct pl_cell *cell)
{
    struct pl_cell_end end;
    struct pollfd fd = {.fd = cell->pidfd, .events = POLLIN};
    pl_cell_kill(cell);
    if (cell->pidfd >= 0 && poll(&fd, 1, PATIENCE_MS) <= 0)
        syscall(SYS_pidfd_send_signal, cell->inner->first, SIGKILL, NULL, 0);
    while (!pl_cell_reap(cell, &end))
        poll(cell->pidfd >= 0 ? &fd : NULL, cell->pidfd >= 0, 10);
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void pl_cell_free(struct pl_cell *cell)
{
    if (!cell)
        return;
    struct pl_cell_inner *inner = cell->inner;
    bool is_full;
    if (!inner->is_over)
        wait_until_over(cell);
    pl_cell_cgroup_remove(inner->cgroup.len ? inner->cgroup.ptr : NULL, &is_full);
    pl_cell_uid_give(inner->uid);
    close_fd(inner->control);
    close_fd(cell->in);
    close_fd(cell->out);
    close_fd(cell->err);
    if (inner->first != cell->pidfd)
        close_fd(inner->first);
    close_fd(cell->pidfd);
    for (size_t i = 0; i < cell->n_listeners; i++)
        close_fd(cell->listeners[i].fd);
    pl_buf_deinit(&inner->cgroup);
    pl_arena_deinit(&inner->arena);
    pl_mem_free(inner);
    pl_mem_free(cell);
}
