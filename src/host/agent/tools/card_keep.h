/* Cards of tools by their names: the page loads a card from an address of its own, under a policy of its own. */
#ifndef PL_AGENT_TOOLS_CARD_KEEP_H
#define PL_AGENT_TOOLS_CARD_KEEP_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"

/* If the result has a card with HTML: writes the result with "card_url" and "sha256" in /_meta/ui, and puts the card into
 * the batch. False: there is none, or no memory; the result stays as it is. The name of a card comes of its session and
 * its text, so nobody can guess it who has not seen it. */
bool pl_card_keep(struct pl_arena *arena, struct pl_str session_id, struct pl_str result,
                  struct pl_batch *batch, struct pl_buf *to);

#endif
