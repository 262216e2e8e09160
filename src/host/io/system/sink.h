/* Writes lines to a descriptor, such as standard error, when its reader may be slow, stopped or
 * dead. A separate thread writes them, so logging never waits for the reader. Lines that do not fit
 * are dropped and counted, and the next line that can be written says so. Any thread.
 *
 * The descriptor is not changed: making it non-blocking would change it for every other process
 * that shares it. */
#ifndef PL_IO_SINK_H
#define PL_IO_SINK_H

#include "base/buf.h"

#include <stdint.h>

struct pl_sink; /* owned */

struct pl_sink_config {
    int fd;           /* borrowed; used if `write` is NULL */
    size_t max_bytes; /* of queued lines */
    /* Appends a line, with its line feed, which reports that n_lines were dropped. Called on the
     * sink's thread, which may outlive everything else. */
    void (*say_dropped)(uint64_t n_lines, struct pl_buf *to);
    /* Replaces the descriptor; NULL: use the descriptor. Returns the lines it could not write; they
     * are lost. `close` frees its ctx after the thread has ended. */
    struct pl_str (*write)(void *ctx, struct pl_str lines);
    void (*close)(void *ctx);
    void *ctx;
};

/* The first line starts the thread. NULL when out of memory. */
struct pl_sink *pl_sink_create(const struct pl_sink_config *config);

/* Queues a whole line, which ends in a line feed. It is written at the next pl_sink_wake. Never
 * blocks. */
void pl_sink_put(struct pl_sink *sink, struct pl_str line);
/* Starts writing the queued lines: many lines need only one wake-up. */
void pl_sink_wake(struct pl_sink *sink);

/* The number of lines lost: there was no room for them, or the descriptor refused them. */
uint64_t pl_sink_n_dropped(struct pl_sink *sink);

/* Waits until all lines are written, at most wait_ms; false when some are left. */
bool pl_sink_flush(struct pl_sink *sink, int64_t wait_ms);
/* The same, then frees it. If the thread is stuck in the kernel, it keeps the sink, and the process
 * ends without it. Accepts NULL. */
void pl_sink_destroy(struct pl_sink *sink, int64_t wait_ms);

#endif
