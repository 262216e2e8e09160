/* What vendors.c keeps, for those who ask (vendor.c) and list (model.c, probe.c). */
#ifndef PL_MODEL_VENDORS_INT_H
#define PL_MODEL_VENDORS_INT_H

#include "base/arena.h"
#include "model/model_counts.h"
#include "model/vendor/vendors.h"

#include <stdatomic.h>

/* Models a server said it has. */
struct pl_found_models {
    struct pl_arena arena;
    const struct pl_model_info *models; /* arena */
    size_t n_models;
};

struct pl_vendor_own {
    struct pl_vendor vendor; /* first */
    const struct pl_format *format;
    const struct pl_dialect *dialect;
    struct pl_gate_limits limits;         /* of its gate */
    const struct pl_profile *profile;     /* NULL: by the model's name */
    const struct pl_model_info *families; /* one for every size of context there is */
    size_t n_families;
    const struct pl_model_info *models; /* those that are listed */
    size_t n_models;
    bool is_local;
    _Atomic(struct pl_found_models *) found; /* owned; NULL until it has said */
};

struct pl_alias {
    struct pl_model_info info;
    const struct pl_str *targets;   /* arena */
    struct pl_cooldown **cooldowns; /* arena; of each target. NULL: there is no other to be asked */
    size_t n_targets;
    struct pl_spread_state spread;
    const uint32_t *weights; /* arena; NULL: 1 each */
};

struct pl_models {
    struct pl_arena arena;
    struct pl_vendor_own *vendors; /* arena */
    size_t n_vendors;
    struct pl_alias *aliases; /* arena */
    size_t n_aliases;
    struct pl_cooldown *cooldowns; /* arena; one for each model of a chain, however many it is in */
    size_t n_cooldowns;
    int64_t cooldown_ms, demo_word_ms;
    struct pl_model_counts_table *counts; /* shared with those before and after a reload */
};

/* What is listed of a vendor's model. */
enum pl_status pl_model_info_make(struct pl_arena *arena, const struct pl_vendor *vendor,
                                  struct pl_str model, struct pl_model_info *ret_info);

/* The counts of a target; NULL: nobody counts. */
struct pl_model_counts *pl_target_counts(const struct pl_model_target *target);

/* --- vendor_names.c */

/* A name with or without its provider, no alias. False: nobody has it. */
bool pl_model_resolve(const struct pl_models *models, struct pl_str name,
                      struct pl_model_target *ret_target);
/* The i-th model that is listed, aliases first; NULL after the last. */
const struct pl_model_info *pl_vendors_model_at(const struct pl_models *models, size_t i);
/* Whether it can stand in JSON and in an address as it is; nobody's models are called otherwise. */
bool pl_model_name_is_safe(struct pl_str name);
/* NULL: no alias. */
const struct pl_model_info *pl_alias_find(const struct pl_models *models, struct pl_str name);

#endif
