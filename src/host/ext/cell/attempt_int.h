/* One try to make a cell: `parley cell` is started with a plan, and says how far it came. */
#ifndef PL_EXT_CELL_ATTEMPT_INT_H
#define PL_EXT_CELL_ATTEMPT_INT_H

#include "ext/cell/control.h"
#include "ext/cell/plan.h"

struct pl_cell_attempt {
    pid_t launcher;              /* to be waited for; 0: it has been */
    int control;                 /* owned, as all descriptors here; -1: none */
    int first;                   /* pidfd of process 1 */
    pid_t first_pid;             /* 0: not our child */
    int pipes[3];                /* our ends */
    struct pl_cell_message last; /* STARTED, UNABLE, LOW or FAILED */
    struct pl_cell_message end;  /* ENDED, if the program was that quick */
    int listeners[PL_CELL_MAX_SENT_FDS];
    size_t n_listeners;
};

/* PL_OK: `last` says what happened. After anything but STARTED nothing is left of it but descriptors.
 * PL_IO, PL_NOMEM: nothing could be started. */
enum pl_status pl_cell_attempt_make(const char *program, const struct pl_cell_plan *plan,
                                    struct pl_cell_attempt *ret_attempt, struct pl_error *err);
/* Ends what was started, if anything was, waits until it is over, and closes. */
void pl_cell_attempt_end(struct pl_cell_attempt *attempt);
/* Closes what is open. */
void pl_cell_attempt_close(struct pl_cell_attempt *attempt);

#endif
