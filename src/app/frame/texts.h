/* Memory for texts of an answer that are decoded or shortened for display. If it runs out, the
 * functions that make a text return an empty one and set is_cut; the caller checks once, at the
 * end. */
#ifndef PL_APP_TEXTS_H
#define PL_APP_TEXTS_H

#include "base/arena.h"

struct pl_texts {
    struct pl_arena arena; /* owned */
    bool is_cut;           /* out of memory: some text is missing */
};

#endif
