/* The metrics of all shards, summed, in the Prometheus text format; and the CPU time, memory and
 * open files of the process. */
#include "service/admin/metrics_text.h"

#include "http/routes/route_times.h"
#include "model/vendor/vendor.h"
#include "service/admin/cluster_json.h"
#include "service/admin/provider_metrics.h"
#include "service/admin/store_size.h"
#include "shard/access_log.h"
#include "shard/log.h"
#include "shard/shard.h"
#include "shard/tracing.h"
#include "store/store.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
    const char *name, *type, *help;
} lines[] = {
#define X(name, type, help) {#name, type, help},
    PL_METRIC_TABLE(X)
#undef X
};

enum { LANE_JOBS, LANE_OLDEST, LANE_RUN, LANE_REFUSED, LANE_LINES };

/* For each lane of the workers. */
static const struct {
    const char *name, *type, *help;
} lane_lines[] = {
    [LANE_JOBS] = {"queue_jobs", "gauge", "Jobs that wait for a thread"},
    [LANE_OLDEST] = {"queue_oldest_seconds", "gauge", "How long the oldest of them has waited"},
    [LANE_RUN] = {"jobs_total", "counter", "Jobs that were started"},
    [LANE_REFUSED] = {"jobs_refused_total", "counter", "Jobs that waited too long and did not run"},
};

/* Resident pages of this process; 0 if the kernel does not tell. */
static long n_resident_pages(void)
{
    long n_all = 0, n_resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%ld %ld", &n_all, &n_resident) != 2)
        n_resident = 0;
    fclose(file);
    return n_resident;
}

static size_t n_open_files(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void write_process(const struct pl_server *server, struct pl_buf *to)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    pl_buf_addf(to, "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total %.3f\n",
                cpu_s);
    pl_buf_addf(to,
                "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes %lld\n",
                (long long)n_resident_pages() * sysconf(_SC_PAGESIZE));
    pl_buf_addf(to, "# TYPE process_open_fds gauge\nprocess_open_fds %zu\n", n_open_files());
    pl_buf_addf(to, "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %.3f\n",
                (double)server->started_ms / 1000);
    pl_buf_addf(to,
                "# HELP parley_store_bytes Bytes of the store on disk\n"
                "# TYPE parley_store_bytes gauge\nparley_store_bytes %lld\n",
                (long long)pl_store_size_get(server->store_size));
    pl_buf_addf(to,
                "# HELP parley_log_dropped_total Log lines that standard error did not accept\n"
                "# TYPE parley_log_dropped_total counter\n"
                "parley_log_dropped_total %llu\n",
                (unsigned long long)pl_log_n_dropped(server->log));
    pl_buf_addf(to,
                "# HELP parley_access_log_dropped_total Lines of the access log that were lost\n"
                "# TYPE parley_access_log_dropped_total counter\n"
                "parley_access_log_dropped_total %llu\n",
                (unsigned long long)pl_access_log_n_dropped(server->access_log));
}

static void write_lane(const struct pl_work_state *state, int which, struct pl_buf *to)
{
    pl_buf_addf(to, "parley_%s{lane=\"%s\"} ", lane_lines[which].name, state->name);
    switch (which) {
    case LANE_JOBS:
        pl_buf_addf(to, "%zu\n", state->n_waiting);
        break;
    case LANE_OLDEST:
        pl_buf_addf(to, "%.3f\n", (double)state->oldest_ms / 1000);
        break;
    case LANE_RUN:
        pl_buf_addf(to, "%llu\n", (unsigned long long)state->n_run);
        break;
    default:
        pl_buf_addf(to, "%llu\n", (unsigned long long)state->n_refused);
    }
}

static void write_lanes(const struct pl_server *server, struct pl_buf *to)
{
    struct pl_work_state states[PL_WORK_COUNT];
    for (int i = 0; i < PL_WORK_COUNT; i++)
        pl_workers_look(server->workers, (enum pl_work)i, &states[i]);
    for (int which = 0; which < LANE_LINES; which++) {
        pl_buf_addf(to, "# HELP parley_%s %s\n# TYPE parley_%s %s\n", lane_lines[which].name,
                    lane_lines[which].help, lane_lines[which].name, lane_lines[which].type);
        for (int i = 0; i < PL_WORK_COUNT; i++)
            write_lane(&states[i], which, to);
    }
}

/* Escapes the value of a label (version 0.0.4 of the format). */
static void write_label(struct pl_buf *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            pl_buf_adds(to, "\\n");
            continue;
        }
        if (*text == '"' || *text == '\\')
            pl_buf_addc(to, '\\');
        pl_buf_addc(to, *text);
    }
}

