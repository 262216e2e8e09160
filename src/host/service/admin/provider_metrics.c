/* Counters and histograms from tables: one line each, with its offset in the numbers of a
 * provider. */
#include "service/admin/provider_metrics.h"

#include "model/model_counts.h"
#include "model/vendor/vendor_stats.h"
#include "model/vendor/vendors.h"

#include <stdio.h>
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
    {"provider_first_byte", "Time to the first bytes of an answer",
     offsetof(struct pl_vendor_stats, first)},
    {"provider_call", "Time to the end of an answer", offsetof(struct pl_vendor_stats, whole)},
};

static int64_t read(const _Atomic(int64_t) *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

/* `labels` of the series: provider="…", optionally model="…". */
static void write_times(const char *name, const char *labels, const struct pl_vendor_times *times,
                        struct pl_buf *to)
{
    int64_t n = 0;
    for (size_t i = 0; i < PL_VENDOR_N_BOUNDS; i++) {
        n += read(&times->n[i]);
        pl_buf_addf(to, "parley_%s_seconds_bucket{%s,le=\"%g\"} %lld\n", name, labels,
                    (double)pl_vendor_bounds_ms[i] / 1000, (long long)n);
    }
    n += read(&times->n[PL_VENDOR_N_BOUNDS]);
    pl_buf_addf(to,
                "parley_%s_seconds_bucket{%s,le=\"+Inf\"} %lld\n"
                "parley_%s_seconds_sum{%s} %.3f\n"
                "parley_%s_seconds_count{%s} %lld\n",
                name, labels, (long long)n, name, labels, (double)read(&times->sum_ms) / 1000, name,
                labels, (long long)n);
}

/* Only providers with a limit. */
static void write_gates(const struct pl_models *models, struct pl_buf *to)
{
    static const char *const heads[] = {
        "# HELP parley_provider_running Calls under way to a provider with max_concurrent\n"
        "# TYPE parley_provider_running gauge\n",
        "# HELP parley_provider_waiting Calls that wait for their turn at it\n"
        "# TYPE parley_provider_waiting gauge\n",
        "# HELP parley_provider_refused_total Calls that found its queue full or waited in vain\n"
        "# TYPE parley_provider_refused_total counter\n",
    };
    static const char *const names[] = {"running", "waiting", "refused_total"};
    const char *provider;
    struct pl_gate *gate;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        pl_buf_adds(to, heads[k]);
        for (size_t i = 0; pl_gate_at(models, i, &provider, &gate); i++) {
            struct pl_gate_numbers n = pl_gate_look(gate);
            long long values[] = {(long long)n.n_in, (long long)n.n_waiting, n.n_refused};
            if (gate)
                pl_buf_addf(to, "parley_provider_%s{provider=\"%s\"} %lld\n", names[k], provider,
                            values[k]);
        }
    }
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
    write_gates(models, to);
    for (size_t h = 0; h < sizeof histograms / sizeof *histograms; h++) {
        pl_buf_addf(to,
                    "# HELP parley_%s_seconds %s\n"
                    "# TYPE parley_%s_seconds histogram\n",
                    histograms[h].name, histograms[h].help, histograms[h].name);
        for (size_t i = 0; (stats = pl_vendor_stats_at(models, i, &provider)); i++) {
            char labels[200];
            snprintf(labels, sizeof labels, "provider=\"%.150s\"", provider);
            if (read(&stats->n_calls))
                write_times(histograms[h].name, labels,
                            (const void *)((const char *)stats + histograms[h].place), to);
        }
    }
}

/* --- by provider and model ------------------------------------------------------------------- */

