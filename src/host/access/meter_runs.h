/* Inside the meter: every call that ends becomes a run (store/page.h). Runs of calls that cost nothing wait here, and are
 * stored with the next second of usage. */
#ifndef PL_ACCESS_METER_RUNS_H
#define PL_ACCESS_METER_RUNS_H

#include "access/meter.h"
#include "store/page.h"

/* Of calls that cost nothing, no more become runs in a second: a demo model under load would fill the store. Usage counts
 * them all. */
enum { PL_METER_RUNS_MAX = 256 };
#define PL_METER_RUNS_MS (INT64_C(90) * 86400000) /* so long a run is kept */

struct pl_meter_waiting_run;
struct pl_meter_runs {
    struct pl_meter_waiting_run *first; /* owned; newest first */
    size_t n;
    struct pl_meter_waiting_run *taken; /* owned; in a batch that is not yet stored */
    int64_t expired_ms;                 /* when old ones were last deleted */
};

/* A text as a string of at most n - 1 bytes. Every call keeps eight of them, so nothing is formatted. */
static inline void pl_meter_keep(char *to, size_t n, struct pl_str text)
{
    size_t len = text.len < n ? text.len : n - 1;
    if (len)
        memcpy(to, text.ptr, len);
    to[len] = 0;
}

/* The call knows what it is for. */
void pl_meter_run_begin(struct pl_shard *shard, const struct pl_meter_ask *ask,
                        struct pl_meter_call *call);
/* A view of the call, the usage and the row. */
struct pl_model_run pl_meter_run_row(const struct pl_meter_call *call,
                                     const struct pl_meter_used *used,
                                     const struct pl_usage_row *row, int64_t now_ms);
/* Under the lock of the meter. Out of memory, and beyond the limit, it is left out. */
void pl_meter_runs_add(struct pl_meter_runs *runs, const struct pl_model_run *run);
void pl_meter_runs_take(struct pl_meter_runs *runs, struct pl_batch *batch);
/* The batch is stored, or lost. Who is told of a run can read it: so they are told now, without the lock. */
void pl_meter_runs_tell(struct pl_meter_runs *runs, struct pl_server *server, bool is_stored);
/* Once a day. */
void pl_meter_runs_expire(struct pl_meter_runs *runs, struct pl_batch *batch, int64_t now_ms);
void pl_meter_runs_deinit(struct pl_meter_runs *runs);

#endif
