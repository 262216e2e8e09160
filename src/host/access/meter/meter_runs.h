/* Inside the meter: every call that ends becomes a run (store/page.h). Runs of free calls wait here
 * and are stored with the usage of the next second. */
#ifndef PL_ACCESS_METER_METER_RUNS_H
#define PL_ACCESS_METER_METER_RUNS_H

#include "access/meter/meter.h"
#include "store/page.h"

/* The most runs of free calls in a second: a demo model under load would fill the store. Usage
 * counts all calls. */
enum { PL_METER_RUNS_MAX = 256 };
#define PL_METER_RUNS_MS (INT64_C(90) * 86400000) /* how long a run is kept */

struct pl_meter_waiting_run;
struct pl_meter_runs {
    /* Owned, oldest first: an index of the store grows faster at its end. */
    struct pl_meter_waiting_run *first, *last;
    size_t n;
    struct pl_meter_waiting_run *taken; /* owned; in a batch that is not yet stored */
    int64_t expired_ms;                 /* when old runs were last deleted */
};

/* Copies a text, cut to n - 1 bytes. Every call copies eight, so nothing is formatted. */
static inline void pl_meter_keep(char *to, size_t n, struct pl_str text)
{
    size_t len = text.len < n ? text.len : n - 1;
    if (len)
        memcpy(to, text.ptr, len);
    to[len] = 0;
}

/* Copies the purpose of the call. */
void pl_meter_run_begin(struct pl_shard *shard, const struct pl_meter_ask *ask,
                        struct pl_meter_call *call);
/* A run as views of the call, the usage and the row. */
struct pl_model_run pl_meter_run_row(const struct pl_meter_call *call,
                                     const struct pl_meter_used *used,
                                     const struct pl_usage_row *row, int64_t now_ms);
/* Under the meter's lock. Drops the run when out of memory or beyond the limit. */
void pl_meter_runs_add(struct pl_meter_runs *runs, const struct pl_model_run *run);
/* Returns the number of statements. */
size_t pl_meter_runs_take(struct pl_meter_runs *runs, struct pl_batch *batch);
/* The batch is stored, or lost. Reports the runs only now, because a receiver may read them.
 * Without the lock. */
void pl_meter_runs_tell(struct pl_meter_runs *runs, struct pl_server *server, bool is_stored);
/* Deletes old runs, once a day. */
void pl_meter_runs_expire(struct pl_meter_runs *runs, struct pl_batch *batch, int64_t now_ms);
void pl_meter_runs_deinit(struct pl_meter_runs *runs);

#endif
