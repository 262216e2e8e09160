/* A table of English sentences and their Chinese translations. */
#ifndef PL_BASE_PHRASE_H
#define PL_BASE_PHRASE_H

#include "base/buf.h"

/* An English sentence and its Chinese translation. * matches any words, which are translated too if
 * the table has them; $1 to $4 insert them. The first match wins. */
struct pl_phrase {
    const char *english, *chinese;
};

/* Appends `text` in Chinese; false: not in the table, nothing is appended. `table` ends with a
 * phrase of NULL. */
bool pl_phrase_translate(const struct pl_phrase *table, struct pl_str text, struct pl_buf *to);

#endif
