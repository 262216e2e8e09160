/* What a vendor's answer says beside what was answered: the request's own settings once more, and
 * its numbers and dates. A client of another dialect that does not get it has lost nothing. */
#ifndef PL_FORMAT_BOOKKEEPING_H
#define PL_FORMAT_BOOKKEEPING_H

#include "format/format.h"

/* Of an answer of this format; `pointer` is a JSON Pointer into it. */
bool pl_answer_is_bookkeeping(const struct pl_format *format, struct pl_str pointer);

#endif
