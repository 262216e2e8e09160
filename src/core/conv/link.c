/* The query of a signed link states its expiry:
 *     X-Amz-Date=20240320T100000Z & X-Amz-Expires=900     (also X-Goog-…): a moment and seconds
 *     Expires=1710931200 & Signature=…                    seconds since 1970
 *     se=2024-03-20T10:00:00Z & sig=…                     a moment
 *     q-sign-time=1710927600;1710931200 & q-signature=…   two moments (Tencent COS)
 *     e=1710931200 & token=…                              seconds since 1970 (Qiniu)
 * The clouds that follow Amazon have their own prefix: x-oss-, x-obs-, x-tos-, x-cos-. */
#include "conv/link.h"

#include "base/text/utc.h"

#include <strings.h>

bool pl_link_is_web(struct pl_str url)
{
    return (url.len > 7 && strncasecmp(url.ptr, "http://", 7) == 0) ||
           (url.len > 8 && strncasecmp(url.ptr, "https://", 8) == 0);
}

/* The expiry that the query of a link states. */
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

/* "20240320T100000Z" or "2024-03-20T10:00:00Z". The colons may be %3A; the seconds, or the whole
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

static void read_start(struct lifetime *life, struct pl_str value)
{
    life->has_start = read_moment(value, &life->start_s);
}

static void read_length(struct lifetime *life, struct pl_str value)
{
    life->has_length = read_number(value, &life->length_s);
}

static void read_end(struct lifetime *life, struct pl_str value)
{
    life->has_end = read_number(value, &life->end_s);
}

static void read_end_moment(struct lifetime *life, struct pl_str value)
{
    life->has_end = read_moment(value, &life->end_s);
}

/* "1710927600;1710931200"; the semicolon may be %3B. */
static void read_span(struct lifetime *life, struct pl_str value)
{
    size_t at = value.len;
    while (at > 0 && value.ptr[at - 1] >= '0' && value.ptr[at - 1] <= '9')
        at--;
    if (at > 0)
        life->has_end = read_number(pl_str_slice(value, at, value.len), &life->end_s);
}

static void read_signature(struct lifetime *life, struct pl_str value)
{
    life->is_signed |= value.len > 0;
}

/* Names of parameters; after "x-???-", names that several clouds share. */
static const struct {
    const char *name;
    void (*read)(struct lifetime *life, struct pl_str value);
} parameters[] =
    {
        {"expires", read_end},         {"se", read_end_moment},         {"e", read_end},
        {"signature", read_signature}, {"sig", read_signature},         {"token", read_signature},
        {"q-sign-time", read_span},    {"q-signature", read_signature},
},
  after_prefix[] = {
      {"date", read_start},
      {"expires", read_length},
      {"signature", read_signature},
};

static void read_parameter(struct lifetime *life, struct pl_str key, struct pl_str value)
{
    static const char *const prefixes[] = {"x-amz-", "x-goog-", "x-oss-",
                                           "x-obs-", "x-tos-",  "x-cos-"};
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (same_word(key, parameters[i].name))
            parameters[i].read(life, value);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i]);
        if (key.len <= n || strncasecmp(key.ptr, prefixes[i], n) != 0)
            continue;
        for (size_t k = 0; k < sizeof after_prefix / sizeof *after_prefix; k++)
            if (same_word(pl_str_slice(key, n, key.len), after_prefix[k].name))
                after_prefix[k].read(life, value);
    }
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
