/* Lines to and from an extension: over the three pipes of a child, or over a WebSocket. One loop
 * owns it.
 *
 * In: one line at a time, at most 8 MiB; a longer one is reported at once and not collected. Out:
 * bytes that the other side does not read wait here, at most 8 MiB and at most 30 seconds without
 * progress. */
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
    /* A line without its line feed, valid until this returns. The callback may pause or close
     * the channel. */
    void (*on_line)(void *ctx, struct pl_str line);
    /* No more input comes; the callee closes it, now or later. */
    void (*on_fault)(void *ctx, enum pl_ext_channel_fault fault);
    /* Standard error of a child. */
    void (*on_said)(void *ctx, struct pl_str bytes);
    /* The other side has read something: pl_ext_channel_n_taken has grown. */
    void (*on_taken)(void *ctx);
};

struct pl_ext_channel; /* owned */

/* Over pipes; the descriptors are non-blocking, and closed by the channel. `said` -1: no
 * standard error. NULL: out of memory, and no descriptor was closed. */
struct pl_ext_channel *pl_ext_channel_open_pipes(struct pl_loop *loop, int in, int out, int said,
                                                 const struct pl_ext_channel_ops *ops, void *ctx);

/* Sends one or more lines, each with its line feed, at the end of this turn of the loop. The
 * bytes are copied. Does nothing after a fault. */
void pl_ext_channel_write(struct pl_ext_channel *channel, struct pl_str lines);
/* The same for a result, which is written directly into the queue. */
void pl_ext_channel_write_result(struct pl_ext_channel *channel,
                                 const struct pl_ext_result *result);
/* Total bytes written, and those that the other side's pipe has taken. */
uint64_t pl_ext_channel_n_written(const struct pl_ext_channel *channel);
uint64_t pl_ext_channel_n_taken(const struct pl_ext_channel *channel);
/* While it is paused, on_line is not called. */
void pl_ext_channel_pause(struct pl_ext_channel *channel);
void pl_ext_channel_resume(struct pl_ext_channel *channel);
/* No more output: standard input is closed when everything was written. */
void pl_ext_channel_finish(struct pl_ext_channel *channel);
/* No callbacks after this; freed at the end of this turn of the loop. Accepts NULL. */
void pl_ext_channel_close(struct pl_ext_channel *channel);

#endif
