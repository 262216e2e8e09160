/* Validation follows Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte":
 * three table look-ups per byte, on the nibbles of a byte and its predecessor, give a set of the
 * errors that pair could be part of; what remains after intersecting the three is an error. The
 * fast path only answers yes or no per block; the scalar one finds the exact byte. */
#include "base/text/utf8.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The smallest second byte. Smaller ones are overlong forms. */
static unsigned char low_second(unsigned char lead)
{
    return lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
}

/* Length of the well-formed sequence at p (n bytes left), or 0. */
static size_t sequence_length(const unsigned char *p, size_t n)
{
    unsigned char lead = p[0];
    if (lead < 0x80)
        return 1;
    size_t len = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (len == 0 || len > n)
        return 0;
    /* The second byte reveals overlong forms, surrogates and values above U+10FFFF. */
    unsigned char low = low_second(lead);
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return len;
}

static size_t valid_prefix_scalar(const unsigned char *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint64_t word;
        while (n - i >= 8) {
            memcpy(&word, p + i, 8);
            if (word & 0x8080808080808080)
                break;
            i += 8;
        }
        if (i == n)
            break;
        size_t len = sequence_length(p + i, n - i);
        if (len == 0)
            break;
        i += len;
    }
    return i;
}

#if defined(__x86_64__)
enum {
    TOO_SHORT = 1 << 0, /* a lead byte not followed by a continuation */
    TOO_LONG = 1 << 1,  /* ASCII followed by a continuation */
    OVERLONG_3 = 1 << 2,
    TOO_LARGE = 1 << 3, /* above U+10FFFF */
    SURROGATE = 1 << 4,
    OVERLONG_2 = 1 << 5,
    TOO_LARGE_1000 = 1 << 6, /* F5 and above, or F4 90 and above */
    OVERLONG_4 = 1 << 6,
    TWO_CONTS = 1 << 7,
    CARRY = TOO_SHORT | TOO_LONG | TWO_CONTS,
};

#define TABLE(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                      \
    _mm256_broadcastsi128_si256(_mm_setr_epi8(                                                     \
        (char)(a), (char)(b), (char)(c), (char)(d), (char)(e), (char)(f), (char)(g), (char)(h),    \
        (char)(i), (char)(j), (char)(k), (char)(l), (char)(m), (char)(n), (char)(o), (char)(p)))

#define AVX2 __attribute__((target("avx2")))

/* The bytes of `in` moved up by n, filled from the end of the previous block. */
#define SHIFTED(in, before, n)                                                                     \
    _mm256_alignr_epi8(in, _mm256_permute2x128_si256(before, in, 0x21), 16 - (n))

AVX2 static inline __m256i block_errors(__m256i in, __m256i before)
{
    const __m256i by_high_of_first =
        TABLE(TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
              TWO_CONTS, TWO_CONTS, TWO_CONTS, TWO_CONTS, TOO_SHORT | OVERLONG_2, TOO_SHORT,
              TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | TOO_LARGE_1000);
    enum { LARGE = CARRY | TOO_LARGE | TOO_LARGE_1000 };
    const __m256i by_low_of_first =
        TABLE(CARRY | OVERLONG_2 | OVERLONG_3 | OVERLONG_4, CARRY | OVERLONG_2, CARRY, CARRY,
              CARRY | TOO_LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE, LARGE,
              LARGE | SURROGATE, LARGE, LARGE);
    enum { CONT = TOO_LONG | OVERLONG_2 | TWO_CONTS };
    const __m256i by_high_of_second =
        TABLE(TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
              TOO_SHORT, CONT | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4,
              CONT | OVERLONG_3 | TOO_LARGE, CONT | SURROGATE | TOO_LARGE,
              CONT | SURROGATE | TOO_LARGE, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT);
    const __m256i low_nibble = _mm256_set1_epi8(0x0F);

    __m256i first = SHIFTED(in, before, 1);
    __m256i special = _mm256_and_si256(
        _mm256_and_si256(
            _mm256_shuffle_epi8(by_high_of_first,
                                _mm256_and_si256(_mm256_srli_epi16(first, 4), low_nibble)),
            _mm256_shuffle_epi8(by_low_of_first, _mm256_and_si256(first, low_nibble))),
        _mm256_shuffle_epi8(by_high_of_second,
                            _mm256_and_si256(_mm256_srli_epi16(in, 4), low_nibble)));
    /* Two continuation bytes in a row are correct in third and fourth bytes. */
    __m256i third = _mm256_subs_epu8(SHIFTED(in, before, 2), _mm256_set1_epi8(0xE0 - 0x80));
    __m256i fourth =
        _mm256_subs_epu8(SHIFTED(in, before, 3), _mm256_set1_epi8((char)(0xF0 - 0x80)));
    __m256i wanted = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
    return _mm256_xor_si256(wanted, special);
}

