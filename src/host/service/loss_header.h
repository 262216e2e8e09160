/* The header Parley-Loss: what a conversion lost, as "code pointer, code pointer". The whole report is
 * too much for a header; what does not fit is "...". */
#ifndef PL_SERVICE_LOSS_HEADER_H
#define PL_SERVICE_LOSS_HEADER_H

#include "base/arena.h"
#include "base/buf.h"

struct pl_format;

/* Appends the losses of a report; `where` stands before each pointer. A value that only moved, or
 * had to be added, is not a loss. Nothing when out of memory: a header is no place to fail. */
void pl_loss_header_add(struct pl_buf *to, struct pl_arena *arena, const char *where,
                        struct pl_str report);
/* The same for a request of a client in this format: what the gateway does itself is no loss. */
void pl_loss_header_add_request(struct pl_buf *to, struct pl_arena *arena,
                                const struct pl_format *format, struct pl_str report);
/* The same for an answer of a vendor, whose losses come after "answer#". Texts that were joined
 * are all there, the vendor's bookkeeping (format/bookkeeping.h) is no loss, and neither is what
 * says nothing: null, an empty list, a counter of the usage that is 0. `answer` is the whole answer
 * that the report is about. */
void pl_loss_header_add_answer(struct pl_buf *to, struct pl_arena *arena,
                               const struct pl_format *format, struct pl_str answer,
                               struct pl_str report);

#endif
