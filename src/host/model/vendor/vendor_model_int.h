/* Shared by vendor_request.c, which builds requests to vendors, and vendor_model.c, which sends
 * them. */
#ifndef PL_MODEL_VENDOR_MODEL_INT_H
#define PL_MODEL_VENDOR_MODEL_INT_H

#include "base/arena.h"
#include "model/model_int.h"
#include "model/vendor/vendors_int.h"

/* The models of a chain, and the request for each. */
struct pl_model_prepared {
    struct pl_arena arena; /* names */
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    struct pl_buf bodies[PL_VENDOR_MAX_CHAIN]; /* owned */
    /* in the arena; notice about settings that do not reach this model; may be empty */
    struct pl_str notices[PL_VENDOR_MAX_CHAIN];
    struct pl_str prefill; /* arena; emitted before the model's answer; may be empty */
    size_t n;
};

/* Headers that such a body needs, ended by NULL; may be NULL. */
const char *const *pl_vendor_model_headers(const struct pl_model_target *target);

#endif
