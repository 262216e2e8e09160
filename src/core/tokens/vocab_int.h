/* Internals of a vocabulary: its embedded form, and the tables built from it.
 *
 * The rank and the id of a token are the same number. A token of more than one byte is merged from
 * exactly two older tokens (its split). Merging never makes it from any other two: if two
 * neighbours together spell the token, they were merged step by step in the same way as the token's
 * own bytes are. So one split per token fully describes merging. */
#ifndef PL_TOKENS_VOCAB_INT_H
#define PL_TOKENS_VOCAB_INT_H

#include "tokens/tokens.h"

#include <string.h>

struct special_token {
    struct pl_str text;
    uint32_t id;
};

/* Written by tools/gen_vocab.mjs. `packed` is a stream of bits, lowest first: each of the 256
 * single-byte tokens as its byte, then the two parts of each further token, each in as many bits as
 * the largest id before it needs. */
struct vocab_source {
    struct pl_str packed;
    uint32_t n_tokens;
    uint32_t n_text_bytes; /* of all tokens together */
    const struct special_token *specials;
    size_t n_specials;
};

extern const struct vocab_source pl_vocab_sources[PL_ENCODING_COUNT];

enum {
    VOCAB_ID_BITS = 18,     /* bits of an id */
    VOCAB_EXACT_BYTES = 12, /* longest token that a slot holds itself */
    VOCAB_SINGLE = 256,     /* number of single-byte tokens; they come first */
    VOCAB_MASK_BITS = 16,   /* 2^16 length masks */
    VOCAB_MASKED = 6,       /* the token length of bit 0 of a length mask */
    VOCAB_LONG = 37,        /* the token length of bit 31, which also covers all longer ones */
    VOCAB_SHORT_BITS = 16,  /* 2^16 short masks */
    VOCAB_SLACK = 16,       /* bytes after the text, all zero: a copy may run past its end */
    VOCAB_BORDER_BITS = 20, /* 2^20 bits about borders: 128 KiB */
    VOCAB_BORDER_BYTES = 3, /* at most, on each side of a border */
    VOCAB_FILTER_BITS = 15, /* 2^15 words in each filter: 256 KiB */
    VOCAB_CHAR_BYTES = 3,   /* length of the characters that have tables of their own */
    VOCAB_TWO_BITS = 16,    /* bits of two bytes */
    VOCAB_CODE_BITS = 16,   /* bits that identify a three-byte character */
    VOCAB_PAIR_BITS = 14,   /* 2^14 places for pairs of them: less than half are used */
    VOCAB_MORE_BITS = 32 - VOCAB_ID_BITS, /* lengths in a prefix */
};

#define VOCAB_NO_ID ((UINT32_C(1) << VOCAB_ID_BITS) - 1)

/* 16 bytes: four to a cache line. Tokens of up to 12 bytes are compared in the slot alone. */
struct token_slot {
    uint64_t head;                 /* first 8 bytes, zero after the end */
    uint32_t middle;               /* next 4 */
    uint32_t id : 24, n_bytes : 8; /* n_bytes is 0 in a free slot */
};

/* The two parts that a token was merged from (both are the token itself if it is one byte), and the
 * start of its text. The text ends where that of the next token starts. */
struct token_split {
    uint64_t left : VOCAB_ID_BITS, right : VOCAB_ID_BITS, start : 64 - 2 * VOCAB_ID_BITS;
};

/* The tokens that begin with certain bytes: the token that is exactly these bytes (or VOCAB_NO_ID),
 * and the lengths of the longer ones. Bit 0 is one byte more; the last bit covers all longer
 * lengths. */
struct token_prefix {
    uint32_t id : VOCAB_ID_BITS, more : VOCAB_MORE_BITS;
};

/* The same for two characters of three bytes each. `codes` holds both; it is 0 if the place is
 * free, and then no token begins with them. */
struct token_pair {
    uint32_t codes;
    struct token_prefix prefix;
};

/* A Bloom filter with three bits of one word for each entry of a table. An entry that lacks one of
 * its bits is not in the table. A table is too large for the fast caches, but a filter is not, and
 * most lookups while encoding a piece find nothing. */
struct token_filter {
    uint64_t words[1u << VOCAB_FILTER_BITS];
};

