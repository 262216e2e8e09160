/* Splits text into words, numbers, symbols and white space, like the patterns of the encodings. */
#ifndef PL_TOKENS_SPLIT_INT_H
#define PL_TOKENS_SPLIT_INT_H

#include "tokens/tokens.h"

/* The same order as CLASSES in tools/gen_vocab.mjs. */
enum char_class {
    CHAR_OTHER,
    CHAR_NEWLINE, /* \r \n */
    CHAR_SPACE,   /* other white space */
    CHAR_NUMBER,  /* \p{N} */
    CHAR_MARK,    /* \p{M} */
    CHAR_UPPER,   /* \p{Lu} \p{Lt} */
    CHAR_LOWER,   /* \p{Ll} */
    CHAR_LETTER,  /* \p{Lm} \p{Lo} */
};

enum { CHAR_BLOCK_BITS = 8 };

/* Class of code point c: pl_char_class[pl_char_block[c >> 8] << 8 | (c & 255)]. Block 0 comes
 * first. */
extern const unsigned char pl_char_block[];
extern const unsigned char pl_char_class[];

/* The run of CHAR_LETTER code points around U+4E00. */
extern const uint32_t pl_char_han_first, pl_char_han_last;

/* Returns the end of the piece that begins at `at` < text.len. */
typedef size_t pl_split_fn(struct pl_str text, size_t at);

extern pl_split_fn *const pl_split_fns[PL_ENCODING_COUNT];

#endif
