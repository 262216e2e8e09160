/* What was typed before, oldest first: bounded, and as the text of a file. */
#ifndef PL_TERMINAL_TYPED_H
#define PL_TERMINAL_TYPED_H

#include "base/buf.h"
#include "base/vec.h"

enum {
    PL_TYPED_MAX = 1000,           /* entries; the oldest go first */
    PL_TYPED_MAX_ENTRY = 64 << 10, /* bytes; what is longer is not kept */
    PL_TYPED_MAX_FILE = 8 << 20,   /* bytes; the oldest go first */
};

struct pl_typed {
    PL_VEC(struct pl_str) entries; /* owned, and so is each text */
    size_t n_bytes;
};

/* Begins as {0}. */
void pl_typed_deinit(struct pl_typed *history);
/* Keeps a copy, unless it is empty, too long or the same as the last. PL_NOMEM: nothing changed. */
enum pl_status pl_typed_add(struct pl_typed *history, struct pl_str text);

/* A line per entry; a line break in it is "\n", a backslash "\\". */
enum pl_status pl_typed_read(struct pl_typed *history, struct pl_str file);
void pl_typed_write(const struct pl_typed *history, struct pl_buf *to);

#endif
