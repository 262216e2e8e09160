/* After a start: resumes sessions with messages that were acknowledged as queued, one after the
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
    struct pl_session_command command; /* to the next session */
    struct pl_timer timer;             /* while PAUSING */
    struct pl_job job;                 /* while LOOKING: reads the next session */
    struct pl_arena arena;             /* for the job */
    char after[PL_ID_MAX];             /* the last session that was resumed */
    char next[PL_ID_MAX];              /* "": none */
    enum pl_status status;             /* of the job */
    bool wants_again;                  /* starts again from the first session afterwards */
};

/* On the first shard, before its loop runs. */
void pl_resume_queued_start(struct pl_resume_queued *requeue, struct pl_server *server);
/* On the first shard: sessions have lost their owner, and may have waiting messages. */
void pl_resume_queued_again(struct pl_resume_queued *requeue);

#endif
