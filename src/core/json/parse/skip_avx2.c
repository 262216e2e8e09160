/* Skipping for AVX2: 64 bytes as two vectors of 32. */
#include "json/parse/skip.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,pclmul,bmi,bmi2,popcnt")))

AVX2 static inline uint64_t prefix_xor(uint64_t bits)
{
    __m128i ones = _mm_set1_epi8((char)0xFF);
    return (uint64_t)_mm_cvtsi128_si64(
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), ones, 0));
}

#include "json/parse/skip_block.h"

/* Where (p[i] | fold) == byte. */
AVX2 static inline uint64_t find_byte(const char *p, char fold, char byte)
{
    const __m256i folds = _mm256_set1_epi8(fold), bytes = _mm256_set1_epi8(byte);
    __m256i low = _mm256_or_si256(_mm256_loadu_si256((const __m256i *)p), folds);
    __m256i high = _mm256_or_si256(_mm256_loadu_si256((const __m256i *)(p + 32)), folds);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, bytes)) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, bytes)) << 32;
}

AVX2 static inline uint64_t quotes(const char *p)
{
    return find_byte(p, 0, '"');
}

AVX2 static inline uint64_t backslashes(const char *p)
{
    return find_byte(p, 0, '\\');
}

/* [ and { differ in one bit, and so do ] and }. */
AVX2 static inline uint64_t opens(const char *p)
{
    return find_byte(p, 0x20, '{');
}

AVX2 static inline uint64_t brackets(const char *p)
{
    return opens(p) | find_byte(p, 0x20, '}');
}

AVX2 size_t pl_json_skip_avx2(struct pl_json_skip *skip, const char *p, size_t n_bytes)
{
    SKIP_BLOCKS;
}
#else
size_t pl_json_skip_avx2(struct pl_json_skip *skip, const char *p, size_t n_bytes)
{
    return pl_json_skip_scalar(skip, p, n_bytes);
}
#endif
