/* Lines for a descriptor whose reader may be slow, stopped or dead: standard error. A separate
 * thread writes them, so logging never waits for the reader. Lines that do not fit are dropped and
 * counted, and the next line that can be written says so. Any thread.
 *
 * The descriptor is left as it is: making it non-blocking would change it for every other process
 * that shares it. */
#ifndef PL_IO_SINK_H
#define PL_IO_SINK_H

#include "base/buf.h"

#include <stdint.h>

struct pl_sink; /* owned */

struct pl_sink_config {
    int fd;           /* borrowed; where there is no `write` */
    size_t max_bytes; /* of lines that wait to be written */
    /* Writes the line, with its line feed, which says that n_lines were dropped. On the sink's
     * thread, which may outlive everything else. */
    void (*say_dropped)(uint64_t n_lines, struct pl_buf *to);
    /* Writes in the place of the descriptor: what is left of whole lines is lost. NULL: the
     * descriptor. `close` frees its ctx, when the thread has ended. */
    struct pl_str (*write)(void *ctx, struct pl_str lines);
    void (*close)(void *ctx);
    void *ctx;
};

/* Starts no thread yet: the first line does. NULL when out of memory. */
struct pl_sink *pl_sink_create(const struct pl_sink_config *config);

/* Takes a whole line, which ends in a line feed; it is written when pl_sink_wake is called, or with
 * a later one. Never blocks. */
void pl_sink_put(struct pl_sink *sink, struct pl_str line);
/* There are lines: so that many of them cost one wake-up. */
void pl_sink_wake(struct pl_sink *sink);

/* Lines that were lost: there was no room for them, or the descriptor refused them. */
uint64_t pl_sink_n_dropped(struct pl_sink *sink);

/* Waits until all lines are written, at most wait_ms; false when some are left. */
bool pl_sink_flush(struct pl_sink *sink, int64_t wait_ms);
/* The same, then frees it. A thread that is stuck in the kernel keeps the sink: the process ends
 * without it. Accepts NULL. */
void pl_sink_destroy(struct pl_sink *sink, int64_t wait_ms);

#endif
