/* After a start: sessions with messages that were acknowledged as queued continue, one after the
 * other. */
#ifndef PL_AGENT_RESUME_QUEUED_H
#define PL_AGENT_RESUME_QUEUED_H

#include "agent/driver.h"

/* The diagram is in resume_queued.c. */
enum pl_resume_queued_state {
    PL_RESUME_QUEUED_PAUSING,
    PL_RESUME_QUEUED_LOOKING,
    PL_RESUME_QUEUED_ASKING,
    PL_RESUME_QUEUED_OVER,
};

struct pl_resume_queued {
    enum pl_resume_queued_state state;
    struct pl_server *server;          /* borrowed */
    struct pl_session_command command; /* to the session that is next */
    struct pl_timer timer;             /* of PAUSING */
    struct pl_job job;                 /* of LOOKING: reads which one is next */
    struct pl_arena arena;             /* of the job */
    char after[PL_ID_MAX];             /* the last one that was asked */
    char next[PL_ID_MAX];              /* "": there is none */
    enum pl_status status;             /* of the job */
    bool wants_again;                  /* from the first one, when this is over */
};

/* On the first shard, before its loop runs. */
void pl_resume_queued_start(struct pl_resume_queued *requeue, struct pl_server *server);
/* On the first shard: sessions have become nobody's, and messages may wait in them. */
void pl_resume_queued_again(struct pl_resume_queued *requeue);

#endif
