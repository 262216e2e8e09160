/* A table in the order of the routes, with one counter per bucket. The counters are made cumulative
 * when they are written, as Prometheus wants. */
#include "http/routes/route_times.h"

#include "base/mem.h"
#include "shard/shard.h"

#include <stdatomic.h>
#include <stdio.h>

/* Upper bounds of the buckets; the last bucket has no bound. */
static const int64_t bounds_ms[] = {5,    10,   25,   50,    100,   250,  500,
                                    1000, 2500, 5000, 10000, 30000, 60000};
enum { N_BOUNDS = sizeof bounds_ms / sizeof *bounds_ms };

struct route_time {
    _Atomic(int64_t) n[N_BOUNDS + 1]; /* one per bucket, not cumulative */
    _Atomic(int64_t) sum_ms;
};

struct pl_route_times {
    size_t n_routes;
    /* The last route that was noted, and its place: mostly the next one is the same. */
    const struct pl_route *last;
    size_t last_at;
    struct route_time times[]; /* in the order of the tables */
};

static size_t count_routes(void)
{
    size_t n = 0;
    const struct pl_route *const *tables = pl_routes();
    for (size_t i = 0; tables[i]; i++)
        for (const struct pl_route *route = tables[i]; route->path; route++)
            n++;
    return n;
}

struct pl_route_times *pl_route_times_create(void)
{
    size_t n = count_routes();
    size_t n_bytes = sizeof(struct pl_route_times) + n * sizeof(struct route_time);
    struct pl_route_times *times = pl_mem_alloc(1, n_bytes);
    if (!times)
        return NULL;
    memset(times, 0, n_bytes);
    times->n_routes = times->last_at = n;
    return times;
}

void pl_route_times_destroy(struct pl_route_times *times)
{
    pl_mem_free(times);
}

/* There is only one writer, so the addition need not be atomic. */
static void add(_Atomic(int64_t) *to, int64_t n)
{
    int64_t value = atomic_load_explicit(to, memory_order_relaxed);
    atomic_store_explicit(to, value + n, memory_order_relaxed);
}

/* n_routes: it is in no table. */
static size_t place_of(const struct pl_route_times *times, const struct pl_route *route)
{
    const struct pl_route *const *tables = pl_routes();
    size_t at = 0;
    for (size_t i = 0; tables[i]; i++)
        for (const struct pl_route *one = tables[i]; one->path; one++, at++)
            if (one == route)
                return at;
    return times->n_routes;
}

void pl_route_times_note(struct pl_route_times *times, const struct pl_route *route, int64_t ms)
{
    size_t bucket = 0;
    if (times->last != route) {
        times->last = route;
        times->last_at = place_of(times, route);
    }
    if (times->last_at == times->n_routes)
        return;
    while (bucket < N_BOUNDS && ms > bounds_ms[bucket])
        bucket++;
    add(&times->times[times->last_at].n[bucket], 1);
    add(&times->times[times->last_at].sum_ms, ms);
}

/* Writes one route, summed over all shards; nothing if it was never requested. */
static void write_route(const struct pl_server *server, size_t at, const struct pl_route *route,
                        struct pl_buf *to)
{
    static const char name[] = "parley_http_request_duration_seconds";
    int64_t n[N_BOUNDS + 1] = {0}, sum_ms = 0, n_all = 0;
    char labels[300];
    for (size_t i = 0; i < server->n_shards; i++) {
        const struct route_time *time = &server->shards[i]->route_times->times[at];
        for (size_t b = 0; b <= N_BOUNDS; b++)
            n[b] += atomic_load_explicit(&time->n[b], memory_order_relaxed);
        sum_ms += atomic_load_explicit(&time->sum_ms, memory_order_relaxed);
    }
    for (size_t b = 0; b <= N_BOUNDS; b++)
        n_all += n[b];
    if (!n_all)
        return;
    snprintf(labels, sizeof labels, "method=\"%s\",route=\"%s\"", pl_method_text(route->method),
             route->path);
    int64_t n_below = 0;
    for (size_t b = 0; b < N_BOUNDS; b++) {
        n_below += n[b];
        pl_buf_addf(to, "%s_bucket{%s,le=\"%g\"} %lld\n", name, labels, (double)bounds_ms[b] / 1000,
                    (long long)n_below);
    }
    pl_buf_addf(to, "%s_bucket{%s,le=\"+Inf\"} %lld\n", name, labels, (long long)n_all);
    pl_buf_addf(to, "%s_sum{%s} %.3f\n%s_count{%s} %lld\n", name, labels, (double)sum_ms / 1000,
                name, labels, (long long)n_all);
}

void pl_route_times_write(const struct pl_server *server, struct pl_buf *to)
{
    const struct pl_route *const *tables = pl_routes();
    size_t at = 0;
    pl_buf_adds(to,
                "# HELP parley_http_request_duration_seconds How long requests took, from their "
                "head to the end of their answer\n"
                "# TYPE parley_http_request_duration_seconds histogram\n");
    for (size_t i = 0; tables[i]; i++)
        for (const struct pl_route *route = tables[i]; route->path; route++, at++)
            write_route(server, at, route, to);
}
