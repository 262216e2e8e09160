/* The terms a text is found by, and those a question looks for: what a database needs to index and
 * to rank, in a form every database takes as it is (words between single spaces, of letters and
 * digits only).
 *
 * Words are lower case without accents; a plural 's' goes (the S rules of Harman: ponies, pony).
 * Scripts written without spaces (Chinese, Japanese, Thai …) give every character and every pair of
 * neighbours, so that a word of two characters is one term. */
#ifndef PL_BASE_TERMS_H
#define PL_BASE_TERMS_H

#include "base/buf.h"

#define PL_TERMS_MAX_WORD 64 /* bytes; a longer word is cut */

/* Appends the terms of a text, in its order, doubles included (they count for the rank). */
void pl_terms_of_text(struct pl_str text, struct pl_buf *to);

enum pl_terms_query {
    PL_TERMS_ASKED,   /* words that occur in every other sentence (the, of …) are left out, unless
                       * there are no others */
    PL_TERMS_TYPING,  /* the same, and the last word may go on: it is marked with a '*' after it */
    PL_TERMS_TELLING, /* such words are left out always: there may be no term at all */
};

/* Appends the terms of a question, each once, at most 32: of a pair of characters only the pair. */
void pl_terms_of_query(struct pl_str text, enum pl_terms_query kind, struct pl_buf *to);

/* The term at *at, which moves past it; false at the end. */
static inline bool pl_terms_next(struct pl_str terms, size_t *at, struct pl_str *ret_term)
{
    if (*at >= terms.len)
        return false;
    const char *space = memchr(terms.ptr + *at, ' ', terms.len - *at);
    size_t end = space ? (size_t)(space - terms.ptr) : terms.len;
    *ret_term = pl_str_slice(terms, *at, end);
    *at = end + 1;
    return true;
}

#endif
