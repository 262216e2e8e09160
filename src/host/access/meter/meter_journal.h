/* Inside the meter: stores paid calls. They are gathered for a moment on their shard.
 *
 *     begin: the call waits here. When it is PL_METER_GATHER_MS old it becomes a row of open_calls; a
 *            call that ends earlier never does.
 *     end:   usage is summed, runs wait, rows of open_calls are deleted: for PL_METER_GATHER_MS at
 *            most, and then all of it is one transaction.
 *
 * So kill -9 loses only calls that began or ended in the last PL_METER_GATHER_MS and one commit.
 * Ends are tried again if the store refuses them or memory is short; runs, and rows of calls that
 * had only begun, are not. Only the thread of the shard uses the journal until the server has
 * stopped: then ending calls are gathered, and pl_meter_journal_take() gives them to the main
 * thread. At most PL_METER_RUNS_MAX runs are gathered at a time; usage counts every call. */
#ifndef PL_ACCESS_METER_METER_JOURNAL_H
#define PL_ACCESS_METER_METER_JOURNAL_H

#include "access/meter/meter.h"
#include "store/page.h"

enum {
    PL_METER_GATHER_MS = 20,
    PL_METER_GATHER_MAX = 256, /* calls that wait to become rows; one more makes the oldest a row */
    PL_METER_AGAIN_MS = 1000,  /* delay after a failure */
    PL_METER_CLOSES_MAX = 4096, /* ends that wait for the store; beyond that, rows stay */
};

struct pl_meter_journal; /* owned */

/* NULL: out of memory. */
struct pl_meter_journal *pl_meter_journal_create(struct pl_shard *shard);
/* Call when its loop no longer runs: everything that waits, as a batch. NULL: nothing, or out of
 * memory; then it stays. */
struct pl_batch *pl_meter_journal_take(struct pl_meter_journal *journal);
bool pl_meter_journal_is_empty(const struct pl_meter_journal *journal);
void pl_meter_journal_destroy(struct pl_meter_journal *journal); /* accepts NULL */

/* Sets call->number; 0: out of memory: the call is not stored until it ends. */
void pl_meter_journal_begin(struct pl_meter_journal *journal, struct pl_meter_call *call);
/* The call ends together with its result: adds its end to that batch. */
void pl_meter_journal_end_in(struct pl_meter_journal *journal, const struct pl_meter_call *call,
                             struct pl_batch *batch);
/* The call ends without a batch. If there is no room for its end, its row stays, or it becomes one:
 * the next start counts it as estimated. */
void pl_meter_journal_end(struct pl_meter_journal *journal, const struct pl_meter_call *call,
                          const struct pl_usage_row *row, const struct pl_model_run *run);

#endif
