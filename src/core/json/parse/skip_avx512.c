/* Skipping for AVX-512: 64 bytes in one register. */
#include "json/parse/skip.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx2,avx512f,avx512bw,avx512vl,pclmul,bmi,bmi2,popcnt")))

AVX512 static inline uint64_t prefix_xor(uint64_t bits)
{
    __m128i ones = _mm_set1_epi8((char)0xFF);
    return (uint64_t)_mm_cvtsi128_si64(
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), ones, 0));
}

#include "json/parse/skip_block.h"

/* Where (p[i] | fold) == byte. */
AVX512 static inline uint64_t find_byte(const char *p, char fold, char byte)
{
    __m512i in = _mm512_or_si512(_mm512_loadu_si512(p), _mm512_set1_epi8(fold));
    return _mm512_cmpeq_epi8_mask(in, _mm512_set1_epi8(byte));
}

AVX512 static inline uint64_t quotes(const char *p)
{
    return find_byte(p, 0, '"');
}

AVX512 static inline uint64_t backslashes(const char *p)
{
    return find_byte(p, 0, '\\');
}

/* [ and { differ in one bit, and so do ] and }. */
AVX512 static inline uint64_t opens(const char *p)
{
    return find_byte(p, 0x20, '{');
}

AVX512 static inline uint64_t brackets(const char *p)
{
    return opens(p) | find_byte(p, 0x20, '}');
}

AVX512 size_t pl_json_skip_avx512(struct pl_json_skip *skip, const char *p, size_t n_bytes)
{
    SKIP_BLOCKS;
}
#else
size_t pl_json_skip_avx512(struct pl_json_skip *skip, const char *p, size_t n_bytes)
{
    return pl_json_skip_scalar(skip, p, n_bytes);
}
#endif
