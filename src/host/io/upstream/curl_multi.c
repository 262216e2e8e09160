/* The sockets of libcurl. We call a socket a wire:
 *
 *     machine wire
 *
 *     NEW -> WATCHED -> IDLE -> WATCHED   between two calls a connection is idle
 *     NEW, WATCHED, IDLE -> GONE
 */
#include "io/upstream/curl_multi.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/move.h"
#include "io/watch.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#undef curl_multi_setopt

enum wire_state { WIRE_NEW, WIRE_WATCHED, WIRE_IDLE, WIRE_GONE };

#define TO(name) PL_TO(WIRE_##name)
#define BY_CURL  "libcurl says when it closes the socket"
static const struct pl_state states[] = {
    [WIRE_NEW] = {"new", TO(WATCHED) | TO(GONE), PL_WAIT_OPEN, PL_CANCEL_ENDS, .why = BY_CURL},
    [WIRE_WATCHED] = {"watched", TO(IDLE) | TO(GONE), PL_WAIT_OPEN, PL_CANCEL_ENDS, .why = BY_CURL},
    [WIRE_IDLE] = {"idle", TO(WATCHED) | TO(GONE), PL_WAIT_OPEN, PL_CANCEL_ENDS, .why = BY_CURL},
    [WIRE_GONE] = {"gone", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("wire", states);

/* A socket of libcurl. A connection's socket stays watched between two calls: libcurl drops its
 * interest after each call, and two system calls per call would be expensive. */
struct pl_curl_wire {
    struct pl_watch watch;
    struct pl_curl_wire *next;   /* of its bucket */
    struct pl_curl_multi *multi; /* borrowed */
    curl_socket_t fd;
    enum wire_state state;
    bool is_connection; /* libcurl tells us when it closes the socket */
};

static void become(struct pl_curl_wire *wire, enum wire_state to)
{
    wire->state = (enum wire_state)pl_move(&machine, wire, wire->state, to);
}

void pl_curl_multi_look_later(struct pl_curl_multi *multi)
{
    pl_loop_hook_add(multi->loop, &multi->look);
}

static void act(struct pl_curl_multi *multi, curl_socket_t fd, int events)
{
    int n_running = 0;
    multi->n_inside++;
    multi->curl->curl_multi_socket_action(multi->handle, fd, events, &n_running);
    multi->n_inside--;
    pl_curl_multi_look_later(multi);
}

void pl_curl_multi_run(struct pl_curl_multi *multi)
{
    act(multi, CURL_SOCKET_TIMEOUT, 0);
}

static void on_socket(struct pl_watch *watch, uint32_t events)
{
    struct pl_curl_wire *wire = PL_CONTAINER_OF(watch, struct pl_curl_wire, watch);
    /* An event on an unused connection is most likely its end. The next call finds out. */
    if (wire->state == WIRE_IDLE) {
        pl_watch_want(wire->multi->loop, watch, 0);
        return;
    }
    int what = 0;
    if (events & (EPOLLIN | EPOLLHUP))
        what |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        what |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        what |= CURL_CSELECT_ERR;
    act(wire->multi, wire->fd, what);
}

/* --- wires ----------------------------------------------------------------------------------- */

/* The link that points, or would point, to the wire of this descriptor. */
static struct pl_curl_wire **link_of(struct pl_curl_multi *multi, curl_socket_t fd)
{
    struct pl_curl_wire **link = &multi->wires[(unsigned)fd % PL_CURL_BUCKETS];
    while (*link && (*link)->fd != fd)
        link = &(*link)->next;
    return link;
}

static struct pl_curl_wire *add_wire(struct pl_curl_multi *multi, curl_socket_t fd,
                                     bool is_connection)
{
    struct pl_curl_wire *wire = pl_mem_alloc(1, sizeof *wire);
    if (!wire)
        return NULL;
    *wire = (struct pl_curl_wire){.multi = multi, .fd = fd, .is_connection = is_connection};
    *link_of(multi, fd) = wire;
    return wire;
}

static void bury(struct pl_watch *watch)
{
    pl_mem_free(PL_CONTAINER_OF(watch, struct pl_curl_wire, watch));
}

static void end_wire(struct pl_curl_multi *multi, struct pl_curl_wire **link)
{
    struct pl_curl_wire *wire = *link;
    if (!wire)
        return;
    bool is_watched = wire->state != WIRE_NEW;
    become(wire, WIRE_GONE);
    *link = wire->next;
    if (is_watched)
        pl_watch_end(multi->loop, &wire->watch, bury);
    else
        pl_mem_free(wire);
}

static int watch_wire(struct pl_curl_wire *wire, uint32_t events)
{
    struct pl_loop *loop = wire->multi->loop;
    if (wire->state == WIRE_NEW &&
        pl_watch_start(loop, &wire->watch, wire->fd, events, on_socket) != PL_OK)
        return -1;
    if (wire->state != WIRE_NEW)
        pl_watch_want(loop, &wire->watch, events);
    if (wire->state != WIRE_WATCHED)
        become(wire, WIRE_WATCHED);
    return 0;
}

/* --- what libcurl calls ---------------------------------------------------------------------- */

/* libcurl sets the events that it wants from a socket. Returning -1 fails the calls on it. */
static int on_interest(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    static const uint32_t wants[] = {
        [CURL_POLL_IN] = EPOLLIN,
        [CURL_POLL_OUT] = EPOLLOUT,
        [CURL_POLL_INOUT] = EPOLLIN | EPOLLOUT,
    };
    struct pl_curl_multi *multi = ctx;
    struct pl_curl_wire **link = link_of(multi, fd), *wire = *link;
    (void)easy, (void)of_socket;
    if (what == CURL_POLL_REMOVE) {
        if (!wire || !wire->is_connection)
            end_wire(multi, link);
        else if (wire->state == WIRE_WATCHED)
            become(wire, WIRE_IDLE);
        return 0;
    }
    if (!wire)
        wire = add_wire(multi, fd, false);
    return wire ? watch_wire(wire, wants[what]) : -1;
}

curl_socket_t pl_curl_multi_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    if (!add_wire(ctx, fd, true)) {
        close(fd);
        return CURL_SOCKET_BAD;
    }
    return fd;
}

int pl_curl_multi_close(void *ctx, curl_socket_t fd)
{
    end_wire(ctx, link_of(ctx, fd));
    return close(fd);
}

static void on_time(struct pl_timer *timer)
{
    pl_curl_multi_run(PL_CONTAINER_OF(timer, struct pl_curl_multi, timer));
}

static int on_wanted_time(CURLM *handle, long delay_ms, void *ctx)
{
    struct pl_curl_multi *multi = ctx;
    (void)handle;
    if (delay_ms < 0)
        pl_timer_stop(multi->loop, &multi->timer);
    else
        pl_timer_start(multi->loop, &multi->timer, delay_ms, on_time);
    return 0;
}

/* --- life ------------------------------------------------------------------------------------ */

enum pl_status pl_curl_multi_init(struct pl_curl_multi *multi, struct pl_loop *loop,
                                  void (*look)(struct pl_loop_hook *), struct pl_error *err)
{
    const struct pl_curl *curl;
    enum pl_status status = pl_curl_load(&curl, err);
    if (status != PL_OK)
        return status;
    CURLM *handle = curl->curl_multi_init();
    if (!handle)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *multi =
        (struct pl_curl_multi){.curl = curl, .handle = handle, .loop = loop, .look = {.fn = look}};
    curl->curl_multi_setopt(handle, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl->curl_multi_setopt(handle, CURLMOPT_SOCKETDATA, multi);
    curl->curl_multi_setopt(handle, CURLMOPT_TIMERFUNCTION, on_wanted_time);
    curl->curl_multi_setopt(handle, CURLMOPT_TIMERDATA, multi);
    return PL_OK;
}

void pl_curl_multi_deinit(struct pl_curl_multi *multi)
{
    if (!multi->handle)
        return;
    multi->curl->curl_multi_cleanup(PL_TAKE(multi->handle));
    for (size_t i = 0; i < PL_CURL_BUCKETS; i++)
        while (multi->wires[i])
            end_wire(multi, &multi->wires[i]);
    pl_timer_stop(multi->loop, &multi->timer);
    pl_loop_hook_remove(multi->loop, &multi->look);
}
