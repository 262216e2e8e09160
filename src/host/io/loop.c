/* The loop itself: how a turn goes, and how it begins and ends. */
#include "io/clock.h"
#include "io/conn.h"
#include "io/loop_int.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Letters of one turn; then the sockets get theirs. */
enum { LETTERS_PER_TURN = 256 };

struct pl_loop_signal {
    uv_signal_t handle;
    void (*fn)(void *ctx, int signal);
    void *ctx; /* borrowed */
    struct pl_loop_signal *next;
};

/* --- the turn ----------------------------------------------------------------------------------
 */

static void on_door(uv_async_t *door)
{
    struct pl_loop *loop = door->data;
    atomic_exchange_explicit(&loop->is_knocked, false, memory_order_acq_rel);
    if (pl_mailbox_open(&loop->mailbox, LETTERS_PER_TURN))
        pl_loop_knock(loop);
    else if (atomic_load_explicit(&loop->is_stopping, memory_order_acquire))
        uv_stop(&loop->uv);
}

static void on_sockets(uv_poll_t *sockets, int status, int events)
{
    (void)status;
    (void)events;
    pl_watch_dispatch(sockets->data);
}

static void on_hurry(uv_idle_t *hurry)
{
    (void)hurry; /* that it is on is all it is for */
}

void pl_loop_hurry(struct pl_loop *loop)
{
    uv_idle_start(&loop->hurry, on_hurry);
}

/* Those that ask while we are at it belong to the next turn. */
static void call_turn_ends(struct pl_loop *loop)
{
    if (!loop->ends)
        return;
    loop->ends_called = loop->ends;
    loop->ends_called->link = &loop->ends_called;
    loop->ends = NULL;
    loop->ends_tail = &loop->ends;
    while (loop->ends_called) {
        struct pl_turn_end *end = loop->ends_called;
        pl_loop_forget_turn_end(loop, end);
        end->fn(end);
    }
}

static void on_after(uv_check_t *after)
{
    struct pl_loop *loop = after->data;
    call_turn_ends(loop);
    pl_watch_bury(loop);
    if (!loop->ends)
        uv_idle_stop(&loop->hurry);
}

void pl_loop_at_turn_end(struct pl_loop *loop, struct pl_turn_end *end)
{
    if (end->is_waiting)
        return;
    end->is_waiting = true;
    end->next = NULL;
    end->link = loop->ends_tail;
    *loop->ends_tail = end;
    loop->ends_tail = &end->next;
    pl_loop_hurry(loop);
}

void pl_loop_forget_turn_end(struct pl_loop *loop, struct pl_turn_end *end)
{
    if (!end->is_waiting)
        return;
    *end->link = end->next;
    if (end->next)
        end->next->link = end->link;
    else if (loop->ends_tail == &end->next)
        loop->ends_tail = end->link;
    end->is_waiting = false;
}

/* --- from beginning to end ---------------------------------------------------------------------
 */

/* What libuv has no memory of its own for is in the struct; so this is where libuv allocates (a few
 * hundred bytes, from the C library: it ends the program when they are refused, so they do not come
 * through the hook that tests refuse them by), and it does not allocate later. */
static enum pl_status open_handles(struct pl_loop *loop, struct pl_error *err)
{
    uv_timer_init(&loop->uv, &loop->alarm);
    uv_idle_init(&loop->uv, &loop->hurry);
    uv_check_init(&loop->uv, &loop->after);
    loop->alarm.data = loop->after.data = loop->door.data = loop->sockets.data = loop;
    uv_check_start(&loop->after, on_after);
    int code = uv_async_init(&loop->uv, &loop->door, on_door);
    if (code == 0)
        code = uv_poll_init(&loop->uv, &loop->sockets, loop->epoll_fd);
    if (code == 0)
        code = uv_poll_start(&loop->sockets, UV_READABLE, on_sockets);
    if (code != 0)
        return pl_fail(err, code == UV_ENOMEM ? PL_NOMEM : PL_IO,
                       "the event loop cannot be set up: %s", uv_strerror(code));
    return PL_OK;
}

