/* The search terms of a text, and those of a query. A database needs them to index and to rank, and
 * every database accepts their form (words of letters and digits, separated by single spaces).
 *
 * Words are lower case without accents and without a plural 's' (the S rules of Harman: ponies,
 * pony). Scripts written without spaces (Chinese, Japanese, Thai …) give every character and every
 * pair of neighbours, so that a word of two characters is one term. */
#ifndef PL_BASE_TERMS_H
#define PL_BASE_TERMS_H

#include "base/buf.h"

#define PL_TERMS_MAX_WORD 64 /* bytes; longer words are cut */

/* Appends the terms of a text, in order, with repetitions (they count for the rank). */
void pl_terms_of_text(struct pl_str text, struct pl_buf *to);

enum pl_terms_query {
    PL_TERMS_ASKED,   /* very common words (the, of …) are left out, unless there are no others */
    PL_TERMS_TYPING,  /* the same, but the last word may be incomplete: a '*' is appended to it */
    PL_TERMS_TELLING, /* common words are always left out: there may be no terms at all */
};

/* Appends the terms of a query, each once, at most 32; for a pair of characters, only the pair. */
void pl_terms_of_query(struct pl_str text, enum pl_terms_query kind, struct pl_buf *to);

/* The term at *at; moves *at past it. False at the end. */
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
