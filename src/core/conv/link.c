/* A signed link says in its query until when it holds:
 *     X-Amz-Date=20240320T100000Z & X-Amz-Expires=900     (also X-Goog-…): a moment and seconds
 *     Expires=1710931200 & Signature=…                    seconds since 1970
 *     se=2024-03-20T10:00:00Z & sig=…                     a moment */
#include "conv/link.h"

#include "base/utc.h"

#include <strings.h>

bool pl_link_is_web(struct pl_str url)
{
    return (url.len > 7 && strncasecmp(url.ptr, "http://", 7) == 0) ||
           (url.len > 8 && strncasecmp(url.ptr, "https://", 8) == 0);
}

/* What the query of a link says about its end. */
struct lifetime {
    bool has_start, has_length, has_end, is_signed;
    int64_t start_s, length_s, end_s;
};

static bool same_word(struct pl_str a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

static bool read_number(struct pl_str s, int64_t *ret)
{
    int64_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9' || i > 15)
            return false;
        n = n * 10 + (s.ptr[i] - '0');
    }
    *ret = n;
    return s.len > 0;
}

/* "20240320T100000Z" or "2024-03-20T10:00:00Z", the colons perhaps as %3A; seconds, or the whole
 * time, may be missing. */
static bool read_moment(struct pl_str s, int64_t *ret_s)
{
    char digits[14] = "00000000000000";
    size_t n = 0;
    for (size_t i = 0; i < s.len && n < sizeof digits; i++) {
        if (s.ptr[i] == '%') {
            i += 2;
        } else if (s.ptr[i] >= '0' && s.ptr[i] <= '9') {
            digits[n++] = s.ptr[i];
        } else if (s.ptr[i] == '.') {
            break;
        }
    }
    int64_t field[6];
    static const size_t at[] = {0, 4, 6, 8, 10, 12, 14};
    for (size_t i = 0; i < 6; i++)
        if (!read_number((struct pl_str){digits + at[i], at[i + 1] - at[i]}, &field[i]))
            return false;
    if (n < 8 || field[1] < 1 || field[1] > 12 || field[2] < 1 || field[2] > 31)
        return false;
    struct pl_civil civil = {.year = (int32_t)field[0],
                             .month = (uint8_t)field[1],
                             .day = (uint8_t)field[2],
                             .hour = (uint8_t)field[3],
                             .minute = (uint8_t)field[4],
                             .second = (uint8_t)field[5]};
    *ret_s = pl_civil_unix_s(&civil);
    return true;
}

static void read_parameter(struct lifetime *life, struct pl_str key, struct pl_str value)
{
    if (same_word(key, "x-amz-date") || same_word(key, "x-goog-date"))
        life->has_start = read_moment(value, &life->start_s);
    else if (same_word(key, "x-amz-expires") || same_word(key, "x-goog-expires"))
        life->has_length = read_number(value, &life->length_s);
    else if (same_word(key, "expires"))
        life->has_end = read_number(value, &life->end_s);
    else if (same_word(key, "se"))
        life->has_end = read_moment(value, &life->end_s);
    else if (same_word(key, "signature") || same_word(key, "sig") ||
             same_word(key, "x-amz-signature") || same_word(key, "x-goog-signature"))
        life->is_signed = true;
}

bool pl_link_expires(struct pl_str url, int64_t *ret_end_s)
{
    struct lifetime life = {0};
    const char *mark = !url.len ? NULL : memchr(url.ptr, '?', url.len);
    struct pl_str rest =
        mark ? pl_str_slice(url, (size_t)(mark - url.ptr) + 1, url.len) : (struct pl_str){0};
    while (rest.len) {
        const char *end = memchr(rest.ptr, '&', rest.len);
        struct pl_str pair = pl_str_slice(rest, 0, end ? (size_t)(end - rest.ptr) : rest.len);
        rest = pl_str_slice(rest, pair.len + (end != NULL), rest.len);
        const char *equals = pair.len ? memchr(pair.ptr, '=', pair.len) : NULL;
        size_t n_key = equals ? (size_t)(equals - pair.ptr) : pair.len;
        read_parameter(&life, pl_str_slice(pair, 0, n_key),
                       pl_str_slice(pair, n_key + 1, pair.len));
    }
    if (life.has_start && life.has_length &&
        !__builtin_add_overflow(life.start_s, life.length_s, &life.end_s))
        life.has_end = life.is_signed = true;
    *ret_end_s = life.end_s;
    return life.has_end && life.is_signed;
}
