/* Deletes sessions that were not changed for long, if retention_days is set, except those to be
 * kept (is_persistent). In the background, a few at a time, each as if its user had deleted it. */
#ifndef PL_AGENT_RETENTION_H
#define PL_AGENT_RETENTION_H

#include "agent/driver.h"

enum pl_retention_state {
    PL_RETENTION_RESTING,
    PL_RETENTION_LOOKING,
    PL_RETENTION_DELETING,
    PL_RETENTION_OVER
};

struct pl_retention {
    enum pl_retention_state state;
    struct pl_server *server; /* borrowed */
    struct pl_timer timer;    /* while RESTING */
    struct pl_job job;        /* reads the due sessions */
    struct pl_arena arena;    /* for `page`, while LOOKING and DELETING */
    struct pl_session_page page;
    size_t n_done;                     /* of the page */
    struct pl_session_command command; /* to the next session */
    char after[PL_ID_MAX];             /* the last one of this round; "": at its start */
    int64_t before_ms;                 /* a session changed before this is due */
    int64_t n_deleted;                 /* in this round */
    enum pl_status status;             /* of the job */
};

/* On the first shard, before its loop runs. */
void pl_retention_start(struct pl_retention *retention, struct pl_server *server);

#endif
