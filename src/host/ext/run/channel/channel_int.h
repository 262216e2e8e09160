/* What both kinds of channel share: the queue out, the gathering of lines, the clock of a reader that does not read. */
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
    /* As much as goes now; how many bytes went. Negative: it is broken. */
    ptrdiff_t (*send)(struct pl_ext_channel *channel, struct pl_str bytes);
    /* Whether to call pl_ext_channel_flush when there is room. */
    void (*want_room)(struct pl_ext_channel *channel, bool wants);
    void (*want_input)(struct pl_ext_channel *channel, bool wants);
    void (*finish)(struct pl_ext_channel *channel); /* all was written, and no more comes */
    void (*close)(struct pl_ext_channel *channel);
    /* What was gathered, to be handed out line by line. */
    void (*hand_out)(struct pl_ext_channel *channel);
};

struct pl_ext_channel {
    const struct pl_ext_channel_kind *kind;
    struct pl_loop *loop; /* borrowed */
    const struct pl_ext_channel_ops *ops;
    void *ctx;
    struct pl_buf out;
    size_t n_sent; /* of out */
    uint64_t n_written, n_taken;
    struct pl_loop_hook flush, again;
    struct pl_timer stuck;
    bool is_paused, is_finishing, has_fault, is_closed;
    unsigned n_inside; /* callbacks that are at work: it is not freed below them */
};

void pl_ext_channel_init(struct pl_ext_channel *channel, const struct pl_ext_channel_kind *kind,
                         struct pl_loop *loop, const struct pl_ext_channel_ops *ops, void *ctx);
void pl_ext_channel_deinit(struct pl_ext_channel *channel);
void pl_ext_channel_flush(struct pl_ext_channel *channel);
/* Tells it once. */
void pl_ext_channel_fault(struct pl_ext_channel *channel, enum pl_ext_channel_fault fault);

#endif
