/* The index for AVX-512 with VBMI2: 64 bytes in one register, masks in mask registers. */
#include "json/index.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512                                                                                     \
    __attribute__((                                                                                \
        target("avx2,avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,pclmul,bmi,bmi2,popcnt")))

AVX512 static inline uint64_t prefix_xor(uint64_t bits)
{
    __m128i ones = _mm_set1_epi8((char)0xFF);
    return (uint64_t)_mm_cvtsi128_si64(
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), ones, 0));
}

/* The set bits' numbers as bytes, packed to the front, then widened: thirty-two at once, whether
 * they are there or not, since most blocks have fewer. */
AVX512 static inline uint16_t *put_offsets(uint16_t *to, uint64_t bits, uint32_t off)
{
    static const _Alignas(64) uint8_t numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    uint16_t *end = to + __builtin_popcountll(bits);
    __m512i packed = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(numbers));
    __m512i base = _mm512_set1_epi16((short)off);
    __m512i wide = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(packed));
    _mm512_storeu_si512(to, _mm512_add_epi16(base, wide));
    if (__builtin_expect(end > to + 32, 0)) {
        wide = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(packed, 1));
        _mm512_storeu_si512(to + 32, _mm512_add_epi16(base, wide));
    }
    return end;
}

#include "json/index_block.h"

enum { QUOTE = 1, BACKSLASH = 2, OP = 4, SPACE = 8, CONTROL = 16, LETTER = 32 };

/* Class bits of the 128 ASCII characters: one permutation looks all 64 bytes up. */
static const _Alignas(64) uint8_t class_of[128] = {
    [0 ... 8] = CONTROL,
    [9] = CONTROL | SPACE,
    [10] = CONTROL | SPACE,
    [11 ... 12] = CONTROL,
    [13] = CONTROL | SPACE,
    [14 ... 31] = CONTROL,
    [' '] = SPACE,
    ['"'] = QUOTE | LETTER,
    ['\\'] = BACKSLASH | LETTER,
    ['b'] = LETTER,
    ['f'] = LETTER,
    ['n'] = LETTER,
    ['r'] = LETTER,
    ['t'] = LETTER,
    ['{'] = OP,
    ['}'] = OP,
    ['['] = OP,
    [']'] = OP,
    [':'] = OP,
    [','] = OP,
};

AVX512 static inline struct block_classes classify(const char *p, __m512i *seen)
{
    const __m512i low = _mm512_load_si512(class_of), high = _mm512_load_si512(class_of + 64);
    __m512i in = _mm512_loadu_si512(p);
    *seen = _mm512_or_si512(*seen, in);
    /* 0x7F has no class, so it can stand for all that is not ASCII. */
    __m512i ascii = _mm512_min_epu8(in, _mm512_set1_epi8(0x7F));
    __m512i class = _mm512_permutex2var_epi8(low, ascii, high);
    return (struct block_classes){
        .quote = _mm512_test_epi8_mask(class, _mm512_set1_epi8(QUOTE)),
        .backslash = _mm512_test_epi8_mask(class, _mm512_set1_epi8(BACKSLASH)),
        .op = _mm512_test_epi8_mask(class, _mm512_set1_epi8(OP)),
        .space = _mm512_test_epi8_mask(class, _mm512_set1_epi8(SPACE)),
        .control = _mm512_test_epi8_mask(class, _mm512_set1_epi8(CONTROL)),
        .letter = _mm512_test_epi8_mask(class, _mm512_set1_epi8(LETTER)),
    };
}

AVX512 void pl_json_index_avx512(struct pl_json_masks *m, const char *p, size_t n_bytes)
{
    __m512i seen =
        _mm512_setzero_si512();  /* all bytes, or'ed: its top bits say what is not ASCII */
    struct pl_json_masks s = *m; /* a copy nobody else can see stays in registers */
    uint32_t off = 0;
    for (; off + PL_JSON_BLOCK <= n_bytes; off += PL_JSON_BLOCK) {
        struct block_classes c = classify(p + off, &seen);
        index_block(&s, &c, off);
    }
    if (off < n_bytes) {
        struct block_classes c = classify(p + n_bytes - PL_JSON_BLOCK, &seen);
        keep_last(&c, n_bytes - off);
        index_block(&s, &c, off);
    }
    *m = s;
    m->not_ascii |= _mm512_movepi8_mask(seen);
}
#else
void pl_json_index_avx512(struct pl_json_masks *m, const char *p, size_t n_bytes)
{
    pl_json_index_scalar(m, p, n_bytes);
}
#endif
