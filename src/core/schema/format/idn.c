/* Labels of host names: RFC 1123 for ASCII, RFC 5890 to 5893 (IDNA 2008) for the rest.
 *
 * libidn2 has the tables of the code points that are allowed, or allowed in a certain context. This
 * file adds the rest: decoding xn-- labels (RFC 3492), hyphens, the Bidi rule across the labels of
 * a name, and digits of two kinds in one label.
 *
 * libidn2 allocates a few bytes with the C library and not with base/mem.h. If that fails, the
 * label counts as invalid: a predicate cannot report an error. */
#include "schema/format/format_int.h"

#include "base/ascii.h"
#include "base/text/utf8.h"

#include <idn2.h>

enum {
    MAX_LABEL = 63,             /* bytes in ASCII form (RFC 1034, 3.1) */
    MAX_U_BYTES = 4 * MAX_LABEL /* in UTF-8: a code point has at most four */
};

/* A label in Unicode, NUL-terminated for libidn2. */
struct u_label {
    char bytes[MAX_U_BYTES + 1];
    size_t len;
};

static bool is_ascii(struct pl_str label)
{
    for (size_t i = 0; i < label.len; i++)
        if ((unsigned char)label.ptr[i] >= 0x80)
            return false;
    return true;
}

static bool has_double_hyphen(struct pl_str label)
{
    return label.len >= 4 && label.ptr[2] == '-' && label.ptr[3] == '-';
}

static bool is_ldh(struct pl_str label)
{
    if (label.len == 0 || label.len > MAX_LABEL || label.ptr[0] == '-' ||
        label.ptr[label.len - 1] == '-')
        return false;
    for (size_t i = 0; i < label.len; i++)
        if (!pl_ascii_is_letter(label.ptr[i]) && !pl_ascii_is_digit(label.ptr[i]) &&
            label.ptr[i] != '-')
            return false;
    return true;
}

