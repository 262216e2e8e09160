/* Sentences in two languages, as a table: what was said in English, said again in Chinese. */
#ifndef PL_BASE_PHRASE_H
#define PL_BASE_PHRASE_H

#include "base/buf.h"

/* A sentence and the same in Chinese. * stands for words, which are said in Chinese too where they
 * are in the table; the digits 1 to 4 after a $ say where they go. The first that fits counts. */
struct pl_phrase {
    const char *english, *chinese;
};

/* Appends `text` in Chinese; false: it is not in the table, and nothing is appended. `table` ends
 * with a phrase of NULL. */
bool pl_phrase_translate(const struct pl_phrase *table, struct pl_str text, struct pl_buf *to);

#endif
