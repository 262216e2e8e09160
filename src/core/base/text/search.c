/* A position is checked only if the first and the last byte of the part both match; 64 positions
 * are compared at once. */
#include "base/text/search.h"

#include <assert.h>

#if defined(__x86_64__)
#include <immintrin.h>

/* Of 32 positions, those where both bytes match. */
__attribute__((target("avx2,bmi"))) static inline __m256i both_match(const char *p, size_t to_last,
                                                                     __m256i first, __m256i last)
{
    __m256i heads = _mm256_loadu_si256((const __m256i *)p);
    __m256i tails = _mm256_loadu_si256((const __m256i *)(p + to_last));
    return _mm256_and_si256(_mm256_cmpeq_epi8(heads, first), _mm256_cmpeq_epi8(tails, last));
}

/* Stops when fewer than 64 positions are left: *ret_at is the first of them. */
__attribute__((target("avx2,bmi"))) static bool search_avx2(struct pl_str s, struct pl_str part,
                                                            size_t *ret_at)
{
    const size_t to_last = part.len - 1;
    const __m256i first = _mm256_set1_epi8(part.ptr[0]);
    const __m256i last = _mm256_set1_epi8(part.ptr[to_last]);
    const char *p = s.ptr;
    for (size_t left = s.len; left >= to_last + 64; left -= 64, p += 64) {
        __m256i low = both_match(p, to_last, first, last);
        __m256i high = both_match(p + 32, to_last, first, last);
        __m256i any = _mm256_or_si256(low, high);
        if (__builtin_expect(_mm256_testz_si256(any, any), 1))
            continue;
        uint64_t places = (uint32_t)_mm256_movemask_epi8(low) |
                          (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
        for (; places; places &= places - 1) {
            const char *at = p + __builtin_ctzll(places);
            if (memcmp(at, part.ptr, part.len) == 0) {
                *ret_at = (size_t)(at - s.ptr);
                return true;
            }
        }
    }
    *ret_at = (size_t)(p - s.ptr);
    return false;
}
#endif

size_t pl_str_search(struct pl_str s, struct pl_str part)
{
    return pl_str_search_with(pl_cpu_best(), s, part);
}

size_t pl_str_search_with(enum pl_cpu cpu, struct pl_str s, struct pl_str part)
{
    size_t from = 0;
    assert(part.len);
#if defined(__x86_64__)
    if (cpu >= PL_CPU_AVX2 && search_avx2(s, part, &from))
        return from;
#else
    (void)cpu;
#endif
    size_t at = pl_str_find(pl_str_slice(s, from, s.len), part);
    return at == SIZE_MAX ? SIZE_MAX : from + at;
}
