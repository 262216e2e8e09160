/* A prompt, saved or not, asked of several models at once: what they say goes out as it comes, or all of it at the end.
 * Nothing is kept of it but a run for each model (store/page.h). */
#ifndef PL_SERVICE_RUNS_DRAFT_RUN_H
#define PL_SERVICE_RUNS_DRAFT_RUN_H

#include "access/meter.h"
#include "http/exchange.h"
#include "model/model.h"

enum { PL_DRAFT_RUN_MODELS = 8 };

/* The diagram is in draft_run.c. */
enum pl_draft_run_state {
    PL_DRAFT_RUN_NEW,
    PL_DRAFT_RUN_ASKED, /* a model answers */
    PL_DRAFT_RUN_OVER,
};

struct pl_draft_run {
    struct pl_draft_runs *all; /* borrowed */
    size_t index;
    enum pl_draft_run_state state;
    struct pl_id id;
    struct pl_str model;                /* arena: its whole name */
    struct pl_str tools;                /* arena: JSON, the definitions it is sent */
    struct pl_model_prepared *prepared; /* owned until it is asked */
    struct pl_model_call *call;         /* owned; of ASKED */
    struct pl_meter_call meter;
    struct pl_meter_used used;
    size_t n_said;
    const char *status;                    /* of OVER: "completed", "failed", "stopped" */
    int64_t retry_after_ms, vendor_status; /* of a failure; 0: not told */
    bool is_retryable;
    struct pl_str error_code, error; /* arena; empty: none */
    struct pl_str answered_by, usage, timing,
        about; /* arena; JSON but for the first; empty: not told */
    struct pl_buf text, thinking,
        calls;                 /* where nothing streams: what was said; JSON without brackets */
    struct pl_draft_run *next; /* of the list of those at work (stopping.c) */
};

struct pl_draft_runs {
    struct pl_exchange *x;
    bool is_stream, has_left;
    struct pl_str prompt_id; /* empty: none */
    int64_t version;
    struct pl_str chat;     /* arena: JSON, the structured chat with its variables filled in */
    struct pl_str turns;    /* arena: JSON, what the models are sent */
    struct pl_str settings; /* arena: JSON; empty: none */
    struct pl_str prefill;  /* arena: text; empty: none */
    struct pl_draft_run items[PL_DRAFT_RUN_MODELS];
    size_t n_items, n_open;
    struct pl_timer limit;
};

/* --- draft_plan.c: reads the request, on a worker. x->state is the runs. */
void pl_draft_runs_plan(struct pl_exchange *x);
/* The request to the model of a run, without what only a call has: trace, upstreams, prepared. */
struct pl_model_request pl_draft_run_request(const struct pl_draft_run *run);

/* --- stopping.c: those at work, by their ids */
void pl_draft_run_enter(struct pl_draft_run *run);
void pl_draft_run_leave(struct pl_draft_run *run);
/* Stops it wherever it is at work. False: this user has none with this id at work. */
bool pl_draft_run_stop_anywhere(struct pl_server *server, struct pl_str user_id, struct pl_str id);

/* --- draft_run.c */
/* On its shard. */
void pl_draft_run_stop(struct pl_draft_run *run);

#endif
