/* Accept-Language (RFC 9110, 12.5.4): which of the supported languages the reader prefers. */
#ifndef PL_WIRE_LANGUAGE_H
#define PL_WIRE_LANGUAGE_H

#include "base/str.h"

/* Whether Chinese is preferred to English; of two equal weights the first one counts. */
bool pl_language_wants_chinese(struct pl_str accept_language);

#endif
