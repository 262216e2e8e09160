/* Links in a document: what they lead to, and what they say about their own end. */
#ifndef PL_CONV_LINK_H
#define PL_CONV_LINK_H

#include "base/str.h"

/* "http://…" or "https://…". */
bool pl_link_is_web(struct pl_str url);

/* Whether this is a signed link that says in its query until when it holds; *ret_end_s is seconds
 * since 1970. */
bool pl_link_expires(struct pl_str url, int64_t *ret_end_s);

#endif
