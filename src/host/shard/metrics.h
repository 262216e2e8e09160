/* Counters of a shard, for /metrics: written by one thread, read by any. */
#ifndef PL_SHARD_METRICS_H
#define PL_SHARD_METRICS_H

#include "base/buf.h"

#include <stdatomic.h>
#include <stdint.h>

/* X(name, type, help): the Prometheus name is "parley_" followed by the name. */
#define PL_METRIC_TABLE(X)                                                                         \
    X(http_requests_total, "counter", "Requests answered")                                         \
    X(http_errors_total, "counter", "Requests answered with a status of 500 or more")              \
    X(http_connections, "gauge", "Open connections, including sockets")                            \
    X(http_refused_total, "counter", "Connections refused because there were too many")            \
    X(request_bytes_total, "counter", "Bytes of request bodies")                                   \
    X(body_bytes, "gauge", "Bytes of request bodies and socket messages in memory")                \
    X(spooled_answers_total, "counter", "Answers written to a file for slow readers")              \
    X(history_bytes, "gauge", "Bytes of events kept for readers that reconnect")                   \
    X(sockets, "gauge", "Open WebSocket and event-stream connections")                             \
    X(socket_messages_in_total, "counter", "Messages received on sockets")                         \
    X(socket_frames_out_total, "counter", "Frames put into subscribers' queues")                   \
    X(socket_bytes_out_total, "counter", "Bytes written to sockets")                               \
    X(socket_slow_total, "counter", "Queues replaced by a snapshot")                               \
    X(sessions_loaded, "gauge", "Sessions in memory")                                              \
    X(turns_running, "gauge", "Turns a model or a tool is working on")                             \
    X(events_total, "counter", "Session events published")                                         \
    X(commits_total, "counter", "Batches committed")                                               \
    X(commit_failures_total, "counter", "Batches that were not committed")                         \
    X(blobs_collected_total, "counter", "Blobs deleted because nothing referred to them")          \
    X(blobs_collected_bytes_total, "counter", "Bytes of these blobs")

enum pl_metric {
#define X(name, type, help) PL_METRIC_##name,
    PL_METRIC_TABLE(X)
#undef X
        PL_METRIC_COUNT,
};

struct pl_metrics {
    _Atomic(int64_t) values[PL_METRIC_COUNT];
};

/* Called by the owning thread only, so no lock is needed. */
static inline void pl_metric_add(struct pl_metrics *metrics, enum pl_metric metric, int64_t n)
{
    int64_t value = atomic_load_explicit(&metrics->values[metric], memory_order_relaxed);
    atomic_store_explicit(&metrics->values[metric], value + n, memory_order_relaxed);
}

#endif
