/* The usual spelling of a string: the same bytes for every program that writes JSON. */
#include "base/text/utf8.h"
#include "carry/carry.h"
#include "json/text.h"

static void put_ascii(struct pl_buf *to, char c)
{
    char escaped[PL_JSON_MOST_ESCAPE];
    pl_buf_add(to, (struct pl_str){escaped, pl_json_escape(escaped, c)});
}

/* Writes the \\u escape at the start of `rest`; returns its length there. */
static size_t put_unit(struct pl_buf *to, struct pl_str rest)
{
    enum { UNIT = 6, PAIR = 12 };
    char bytes[4];
    uint32_t unit = pl_json_unit(rest.ptr + 2), low = 0;
    bool is_high = unit >= 0xD800 && unit < 0xDC00, is_low = unit >= 0xDC00 && unit < 0xE000;
    if (is_high && rest.len >= PAIR && rest.ptr[UNIT] == '\\' && rest.ptr[UNIT + 1] == 'u')
        low = pl_json_unit(rest.ptr + UNIT + 2);
    if (low >= 0xDC00 && low < 0xE000) {
        uint32_t point = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        pl_buf_add(to, (struct pl_str){bytes, pl_utf8_put(bytes, point)});
        return PAIR;
    }
    if (is_high || is_low)
        pl_buf_addf(to, "\\u%04x", unit);
    else if (unit < 0x80)
        put_ascii(to, (char)unit);
    else
        pl_buf_add(to, (struct pl_str){bytes, pl_utf8_put(bytes, unit)});
    return UNIT;
}

/* Writes the escape at the start of `rest`; returns its length there. */
static size_t put_escape(struct pl_buf *to, struct pl_str rest)
{
    if (rest.ptr[1] == 'u')
        return put_unit(to, rest);
    pl_buf_add(to, rest.ptr[1] == '/' ? PL_STR("/") : pl_str_slice(rest, 0, 2));
    return 2;
}

void pl_carry_spell(struct pl_buf *to, struct pl_str raw)
{
    while (raw.len) {
        const char *escape = memchr(raw.ptr, '\\', raw.len);
        size_t n = escape ? (size_t)(escape - raw.ptr) : raw.len;
        pl_buf_add(to, pl_str_slice(raw, 0, n));
        raw = pl_str_slice(raw, n, raw.len);
        if (raw.len)
            raw = pl_str_slice(raw, put_escape(to, raw), raw.len);
    }
}
