/* History of typed messages, oldest first. It is bounded, and has a text form for a file. */
#ifndef PL_TERMINAL_TYPED_H
#define PL_TERMINAL_TYPED_H

#include "base/buf.h"
#include "base/vec.h"

enum {
    PL_TYPED_MAX = 1000,           /* entries; the oldest are dropped first */
    PL_TYPED_MAX_ENTRY = 64 << 10, /* bytes; a longer entry is not kept */
    PL_TYPED_MAX_FILE = 8 << 20,   /* bytes; the oldest entries are dropped first */
};

struct pl_typed {
    PL_VEC(struct pl_str) entries; /* owned, including each text */
    size_t n_bytes;
};

/* Zero-initialised is empty. */
void pl_typed_deinit(struct pl_typed *history);
/* Adds a copy, unless the text is empty, too long or equal to the last entry. PL_NOMEM: nothing
 * changed. */
enum pl_status pl_typed_add(struct pl_typed *history, struct pl_str text);

/* One line per entry; a line break in an entry is "\n", a backslash "\\". */
enum pl_status pl_typed_read(struct pl_typed *history, struct pl_str file);
void pl_typed_write(const struct pl_typed *history, struct pl_buf *to);

#endif
