/* Where a line of text may be broken, and text broken into lines.
 *
 * Between words: at a space, which goes. Between Chinese, Japanese or Korean characters: anywhere, but not after an
 * opening mark nor before a closing one, so that no line ends with （ or begins with 。. What a person types (an option,
 * a path, NAME=值) stays whole. */
#ifndef PL_TERMINAL_WRAP_H
#define PL_TERMINAL_WRAP_H

#include "base/buf.h"

/* The longest beginning of a text that may not be broken: a word up to its space, or what clings to a character. The
 * text has at least a byte and does not begin with a space. */
struct pl_str pl_wrap_piece(struct pl_str text);

struct pl_wrap {
    size_t column; /* where the cursor is */
    size_t indent; /* spaces before each line */
    size_t width;  /* cells of a line; a piece that is longer has a line of its own */
};

/* Appends a text in lines, and a line break. */
void pl_wrap_add(struct pl_buf *to, struct pl_str text, struct pl_wrap wrap);

#endif
