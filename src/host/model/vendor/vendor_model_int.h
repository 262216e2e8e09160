/* Between vendor_request.c, which makes what vendors are sent, and vendor_model.c, which sends it.
 */
#ifndef PL_MODEL_VENDOR_MODEL_INT_H
#define PL_MODEL_VENDOR_MODEL_INT_H

#include "base/arena.h"
#include "model/model_int.h"
#include "model/vendor/vendors_int.h"

/* The models that are asked in turn, and what each is sent. */
struct pl_model_prepared {
    struct pl_arena arena; /* names */
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    struct pl_buf bodies[PL_VENDOR_MAX_CHAIN]; /* owned */
    /* arena; a sentence about the settings that do not reach this model; empty: all do */
    struct pl_str notices[PL_VENDOR_MAX_CHAIN];
    struct pl_str prefill; /* arena; emitted before the model's answer; empty: none */
    size_t n;
};

/* Headers that such a body needs, ended by NULL; NULL: none. */
const char *const *pl_vendor_model_headers(const struct pl_model_target *target);

#endif