static void close_handle(uv_handle_t *handle, void *ctx)
{
    (void)ctx;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void close_uv(struct pl_loop *loop)
{
    uv_walk(&loop->uv, close_handle, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    int code = uv_loop_close(&loop->uv);
    assert(code == 0);
    (void)code;
}

enum pl_status pl_loop_create(struct pl_loop **ret_loop, struct pl_error *err)
{
    struct pl_loop *loop = pl_mem_alloc(1, sizeof *loop);
    if (!loop)
        return pl_fail(err, PL_NOMEM, "out of memory for an event loop");
    memset(loop, 0, offsetof(struct pl_loop, read_buffer));
    loop->ends_tail = &loop->ends;
    loop->alarm_ms = INT64_MAX;
    pl_mailbox_init(&loop->mailbox);

    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int code = loop->epoll_fd < 0 ? -errno : uv_loop_init(&loop->uv);
    if (code != 0) {
        if (loop->epoll_fd >= 0)
            close(loop->epoll_fd);
        pl_mem_free(loop);
        return pl_fail(err, PL_IO, "an event loop cannot be opened: %s", uv_strerror(code));
    }
    pl_wheel_init(&loop->wheel, (int64_t)uv_now(&loop->uv));
    enum pl_status status = open_handles(loop, err);
    if (status != PL_OK) {
        close_uv(loop);
        close(loop->epoll_fd);
        pl_mem_free(loop);
        return status;
    }
    *ret_loop = loop;
    return PL_OK;
}

void pl_loop_destroy(struct pl_loop *loop)
{
    if (!loop)
        return;
    pl_mailbox_open(&loop->mailbox, SIZE_MAX);
    call_turn_ends(loop);
    pl_mailbox_open(&loop->mailbox, SIZE_MAX); /* what those ends have posted */
    while (loop->listeners)
        pl_listener_stop(loop->listeners);
    pl_watch_bury(loop);
    assert(loop->n_conns == 0); /* who accepted a connection closes it before the loop goes */

    close_uv(loop);
    while (loop->signals) {
        struct pl_loop_signal *sig = loop->signals;
        loop->signals = sig->next;
        pl_mem_free(sig);
    }
    close(loop->epoll_fd);
    pl_mem_free(loop);
}

void pl_loop_run(struct pl_loop *loop)
{
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    atomic_store_explicit(&loop->is_stopping, false, memory_order_release);
}

void pl_loop_stop(struct pl_loop *loop)
{
    atomic_store_explicit(&loop->is_stopping, true, memory_order_release);
    pl_loop_knock(loop);
}

/* --- the clock ---------------------------------------------------------------------------------
 */

int64_t pl_loop_now_ms(const struct pl_loop *loop)
{
    return (int64_t)uv_now(&loop->uv);
}

/* Read when first asked for in a turn (to the millisecond), less what of the turn had passed by
 * then; the loop is const to the caller, to whom it makes no difference. */
int64_t pl_loop_unix_ms(const struct pl_loop *loop)
{
    int64_t now_ms = pl_loop_now_ms(loop);
    struct pl_loop *own = (struct pl_loop *)loop;
    if (own->unix_at_ms != now_ms) {
        own->unix_ms = pl_clock_unix_ms() - (pl_clock_ms() - now_ms);
        own->unix_at_ms = now_ms;
    }
    return own->unix_ms;
}

/* --- signals -----------------------------------------------------------------------------------
 */

static void on_signal(uv_signal_t *handle, int number)
{
    struct pl_loop_signal *sig = handle->data;
    sig->fn(sig->ctx, number);
}

enum pl_status pl_loop_on_signal(struct pl_loop *loop, int signal,
                                 void (*fn)(void *ctx, int signal), void *ctx)
{
    struct pl_loop_signal *sig = pl_mem_alloc(1, sizeof *sig);
    if (!sig)
        return PL_NOMEM;
    *sig = (struct pl_loop_signal){.fn = fn, .ctx = ctx, .next = loop->signals};
    if (uv_signal_init(&loop->uv, &sig->handle) != 0) {
        pl_mem_free(sig);
        return PL_IO;
    }
    sig->handle.data = sig;
    loop->signals = sig; /* from here on the loop closes and frees it */
    return uv_signal_start(&sig->handle, on_signal, signal) == 0 ? PL_OK : PL_IO;
}