/* RFC 3492, section 6.1. */
static uint32_t adapt(uint32_t delta, uint32_t n_points, bool is_first)
{
    uint32_t k = 0;

    delta = is_first ? delta / 700 : delta / 2;
    delta += delta / n_points;
    for (; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

/* One generalised variable-length integer (RFC 3492, 3.3), added to *sum. */
static bool read_delta(struct pl_str text, size_t *at, uint32_t bias, uint32_t *sum)
{
    uint32_t weight = 1;

    for (uint32_t k = 36;; k += 36) {
        uint32_t threshold = k <= bias + 1 ? 1 : k >= bias + 26 ? 26 : k - bias;
        uint32_t digit, step;
        char c;
        if (*at == text.len)
            return false;
        c = pl_ascii_lower(text.ptr[(*at)++]);
        if (c == '-')
            return false;
        digit = pl_ascii_is_digit(c) ? (uint32_t)(c - '0') + 26 : (uint32_t)(c - 'a');
        if (__builtin_mul_overflow(digit, weight, &step) || __builtin_add_overflow(*sum, step, sum))
            return false;
        if (digit < threshold)
            return true;
        if (__builtin_mul_overflow(weight, 36 - threshold, &weight))
            return false;
    }
}

/* RFC 3492, section 6.2, for letters, digits and hyphens: the part after xn--. */
static bool punycode_decode(struct pl_str text, uint32_t points[MAX_LABEL], uint32_t *ret_n)
{
    uint32_t n = 0, code_point = 0x80, i = 0, bias = 72;
    size_t at = 0, n_basic = text.len;

    /* The ASCII characters come first, up to the last hyphen. */
    while (n_basic > 0 && text.ptr[n_basic - 1] != '-')
        n_basic--;
    for (; at + 1 < n_basic; at++)
        points[n++] = (unsigned char)pl_ascii_lower(text.ptr[at]);
    at = n_basic;
    while (at < text.len) {
        uint32_t old = i;
        if (n == MAX_LABEL || !read_delta(text, &at, bias, &i))
            return false;
        bias = adapt(i - old, n + 1, old == 0);
        if (__builtin_add_overflow(code_point, i / (n + 1), &code_point) || code_point > 0x10ffff ||
            (code_point >= 0xd800 && code_point <= 0xdfff))
            return false;
        i %= n + 1;
        memmove(points + i + 1, points + i, (n - i) * sizeof *points);
        points[i++] = code_point;
        n++;
    }
    *ret_n = n;
    return n > 0;
}

static bool decode_a_label(struct pl_str label, struct u_label *ret)
{
    uint32_t points[MAX_LABEL], n;
    size_t len = 0;

    if (!punycode_decode(pl_str_slice(label, 4, label.len), points, &n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        len += pl_utf8_put(ret->bytes + len, points[i]);
    ret->bytes[len] = 0;
    ret->len = len;
    return true;
}

struct range {
    uint32_t from, to;
};

static bool is_in(uint32_t code_point, const struct range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (code_point >= ranges[i].from && code_point <= ranges[i].to)
            return true;
    return false;
}

#define IS_IN(code_point, ranges) is_in(code_point, ranges, sizeof(ranges) / sizeof *(ranges))

/* Ranges of the code points that IDNA allows: right-to-left ones (their digits and marks cannot
 * begin a label that libidn2 accepts), the two kinds of digits that the Bidi rule distinguishes,
 * and all neutral ones. */
static const struct range right_to_left[] = {
    {0x590, 0x6ef}, {0x6fa, 0x8ff}, {0xfe73, 0xfe73}, {0x10800, 0x10fff}, {0x1e800, 0x1efff}};
static const struct range european_digits[] = {{'0', '9'}, {0x6f0, 0x6f9}};
static const struct range arabic_digits[] = {{0x660, 0x669}, {0x10d30, 0x10d39}};
static const struct range neutrals[] = {
    {0xb7, 0xb7},     {0x2b9, 0x2ba},   {0x2c6, 0x2cf},   {0x2ec, 0x2ec},   {0x375, 0x375},
    {0x2e2f, 0x2e2f}, {0x30fb, 0x30fb}, {0xa67f, 0xa67f}, {0xa717, 0xa71f}, {0xa788, 0xa788}};

/* The parts of RFC 5893, section 2, that libidn2 does not check. A left-to-right label must obey
 * them only if another label of the name is right-to-left; the caller decides. */
static bool check_direction(struct pl_str label, struct pl_idn_label *info)
{
    bool has_european = false, has_arabic = false;
    uint32_t first = 0, last = 0;

    for (size_t at = 0; at < label.len;) {
        bool is_first = at == 0;
        last = (uint32_t)pl_utf8_next(label, &at);
        if (is_first)
            first = last;
        has_european |= IS_IN(last, european_digits);
        has_arabic |= IS_IN(last, arabic_digits);
    }
    info->is_right_to_left = IS_IN(first, right_to_left);
    info->suits_right_to_left =
        info->is_right_to_left ||
        (!IS_IN(first, european_digits) && !IS_IN(first, neutrals) && !IS_IN(last, neutrals));
    return !(has_european && has_arabic);
}

/* A label with characters outside ASCII; `a_label` is empty if it was written in Unicode. */
static bool check_u_label(const struct u_label *label, struct pl_str a_label, int flags,
                          struct pl_idn_label *ret)
{
    struct pl_str text = {label->bytes, label->len};
    struct pl_idn_label info = {0};
    uint8_t *ascii = NULL;
    bool is_valid;

    if (is_ascii(text) || memchr(text.ptr, 0, text.len) || has_double_hyphen(text) ||
        text.ptr[0] == '-' || text.ptr[text.len - 1] == '-' || !check_direction(text, &info))
        return false;
    if (idn2_register_u8((const uint8_t *)text.ptr, NULL, &ascii, flags) != IDN2_OK)
        return false;
    info.n_ascii = (uint32_t)strlen((const char *)ascii);
    is_valid = info.n_ascii <= MAX_LABEL;
    /* Only one spelling is valid: decoding and encoding again must give the same label. */
    for (size_t i = 0; is_valid && i < a_label.len; i++)
        is_valid = info.n_ascii == a_label.len && (char)ascii[i] == pl_ascii_lower(a_label.ptr[i]);
    idn2_free(ascii);
    if (is_valid)
        *ret = info;
    return is_valid;
}

static bool check_ascii_label(struct pl_str label, enum pl_idn_kind kind, struct pl_idn_label *ret)
{
    struct u_label decoded;
    struct pl_idn_label info = {.n_ascii = (uint32_t)label.len};

    if (!is_ldh(label))
        return false;
    if (has_double_hyphen(label) && pl_ascii_lower(label.ptr[0]) == 'x' &&
        pl_ascii_lower(label.ptr[1]) == 'n')
        return decode_a_label(label, &decoded) && check_u_label(&decoded, label, 0, ret);
    if (has_double_hyphen(label) && kind == PL_IDN_U)
        return false;
    if (!check_direction(label, &info))
        return false;
    *ret = info;
    return true;
}

bool pl_idn_label_check(struct pl_str label, enum pl_idn_kind kind, struct pl_idn_label *ret_label)
{
    struct u_label copy;

    if (is_ascii(label))
        return check_ascii_label(label, kind, ret_label);
    if (kind == PL_IDN_ASCII || label.len > MAX_U_BYTES)
        return false;
    memcpy(copy.bytes, label.ptr, label.len);
    copy.bytes[label.len] = 0;
    copy.len = label.len;
    return check_u_label(&copy, (struct pl_str){0}, kind == PL_IDN_MAIL ? IDN2_NFC_INPUT : 0,
                         ret_label);
}
