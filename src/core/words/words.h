/* Chinese translations of the program's messages.
 *
 * The program uses English internally. A text is translated where it leaves for a person who wants
 * Chinese. words/zh-CN holds the sentences. A sentence with holes matches every text that has its
 * fixed parts in order. The text in a hole is copied, or translated as well if the Chinese sentence
 * marks that hole with a star. */
#ifndef PL_WORDS_WORDS_H
#define PL_WORDS_WORDS_H

#include "base/buf.h"

/* Returns the Chinese for a text that is a sentence without holes, or the text itself if there is
 * none. The result lives as long as the program or the text. */
const char *pl_words_of(const char *english);

/* Appends a text in Chinese. Returns false if there is no translation; the text was then appended
 * unchanged. A truncated text that ends in "…" (struct pl_error) is matched by its beginning. */
bool pl_words_add(struct pl_buf *to, struct pl_str english);

#endif
