/* Runs a prompt, saved or not, on several models at once. The answers are streamed, or sent
 * together at the end. Only one run row per model is stored (store/page.h). */
#ifndef PL_SERVICE_RUNS_DRAFT_RUN_H
#define PL_SERVICE_RUNS_DRAFT_RUN_H

#include "access/meter/meter.h"
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
    struct pl_str model;                /* arena: its full name */
    struct pl_str tools;                /* arena: JSON, the definitions sent to it */
    struct pl_model_prepared *prepared; /* owned until the model is called */
    struct pl_model_call *call;         /* owned; in ASKED */
    struct pl_meter_call meter;
    struct pl_meter_used used;
    size_t n_said;
    const char *status;                    /* in OVER: "completed", "failed", "stopped" */
    int64_t retry_after_ms, vendor_status; /* of a failure; 0: unknown */
    bool is_retryable;
    struct pl_str error_code, error; /* arena; empty: no error */
    struct pl_str answered_by, usage, timing,
        about;                           /* arena; JSON except the first; empty: unknown */
    struct pl_buf text, thinking, calls; /* without streaming: the output; JSON without brackets */
    struct pl_draft_run *next;           /* in the list of running ones (stopping.c) */
};

struct pl_draft_runs {
    struct pl_exchange *x;
    bool is_stream, has_left;
    struct pl_str prompt_id; /* empty: no prompt */
    int64_t version;
    struct pl_str chat;     /* arena: JSON, the structured chat with its variables filled in */
    struct pl_str turns;    /* arena: JSON, sent to the models */
    struct pl_str settings; /* arena: JSON; empty: no settings */
    struct pl_str prefill;  /* arena: text; empty: no prefill */
    struct pl_draft_run items[PL_DRAFT_RUN_MODELS];
    size_t n_items, n_open;
    struct pl_timer limit;
};

/* --- draft_plan.c: reads the request, on a worker. x->state is the runs. */
void pl_draft_runs_plan(struct pl_exchange *x);
/* The request to the model of a run, without the members of one call: trace, upstreams,
 * prepared. */
struct pl_model_request pl_draft_run_request(const struct pl_draft_run *run);

/* --- stopping.c: those at work, by their ids */
void pl_draft_run_enter(struct pl_draft_run *run);
void pl_draft_run_leave(struct pl_draft_run *run);
/* Stops it on whatever shard it runs. False: this user has no running one with this id. */
bool pl_draft_run_stop_anywhere(struct pl_server *server, struct pl_str user_id, struct pl_str id);

/* --- draft_run.c */
/* On its shard. */
void pl_draft_run_stop(struct pl_draft_run *run);

#endif
