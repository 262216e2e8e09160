/* Stores cards of tools by name: the page loads a card from its own address, under its own
 * policy. */
#ifndef PL_AGENT_TOOLS_CARD_KEEP_H
#define PL_AGENT_TOOLS_CARD_KEEP_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"

/* If the result has a card with HTML: writes the result with "card_url" and "sha256" in /_meta/ui,
 * and adds the card to the batch. False: no card, or no memory; the result is unchanged. The name
 * of a card is derived from its session and its text, so nobody can guess it without having seen
 * it. */
bool pl_card_keep(struct pl_arena *arena, struct pl_str session_id, struct pl_str result,
                  struct pl_batch *batch, struct pl_buf *to);

#endif