/* Whether the 64 bytes at p, after the vector `before`, have no error. */
AVX2 static inline bool is_block_valid(const unsigned char *p, __m256i *before)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)p);
    __m256i b = _mm256_loadu_si256((const __m256i *)(p + 32));
    /* ASCII after ASCII needs no more checks; an open sequence of the previous block shows in the
     * top bits of its last three bytes. */
    bool is_ascii = !_mm256_movemask_epi8(_mm256_or_si256(a, b)) &&
                    !((unsigned)_mm256_movemask_epi8(*before) >> 29);
    __m256i last = *before;
    *before = b;
    if (is_ascii)
        return true;
    __m256i errors = _mm256_or_si256(block_errors(a, last), block_errors(b, a));
    return _mm256_testz_si256(errors, errors);
}

/* Whether a sequence begins in the last three bytes before `end` and goes on after it. */
static bool is_open_at(const unsigned char *end)
{
    return end[-1] >= 0xC0 || end[-2] >= 0xE0 || end[-3] >= 0xF0;
}

/* Whether fewer than 64 bytes before `end` have no error. At least 96 bytes before them are
 * well-formed, so checking some of these again is harmless. */
AVX2 static bool is_rest_valid(const unsigned char *end)
{
    __m256i before = _mm256_loadu_si256((const __m256i *)(end - 96));
    return is_block_valid(end - 64, &before) && !is_open_at(end);
}

AVX2 static size_t valid_prefix_avx2(const unsigned char *p, size_t n)
{
    __m256i before = _mm256_setzero_si256();
    size_t i = 0;
    while (n - i >= 64 && is_block_valid(p + i, &before))
        i += 64;
    if (n - i < 64 && i >= 96) {
        if (is_rest_valid(p + n))
            return n;
    } else if (n - i < 64) {
        /* Zeros after the end make a cut-off sequence too short. */
        unsigned char tail[64] = {0};
        memcpy(tail, p + i, n - i);
        if (is_block_valid(tail, &before))
            return n;
    }
    /* Everything before i is well-formed, but a sequence may extend past i: go back to its lead. */
    for (size_t back = 1; back <= 3 && back <= i && p[i - back] >= 0x80; back++)
        if (p[i - back] >= 0xC0) {
            i -= back;
            break;
        }
    return i + valid_prefix_scalar(p + i, n - i);
}
#endif

size_t pl_utf8_valid_prefix_with(enum pl_cpu cpu, struct pl_str s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
#if defined(__x86_64__)
    if (cpu != PL_CPU_SCALAR && s.len >= 64)
        return valid_prefix_avx2(p, s.len);
#endif
    (void)cpu;
    return valid_prefix_scalar(p, s.len);
}

size_t pl_utf8_valid_prefix(struct pl_str s)
{
    return pl_utf8_valid_prefix_with(s.len >= 64 ? pl_cpu_best() : PL_CPU_SCALAR, s);
}

bool pl_utf8_is_cut(struct pl_str tail)
{
    if (tail.len == 0 || tail.len > 3)
        return false;
    /* Filled up with the smallest continuation bytes, it must be a longer sequence than before. */
    unsigned char whole[4] = {(unsigned char)tail.ptr[0], low_second((unsigned char)tail.ptr[0]),
                              0x80, 0x80};
    memcpy(whole, tail.ptr, tail.len);
    return sequence_length(whole, sizeof whole) > tail.len;
}

size_t pl_utf8_count(struct pl_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    return n;
}

int32_t pl_utf8_next(struct pl_str s, size_t *at)
{
    const unsigned char *p = (const unsigned char *)s.ptr + *at;
    size_t len = sequence_length(p, s.len - *at);
    *at += len ? len : 1;
    switch (len) {
    case 1:
        return p[0];
    case 2:
        return (p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    case 3:
        return (p[0] & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    case 4:
        return (p[0] & 0x07) << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F);
    default:
        return -1;
    }
}

size_t pl_utf8_put(char to[4], uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3F));
    to[2] = (char)(0x80 | (c >> 6 & 0x3F));
    to[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}
