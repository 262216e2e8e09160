/* Links in a document: their scheme and their expiry. */
#ifndef PL_CONV_LINK_H
#define PL_CONV_LINK_H

#include "base/str.h"

/* "http://…" or "https://…". */
bool pl_link_is_web(struct pl_str url);

/* Whether the query of this signed link states its expiry; *ret_end_s is in seconds since 1970. */
bool pl_link_expires(struct pl_str url, int64_t *ret_end_s);

#endif
