#include "http/reply/page_cursor.h"

#include "base/text/decimal.h"
#include "base/text/uuid.h"

bool pl_page_cursor_read(struct pl_str cursor, const char *prefix, struct pl_page_cursor *ret_place)
{
    if (cursor.len < 4 || (cursor.ptr[0] != '0' && cursor.ptr[0] != '1') || cursor.ptr[1] != ' ')
        return false;
    struct pl_page_cursor place = {.is_pinned = cursor.ptr[0] == '1'};
    struct pl_str rest = pl_str_slice(cursor, 2, cursor.len);
    const char *space = memchr(rest.ptr, ' ', rest.len);
    if (!space)
        return false;
    size_t at = (size_t)(space - rest.ptr);
    place.id = pl_str_slice(rest, at + 1, rest.len);
    if (!pl_decimal_read(pl_str_slice(rest, 0, at), &place.updated_ms) ||
        !pl_id_is(place.id, prefix))
        return false;
    *ret_place = place;
    return true;
}

void pl_page_cursor_write(struct pl_buf *to, const struct pl_page_cursor *place)
{
    pl_buf_addf(to, "%d %lld %.*s", place->is_pinned, (long long)place->updated_ms,
                PL_STR_ARG(place->id));
}
