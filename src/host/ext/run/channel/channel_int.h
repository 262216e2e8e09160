/* Shared by both kinds of channel: the output queue, the collecting of lines, the timer for a
 * reader that does not read. */
#ifndef PL_EXT_CHANNEL_INT_H
#define PL_EXT_CHANNEL_INT_H

#include "base/table.h"
#include "ext/run/channel/channel.h"
#include "extproto/frame.h"

enum {
    PL_EXT_UNREAD_BYTES = 8 << 20,
    PL_EXT_STUCK_MS = 30000,
    PL_EXT_READ_BYTES = 64 << 10,
};

struct pl_ext_channel_kind {
    /* Sends as much as possible now; returns the number of bytes. Negative: it is broken. */
    ptrdiff_t (*send)(struct pl_ext_channel *channel, struct pl_str bytes);
    /* Whether to call pl_ext_channel_flush when there is room. */
    void (*want_room)(struct pl_ext_channel *channel, bool wants);
    void (*want_input)(struct pl_ext_channel *channel, bool wants);
    void (*finish)(struct pl_ext_channel *channel); /* everything was written, and no more comes */
    void (*close)(struct pl_ext_channel *channel);
    /* Hands out the collected bytes line by line. */
    void (*hand_out)(struct pl_ext_channel *channel);
};

/* channel.c has the diagram. */
enum pl_ext_channel_state {
    PL_EXT_CHANNEL_STATE_OPEN,
    PL_EXT_CHANNEL_STATE_FINISHING, /* takes no more lines, and ends its output after those it has */
    PL_EXT_CHANNEL_STATE_FAULTY,    /* a fault was reported: reads and writes nothing */
    PL_EXT_CHANNEL_STATE_CLOSED,    /* freed when no callback is running */
};

struct pl_ext_channel {
    const struct pl_ext_channel_kind *kind;
    enum pl_ext_channel_state state;
    struct pl_loop *loop; /* borrowed */
    const struct pl_ext_channel_ops *ops;
    void *ctx;
    struct pl_buf out;
    size_t n_sent; /* of out */
    uint64_t n_written, n_taken;
    struct pl_loop_hook flush, again;
    struct pl_timer stuck;
    bool is_paused;    /* by its owner: no line is handed out */
    unsigned n_inside; /* running callbacks: it is not freed before they return */
};

void pl_ext_channel_init(struct pl_ext_channel *channel, const struct pl_ext_channel_kind *kind,
                         struct pl_loop *loop, const struct pl_ext_channel_ops *ops, void *ctx);
void pl_ext_channel_deinit(struct pl_ext_channel *channel);
/* Whether it still reads and writes: neither faulty nor closed. */
static inline bool pl_ext_channel_is_live(const struct pl_ext_channel *channel)
{
    return channel->state == PL_EXT_CHANNEL_STATE_OPEN ||
           channel->state == PL_EXT_CHANNEL_STATE_FINISHING;
}

void pl_ext_channel_flush(struct pl_ext_channel *channel);
/* Reports a fault once. */
void pl_ext_channel_fault(struct pl_ext_channel *channel, enum pl_ext_channel_fault fault);

#endif
