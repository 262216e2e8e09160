/* One attempt to make a cell: starts `parley cell` with a plan, and reads its messages. */
#ifndef PL_EXT_CELL_ATTEMPT_INT_H
#define PL_EXT_CELL_ATTEMPT_INT_H

#include "ext/cell/control.h"
#include "ext/cell/plan.h"

struct pl_cell_attempt {
    pid_t launcher;              /* to be waited for; 0: already waited for */
    int control;                 /* owned, like all descriptors here; -1: closed */
    int first;                   /* pidfd of process 1 */
    pid_t first_pid;             /* 0: not our child */
    int pipes[3];                /* our ends */
    struct pl_cell_message last; /* STARTED, UNABLE, LOW or FAILED */
    struct pl_cell_message end;  /* ENDED, if the program has already ended */
    int listeners[PL_CELL_MAX_SENT_FDS];
    size_t n_listeners;
};

/* PL_OK: `last` is the result. After anything except STARTED only descriptors are left. PL_IO,
 * PL_NOMEM: nothing could be started. */
enum pl_status pl_cell_attempt_make(const char *program, const struct pl_cell_plan *plan,
                                    struct pl_cell_attempt *ret_attempt, struct pl_error *err);
/* Ends the started processes, if any, waits for their end, and closes. */
void pl_cell_attempt_end(struct pl_cell_attempt *attempt);
/* Closes all descriptors. */
void pl_cell_attempt_close(struct pl_cell_attempt *attempt);

#endif