static const struct {
    const char *name, *kind, *help; /* help NULL: as in the line before, with another kind */
    size_t place;
} model_counters[] = {
    {"model_calls", NULL, "Calls of a model", offsetof(struct pl_model_counts, n_calls)},
    {"model_errors", NULL, "Calls of a model that failed",
     offsetof(struct pl_model_counts, n_errors)},
    {"model_retries", NULL, "Tries of calls after the first",
     offsetof(struct pl_model_counts, n_retries)},
    {"model_fallbacks", NULL, "Calls that the next model of a chain was asked for instead",
     offsetof(struct pl_model_counts, n_fallbacks)},
    {"model_tokens", "input", "Tokens of a model's calls", offsetof(struct pl_model_counts, input)},
    {"model_tokens", "output", NULL, offsetof(struct pl_model_counts, output)},
    {"model_tokens", "cached", NULL, offsetof(struct pl_model_counts, cached)},
};

static const struct {
    const char *name, *help;
    size_t place;
} model_histograms[] = {
    {"model_first_byte", "Time to the first bytes of an answer: of a stream, to its first event",
     offsetof(struct pl_model_counts, first)},
    {"model_call", "Time to the end of an answer", offsetof(struct pl_model_counts, whole)},
};

enum { LABELS_SIZE = 640 };

/* Escapes the value of a label (version 0.0.4 of the format). Names come from the operator or a
 * vendor. */
static size_t put_value(char *to, struct pl_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"' || c == '\\' || c == '\n')
            to[n++] = '\\';
        to[n++] = c == '\n' ? 'n' : c;
    }
    return n;
}

static void write_labels(struct pl_str provider, struct pl_str model, char to[LABELS_SIZE])
{
    size_t n = (size_t)snprintf(to, LABELS_SIZE, "provider=\"");
    n += put_value(to + n, provider);
    n += (size_t)snprintf(to + n, LABELS_SIZE - n, "\",model=\"");
    n += put_value(to + n, model);
    snprintf(to + n, LABELS_SIZE - n, "\"");
}

static int64_t number_at(const struct pl_model_counts *counts, size_t place)
{
    return read((const _Atomic(int64_t) *)(const void *)((const char *)counts + place));
}

static void write_model_counters(const struct pl_models *models, struct pl_buf *to)
{
    const struct pl_model_counts *counts;
    struct pl_str provider, model;
    char labels[LABELS_SIZE];
    for (size_t c = 0; c < sizeof model_counters / sizeof *model_counters; c++) {
        const char *name = model_counters[c].name, *kind = model_counters[c].kind;
        if (model_counters[c].help)
            pl_buf_addf(to, "# HELP parley_%s_total %s\n# TYPE parley_%s_total counter\n", name,
                        model_counters[c].help, name);
        for (size_t i = 0; (counts = pl_model_counts_at(models, i, &provider, &model)); i++) {
            write_labels(provider, model, labels);
            pl_buf_addf(to, "parley_%s_total{%s%s%s%s} %lld\n", name, labels,
                        kind ? ",kind=\"" : "", kind ? kind : "", kind ? "\"" : "",
                        (long long)number_at(counts, model_counters[c].place));
        }
    }
    pl_buf_adds(to, "# HELP parley_model_cost_usd_total Dollars that a model's calls cost\n"
                    "# TYPE parley_model_cost_usd_total counter\n");
    for (size_t i = 0; (counts = pl_model_counts_at(models, i, &provider, &model)); i++) {
        write_labels(provider, model, labels);
        pl_buf_addf(to, "parley_model_cost_usd_total{%s} %.6f\n", labels,
                    (double)read(&counts->cost_micro) / 1e6);
    }
}

void pl_model_metrics_write(const struct pl_models *models, struct pl_buf *to)
{
    const struct pl_model_counts *counts;
    struct pl_str provider, model;
    char labels[LABELS_SIZE];
    write_model_counters(models, to);
    for (size_t h = 0; h < sizeof model_histograms / sizeof *model_histograms; h++) {
        pl_buf_addf(to, "# HELP parley_%s_seconds %s\n# TYPE parley_%s_seconds histogram\n",
                    model_histograms[h].name, model_histograms[h].help, model_histograms[h].name);
        for (size_t i = 0; (counts = pl_model_counts_at(models, i, &provider, &model)); i++) {
            write_labels(provider, model, labels);
            write_times(model_histograms[h].name, labels,
                        (const void *)((const char *)counts + model_histograms[h].place), to);
        }
    }
}
