/* Texts of an answer, decoded and shortened to be shown: memory for them, and whether it ran out.
 * The functions that make one then return an empty text, and the caller checks once, at the end. */
#ifndef PL_APP_TEXTS_H
#define PL_APP_TEXTS_H

#include "base/arena.h"

struct pl_texts {
    struct pl_arena arena; /* owned */
    bool is_cut;           /* out of memory: a text is missing */
};

#endif
