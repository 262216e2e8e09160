#include "base/text/script.h"

#include <stddef.h>

/* A range of code points; sorted. */
struct run {
    uint32_t first, last;
};

static const struct run unspaced[] = {
    {0x0E01, 0x0EFF},   /* Thai, Lao */
    {0x1000, 0x109F},   /* Myanmar */
    {0x1780, 0x17FF},   /* Khmer */
    {0x1950, 0x19FF},   /* Tai Le, New Tai Lue, Khmer symbols */
    {0x1A20, 0x1AAF},   /* Tai Tham */
    {0x3005, 0x3007},   /* Han: iteration mark, zero */
    {0x3041, 0x312F},   /* kana, Bopomofo */
    {0x31A0, 0x31FF},   /* Bopomofo, kana */
    {0x3400, 0x4DBF},   /* Han */
    {0x4E00, 0x9FFF},   /* Han */
    {0xA9E0, 0xA9FF},   /* Myanmar */
    {0xAA60, 0xAADF},   /* Myanmar, Tai Viet */
    {0xF900, 0xFAFF},   /* Han */
    {0xFF66, 0xFF9F},   /* kana, half width */
    {0x1B000, 0x1B16F}, /* kana */
    {0x20000, 0x3FFFF}, /* Han, and code points reserved for it */
};

static const struct run marks[] = {
    {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x0EB1, 0x0EB1}, {0x0EB4, 0x0EBC},
    {0x0EC8, 0x0ECE}, {0x102B, 0x103E}, {0x1056, 0x1059}, {0x105E, 0x1060}, {0x1062, 0x1064},
    {0x1067, 0x106D}, {0x1071, 0x1074}, {0x1082, 0x108D}, {0x109A, 0x109D}, {0x17B4, 0x17D3},
    {0x17DD, 0x17DD}, {0x1A55, 0x1A7F}, {0x3099, 0x309A}, {0xFF9E, 0xFF9F},
};

static bool is_in(const struct run *runs, size_t n, uint32_t code)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (runs[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && runs[low].first <= code;
}

/* The first comparison handles the many characters below all ranges. */
bool pl_script_is_unspaced(uint32_t code)
{
    return code >= unspaced[0].first && is_in(unspaced, sizeof unspaced / sizeof *unspaced, code);
}

bool pl_script_is_mark(uint32_t code)
{
    return code >= marks[0].first && is_in(marks, sizeof marks / sizeof *marks, code);
}
