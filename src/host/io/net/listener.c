/* Accepts connections. All shards listen on the same socket; the first thread gets the
 * connection. */
#include "io/net/conn_int.h"

#include "base/mem.h"
#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
    ACCEPTS_PER_TURN = 64, /* so that other shards get some too */
    RETRY_MS = 100,
};

struct pl_listener {
    struct pl_watch watch;
    struct pl_loop *loop; /* borrowed */
    struct pl_listener_config config;
    struct pl_timer retry;            /* runs while the process is out of descriptors */
    bool is_exhausted;                /* until an accept succeeds again */
    struct pl_listener *next, **link; /* the loop's list */
};

/* Turns ::ffff:127.0.0.1 into 127.0.0.1, for display. */
static struct pl_endpoint address_of(const struct sockaddr_storage *from)
{
    struct pl_endpoint address = {.family = AF_UNIX};
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
        address = (struct pl_endpoint){.family = AF_INET, .port = ntohs(v4->sin_port)};
        memcpy(address.bytes, &v4->sin_addr, sizeof v4->sin_addr);
    } else if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
        bool is_v4 = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
        address = (struct pl_endpoint){.family = is_v4 ? AF_INET : AF_INET6,
                                       .port = ntohs(v6->sin6_port)};
        if (is_v4)
            memcpy(address.bytes, v6->sin6_addr.s6_addr + 12, 4);
        else
            memcpy(address.bytes, &v6->sin6_addr, sizeof v6->sin6_addr);
    }
    return address;
}

static void go_on(struct pl_timer *retry)
{
    struct pl_listener *listener = PL_CONTAINER_OF(retry, struct pl_listener, retry);
    pl_watch_want(listener->loop, &listener->watch, EPOLLIN);
}

static void pause_accepting(struct pl_listener *listener)
{
    bool is_new = !listener->is_exhausted;
    listener->is_exhausted = true;
    pl_watch_want(listener->loop, &listener->watch, 0);
    pl_timer_start(listener->loop, &listener->retry, RETRY_MS, go_on);
    if (is_new && listener->config.on_exhausted)
        listener->config.on_exhausted(listener->config.ctx);
}

/* Returns whether to continue: false when no connection waits, or when descriptors or memory are
 * exhausted. */
static bool accept_one(struct pl_listener *listener)
{
    struct sockaddr_storage from = {0};
    socklen_t size = sizeof from;
    int fd =
        accept4(listener->watch.fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    bool is_exhausted =
        fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    if (fd < 0 && !is_exhausted) {
        bool is_empty = errno == EAGAIN || errno == EWOULDBLOCK;
        if (is_empty)
            listener->is_exhausted = false;
        return !is_empty; /* other errors mean that the client has disconnected */
    }
    struct pl_endpoint address = address_of(&from);
    struct pl_conn *conn = NULL;
    if (is_exhausted || pl_conn_create(listener->loop, fd, &address, listener->config.tls, &conn)) {
        pause_accepting(listener);
        return false;
    }
    listener->is_exhausted = false;
    listener->config.on_accept(listener->config.ctx, conn);
    assert(conn->ops || !pl_conn_is_open(conn));
    return true;
}

static void on_event(struct pl_watch *watch, uint32_t events)
{
    (void)events;
    struct pl_listener *listener = PL_CONTAINER_OF(watch, struct pl_listener, watch);
    for (int i = 0; i < ACCEPTS_PER_TURN && watch->fd >= 0; i++)
        if (!accept_one(listener))
            return;
}

enum pl_status pl_listener_start(struct pl_loop *loop, const struct pl_listener_config *config,
                                 struct pl_listener **ret_listener, struct pl_error *err)
{
    struct pl_listener *listener = pl_mem_alloc(1, sizeof *listener);
    if (!listener)
        return pl_fail(err, PL_NOMEM, "out of memory for listening");
    *listener = (struct pl_listener){.loop = loop, .config = *config};
    pl_tls_ref(listener->config.tls);
    enum pl_status status =
        pl_watch_start(loop, &listener->watch, config->socket->fd, EPOLLIN, on_event);
    if (status != PL_OK) {
        pl_tls_unref(listener->config.tls);
        pl_mem_free(listener);
        return pl_fail(err, status, "the kernel refuses to watch the listening socket: %s",
                       strerror(errno));
    }
    listener->next = loop->listeners;
    listener->link = &loop->listeners;
    if (listener->next)
        listener->next->link = &listener->next;
    loop->listeners = listener;
    *ret_listener = listener;
    return PL_OK;
}

void pl_listener_use_tls(struct pl_listener *listener, struct pl_tls *tls)
{
    pl_tls_unref(listener->config.tls);
    listener->config.tls = pl_tls_ref(tls);
}

static void free_listener(struct pl_watch *watch)
{
    pl_mem_free(PL_CONTAINER_OF(watch, struct pl_listener, watch));
}

void pl_listener_stop(struct pl_listener *listener)
{
    if (!listener)
        return;
    *listener->link = listener->next;
    if (listener->next)
        listener->next->link = listener->link;
    pl_timer_stop(listener->loop, &listener->retry);
    pl_tls_unref(PL_TAKE(listener->config.tls));
    pl_watch_end(listener->loop, &listener->watch, free_listener);
}