struct pl_tokens {
    const struct vocab_source *source; /* static */
    enum pl_encoding encoding;
    uint32_t n_slots;
    uint32_t max_bytes;         /* of the longest token */
    struct token_slot *slots;   /* owned; bytes -> id, linear probing */
    struct token_split *splits; /* owned; by id; one extra entry ends the last token */
    char *text;                 /* owned; all tokens one after the other, then VOCAB_SLACK bytes */
    uint32_t *masks;            /* owned; by hash of the first 6 bytes: lengths of the tokens */
    uint8_t *short_masks;       /* owned; by hash of 4 bytes: bit n if a token has n = 4, 5 bytes */
    struct token_filter *has_token; /* owned; filter of slots */
    uint64_t *borders;      /* owned; bits by hash of the bytes around the border of two parts */
    uint16_t *border_kinds; /* owned; by the two bytes at a border: kinds of borders */
    uint32_t *twos;         /* owned; by two bytes: their token, or VOCAB_NONE */
    struct token_prefix *chars; /* owned; by the 16 bits of a character of three bytes */
    struct token_pair *pairs;   /* owned; by hash of two such characters, linear probing */
    uint32_t n_pairs;
    uint32_t byte_ids[256];
};

#define VOCAB_NONE UINT32_MAX

static inline uint32_t vocab_len(const struct pl_tokens *v, uint32_t id)
{
    return (uint32_t)(v->splits[id + 1].start - v->splits[id].start);
}

static inline const char *vocab_text(const struct pl_tokens *v, uint32_t id)
{
    return v->text + v->splits[id].start;
}

/* Converts bytes that were copied into a number, so that the first byte is lowest on any
 * machine. */
static inline uint64_t vocab_little64(uint64_t bytes)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(bytes);
#else
    return bytes;
#endif
}

static inline uint32_t vocab_little32(uint32_t bytes)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(bytes);
#else
    return bytes;
#endif
}

/* The first 12 bytes as numbers, zero after the end. */
struct token_key {
    uint64_t head;
    uint32_t middle;
};

/* Masks for the key, by length. A table, because a processor cannot predict the lengths. */
extern const struct token_key pl_vocab_keep[VOCAB_EXACT_BYTES + 1];

/* `n_readable` bytes may be read at p, even beyond n. */
static inline struct token_key vocab_key(const char *p, size_t n, size_t n_readable)
{
    struct token_key key;
    char copy[VOCAB_EXACT_BYTES];
    if (n_readable < VOCAB_EXACT_BYTES) {
        memset(copy, 0, sizeof copy);
        memcpy(copy, p, n_readable);
        p = copy;
    }
    const struct token_key *keep = &pl_vocab_keep[n < VOCAB_EXACT_BYTES ? n : VOCAB_EXACT_BYTES];
    memcpy(&key.head, p, sizeof key.head);
    memcpy(&key.middle, p + sizeof key.head, sizeof key.middle);
    key.head = vocab_little64(key.head) & keep->head;
    key.middle = vocab_little32(key.middle) & keep->middle;
    return key;
}

/* The hash needs no secret: the contents of the tables are fixed, so the longest chain is known. */
static inline uint64_t vocab_token_hash(struct token_key key, const char *p, size_t n)
{
    uint64_t tail = 0;
    if (n > VOCAB_EXACT_BYTES)
        memcpy(&tail, p + n - sizeof tail, sizeof tail);
    uint64_t hash = (key.head ^ n) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ (hash >> 29) ^ key.middle ^ tail * 31) * UINT64_C(0xd6e8feb86659fd93);
}

static inline uint32_t vocab_place(const struct pl_tokens *v, uint64_t hash)
{
    return (uint32_t)(((hash >> 32) * v->n_slots) >> 32);
}

static inline uint32_t vocab_next_place(const struct pl_tokens *v, uint32_t at)
{
    return at + 1 < v->n_slots ? at + 1 : 0;
}

static inline uint64_t vocab_filter_bits(uint64_t hash)
{
    return UINT64_C(1) << (hash >> 43 & 63) | UINT64_C(1) << (hash >> 37 & 63) |
           UINT64_C(1) << (hash >> 31 & 63);
}

static inline bool vocab_filter_has(const struct token_filter *filter, uint64_t hash)
{
    uint64_t bits = vocab_filter_bits(hash);
    return (filter->words[hash >> (64 - VOCAB_FILTER_BITS)] & bits) == bits;
}

static inline bool vocab_slot_holds(const struct pl_tokens *v, const struct token_slot *slot,
                                    struct token_key key, const char *p, size_t n)
{
    return slot->head == key.head && slot->middle == key.middle && slot->n_bytes == n &&
           (n <= VOCAB_EXACT_BYTES || memcmp(vocab_text(v, slot->id) + VOCAB_EXACT_BYTES,
                                             p + VOCAB_EXACT_BYTES, n - VOCAB_EXACT_BYTES) == 0);
}

