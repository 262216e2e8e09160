/* Members of a vendor's answer besides its content: an echo of the request's settings, numbers and
 * dates. A client of another format loses nothing without them. */
#ifndef PL_FORMAT_BOOKKEEPING_H
#define PL_FORMAT_BOOKKEEPING_H

#include "format/format.h"

/* For an answer of this format; `pointer` is a JSON Pointer into it. */
bool pl_answer_is_bookkeeping(const struct pl_format *format, struct pl_str pointer);

#endif