static void write_models(const struct pl_models *models, struct pl_buf *to)
{
    const struct pl_cooldown *cooldown = pl_cooldown_at(models, 0);
    if (!cooldown)
        return;
    pl_buf_adds(to, "# HELP parley_model_cooldown Whether a model of a chain is used (0), skipped "
                    "(1) or tried by one call (2)\n"
                    "# TYPE parley_model_cooldown gauge\n");
    for (size_t i = 0; (cooldown = pl_cooldown_at(models, i)); i++) {
        pl_buf_adds(to, "parley_model_cooldown{model=\"");
        write_label(to, cooldown->model);
        pl_buf_addf(to, "\"} %d\n", (int)pl_cooldown_state(cooldown));
    }
}

/* A histogram of transaction times, with the store's bounds. */
static void write_commits(const struct pl_store_state *state, const char *name, struct pl_buf *to)
{
    int64_t n = 0;
    for (size_t i = 0; i < PL_STORE_N_BOUNDS; i++) {
        n += state->n_within[i];
        pl_buf_addf(to, "%s_bucket{le=\"%g\"} %lld\n", name, (double)pl_store_bounds_us[i] / 1e6,
                    (long long)n);
    }
    n += state->n_within[PL_STORE_N_BOUNDS];
    pl_buf_addf(to, "%s_bucket{le=\"+Inf\"} %lld\n%s_sum %.6f\n%s_count %lld\n", name, (long long)n,
                name, (double)state->commit_us / 1e6, name, (long long)n);
}

/* The single writer: its queue, and how long its transactions take. */
static void write_store(const struct pl_server *server, struct pl_buf *to)
{
    struct pl_store_state state;
    pl_store_look(server->store, &state);
    pl_buf_addf(to,
                "# HELP parley_store_queue_batches Changes that wait to be committed\n"
                "# TYPE parley_store_queue_batches gauge\nparley_store_queue_batches %zu\n"
                "# HELP parley_store_queue_oldest_seconds How long the oldest of them has waited\n"
                "# TYPE parley_store_queue_oldest_seconds gauge\n"
                "parley_store_queue_oldest_seconds %.3f\n"
                "# HELP parley_store_batches_total Changes that were committed or refused\n"
                "# TYPE parley_store_batches_total counter\nparley_store_batches_total %lld\n"
                "# HELP parley_store_commit_seconds Time of a transaction with its fsync; many "
                "changes are one\n"
                "# TYPE parley_store_commit_seconds histogram\n",
                state.n_waiting, (double)state.oldest_ms / 1000, (long long)state.n_batches);
    write_commits(&state, "parley_store_commit_seconds", to);
    pl_buf_adds(
        to, "# HELP parley_node_commit_seconds The same, by the name that the metrics of a node "
            "have\n"
            "# TYPE parley_node_commit_seconds histogram\n");
    write_commits(&state, "parley_node_commit_seconds", to);
}

/* Only if spans are exported to a collector. */
static void write_spans(const struct pl_server *server, struct pl_buf *to)
{
    struct pl_tracer_numbers numbers = pl_tracer_look(server->tracer);
    if (!server->tracer)
        return;
    pl_buf_addf(to,
                "# HELP parley_spans_sent_total Spans that the collector has taken\n"
                "# TYPE parley_spans_sent_total counter\nparley_spans_sent_total %lld\n"
                "# HELP parley_spans_dropped_total Spans that nobody got\n"
                "# TYPE parley_spans_dropped_total counter\nparley_spans_dropped_total %lld\n",
                (long long)numbers.n_sent, (long long)numbers.n_dropped);
}

void pl_metrics_write(struct pl_server *server, const struct pl_models *models, struct pl_buf *to)
{
    for (int i = 0; i < PL_METRIC_COUNT; i++)
        pl_buf_addf(to, "# HELP parley_%s %s\n# TYPE parley_%s %s\nparley_%s %lld\n", lines[i].name,
                    lines[i].help, lines[i].name, lines[i].type, lines[i].name,
                    (long long)pl_metric_sum(server, (enum pl_metric)i));
    pl_route_times_write(server, to);
    write_lanes(server, to);
    write_models(models, to);
    write_spans(server, to);
    pl_provider_metrics_write(models, to);
    pl_model_metrics_write(models, to);
    write_store(server, to);
    pl_cluster_metrics_write(server, to);
    write_process(server, to);
}
