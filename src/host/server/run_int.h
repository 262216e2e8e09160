/* Something at work for a session: a model call, a tool, a summary. It lives on the session's
 * shard, begins in a turn of its own, and brings what it has by pl_driver_apply; a cancelled one
 * belongs to nobody and goes when its letter or job is back. */
#ifndef PL_SERVER_RUN_INT_H
#define PL_SERVER_RUN_INT_H

#include "json/json.h"
#include "model/model.h"
#include "server/driver_int.h"
#include "server/recall.h"
#include "server/setup.h"

struct pl_run {
    struct pl_run *prev, *next; /* the driver's list */
    struct pl_driver *driver;   /* borrowed; NULL once cancelled */
    struct pl_server *server;   /* borrowed */
    struct pl_shard *shard;     /* borrowed */
    struct pl_setup *setup;     /* held: the same from beginning to end */
    struct pl_loop *loop;       /* borrowed */
    struct pl_letter letter;    /* the beginning */
    struct pl_job job;
    void (*after)(struct pl_run *run); /* when the job is done and nobody has cancelled it */
    enum pl_status (*work)(struct pl_run *run, const struct pl_json_doc *arguments); /* a tool's */
    struct pl_timer timer; /* a tool's own, or the end of patience */
    struct pl_arena arena;
    struct pl_session_effect effect;    /* arena */
    struct pl_str session_id;           /* arena */
    struct pl_str user_id;              /* arena */
    struct pl_model_call *call;         /* owned; of a model at work */
    struct pl_model_prepared *prepared; /* owned; what the model will be sent */
    struct pl_buf text;                 /* what the job read or made */
    struct pl_buf tools;                /* those a model is offered */
    struct pl_buf said;                 /* by a model that was asked for a summary */
    enum pl_status status;
    struct pl_error err;
    int64_t started_ms;
    int64_t unix_ms;                              /* of a model call: when it began */
    bool is_remembering;                          /* the session's memory_enabled */
    bool has_memory;                              /* memories are looked for */
    struct pl_recall recall;                      /* those that go along */
    double speed;                                 /* of a replay */
    int64_t n_turns, tokens_before, tokens_after; /* of a summary */
    struct pl_str writer, usage, timing;          /* arena; of the model that wrote it */
    bool is_away; /* a letter or a job of it is on its way: the memory must stay */
};

/* Out of the list and freed, or freed when it is back. */
void pl_run_end(struct pl_run *run);
/* `work` on a worker, then `after` back home. */
void pl_run_work(struct pl_run *run, void (*work)(struct pl_job *), void (*after)(struct pl_run *));
/* Applies the last it has to say, and ends. */
void pl_run_bring_last(struct pl_run *run, const struct pl_session_event *event);
/* A tool's result; the run is over. */
void pl_run_finish_tool(struct pl_run *run, struct pl_str result_json, bool is_error);
void pl_run_fail_tool(struct pl_run *run, const char *message);

/* --- tools.c: those that are built in */
void pl_tool_run(struct pl_run *run);

#endif
