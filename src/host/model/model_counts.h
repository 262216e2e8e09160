/* Counters of each model for /metrics: calls, errors, retries, fallbacks, times, tokens and cost.
 * Thread-safe.
 *
 * A model has its own counters if the configuration, the vendor's list or its server names it. All
 * other models of a provider share the row "other", so a client cannot create rows by inventing
 * names. One table lives as long as the server: a reload passes it on. */
#ifndef PL_MODEL_COUNTS_H
#define PL_MODEL_COUNTS_H

#include "base/str.h"
#include "model/vendor/vendor_stats.h"

#define PL_MODEL_COUNTS_MAX 512 /* rows; later models are counted as "other" */

struct pl_model_counts {
    _Atomic(int64_t) n_calls, n_errors, n_retries;
    _Atomic(int64_t) n_fallbacks; /* another model was called instead */
    _Atomic(int64_t) input, output, cached, cost_micro;
    struct pl_vendor_times first, whole; /* as in vendor_stats.h */
};

struct pl_model_counts_table; /* owned jointly by all pl_models that have it */

/* Returns NULL if out of memory. */
struct pl_model_counts_table *pl_model_counts_create(void);
void pl_model_counts_release(struct pl_model_counts_table *table); /* accepts NULL */
/* After a reload: `models` continues the counters of `before`. */
void pl_model_counts_inherit(struct pl_models *models, const struct pl_models *before);

/* Finds the counters of "provider/model"; NULL if nothing is counted. */
struct pl_model_counts *pl_model_counts_find(const struct pl_models *models, struct pl_str name);
/* Adds to one counter; accepts NULL. */
void pl_model_counts_add(struct pl_model_counts *counts, size_t member, int64_t n);
#define PL_MODEL_COUNT(counts, member, n)                                                          \
    pl_model_counts_add((counts), offsetof(struct pl_model_counts, member), (n))

/* Returns the i-th row; NULL after the last. The names live as long as the table. */
const struct pl_model_counts *pl_model_counts_at(const struct pl_models *models, size_t i,
                                                 struct pl_str *ret_provider,
                                                 struct pl_str *ret_model);

#endif
