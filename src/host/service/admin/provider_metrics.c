/* Counters and histograms by tables: a line for each, with its place in the numbers of a provider. */
#include "service/admin/provider_metrics.h"

#include "model/vendor_stats.h"

#include <string.h>

static const struct {
    const char *name, *help;
    size_t place;
} counters[] = {
    {"calls", "Calls to a provider", offsetof(struct pl_vendor_stats, n_calls)},
    {"errors", "Calls that a provider did not answer, or with a status of 400 or more",
     offsetof(struct pl_vendor_stats, n_errors)},
    {"retries", "Tries of calls after the first", offsetof(struct pl_vendor_stats, n_retries)},
};

static const struct {
    const char *name, *help;
    size_t place;
} histograms[] = {
    {"first_byte", "Time to the first bytes of an answer", offsetof(struct pl_vendor_stats, first)},
    {"call", "Time to the end of an answer", offsetof(struct pl_vendor_stats, whole)},
};

static int64_t read(const _Atomic(int64_t) *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static void write_times(const char *name, const char *provider, const struct pl_vendor_times *times,
                        struct pl_buf *to)
{
    int64_t n = 0;
    for (size_t i = 0; i < PL_VENDOR_N_BOUNDS; i++) {
        n += read(&times->n[i]);
        pl_buf_addf(to, "parley_provider_%s_seconds_bucket{provider=\"%s\",le=\"%g\"} %lld\n", name,
                    provider, (double)pl_vendor_bounds_ms[i] / 1000, (long long)n);
    }
    n += read(&times->n[PL_VENDOR_N_BOUNDS]);
    pl_buf_addf(to,
                "parley_provider_%s_seconds_bucket{provider=\"%s\",le=\"+Inf\"} %lld\n"
                "parley_provider_%s_seconds_sum{provider=\"%s\"} %.3f\n"
                "parley_provider_%s_seconds_count{provider=\"%s\"} %lld\n",
                name, provider, (long long)n, name, provider, (double)read(&times->sum_ms) / 1000,
                name, provider, (long long)n);
}

void pl_provider_metrics_write(const struct pl_models *models, struct pl_buf *to)
{
    const struct pl_vendor_stats *stats;
    const char *provider;
    for (size_t c = 0; c < sizeof counters / sizeof *counters; c++) {
        pl_buf_addf(to,
                    "# HELP parley_provider_%s_total %s\n# TYPE parley_provider_%s_total counter\n",
                    counters[c].name, counters[c].help, counters[c].name);
        for (size_t i = 0; (stats = pl_vendor_stats_at(models, i, &provider)); i++)
            pl_buf_addf(
                to, "parley_provider_%s_total{provider=\"%s\"} %lld\n", counters[c].name, provider,
                (long long)read((const _Atomic(int64_t) *)(const void *)((const char *)stats +
                                                                         counters[c].place)));
    }
    for (size_t h = 0; h < sizeof histograms / sizeof *histograms; h++) {
        pl_buf_addf(to,
                    "# HELP parley_provider_%s_seconds %s\n"
                    "# TYPE parley_provider_%s_seconds histogram\n",
                    histograms[h].name, histograms[h].help, histograms[h].name);
        for (size_t i = 0; (stats = pl_vendor_stats_at(models, i, &provider)); i++)
            if (read(&stats->n_calls))
                write_times(histograms[h].name, provider,
                            (const void *)((const char *)stats + histograms[h].place), to);
    }
}
