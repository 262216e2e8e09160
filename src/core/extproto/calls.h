/* Calls of one direction by their call_id: at most 16 run at once and 256 wait in order. An id is
 * refused if its call runs, waits or is among the last 1,024 that ended. Each call ends exactly
 * once. */
#ifndef PL_EXTPROTO_CALLS_H
#define PL_EXTPROTO_CALLS_H

#include "base/status.h"
#include "base/table.h"

enum {
    PL_EXT_CALLS_AT_ONCE = 16,
    PL_EXT_CALLS_QUEUED = 256,
    PL_EXT_CALLS_REMEMBERED = 1024,
    PL_EXT_CALL_ID_BYTES = 256,
};

enum pl_ext_call_state { PL_EXT_CALL_QUEUED, PL_EXT_CALL_RUNNING, PL_EXT_CALL_ENDED };

struct pl_ext_call {
    struct pl_table_link link;
    struct pl_ext_call *next; /* in the queue, or in the list of ended calls */
    enum pl_ext_call_state state;
    void *thing; /* borrowed: the caller's data; NULL after the end */
    size_t n_id;
    char id[];
};

struct pl_ext_calls {
    struct pl_table by_id;                        /* owns its calls */
    struct pl_ext_call *queue_first, *queue_last; /* views of by_id */
    struct pl_ext_call *ended_first, *ended_last; /* views; oldest first */
    size_t n_running, n_queued, n_ended;
};

/* Zero-initialised is empty. */
void pl_ext_calls_deinit(struct pl_ext_calls *calls);

/* Queues a new call; pl_ext_calls_next starts it. PL_INVALID: its id is empty or longer than 256
 * bytes. PL_CONFLICT: the id is in use or was used recently. PL_LIMIT: the queue is full.
 * PL_NOMEM. */
enum pl_status pl_ext_calls_add(struct pl_ext_calls *calls, struct pl_str id, void *thing);
/* Starts the next call in order and returns it; NULL: none waits, or the limit of running calls is
 * reached. */
struct pl_ext_call *pl_ext_calls_next(struct pl_ext_calls *calls);
/* Finds a running or waiting call; NULL: no open call has this id. */
struct pl_ext_call *pl_ext_calls_find(struct pl_ext_calls *calls, struct pl_str id);
/* Ends a running or waiting call. */
void pl_ext_calls_end(struct pl_ext_calls *calls, struct pl_ext_call *call);

#endif
