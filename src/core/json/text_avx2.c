/* Decoding and scanning strings with AVX2: thirty-two bytes at once, whatever is escaped in them. A
 * table packs the kept bytes, eight at a time. */
#include "json/text_int.h"

#if defined(__x86_64__)
#include "json/escaped.h"
#include "json/parse/index_places.h"

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

enum { BLOCK = 32 };

/* Constants and tables for every block. */
struct tables {
    __m256i backslash, unicode, before_letters, low_bits;
    __m256i meaning;   /* meaning of the letters b, f, n, r and t, by the four bits above the lowest
                        * one */
    __m256i from, bit; /* for each byte, the byte of a mask and the bit in it */
    __m128i upper;
};

/* A vector that the compiler does not recompute for every block. */
AVX2 static inline __m256i kept_in_register(__m256i bytes)
{
    __asm__("" : "+x"(bytes));
    return bytes;
}

AVX2 static inline __m256i every(char byte)
{
    return kept_in_register(_mm256_set1_epi8(byte));
}

AVX2 static inline struct tables make_tables(void)
{
    const __m128i meaning =
        _mm_setr_epi8(0, '\b', 0, '\f', 0, 0, 0, '\n', 0, '\r', '\t', 0, 0, 0, 0, 0);
    return (struct tables){
        .backslash = every('\\'),
        .unicode = every('u'),
        .before_letters = every(0x5F),
        .low_bits = every(0x0F),
        .meaning = _mm256_broadcastsi128_si256(meaning),
        .from = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303),
        .bit = kept_in_register(_mm256_set1_epi64x((long long)0x8040201008040201)),
        .upper = _mm256_castsi256_si128(every(8)),
    };
}

AVX2 static inline uint32_t equal(__m256i in, __m256i byte)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(in, byte));
}

/* All ones in the bytes whose bit is set. */
AVX2 static inline __m256i bytes_of(uint32_t bits, const struct tables *t)
{
    __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), t->from);
    return _mm256_cmpeq_epi8(_mm256_and_si256(spread, t->bit), t->bit);
}

/* Characters that an escape leaves unchanged come before the letters in ASCII. */
AVX2 static inline __m256i meanings(__m256i in, uint32_t escaped, const struct tables *t)
{
    __m256i place = _mm256_and_si256(_mm256_srli_epi16(in, 1), t->low_bits);
    __m256i is_letter = _mm256_cmpgt_epi8(in, t->before_letters);
    return _mm256_blendv_epi8(in, _mm256_shuffle_epi8(t->meaning, place),
                              _mm256_and_si256(bytes_of(escaped, t), is_letter));
}

/* Packs the bytes of a half whose bit is set; always writes sixteen. */
AVX2 static inline char *put_half(char *to, __m128i half, uint32_t kept, const struct tables *t)
{
    __m128i first = _mm_loadl_epi64((const __m128i *)&bit_places[kept & 0xFF]);
    __m128i second = _mm_loadl_epi64((const __m128i *)&bit_places[kept >> 8]);
    _mm_storel_epi64((__m128i *)to, _mm_shuffle_epi8(half, first));
    to += __builtin_popcount(kept & 0xFF);
    _mm_storel_epi64((__m128i *)to, _mm_shuffle_epi8(half, _mm_or_si128(second, t->upper)));
    return to + __builtin_popcount(kept >> 8);
}

/* Decodes the block at p up to a \u; one byte less if its last byte is a backslash. Returns the
 * number of bytes read. */
AVX2 static inline size_t decode_block(char **to, const char *p, const struct tables *t)
{
    __m256i in = _mm256_loadu_si256((const __m256i *)p);
    uint32_t backslash = equal(in, t->backslash);
    if (!backslash) {
        _mm256_storeu_si256((__m256i *)*to, in);
        *to += BLOCK;
        return BLOCK;
    }
    uint64_t carry = 0;
    uint32_t escaped = (uint32_t)pl_json_find_escaped(backslash, &carry);
    uint32_t starts = backslash & ~escaped;
    uint32_t stop = (equal(in, t->unicode) & escaped) >> 1 | (starts & 1u << (BLOCK - 1));
    uint32_t there = stop ? (stop & -stop) - 1 : ~0u, kept = there & ~starts;
    __m256i out = meanings(in, escaped, t);
    *to = put_half(*to, _mm256_castsi256_si128(out), kept & 0xFFFF, t);
    *to = put_half(*to, _mm256_extracti128_si256(out, 1), kept >> 16, t);
    return stop ? (size_t)__builtin_ctz(stop) : BLOCK;
}

AVX2 size_t pl_json_decode_avx2(char *to, struct pl_str *raw)
{
    const struct tables t = make_tables();
    char *start = to;
    const char *p = raw->ptr, *end = p + raw->len;
    /* The room left is never less than the text left. */
    while (end - p >= BLOCK) {
        p += decode_block(&to, p, &t);
        if (end - p >= 2 && p[0] == '\\' && p[1] == 'u') {
            const char *at = p;
            to += pl_json_decode_escape(&at, end, to);
            p = at;
        }
    }
    *raw = (struct pl_str){p, (size_t)(end - p)};
    return (size_t)(to - start);
}
#else
size_t pl_json_decode_avx2(char *to, struct pl_str *raw)
{
    (void)to;
    (void)raw;
    return 0;
}
#endif
