/* Finds line break positions and wraps text.
 *
 * A line may be broken at a space, which is dropped, and between any two Chinese, Japanese or
 * Korean characters, but not after an opening mark or before a closing one, so that no line ends
 * with （ or begins with 。. Text for a person to type (an option, a path, NAME=值) is not broken. */
#ifndef PL_TERMINAL_WRAP_H
#define PL_TERMINAL_WRAP_H

#include "base/buf.h"

/* Returns the longest prefix that must not be broken: a word up to its space, or a character and
 * what belongs to it. The text is not empty and does not begin with a space. */
struct pl_str pl_wrap_piece(struct pl_str text);

struct pl_wrap {
    size_t column; /* current cursor position */
    size_t indent; /* spaces before each line */
    size_t width;  /* cells of a line; a longer piece has a line of its own */
};

/* Appends the wrapped text and a line break. */
void pl_wrap_add(struct pl_buf *to, struct pl_str text, struct pl_wrap wrap);

#endif
