/* The three pipes of a child: one JSON object per line on its standard input and output, and any
 * text on standard error. */
#include "ext/run/channel/channel_int.h"

#include "base/mem.h"
#include "io/watch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { IN, OUT, SAID, N_PIPES }; /* from the child's view */

struct pipe_end {
    struct pl_watch watch;
    struct pipes *pipes;
    int fd; /* owned; -1: closed */
    bool is_watched;
};

struct pipes {
    struct pl_ext_channel channel; /* first */
    struct pipe_end ends[N_PIPES];
    unsigned n_watches; /* not removed yet */
    struct pl_buf in;   /* the beginning of a line */
    size_t n_scanned;   /* of in: has no line feed */
    bool has_hung_up;   /* the child has closed its end: read the rest, then end */
    struct pl_loop_hook more, bury;
};

static struct pipes *pipes_of(struct pl_ext_channel *channel)
{
    return (struct pipes *)channel;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void free_if_over(struct pipes *pipes)
{
    if (pipes->channel.state != PL_EXT_CHANNEL_STATE_CLOSED || pipes->n_watches ||
        pipes->channel.n_inside)
        return;
    pl_buf_deinit(&pipes->in);
    pl_mem_free(pipes);
}

static void on_buried(struct pl_watch *watch)
{
    struct pipes *pipes = PL_CONTAINER_OF(watch, struct pipe_end, watch)->pipes;
    pipes->n_watches--;
    free_if_over(pipes);
}

static void shut(struct pipes *pipes, int which)
{
    struct pipe_end *end = &pipes->ends[which];
    if (end->is_watched)
        pl_watch_end(pipes->channel.loop, &end->watch, on_buried);
    end->is_watched = false;
    if (end->fd >= 0)
        close(end->fd);
    end->fd = -1;
}

static void on_last(struct pl_loop_hook *hook)
{
    free_if_over(PL_CONTAINER_OF(hook, struct pipes, bury));
}

static void pipes_close(struct pl_ext_channel *channel)
{
    struct pipes *pipes = pipes_of(channel);
    for (int i = 0; i < N_PIPES; i++)
        shut(pipes, i);
    pl_loop_hook_remove(channel->loop, &pipes->more);
    /* Without a watch nothing else would free it; with one this comes first and does nothing. */
    pipes->bury.fn = on_last;
    if (!pipes->n_watches)
        pl_loop_hook_add(channel->loop, &pipes->bury);
}

/* --- in --------------------------------------------------------------------------------------- */

/* Hands out complete lines; the rest is the beginning of the next one. */
static void pipes_hand_out(struct pl_ext_channel *channel)
{
    struct pipes *pipes = pipes_of(channel);
    size_t done = 0;
    channel->n_inside++;
    while (!channel->is_paused && pl_ext_channel_is_live(channel)) {
        char *from = pipes->in.ptr ? pipes->in.ptr + done : NULL;
        size_t n = pipes->in.len - done;
        size_t skip = pipes->n_scanned > done ? pipes->n_scanned - done : 0;
        char *end = n > skip ? memchr(from + skip, '\n', n - skip) : NULL;
        if (!end) {
            pipes->n_scanned = pipes->in.len;
            break;
        }
        struct pl_str line = {from, (size_t)(end - from)};
        done += line.len + 1;
        if (line.len > PL_EXT_LINE_BYTES)
            pl_ext_channel_fault(channel, PL_EXT_CHANNEL_LONG);
        else
            channel->ops->on_line(channel->ctx, line);
    }
    if (channel->state != PL_EXT_CHANNEL_STATE_CLOSED) {
        size_t rest = pipes->in.len - done;
        if (done)
            memmove(pipes->in.ptr, pipes->in.ptr + done, rest);
        pipes->in.len = rest;
        pipes->n_scanned = pipes->n_scanned > done ? pipes->n_scanned - done : 0;
        if (!rest && pipes->in.cap > 2 * PL_EXT_READ_BYTES)
            pl_buf_deinit(&pipes->in);
        if (rest > PL_EXT_LINE_BYTES && !channel->is_paused)
            pl_ext_channel_fault(channel, PL_EXT_CHANNEL_LONG);
    }
    channel->n_inside--;
    if (channel->state == PL_EXT_CHANNEL_STATE_CLOSED)
        free_if_over(pipes);
}

/* Reads once per turn of the loop, so that an endless writer does not block others.
 * Edge-triggered, which saves the kernel a second check in every turn. A short read has emptied
 * the pipe, so an event follows for later bytes; after a full read the next turn reads again. */
static void read_out(struct pipes *pipes)
{
    struct pl_ext_channel *channel = &pipes->channel;
    char *to = pl_buf_reserve(&pipes->in, PL_EXT_READ_BYTES);
    if (!to) {
        pl_ext_channel_fault(channel, PL_EXT_CHANNEL_MEMORY);
        return;
    }
    ssize_t n = read(pipes->ends[OUT].fd, to, PL_EXT_READ_BYTES);
    if (n < 0 && errno == EAGAIN)
        return;
    bool is_interrupted = n < 0 && errno == EINTR;
    if (is_interrupted || n == PL_EXT_READ_BYTES || (n > 0 && pipes->has_hung_up))
        pl_loop_hook_add(channel->loop, &pipes->more);
    if (is_interrupted)
        return;
    if (n <= 0) {
        shut(pipes, OUT);
        pl_ext_channel_fault(channel, PL_EXT_CHANNEL_ENDED);
        return;
    }
    if (!pl_ext_channel_is_live(channel))
        return; /* discarded */
    pipes->in.len += (size_t)n;
    pipes_hand_out(channel);
}

static void on_out(struct pl_watch *watch, uint32_t events)
{
    struct pipes *pipes = PL_CONTAINER_OF(watch, struct pipe_end, watch)->pipes;
    pipes->has_hung_up |= (events & (EPOLLHUP | EPOLLERR)) != 0;
    read_out(pipes);
}

/* A paused channel is called again when it is resumed. */
static void on_more(struct pl_loop_hook *hook)
{
    struct pipes *pipes = PL_CONTAINER_OF(hook, struct pipes, more);
    if (pipes->ends[OUT].fd >= 0 && !pipes->channel.is_paused)
        read_out(pipes);
}

static void on_said(struct pl_watch *watch, uint32_t events)
{
    struct pipes *pipes = PL_CONTAINER_OF(watch, struct pipe_end, watch)->pipes;
    char bytes[4096];
    (void)events;
    ssize_t n = read(pipes->ends[SAID].fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        shut(pipes, SAID);
    else if (pl_ext_channel_is_live(&pipes->channel))
        pipes->channel.ops->on_said(pipes->channel.ctx, (struct pl_str){bytes, (size_t)n});
}

/* --- out -------------------------------------------------------------------------------------- */

static void on_in(struct pl_watch *watch, uint32_t events)
{
    struct pipes *pipes = PL_CONTAINER_OF(watch, struct pipe_end, watch)->pipes;
    if (events & (EPOLLERR | EPOLLHUP)) /* the next write finds it closed */
        shut(pipes, IN);
    if (pipes->channel.state != PL_EXT_CHANNEL_STATE_CLOSED)
        pl_ext_channel_flush(&pipes->channel);
}

static ptrdiff_t pipes_send(struct pl_ext_channel *channel, struct pl_str bytes)
{
    struct pipes *pipes = pipes_of(channel);
    if (pipes->ends[IN].fd < 0)
        return -1;
    ssize_t n = write(pipes->ends[IN].fd, bytes.ptr, bytes.len);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return n;
}

static void want(struct pipes *pipes, int which, uint32_t events)
{
    struct pipe_end *end = &pipes->ends[which];
    if (end->is_watched && end->watch.events != events)
        pl_watch_want(pipes->channel.loop, &end->watch, events);
}

static void pipes_want_room(struct pl_ext_channel *channel, bool wants)
{
    want(pipes_of(channel), IN, wants ? EPOLLOUT : 0);
}

static void pipes_want_input(struct pl_ext_channel *channel, bool wants)
{
    want(pipes_of(channel), OUT, wants ? EPOLLIN | EPOLLET : 0);
}

static void pipes_finish(struct pl_ext_channel *channel)
{
    shut(pipes_of(channel), IN);
}

static const struct pl_ext_channel_kind kind = {
    pipes_send, pipes_want_room, pipes_want_input, pipes_finish, pipes_close, pipes_hand_out,
};

struct pl_ext_channel *pl_ext_channel_open_pipes(struct pl_loop *loop, int in, int out, int said,
                                                 const struct pl_ext_channel_ops *ops, void *ctx)
{
    static void (*const fns[])(struct pl_watch *, uint32_t) = {on_in, on_out, on_said};
    const uint32_t events[] = {0, EPOLLIN | EPOLLET, EPOLLIN};
    const int fds[] = {in, out, said};
    struct pipes *pipes = pl_mem_alloc(1, sizeof *pipes);
    if (!pipes)
        return NULL;
    *pipes = (struct pipes){0};
    pl_ext_channel_init(&pipes->channel, &kind, loop, ops, ctx);
    pl_buf_init(&pipes->in, 0);
    pipes->more.fn = on_more;
    bool is_whole = true;
    for (int i = 0; i < N_PIPES; i++) {
        struct pipe_end *end = &pipes->ends[i];
        end->pipes = pipes;
        end->fd = fds[i];
        if (!is_whole || fds[i] < 0)
            continue;
        is_whole = pl_watch_start(loop, &end->watch, fds[i], events[i], fns[i]) == PL_OK;
        end->is_watched = is_whole;
        pipes->n_watches += is_whole;
    }
    if (is_whole)
        return &pipes->channel;
    for (int i = 0; i < N_PIPES; i++) /* they stay the caller's */
        pipes->ends[i].fd = -1;
    pl_ext_channel_close(&pipes->channel);
    return NULL;
}