/* Returns the token spelled by the n > 0 bytes at p, or VOCAB_NONE. */
static inline uint32_t vocab_find(const struct pl_tokens *v, const char *p, size_t n,
                                  size_t n_readable)
{
    if (n > v->max_bytes)
        return VOCAB_NONE;
    struct token_key key = vocab_key(p, n, n_readable);
    uint64_t hash = vocab_token_hash(key, p, n);
    if (!vocab_filter_has(v->has_token, hash))
        return VOCAB_NONE;
    for (uint32_t at = vocab_place(v, hash); v->slots[at].n_bytes; at = vocab_next_place(v, at))
        if (vocab_slot_holds(v, &v->slots[at], key, p, n))
            return v->slots[at].id;
    return VOCAB_NONE;
}

static inline uint32_t vocab_mask_place(const char *p)
{
    uint32_t four;
    uint16_t two;
    memcpy(&four, p, sizeof four);
    memcpy(&two, p + sizeof four, sizeof two);
    uint64_t six = four | (uint64_t)two << 32;
    return (uint32_t)((six * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - VOCAB_MASK_BITS));
}

static inline uint32_t vocab_short_place(const char *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    return (four * UINT32_C(0x9e3779b1)) >> (32 - VOCAB_SHORT_BITS);
}

/* True if the bytes at p look like a character of three bytes; at least three must be readable.
 * Some invalid UTF-8 passes too and is a key like any other. */
static inline bool vocab_is_char(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return u[0] >> 4 == 0xE && u[1] >> 6 == 2 && u[2] >> 6 == 2;
}

/* The 16 bits of the character at p. */
static inline uint32_t vocab_char(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return (u[0] & 0x0Fu) << 12 | (u[1] & 0x3Fu) << 6 | (u[2] & 0x3Fu);
}

/* Returns the entry of two characters, or the free place for it. */
static inline struct token_pair *vocab_pair(const struct pl_tokens *v, uint32_t codes)
{
    const uint32_t last = (1u << VOCAB_PAIR_BITS) - 1;
    uint32_t at = (codes * UINT32_C(0x9e3779b1)) >> (32 - VOCAB_PAIR_BITS);
    /* A branch on the first place would be unpredictable, so there is none. */
    at = (at + ((v->pairs[at].codes != 0) & (v->pairs[at].codes != codes))) & last;
    while (v->pairs[at].codes && v->pairs[at].codes != codes)
        at = (at + 1) & last;
    return &v->pairs[at];
}

/* Two bytes as an index. */
static inline uint32_t vocab_two(const char *p)
{
    return (uint32_t)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

/* The bits of `more` for lengths of at most n more bytes. */
static inline uint32_t vocab_more_up_to(size_t n)
{
    return (1u << (n < VOCAB_MORE_BITS ? n : VOCAB_MORE_BITS)) - 1;
}

/* The three bytes before p, the last one lowest, and the three at p, the first one lowest. Three
 * bytes before p and four at p must be readable. */
static inline uint32_t vocab_left_of(const char *p)
{
    uint32_t bytes;
    memcpy(&bytes, p - VOCAB_BORDER_BYTES, sizeof bytes);
    return __builtin_bswap32(vocab_little32(bytes)) >> 8;
}

static inline uint32_t vocab_right_of(const char *p)
{
    uint32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return vocab_little32(bytes);
}

/* The bit for the bytes around the border of two tokens: up to three on each side, fewer if the
 * token is shorter. */
static inline uint32_t vocab_border(uint32_t left, unsigned n_left, uint32_t right,
                                    unsigned n_right)
{
    uint64_t key = left & ((1u << 8 * n_left) - 1);
    key = key << 24 | (right & ((1u << 8 * n_right) - 1));
    key = key << 4 | n_left << 2 | n_right;
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - VOCAB_BORDER_BITS));
}

/* Borders between ASCII characters are not stored, because some token crosses nearly every one. */
static inline bool vocab_is_plain_border(const char *border)
{
    return ((unsigned char)border[-1] | (unsigned char)border[0]) < 0x80;
}

/* The bit of a kind of border. A kind is the number of bytes that count on each side. */
static inline unsigned vocab_border_kind(unsigned n_left, unsigned n_right)
{
    return 1u << ((n_left - 1) << 2 | (n_right - 1));
}

static inline bool vocab_has_border(const struct pl_tokens *v, uint32_t border)
{
    return v->borders[border / 64] >> (border % 64) & 1;
}

#endif
