/* Something at work for a session: a model call, a tool, a summary. It lives on the session's
 * shard, begins in a turn of its own, and brings what it has by pl_driver_apply; a cancelled one
 * belongs to nobody and goes when its letter or job is back. */
#ifndef PL_AGENT_ACTIVITY_INT_H
#define PL_AGENT_ACTIVITY_INT_H

#include "access/meter.h"
#include "agent/context/replay_source.h"
#include "agent/context/request.h"
#include "agent/driver_int.h"
#include "conv/tool_error.h"
#include "json/json.h"
#include "model/model.h"
#include "shard/setup.h"

/* The diagram is in effects.c. */
enum pl_activity_state {
    PL_ACTIVITY_NEW,
    PL_ACTIVITY_POSTED,   /* its letter is on its way */
    PL_ACTIVITY_HOME,     /* on the shard; a tool may wait here for its timer */
    PL_ACTIVITY_WORKING,  /* a worker has it */
    PL_ACTIVITY_CALLING,  /* a model answers */
    PL_ACTIVITY_BRINGING, /* the last it has to say is applied */
    PL_ACTIVITY_LEFT,     /* cancelled while it was away */
    PL_ACTIVITY_OVER,
};

struct pl_activity {
    enum pl_activity_state state;
    struct pl_activity *prev, *next; /* the driver's list */
    struct pl_driver *driver;        /* borrowed; NULL from BRINGING on, and once cancelled */
    struct pl_server *server;        /* borrowed */
    struct pl_shard *shard;          /* borrowed */
    struct pl_setup *setup;          /* held: the same from beginning to end */
    struct pl_loop *loop;            /* borrowed */
    struct pl_letter letter;         /* the beginning */
    struct pl_job job;
    void (*after)(
        struct pl_activity *activity); /* when the job is done and nobody has cancelled it */
    enum pl_status (*work)(struct pl_activity *activity,
                           const struct pl_json_doc *arguments); /* a tool's */
    struct pl_timer timer; /* a tool's own, or the end of patience */
    struct pl_arena arena;
    struct pl_session_effect effect;    /* arena */
    struct pl_str session_id;           /* arena */
    struct pl_str user_id;              /* arena */
    struct pl_model_call *call;         /* owned; of CALLING */
    struct pl_model_prepared *prepared; /* owned; what the model will be sent */
    struct pl_str offer;                /* arena; of a tool: what the session offers, JSON */
    struct pl_buf text;                 /* what the job read or made */
    struct pl_request request;          /* arena; the input of a model */
    struct pl_buf said;                 /* by a model that was asked for a summary */
    enum pl_status status;
    struct pl_error err;
    int64_t started_ms;
    int64_t unix_ms;                              /* of a model call: when it began */
    bool is_remembering;                          /* the session's memory_enabled */
    struct pl_replay_pace pace;                   /* of a replay */
    bool is_last;                                 /* … the turn at hand ends the answer */
    int64_t n_turns, tokens_before, tokens_after; /* of a summary */
    struct pl_str writer, usage, timing;          /* arena; of the model that wrote it */
    struct pl_str metadata;                       /* arena; what a model said of its answer */
    struct pl_meter_call meter;                   /* what its call has reserved … */
    struct pl_meter_used used;                    /* … and what it used; strings of the arena */
    int64_t n_said;                               /* bytes of its answer so far */
    struct pl_ext_ask *ask;                       /* a tool of an extension; its own */
    struct pl_ext_chain *chain;                   /* owned; hooks at work */
    struct pl_ext_wake *wake;                     /* owned; extensions that are being started */
    struct pl_str tool_result;                    /* arena; while hooks look at it */
    bool is_tool_error;                           /* … and whether it is an error */
    bool has_result;                              /* hooks have seen it */
    bool is_input_changed;                        /* by a hook */
    /* Of hooks/request_hooks.c: */
    void (*hooked)(struct pl_activity *activity); /* when the hooks of a request are done */
    size_t at_payload;                            /* which of the bodies they look at */
    struct pl_str agent_start;                    /* arena; JSON: what before_agent_start added */
    /* Of hooks/update_hooks.c: */
    bool tells_updates, is_update_due, is_update_thinking;
    struct pl_buf update;  /* the words of the block at hand */
    int64_t update_offset; /* characters before them */
    int64_t updated_ms;
    struct pl_timer update_timer;
    int64_t first_at_ms; /* unix: of its first word; 0: none yet */
    struct pl_span span;
    const char *span_error; /* error.type of it; NULL: none so far */
};

