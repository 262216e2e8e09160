/* Text for manual pages: escapes the special characters of roff, and keeps lines short. */
#ifndef PL_APP_ROFF_H
#define PL_APP_ROFF_H

#include "base/buf.h"

/* One line, for the arguments of a macro. */
void pl_roff_line(struct pl_buf *to, const char *text);

/* Filled text: a sentence starts on a new line, as mdoc requires. No line break at the end. */
void pl_roff_text(struct pl_buf *to, const char *text);

/* Filled Chinese text. It has no spaces, so lines may break between characters. The page must begin
 * with pl_roff_begin_chinese. */
void pl_roff_chinese(struct pl_buf *to, const char *text);
void pl_roff_begin_chinese(struct pl_buf *to);

#endif
