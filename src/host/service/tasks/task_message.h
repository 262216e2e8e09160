/* The message of a task to its session: its own text, or the current version of a library prompt
 * with its variables filled in. Blocking: on a worker. */
#ifndef PL_SERVICE_TASKS_TASK_MESSAGE_H
#define PL_SERVICE_TASKS_TASK_MESSAGE_H

#include "store/work.h"

struct pl_models;
struct pl_server;

struct pl_task_said {
    const struct pl_turn_row *turns; /* arena; the first turns of the session; may be none */
    size_t n_turns;
    struct pl_str message;         /* JSON; arena */
    struct pl_str model;           /* the prompt's own; empty: not set */
    struct pl_str settings, tools; /* JSON; the prompt's own; empty: not set */
    struct pl_str override;        /* JSON: the prefill of the answer; empty: no prefill */
};

/* PL_INVALID, PL_NOT_FOUND: the prompt is gone or cannot be rendered, and err has the reason;
 * PL_IO; PL_NOMEM. */
enum pl_status pl_task_says(const struct pl_models *models, struct pl_server *server,
                            struct pl_arena *arena, const struct pl_task_row *task, int64_t now_ms,
                            struct pl_task_said *ret_said, struct pl_error *err);

#endif