/* Out of the list and freed, or freed when it is back. */
void pl_activity_end(struct pl_activity *activity);
/* Its model was asked: `late` comes after so long. */
void pl_activity_call(struct pl_activity *activity, int64_t limit_ms,
                      void (*late)(struct pl_timer *timer));
/* `work` on a worker, then `after` back home. */
void pl_activity_work(struct pl_activity *activity, void (*work)(struct pl_job *),
                      void (*after)(struct pl_activity *));
/* Applies the last it has to say, and ends. */
void pl_activity_bring_last(struct pl_activity *activity, const struct pl_session_event *event);
/* The session's replay goes on so. */
void pl_activities_pace(struct pl_driver *driver);
/* The request of the effect's loop and model. `summary`: after this summary; {NULL, 0}: as it is
 * now. Memory of the run. Blocking: on a worker. */
enum pl_status pl_activity_read_request(struct pl_activity *activity, bool is_answering,
                                        struct pl_str summary, struct pl_request *ret_request);
/* Makes of the request what the model is sent, anew; activity->status has how that went. On a worker. */
void pl_activity_prepare(struct pl_activity *activity);
/* What a vendor is sent as traceparent; empty: the session has no trace. Memory of the run. */
struct pl_str pl_activity_traceparent(struct pl_activity *activity);
/* --- activity_span.c: its span, which has the id that the vendor is told */
void pl_activity_begin_span(struct pl_activity *activity, const struct pl_driver *driver);
void pl_activity_end_span(struct pl_activity *activity);
/* --- metering.c: its call is admitted and counted */
/* Looks up limits that several nodes share, before pl_activity_admit. On a worker. */
void pl_activity_fetch(struct pl_activity *activity);
/* False: it may not begin, and the sentence (memory of the arena) says why. A replay calls nobody. */
bool pl_activity_admit(struct pl_activity *activity, struct pl_str *ret_why);
/* The model has answered: the usage and the cost it told. */
void pl_activity_count(struct pl_activity *activity, struct pl_str model, struct pl_str usage);
/* The usage becomes durable together with the result of the call; without a driver, by itself. */
void pl_activity_settle(struct pl_activity *activity, struct pl_driver *driver);

/* A tool's result; the run is over. */
void pl_activity_finish_tool(struct pl_activity *activity, struct pl_str result_json,
                             bool is_error);
void pl_activity_fail_tool(struct pl_activity *activity, enum pl_tool_error error,
                           const char *message);

/* The same when hooks have seen it. */
void pl_activity_give_result(struct pl_activity *activity, struct pl_str result_json,
                             bool is_error);

/* --- tools.c: those that are built in */
void pl_tool_run(struct pl_activity *activity);

/* --- tools/hooked.c: hooks around every call */
void pl_tool_begin(struct pl_activity *activity);
/* Extensions hear that a call is over. */
void pl_tool_tell_end(struct pl_activity *activity, bool is_error);
/* … and how far it is; `content` is JSON. */
void pl_tool_tell_update(struct pl_activity *activity, struct pl_str content);
/* True: hooks look at the result, and pl_activity_give_result follows. */
bool pl_tool_result_hook(struct pl_activity *activity, struct pl_str result, bool is_error);

#endif
