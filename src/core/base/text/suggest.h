/* "Did you mean": the nearest known word to a mistyped one. */
#ifndef PL_BASE_TEXT_SUGGEST_H
#define PL_BASE_TEXT_SUGGEST_H

#include "base/str.h"

struct pl_suggest {
    struct pl_str typed;
    const char *best; /* NULL until a near enough word was offered */
    unsigned distance;
};

struct pl_suggest pl_suggest(struct pl_str typed);
void pl_suggest_offer(struct pl_suggest *suggest, const char *word);

#endif
