/* The end of a vendor's answer, in the words of model.h. */
#ifndef PL_MODEL_VENDOR_SAID_INT_H
#define PL_MODEL_VENDOR_SAID_INT_H

#include "base/arena.h"
#include "model/vendor/vendors_int.h"
#include "stream/hear.h"

struct pl_vendor_said {
    const struct pl_model_target *target; /* borrowed; who answered */
    struct pl_heard_end end;              /* its strings are the call's */
    int64_t started_ms, first_ms;
    bool has_told;    /* the first words were told, at first_ms */
    bool has_refused; /* the model would not answer */
};

/* JSON: usage and timing of the answer; usage is empty where the vendor said nothing of it. */
void pl_vendor_said_usage(struct pl_buf *to, const struct pl_vendor_said *said);
void pl_vendor_said_timing(struct pl_buf *to, const struct pl_vendor_said *said, int64_t now_ms);
/* Who answered: with the vendor's name, as the turn was asked for. */
void pl_vendor_said_model(struct pl_buf *to, const struct pl_vendor_said *said);
/* An answer that did not end of its own accord says so, for the person who reads it; empty: it
 * did. */
void pl_vendor_said_notice(struct pl_buf *to, const struct pl_vendor_said *said);
/* JSON: members of seed 001, A.6. `cites`: those of a citation_map. */
void pl_vendor_said_about(struct pl_buf *to, const struct pl_vendor_said *said,
                          struct pl_arena *arena, struct pl_str cites);

#endif
