/* Finds the special bytes of a JSON string, sixteen bytes at a time, one bit each. SSE2 is part of
 * every x86-64; elsewhere the compiler vectorises the loops if it can. */
#ifndef PL_JSON_SCAN16_H
#define PL_JSON_SCAN16_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { PL_SCAN16 = 16 };

/* The backslashes. */
static inline uint32_t pl_scan16_backslashes(const char *p)
{
#ifdef __SSE2__
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
#else
    uint32_t bits = 0;
    for (int i = 0; i < PL_SCAN16; i++)
        bits |= (uint32_t)(p[i] == '\\') << i;
    return bits;
#endif
}

/* The bytes that equal a or b. */
static inline uint32_t pl_scan16_either(const char *p, char a, char b)
{
#ifdef __SSE2__
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    __m128i is_a = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(a));
    __m128i is_b = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(is_a, is_b));
#else
    uint32_t bits = 0;
    for (int i = 0; i < PL_SCAN16; i++)
        bits |= (uint32_t)(p[i] == a || p[i] == b) << i;
    return bits;
#endif
}

/* The bytes that are the same in both. */
static inline uint32_t pl_scan16_same(const char *p, const char *q)
{
#ifdef __SSE2__
    __m128i a = _mm_loadu_si128((const __m128i *)p), b = _mm_loadu_si128((const __m128i *)q);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
#else
    uint32_t bits = 0;
    for (int i = 0; i < PL_SCAN16; i++)
        bits |= (uint32_t)(p[i] == q[i]) << i;
    return bits;
#endif
}

/* Bytes that must be escaped in a string: quotes, backslashes, control characters. */
static inline uint32_t pl_scan16_specials(const char *p)
{
#ifdef __SSE2__
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, backslashes), controls));
#else
    uint32_t bits = 0;
    for (int i = 0; i < PL_SCAN16; i++)
        bits |= (uint32_t)(p[i] == '"' || p[i] == '\\' || (unsigned char)p[i] < 0x20) << i;
    return bits;
#endif
}

#endif
