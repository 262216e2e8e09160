/* Widths by binary search in two range tables; clusters by a few rules. */
#include "terminal/width.h"

#include "base/text/utf8.h"
#include "terminal/width_table.h"

enum {
    JOINER = 0x200D,
    FIRST_MODIFIER = 0x1F3FB, /* skin tones */
    LAST_MODIFIER = 0x1F3FF,
    FIRST_FLAG = 0x1F1E6, /* regional indicators */
    LAST_FLAG = 0x1F1FF,
};

static bool is_in(const struct width_range *ranges, size_t n, uint32_t c)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && c >= ranges[low].first;
}

unsigned pl_width_of(int32_t code_point)
{
    uint32_t c = (uint32_t)code_point;
    if (c < 0x20 || (c >= 0x7F && c < 0xA0))
        return 0;
    if (c < 0x300)
        return 1;
    if (is_in(narrowest, sizeof narrowest / sizeof *narrowest, c))
        return 0;
    return is_in(widest, sizeof widest / sizeof *widest, c) ? 2 : 1;
}

static bool is_flag(int32_t c)
{
    return c >= FIRST_FLAG && c <= LAST_FLAG;
}

/* True if `c` belongs to the cluster that ends with `before`. Control characters never do. */
static bool is_joined(int32_t before, int32_t c, unsigned base_width)
{
    if (c < 0x20 || (c >= 0x7F && c < 0xA0))
        return false;
    if (pl_width_of(c) == 0 || (before == JOINER && base_width == 2))
        return true;
    return c >= FIRST_MODIFIER && c <= LAST_MODIFIER && base_width == 2;
}

size_t pl_cluster_end(struct pl_str text, size_t at, unsigned *ret_width)
{
    int32_t first = pl_utf8_next(text, &at), last = first;
    *ret_width = first < 0 ? 1 : pl_width_of(first);
    if (first < 0x20 || (first >= 0x7F && first < 0xA0))
        return at;
    for (size_t next = at; next < text.len; at = next) {
        int32_t c = pl_utf8_next(text, &next);
        bool is_second_flag = is_flag(first) && last == first && is_flag(c);
        if (c < 0 || (!is_joined(last, c, *ret_width) && !is_second_flag))
            break;
        if (is_second_flag) {
            *ret_width = 2;
            first = 0; /* a third one begins the next flag */
        }
        last = c;
    }
    return at;
}

/* Scans from the beginning of the line: only from there is it known whether a regional indicator is
 * the first or the second of a pair. */
size_t pl_cluster_before(struct pl_str text, size_t at)
{
    if (at == 0)
        return 0;
    size_t start = at - 1;
    while (start > 0 && text.ptr[start - 1] != '\n')
        start--;
    for (unsigned width; start < at;) {
        size_t end = pl_cluster_end(text, start, &width);
        if (end >= at)
            break;
        start = end;
    }
    return start;
}

size_t pl_width(struct pl_str text)
{
    size_t n = 0;
    for (size_t at = 0; at < text.len;) {
        unsigned width;
        at = pl_cluster_end(text, at, &width);
        n += width;
    }
    return n;
}

struct pl_str pl_width_cut(struct pl_str text, size_t max_cells)
{
    size_t at = 0, n = 0;
    while (at < text.len) {
        unsigned width;
        size_t end = pl_cluster_end(text, at, &width);
        if (n + width > max_cells)
            break;
        n += width;
        at = end;
    }
    return pl_str_slice(text, 0, at);
}
