/* After a start: messages that were acknowledged as queued are said, one session after the other.
 */
#ifndef PL_SERVER_REQUEUE_H
#define PL_SERVER_REQUEUE_H

#include "server/driver.h"

struct pl_requeue {
    struct pl_server *server; /* borrowed */
    struct pl_ask ask;        /* to the session that is next */
    struct pl_timer timer;    /* until one that could not be asked is asked again */
    struct pl_job job;        /* reads which one is next */
    struct pl_arena arena;    /* of the job */
    char after[PL_ID_MAX];    /* the last one that was asked */
    char next[PL_ID_MAX];     /* "": there is none */
    enum pl_status status;    /* of the job */
};

/* On the first shard, before its loop runs. */
void pl_requeue_start(struct pl_requeue *requeue, struct pl_server *server);

#endif
