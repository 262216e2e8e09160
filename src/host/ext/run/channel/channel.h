/* Lines to and from an extension: over the three pipes of a child, or over a WebSocket. One loop owns it.
 *
 * In: one line at a time, of at most 8 MiB; a longer one is told at once and not gathered. Out: what the other side
 * does not read waits here, 8 MiB at most and 30 seconds without progress at most. */
#ifndef PL_EXT_CHANNEL_H
#define PL_EXT_CHANNEL_H

#include "base/buf.h"
#include "extproto/frame.h"
#include "io/loop.h"

enum pl_ext_channel_fault {
    PL_EXT_CHANNEL_ENDED, /* the other side has closed, or broke */
    PL_EXT_CHANNEL_LONG,  /* a line over the limit */
    PL_EXT_CHANNEL_STUCK, /* it does not read */
    PL_EXT_CHANNEL_MEMORY,
};

struct pl_ext_channel_ops {
    /* A line without its line feed, valid until this returns. It may pause the channel, and close it. */
    void (*on_line)(void *ctx, struct pl_str line);
    /* Nothing comes any more; the callee closes it, now or later. */
    void (*on_fault)(void *ctx, enum pl_ext_channel_fault fault);
    /* What a child says on standard error. */
    void (*on_said)(void *ctx, struct pl_str bytes);
    /* Something was read over there: pl_ext_channel_n_taken has grown. */
    void (*on_taken)(void *ctx);
};

struct pl_ext_channel; /* owned */

/* Over pipes; the descriptors are non-blocking, and closed by the channel. `said` -1: there is no standard error. NULL: out
 * of memory, and none was closed. */
struct pl_ext_channel *pl_ext_channel_open_pipes(struct pl_loop *loop, int in, int out, int said,
                                                 const struct pl_ext_channel_ops *ops, void *ctx);

/* Sends a line, or several, each with its line feed; goes out at the end of this turn of the loop. The bytes are
 * copied. After a fault it does nothing. */
void pl_ext_channel_write(struct pl_ext_channel *channel, struct pl_str lines);
/* The same of one that is spelled here, in its place. */
void pl_ext_channel_write_result(struct pl_ext_channel *channel,
                                 const struct pl_ext_result *result);
/* Bytes that were ever written, and those of them that the other side's pipe has taken. */
uint64_t pl_ext_channel_n_written(const struct pl_ext_channel *channel);
uint64_t pl_ext_channel_n_taken(const struct pl_ext_channel *channel);
/* No line is handed out while it is paused. */
void pl_ext_channel_pause(struct pl_ext_channel *channel);
void pl_ext_channel_resume(struct pl_ext_channel *channel);
/* No more from us: standard input is closed when all was written. */
void pl_ext_channel_finish(struct pl_ext_channel *channel);
/* No callback comes after this; it is freed at the end of the turn. Accepts NULL. */
void pl_ext_channel_close(struct pl_ext_channel *channel);

#endif
