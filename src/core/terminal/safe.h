/* Foreign text for a terminal: nothing in it moves the cursor, changes a mode or hides itself. */
#ifndef PL_TERMINAL_SAFE_H
#define PL_TERMINAL_SAFE_H

#include "base/buf.h"

/* Control characters (C0, DEL, C1) and those that are invisible or turn the writing direction. */
bool pl_safe_is_unprintable(int32_t code_point);

/* Unprintable characters as \u{NN}, bytes that are no UTF-8 as \xNN, the rest as it is. */
void pl_safe_add(struct pl_buf *to, struct pl_str text);
/* The same for prose: joiners (U+200C, U+200D), which emoji and scripts need, stay. */
void pl_safe_add_prose(struct pl_buf *to, struct pl_str text);

#endif
