/* The end of a vendor's answer, in the terms of model.h. */
#ifndef PL_MODEL_VENDOR_SAID_INT_H
#define PL_MODEL_VENDOR_SAID_INT_H

#include "base/arena.h"
#include "model/vendor/vendors_int.h"
#include "stream/hear.h"

struct pl_vendor_said {
    const struct pl_model_target *target; /* borrowed; the model that answered */
    struct pl_heard_end end;              /* its strings belong to the call */
    int64_t started_ms, first_ms;
    bool has_told;    /* the first text was emitted, at first_ms */
    bool has_refused; /* the model refused to answer */
};

/* Write JSON: usage and timing of the answer. Usage is empty if the vendor reported none. */
void pl_vendor_said_usage(struct pl_buf *to, const struct pl_vendor_said *said);
void pl_vendor_said_timing(struct pl_buf *to, const struct pl_vendor_said *said, int64_t now_ms);
/* The model that answered, with the vendor's name, as the turn requested it. */
void pl_vendor_said_model(struct pl_buf *to, const struct pl_vendor_said *said);
/* Writes a notice for the reader if the answer did not end normally; otherwise nothing. */
void pl_vendor_said_notice(struct pl_buf *to, const struct pl_vendor_said *said);
/* Writes JSON: members of seed 001, A.6. `cites` are the members of a citation_map. */
void pl_vendor_said_about(struct pl_buf *to, const struct pl_vendor_said *said,
                          struct pl_arena *arena, struct pl_str cites);

#endif
