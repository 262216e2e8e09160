/* The data of vendors.c, for calling (vendor.c) and listing (model.c, probe.c). */
#ifndef PL_MODEL_VENDORS_INT_H
#define PL_MODEL_VENDORS_INT_H

#include "base/arena.h"
#include "model/model_counts.h"
#include "model/vendor/vendors.h"

#include <stdatomic.h>

/* The models that a server reported. */
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
    const struct pl_profile *profile;     /* NULL to choose by the model's name */
    const struct pl_model_info *families; /* one for every context size */
    size_t n_families;
    const struct pl_model_info *models; /* the listed ones */
    size_t n_models;
    bool is_local;
    _Atomic(struct pl_found_models *) found; /* owned; NULL until it reported them */
};

struct pl_alias {
    struct pl_model_info info;
    const struct pl_str *targets;   /* arena */
    struct pl_cooldown **cooldowns; /* arena; of each target; NULL if there is no other target */
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
    struct pl_cooldown *cooldowns; /* arena; one for each model of any chain */
    size_t n_cooldowns;
    int64_t cooldown_ms, demo_word_ms;
    struct pl_model_counts_table *counts; /* shared across reloads */
};

/* Fills the list entry of a vendor's model. */
enum pl_status pl_model_info_make(struct pl_arena *arena, const struct pl_vendor *vendor,
                                  struct pl_str model, struct pl_model_info *ret_info);

/* The counters of a target; NULL if not counted. */
struct pl_model_counts *pl_target_counts(const struct pl_model_target *target);

/* --- vendor_names.c */

/* Resolves a name with or without its provider, but not an alias. Returns false if nobody has
 * it. */
bool pl_model_resolve(const struct pl_models *models, struct pl_str name,
                      struct pl_model_target *ret_target);
/* Returns the i-th listed model, aliases first; NULL after the last. */
const struct pl_model_info *pl_vendors_model_at(const struct pl_models *models, size_t i);
/* True if the name is safe in JSON and in a URL without escaping. No real model has any other
 * name. */
bool pl_model_name_is_safe(struct pl_str name);
/* Returns NULL if there is no such alias. */
const struct pl_model_info *pl_alias_find(const struct pl_models *models, struct pl_str name);

#endif
