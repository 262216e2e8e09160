/* The portable index: the reference for the vector versions. */
static inline unsigned long long prefix_xor(unsigned long long bits)
{
    for (int shift = 1; shift < 64; shift <<= 1)
        bits ^= bits << shift;
    return bits;
}

static inline unsigned short *put_offsets(unsigned short *to, unsigned long long bits, unsigned off)
{
    for (; bits; bits &= bits - 1)
        *to++ = (unsigned short)(off + (unsigned)__builtin_ctzll(bits));
    return to;
}

#include "json/parse/index_block.h"

enum { QUOTE = 1, BACKSLASH = 2, OP = 4, SPACE = 8, CONTROL = 16, NOT_ASCII = 32 };

static const uint8_t class_of[256] = {
    [0 ... 8] = CONTROL,
    [9] = CONTROL | SPACE,
    [10] = CONTROL | SPACE,
    [11 ... 12] = CONTROL,
    [13] = CONTROL | SPACE,
    [14 ... 31] = CONTROL,
    [' '] = SPACE,
    ['"'] = QUOTE,
    ['\\'] = BACKSLASH,
    ['{'] = OP,
    ['}'] = OP,
    ['['] = OP,
    [']'] = OP,
    [':'] = OP,
    [','] = OP,
    [128 ... 255] = NOT_ASCII,
};

/* Gathers the lowest bit of each of the eight bytes; the first byte's bit is the lowest. */
static inline uint64_t gather(uint64_t bytes)
{
    return (bytes & 0x0101010101010101) * 0x0102040810204080 >> 56;
}

/* Leaves out `letter`, which would cost more than it saves: stage two checks every escape. */
static inline struct block_classes classify(const char *p)
{
    struct block_classes c = {0};
    for (int i = 0; i < PL_JSON_BLOCK; i += 8) {
        /* The classes of eight bytes as one word; a multiplication gathers one bit of each. */
        uint64_t classes = 0;
        for (int k = 0; k < 8; k++)
            classes |= (uint64_t)class_of[(unsigned char)p[i + k]] << 8 * k;
        c.quote |= gather(classes) << i;
        c.backslash |= gather(classes >> 1) << i;
        c.op |= gather(classes >> 2) << i;
        c.space |= gather(classes >> 3) << i;
        c.control |= gather(classes >> 4) << i;
        c.not_ascii |= gather(classes >> 5) << i;
    }
    return c;
}

void pl_json_index_scalar(struct pl_json_masks *m, const char *p, size_t n_bytes)
{
    struct pl_json_masks s = *m; /* a private copy stays in registers */
    uint32_t off = 0;
    for (; off + PL_JSON_BLOCK <= n_bytes; off += PL_JSON_BLOCK) {
        struct block_classes c = classify(p + off);
        index_block(&s, &c, off);
    }
    if (off < n_bytes) {
        struct block_classes c = classify(p + n_bytes - PL_JSON_BLOCK);
        keep_last(&c, n_bytes - off);
        index_block(&s, &c, off);
    }
    *m = s;
}
