/* What Parley says, in Chinese.
 *
 * The program speaks English inside; a text is said again in Chinese where it leaves for a person who
 * wants that. words/zh-CN has the sentences. One with holes fits every text that has its pieces in
 * their order; what stands in a hole is copied as it is, or, where the Chinese has a star in that
 * hole, said in Chinese too. */
#ifndef PL_WORDS_WORDS_H
#define PL_WORDS_WORDS_H

#include "base/buf.h"

/* The Chinese of a text that is a sentence without holes; the text itself where there is none. Lives
 * as long as the program, or as long as the text. */
const char *pl_words_of(const char *english);

/* Appends a text in Chinese. False: there is no Chinese for it, and it was appended as it is. A text
 * that was cut off and ends in "…" (struct pl_error) is found by its beginning. */
bool pl_words_add(struct pl_buf *to, struct pl_str english);

#endif
