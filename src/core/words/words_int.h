/* The table that tools/gen_words.py makes of words/zh-CN. */
#ifndef PL_WORDS_INT_H
#define PL_WORDS_INT_H

#include "base/str.h"

enum {
    PL_WORDS_HOLES_MAX = 9,
    PL_WORDS_HOLE = '\x01', /* a hole; in the Chinese a letter follows, which tells which and how */
    PL_WORDS_NUMBER = '\x02', /* after a hole of the English: only digits stand in it */
    PL_WORDS_COPIED =
        'a',             /* the first hole, copied; the next letters are those of the next holes */
    PL_WORDS_SAID = 'A', /* the first hole, said in Chinese */
    PL_WORDS_LISTED = '0', /* the first hole, a list: "a, b or c" */
};

struct pl_words_row {
    struct pl_str english, chinese; /* each is followed by a NUL */
};

/* Sentences without holes, by bytes. */
extern const struct pl_words_row pl_words_whole[];
extern const size_t pl_words_n_whole;
/* Sentences with holes, those with most bytes outside of their holes first. */
extern const struct pl_words_row pl_words_holed[];
extern const size_t pl_words_n_holed;

#endif
