/* Makes foreign text safe for a terminal: it cannot move the cursor, change a mode or hide
 * itself. */
#ifndef PL_TERMINAL_SAFE_H
#define PL_TERMINAL_SAFE_H

#include "base/buf.h"

/* Control characters (C0, DEL, C1), invisible characters, and those that change the writing
 * direction. */
bool pl_safe_is_unprintable(int32_t code_point);

/* Appends text with unprintable characters as \u{NN} and invalid UTF-8 bytes as \xNN. */
void pl_safe_add(struct pl_buf *to, struct pl_str text);
/* The same for prose: keeps joiners (U+200C, U+200D), which emoji and scripts need. */
void pl_safe_add_prose(struct pl_buf *to, struct pl_str text);

#endif
