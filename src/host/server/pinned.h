/* Where a page ended in a list that has what is pinned first and then the last change: a cursor
 * that stays right whatever is added in front. */
#ifndef PL_SERVER_PINNED_H
#define PL_SERVER_PINNED_H

#include "base/buf.h"

struct pl_pinned {
    bool is_pinned;
    int64_t updated_ms;
    struct pl_str id; /* of the last item */
};

/* "P MS ID". False when it is no such cursor, or its id is not of this kind. *ret_place has views
 * of the cursor. */
bool pl_pinned_read(struct pl_str cursor, const char *prefix, struct pl_pinned *ret_place);
void pl_pinned_write(struct pl_buf *to, const struct pl_pinned *place);

#endif
