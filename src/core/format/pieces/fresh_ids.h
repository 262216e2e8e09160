/* Message ids for formats that require a unique id on every message. */
#ifndef PL_FORMAT_FRESH_IDS_H
#define PL_FORMAT_FRESH_IDS_H

#include "base/map.h"
#include "conv/conv.h"

struct pl_fresh_ids {
    struct pl_conv *conv; /* borrowed */
    const char *prefix;   /* static: "msg" makes msg_1, msg_2 … */
    struct pl_map used;   /* owned; ids of the source, value 1 once used */
    uint32_t n_made;
};

/* Collects the ids of all messages. Running out of memory is in conv->status. */
void pl_fresh_ids_init(struct pl_fresh_ids *ids, struct pl_conv *conv, const char *prefix);
void pl_fresh_ids_deinit(struct pl_fresh_ids *ids);

/* `wanted`, if it is a text that is not used yet; otherwise prefix_N with the smallest free N from
 * `number` on. */
struct pl_val pl_fresh_ids_take(struct pl_fresh_ids *ids, struct pl_val wanted, uint32_t number);

#endif
