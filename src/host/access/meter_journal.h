/* Inside the meter: what paid calls leave in the store, gathered for a moment on the shard they are made on.
 *
 *     begin: the call waits here. When it is PL_METER_GATHER_MS old it becomes a row of open_calls; a
 *            call that ends earlier never does.
 *     end:   usage is summed, runs wait, rows of open_calls are deleted: for PL_METER_GATHER_MS at
 *            most, and then all of it is one transaction.
 *
 * So kill -9 loses what began or ended in the last PL_METER_GATHER_MS and one commit, and nothing that
 * was counted before. Ends that the store refuses, and what finds no memory, are tried again; rows of
 * calls that had only begun, and runs, are not. Only the thread of the shard uses it, until the server has
 * ended: then calls that end are gathered, and pl_meter_journal_take() gives them to the main thread.
 * Of runs there are PL_METER_RUNS_MAX at most in that moment; usage counts every call. */
#ifndef PL_ACCESS_METER_JOURNAL_H
#define PL_ACCESS_METER_JOURNAL_H

#include "access/meter.h"
#include "store/page.h"

enum {
    PL_METER_GATHER_MS = 20,
    PL_METER_GATHER_MAX = 256, /* calls that wait to become rows; one more makes the oldest a row */
    PL_METER_AGAIN_MS = 1000,  /* after a failure */
    PL_METER_CLOSES_MAX = 4096, /* ends that wait for the store; of later ones the row stays */
};

struct pl_meter_journal; /* owned */

/* NULL: out of memory. */
struct pl_meter_journal *pl_meter_journal_create(struct pl_shard *shard);
/* When its loop does not run any more: all that waits, as a batch. NULL: nothing, or no memory, and then
 * it stays. */
struct pl_batch *pl_meter_journal_take(struct pl_meter_journal *journal);
bool pl_meter_journal_is_empty(const struct pl_meter_journal *journal);
void pl_meter_journal_destroy(struct pl_meter_journal *journal); /* accepts NULL */

/* Sets call->number; 0: there was no memory, and it is not stored until it ends. */
void pl_meter_journal_begin(struct pl_meter_journal *journal, struct pl_meter_call *call);
/* The call ends with what it brought, and not by itself: into that batch. */
void pl_meter_journal_end_in(struct pl_meter_journal *journal, const struct pl_meter_call *call,
                             struct pl_batch *batch);
/* The call ends by itself. If there is no room for that, its row stays, or it becomes one: the next start
 * counts it as estimated. */
void pl_meter_journal_end(struct pl_meter_journal *journal, const struct pl_meter_call *call,
                          const struct pl_usage_row *row, const struct pl_model_run *run);

#endif
