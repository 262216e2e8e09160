/* Decoding and quoting with AVX-512 and VBMI2: a whole block of escapes at once. Masks compress or
 * expand the bytes of a register, so the cost does not depend on the number of escapes. */
#include "json/text_int.h"

#if defined(__x86_64__)
#include "json/escaped.h"

#include <immintrin.h>

#define AVX512                                                                                     \
    __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,"        \
                          "popcnt")))

enum { DECODED = 64, QUOTED = 32 };

/* Meaning of each escape letter; the other characters stand for themselves. */
static const _Alignas(64) char meanings[128] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* Decodes up to n bytes at p; fewer if they contain a \u or end with a backslash. Returns the
 * number of bytes read. */
AVX512 static inline size_t decode_block(char **to, const char *p, size_t n)
{
    const __m512i low = _mm512_load_si512(meanings), high = _mm512_load_si512(meanings + 64);
    uint64_t there = _bzhi_u64(~0ull, (unsigned)n), carry = 0;
    __m512i in = _mm512_maskz_loadu_epi8(there, p);
    uint64_t backslash = _mm512_cmpeq_epi8_mask(in, _mm512_set1_epi8('\\'));
    uint64_t escaped = pl_json_find_escaped(backslash, &carry), starts = backslash & ~escaped;
    uint64_t unicode = _mm512_mask_cmpeq_epi8_mask(escaped, in, _mm512_set1_epi8('u')) >> 1;
    /* The block ends before a partial escape and before the first \u. */
    uint64_t last = starts & ~(there >> 1), stop = unicode | last;
    there &= stop ? (stop & -stop) - 1 : ~0ull;
    __m512i out = _mm512_mask2_permutex2var_epi8(low, in, escaped, high);
    uint64_t kept = there & ~starts;
    uint64_t n_kept = (uint64_t)__builtin_popcountll(kept);
    _mm512_mask_storeu_epi8(*to, _bzhi_u64(~0ull, (unsigned)n_kept),
                            _mm512_maskz_compress_epi8(kept, out));
    *to += n_kept;
    return (size_t)__builtin_popcountll(there);
}

AVX512 size_t pl_json_decode_avx512(char *to, struct pl_str raw)
{
    char *start = to;
    const char *p = raw.ptr, *end = p + raw.len;
    while (p < end) {
        size_t left = (size_t)(end - p);
        p += decode_block(&to, p, left < DECODED ? left : DECODED);
        if (p + 1 < end && p[0] == '\\' && p[1] == 'u')
            to += pl_json_decode_escape(&p, end, to);
    }
    return (size_t)(to - start);
}

/* Escapes n bytes at p, which include no control character without a short escape. Each byte gets
 * two places; the first is used if it needs a backslash. Removing the empty places gives the
 * result. */
AVX512 static inline char *put_block(char *at, __m256i letters, uint32_t specials, size_t n)
{
    const uint64_t bytes = 0xAAAAAAAAAAAAAAAA;
    uint64_t places = _pdep_u64(specials, ~bytes) | bytes;
    uint64_t to = _pext_u64(bytes, places);
    _mm512_storeu_si512(
        at, _mm512_mask_expand_epi8(_mm512_set1_epi8('\\'), to, _mm512_castsi256_si512(letters)));
    return at + n + __builtin_popcount(specials);
}

AVX512 char *pl_json_escape_avx512(char *at, const char *p, const char *end)
{
    /* Escape letters of the control characters; u: no short form. */
    static const _Alignas(32) char letters_of[32] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
    const __m256i table = _mm256_load_si256((const __m256i *)letters_of);
    for (size_t n = QUOTED; p < end; p += n) {
        n = (size_t)(end - p) < QUOTED ? (size_t)(end - p) : QUOTED;
        uint32_t there = _bzhi_u32(~0u, (unsigned)n);
        __m256i in = _mm256_maskz_loadu_epi8(there, p);
        uint32_t quotes = _mm256_cmpeq_epi8_mask(in, _mm256_set1_epi8('"')) |
                          _mm256_cmpeq_epi8_mask(in, _mm256_set1_epi8('\\'));
        uint32_t controls = _mm256_mask_cmplt_epu8_mask(there, in, _mm256_set1_epi8(0x20));
        __m256i letters = _mm256_mask_permutexvar_epi8(in, controls, in, table);
        if (__builtin_expect(
                _mm256_mask_cmpeq_epi8_mask(controls, letters, _mm256_set1_epi8('u')) != 0, 0)) {
            for (size_t i = 0; i < n; i++)
                at += pl_json_escape(at, p[i]);
            continue;
        }
        at = put_block(at, letters, quotes | controls, n);
    }
    return at;
}
#else
size_t pl_json_decode_avx512(char *to, struct pl_str raw)
{
    return pl_json_decode_with(PL_CPU_SCALAR, to, raw);
}

char *pl_json_escape_avx512(char *at, const char *p, const char *end)
{
    for (; p < end; p++)
        at += pl_json_escape(at, *p);
    return at;
}
#endif
