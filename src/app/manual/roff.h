/* Text as a manual page has it: what roff would read as its own is escaped, and lines are short. */
#ifndef PL_APP_ROFF_H
#define PL_APP_ROFF_H

#include "base/buf.h"

/* One line, for the arguments of a macro. */
void pl_roff_line(struct pl_buf *to, const char *text);

/* Filled text: a new sentence starts on a new line, as mdoc wants. No line break at the end. */
void pl_roff_text(struct pl_buf *to, const char *text);

/* Filled Chinese text, which has no spaces to break lines at: breaks are allowed between characters. The page begins
 * with pl_roff_begin_chinese. */
void pl_roff_chinese(struct pl_buf *to, const char *text);
void pl_roff_begin_chinese(struct pl_buf *to);

#endif
