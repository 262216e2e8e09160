/* The header Parley-Loss: the losses of a conversion, as "code pointer, code pointer". The whole
 * report is too long for a header; "..." replaces the rest. */
#ifndef PL_SERVICE_LOSS_HEADER_H
#define PL_SERVICE_LOSS_HEADER_H

#include "base/arena.h"
#include "base/buf.h"

struct pl_format;

/* Appends the losses of a report, with `where` before each pointer. A value that was only moved
 * or added is not a loss. Appends nothing if out of memory: a request does not fail for a
 * header. */
void pl_loss_header_add(struct pl_buf *to, struct pl_arena *arena, const char *where,
                        struct pl_str report);
/* The same for a client's request in this format. Members that the gateway itself obeys are not
 * losses. */
void pl_loss_header_add_request(struct pl_buf *to, struct pl_arena *arena,
                                const struct pl_format *format, struct pl_str report);
/* The same for a vendor's answer, with "answer#" before each pointer. Not losses: joined texts,
 * the vendor's bookkeeping (format/bookkeeping.h), and empty values (null, an empty list, a
 * usage counter that is 0). `answer` is the whole answer that the report is about. */
void pl_loss_header_add_answer(struct pl_buf *to, struct pl_arena *arena,
                               const struct pl_format *format, struct pl_str answer,
                               struct pl_str report);

#endif
