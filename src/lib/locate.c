#include "lib/locate.h"

#include "base/text/utf8.h"

struct pl_locator pl_locator(struct pl_str text)
{
    return (struct pl_locator){.text = text, .is = {1, 1}};
}

struct pl_position pl_locator_find(struct pl_locator *locator, size_t offset)
{
    if (offset > locator->text.len)
        offset = locator->text.len;
    if (offset < locator->at)
        *locator = pl_locator(locator->text);
    struct pl_str gap = pl_str_slice(locator->text, locator->at, offset);
    const char *newline;
    while (gap.len > 0 && (newline = memchr(gap.ptr, '\n', gap.len))) {
        gap = pl_str_slice(gap, (size_t)(newline + 1 - gap.ptr), gap.len);
        locator->is = (struct pl_position){locator->is.line + 1, 1};
    }
    locator->is.column += pl_utf8_count(gap);
    locator->at = offset;
    return locator->is;
}
