/* The index for AVX2: 64 bytes as two vectors of 32. */
#include "json/parse/index.h"
#include "json/parse/index_places.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,pclmul,bmi,bmi2,popcnt")))

/* A carry-less multiplication by all ones is a prefix parity. */
AVX2 static inline uint64_t prefix_xor(uint64_t bits)
{
    __m128i ones = _mm_set1_epi8((char)0xFF);
    return (uint64_t)_mm_cvtsi128_si64(
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), ones, 0));
}

/* Takes a byte of the mask at a time. A table has the positions of its bits; their number only
 * moves the pointer, so nothing is mispredicted. Always stores eight: the buffer has room for one
 * more block. */
AVX2 static inline uint16_t *put_offsets(uint16_t *to, uint64_t bits, uint32_t off)
{
    __m128i base = _mm_set1_epi16((short)off), step = _mm_set1_epi16(8);
    for (unsigned i = 0; i < 64; i += 8) {
        unsigned byte = bits >> i & 0xFF;
        __m128i places = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)&bit_places[byte]));
        _mm_storeu_si128((__m128i *)to, _mm_add_epi16(places, base));
        /* Otherwise the compiler recomputes each sum from its number, in three steps. */
        base = _mm_add_epi16(base, step);
        __asm__("" : "+x"(base));
        to += __builtin_popcount(byte);
    }
    return to;
}

#include "json/parse/index_block.h"

AVX2 static inline uint64_t mask_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

AVX2 static inline __m256i table_of(const char bytes[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)bytes));
}

#define BOTH(op, value) mask_of(op(low, value), op(high, value))

/* Constants that every block is compared with. */
struct tables {
    __m256i space, op, letter_low, letter_high;
    __m256i quote, backslash, last_control;
    __m256i seen; /* OR of all bytes: a top bit is set if any is not ASCII */
};

/* A vector that the compiler does not recompute for every block. */
AVX2 static inline __m256i every(char byte)
{
    __m256i bytes = _mm256_set1_epi8(byte);
    __asm__("" : "+x"(bytes));
    return bytes;
}

/* Zero for bytes that are not the letter of a usual escape. The two nibbles must agree on the
 * row. */
AVX2 static inline __m256i letters(__m256i in, const struct tables *tables)
{
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(in, 4), _mm256_set1_epi8(0x0F));
    return _mm256_and_si256(_mm256_shuffle_epi8(tables->letter_low, in),
                            _mm256_shuffle_epi8(tables->letter_high, high));
}

AVX2 static inline struct block_classes classify(const char *p, struct tables *tables)
{
    const __m256i fold = _mm256_set1_epi8(0x20), last_control = tables->last_control;
    __m256i low = _mm256_loadu_si256((const __m256i *)p);
    __m256i high = _mm256_loadu_si256((const __m256i *)(p + 32));
    tables->seen = _mm256_or_si256(tables->seen, _mm256_or_si256(low, high));
    struct block_classes c = {
        .quote = BOTH(_mm256_cmpeq_epi8, tables->quote),
        .backslash = BOTH(_mm256_cmpeq_epi8, tables->backslash),
        .op = mask_of(
            _mm256_cmpeq_epi8(_mm256_or_si256(low, fold), _mm256_shuffle_epi8(tables->op, low)),
            _mm256_cmpeq_epi8(_mm256_or_si256(high, fold), _mm256_shuffle_epi8(tables->op, high))),
        .space = mask_of(_mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(tables->space, low)),
                         _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(tables->space, high))),
        .control = mask_of(_mm256_cmpeq_epi8(_mm256_max_epu8(low, last_control), last_control),
                           _mm256_cmpeq_epi8(_mm256_max_epu8(high, last_control), last_control)),
    };
    if (c.backslash)
        c.letter = ~mask_of(_mm256_cmpeq_epi8(letters(low, tables), _mm256_setzero_si256()),
                            _mm256_cmpeq_epi8(letters(high, tables), _mm256_setzero_si256()));
    return c;
}

AVX2 void pl_json_index_avx2(struct pl_json_masks *m, const char *p, size_t n_bytes)
{
    /* Indexed by the low nibble: the only white space character, or operator, with that nibble
     * (operators are folded by 0x20, so that [ and { share an entry); elsewhere a byte with another
     * nibble, so that nothing matches. Folding also accepts 0x0C and 0x1A as operators; stage two
     * refuses them like any stray byte. */
    static const char spaces[16] = {' ', 2, 1, 1, 1, 1, 1, 1, 1, '\t', '\n', 1, 1, '\r', 1, 1};
    static const char ops[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ':', '{', ',', '}', 1, 1};
    /* Rows of ASCII: 1 is 0x2_ ("), 2 is 0x5_ (\\), 4 is 0x6_ (b f n), 8 is 0x7_ (r t). */
    static const char low_nibbles[16] = {[2] = 1 | 4 | 8, [4] = 8, [6] = 4, [0xC] = 2, [0xE] = 4};
    static const char high_nibbles[16] = {[2] = 1, [5] = 2, [6] = 4, [7] = 8};
    struct tables tables = {
        .space = table_of(spaces),
        .op = table_of(ops),
        .letter_low = table_of(low_nibbles),
        .letter_high = table_of(high_nibbles),
        .quote = every('"'),
        .backslash = every('\\'),
        .last_control = every(0x1F),
        .seen = _mm256_setzero_si256(),
    };

    struct pl_json_masks s = *m; /* a private copy stays in registers */
    uint32_t off = 0;
    for (; off + PL_JSON_BLOCK <= n_bytes; off += PL_JSON_BLOCK) {
        struct block_classes c = classify(p + off, &tables);
        index_block(&s, &c, off);
    }
    if (off < n_bytes) {
        struct block_classes c = classify(p + n_bytes - PL_JSON_BLOCK, &tables);
        keep_last(&c, n_bytes - off);
        index_block(&s, &c, off);
    }
    *m = s;
    m->not_ascii |= (uint32_t)_mm256_movemask_epi8(tables.seen);
}
#else
void pl_json_index_avx2(struct pl_json_masks *m, const char *p, size_t n_bytes)
{
    pl_json_index_scalar(m, p, n_bytes);
}
#endif
