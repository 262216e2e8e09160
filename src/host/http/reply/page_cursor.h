/* The end of a page in a list that is sorted by pinned first, then by last change. The cursor stays
 * valid when items are added in front. */
#ifndef PL_HTTP_REPLY_PAGE_CURSOR_H
#define PL_HTTP_REPLY_PAGE_CURSOR_H

#include "base/buf.h"

struct pl_page_cursor {
    bool is_pinned;
    int64_t updated_ms;
    struct pl_str id; /* of the last item */
};

/* "P MS ID". False if the cursor has another form, or its id another prefix. *ret_place has views
 * of the cursor. */
bool pl_page_cursor_read(struct pl_str cursor, const char *prefix,
                         struct pl_page_cursor *ret_place);
void pl_page_cursor_write(struct pl_buf *to, const struct pl_page_cursor *place);

#endif
