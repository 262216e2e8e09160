#include "model/vendor/vendor_stats.h"

#include "model/vendor/vendors_int.h"

const int64_t pl_vendor_bounds_ms[PL_VENDOR_N_BOUNDS] = {50,   100,   250,   500,   1000,  2500,
                                                         5000, 10000, 30000, 60000, 300000};

void pl_vendor_stats_add(struct pl_vendor_stats *stats, size_t member)
{
    if (stats)
        atomic_fetch_add_explicit((_Atomic(int64_t) *)(void *)((char *)stats + member), 1,
                                  memory_order_relaxed);
}

void pl_vendor_times_note(struct pl_vendor_times *times, int64_t ms)
{
    size_t bucket = 0;
    if (!times)
        return;
    while (bucket < PL_VENDOR_N_BOUNDS && ms > pl_vendor_bounds_ms[bucket])
        bucket++;
    atomic_fetch_add_explicit(&times->n[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&times->sum_ms, ms, memory_order_relaxed);
}

const struct pl_vendor_stats *pl_vendor_stats_at(const struct pl_models *models, size_t i,
                                                 const char **ret_name)
{
    if (!models || i >= models->n_vendors)
        return NULL;
    *ret_name = models->vendors[i].vendor.name;
    return models->vendors[i].vendor.stats;
}

/* All members are numbers of the same type. */
static void copy(struct pl_vendor_stats *to, const struct pl_vendor_stats *from)
{
    enum { N = sizeof *to / sizeof(_Atomic(int64_t)) };
    _Atomic(int64_t) *out = (_Atomic(int64_t) *)(void *)to;
    const _Atomic(int64_t) *in = (const _Atomic(int64_t) *)(const void *)from;
    for (size_t i = 0; i < N; i++)
        atomic_store_explicit(&out[i], atomic_load_explicit(&in[i], memory_order_relaxed),
                              memory_order_relaxed);
}

void pl_vendor_stats_inherit(struct pl_models *models, const struct pl_models *before)
{
    pl_model_counts_inherit(models, before);
    for (size_t i = 0; i < models->n_vendors; i++)
        for (size_t k = 0; k < before->n_vendors; k++)
            if (strcmp(models->vendors[i].vendor.name, before->vendors[k].vendor.name) == 0)
                copy(models->vendors[i].vendor.stats, before->vendors[k].vendor.stats);
}
