/* The service tier of an answer: each API has its own names for it. */
#ifndef PL_FORMAT_PIECES_TIER_H
#define PL_FORMAT_PIECES_TIER_H

#include "format/writer.h"

enum pl_tier_api { PL_TIER_CHAT, PL_TIER_RESPONSES, PL_TIER_ANTHROPIC, PL_TIER_GEMINI };

/* The name that an API has for a tier of any API; NULL: it has none. */
const char *pl_tier_word(enum pl_tier_api api, struct pl_str tier);
/* Writes the member `key` with that name, if the API has one. */
void pl_tier_write(struct pl_writer *w, enum pl_tier_api api, const char *key, struct pl_val tier);

#endif
