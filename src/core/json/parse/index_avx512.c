/* The index for AVX-512 with VBMI2: 64 bytes in one register, masks in mask registers. */
#include "json/parse/index.h"

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

/* The numbers of the set bits as bytes, packed to the front, then widened. Always stores thirty-two
 * at once, since most blocks have fewer. */
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

#include "json/parse/index_block.h"

enum { OP = 1, SPACE = 2, LETTER = 4 };

/* Class bits of the 128 ASCII characters: one permutation looks up all 64 bytes. */
static const _Alignas(64) uint8_t class_of[128] = {
    ['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE, [' '] = SPACE,  ['"'] = LETTER, ['\\'] = LETTER,
    ['b'] = LETTER, ['f'] = LETTER, ['n'] = LETTER, ['r'] = LETTER, ['t'] = LETTER, ['{'] = OP,
    ['}'] = OP,     ['['] = OP,     [']'] = OP,     [':'] = OP,     [','] = OP,
};

AVX512 static inline __m512i classes_of(__m512i in)
{
    const __m512i low = _mm512_load_si512(class_of), high = _mm512_load_si512(class_of + 64);
    /* 0x7F has no class, so it stands for every byte that is not ASCII. */
    __m512i ascii = _mm512_min_epu8(in, _mm512_set1_epi8(0x7F));
    return _mm512_permutex2var_epi8(low, ascii, high);
}

AVX512 static inline uint64_t letters(__m512i in)
{
    return _mm512_test_epi8_mask(classes_of(in), _mm512_set1_epi8(LETTER));
}

AVX512 static inline struct block_classes classify(__m512i in)
{
    return (struct block_classes){
        .quote = _mm512_cmpeq_epi8_mask(in, _mm512_set1_epi8('"')),
        .backslash = _mm512_cmpeq_epi8_mask(in, _mm512_set1_epi8('\\')),
        .op = _mm512_test_epi8_mask(classes_of(in), _mm512_set1_epi8(OP)),
        .space = _mm512_test_epi8_mask(classes_of(in), _mm512_set1_epi8(SPACE)),
        .control = _mm512_cmplt_epu8_mask(in, _mm512_set1_epi8(0x20)),
        .letter = letters(in),
    };
}

/* The same as index_block(), but skips the lookup for a block that is only string content. */
AVX512 static inline void index_bytes(struct pl_json_masks *m, __m512i in, uint32_t off)
{
    uint64_t quote = _mm512_cmpeq_epi8_mask(in, _mm512_set1_epi8('"'));
    uint64_t control = _mm512_cmplt_epu8_mask(in, _mm512_set1_epi8(0x20));
    uint64_t backslash = _mm512_cmpeq_epi8_mask(in, _mm512_set1_epi8('\\'));
    uint64_t escaped = pl_json_find_escaped(backslash, &m->is_escaped);
    if (!is_words(m, quote, control, escaped)) {
        struct block_classes c = classify(in);
        index_grammar(m, &c, escaped, off);
    } else if (backslash) {
        index_words(m, backslash & ~escaped, letters(in), off);
    } else {
        m->in_scalar = 0;
    }
}

AVX512 void pl_json_index_avx512(struct pl_json_masks *m, const char *p, size_t n_bytes)
{
    __m512i seen =
        _mm512_setzero_si512();  /* OR of all bytes: a top bit is set if any is not ASCII */
    struct pl_json_masks s = *m; /* a private copy stays in registers */
    uint32_t off = 0;
    for (; off + PL_JSON_BLOCK <= n_bytes; off += PL_JSON_BLOCK) {
        __m512i in = _mm512_loadu_si512(p + off);
        seen = _mm512_or_si512(seen, in);
        index_bytes(&s, in, off);
    }
    if (off < n_bytes) {
        __m512i in = _mm512_loadu_si512(p + n_bytes - PL_JSON_BLOCK);
        seen = _mm512_or_si512(seen, in);
        struct block_classes c = classify(in);
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
