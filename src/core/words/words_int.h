/* The table that tools/gen_words.py generates from words/zh-CN. */
#ifndef PL_WORDS_INT_H
#define PL_WORDS_INT_H

#include "base/str.h"

enum {
    PL_WORDS_HOLES_MAX = 9,
    PL_WORDS_HOLE = '\x01',   /* a hole; in the Chinese a letter follows: which one, and how */
    PL_WORDS_NUMBER = '\x02', /* after a hole in the English: it holds only digits */
    PL_WORDS_COPIED = 'a',    /* first hole, copied; the following letters are the next holes */
    PL_WORDS_SAID = 'A',      /* first hole, translated */
    PL_WORDS_LISTED = '0',    /* first hole, a list: "a, b or c" */
};

struct pl_words_row {
    struct pl_str english, chinese; /* each is followed by a NUL */
};

/* Sentences without holes, sorted by bytes. */
extern const struct pl_words_row pl_words_whole[];
extern const size_t pl_words_n_whole;
/* Sentences with holes, sorted by the number of bytes outside of the holes, longest first. */
extern const struct pl_words_row pl_words_holed[];
extern const size_t pl_words_n_holed;

#endif
