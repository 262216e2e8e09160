/* Work in progress for a session: a model call, a tool, a summary. It lives on the session's shard,
 * begins in its own loop iteration, and delivers its output by pl_driver_apply. A cancelled one has
 * no owner and is freed when its letter or job is back. */
#ifndef PL_AGENT_ACTIVITY_INT_H
#define PL_AGENT_ACTIVITY_INT_H

#include "access/meter/meter.h"
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
    PL_ACTIVITY_WORKING,  /* on a worker */
    PL_ACTIVITY_CALLING,  /* a model is answering */
    PL_ACTIVITY_BRINGING, /* its last output is being applied */
    PL_ACTIVITY_LEFT,     /* cancelled while it was away */
    PL_ACTIVITY_OVER,
};

struct pl_activity {
    enum pl_activity_state state;
    struct pl_activity *prev, *next; /* the driver's list */
    struct pl_driver *driver;        /* borrowed; NULL from BRINGING on, and after a cancel */
    struct pl_server *server;        /* borrowed */
    struct pl_shard *shard;          /* borrowed */
    struct pl_setup *setup;          /* held: the same from start to end */
    struct pl_loop *loop;            /* borrowed */
    struct pl_letter letter;         /* starts it */
    struct pl_job job;
    void (*after)(struct pl_activity *activity); /* called after the job, unless it was cancelled */
    enum pl_status (*work)(struct pl_activity *activity,
                           const struct pl_json_doc *arguments); /* tools only */
    struct pl_timer timer; /* a tool's own, or the time limit */
    struct pl_arena arena;
    struct pl_session_effect effect;    /* arena */
    struct pl_str session_id;           /* arena */
    struct pl_str user_id;              /* arena */
    struct pl_model_call *call;         /* owned; while CALLING */
    struct pl_model_prepared *prepared; /* owned; the request for the model */
    struct pl_str offer;                /* arena; for a tool: the tools that the session offers,
                                           JSON */
    struct pl_buf text;                 /* read or made by the job */
    struct pl_request request;          /* arena; the input of a model */
    struct pl_buf said;                 /* the output of a model that writes a summary */
    enum pl_status status;
    struct pl_error err;
    int64_t started_ms;
    int64_t unix_ms;                              /* for a model call: when it began */
    bool is_remembering;                          /* the session's memory_enabled */
    struct pl_replay_pace pace;                   /* for a replay */
    bool is_last;                                 /* … this turn ends the answer */
    int64_t n_turns, tokens_before, tokens_after; /* for a summary */
    struct pl_str writer, usage, timing;          /* arena; of the model that wrote the summary */
    struct pl_str metadata;                       /* arena; a model's metadata of its answer */
    struct pl_meter_call meter;                   /* the reservation of its call … */
    struct pl_meter_used used;                    /* … and its usage; strings of the arena */
    int64_t n_said;                               /* bytes of its answer so far */
    struct pl_ext_ask *ask;                       /* call of an extension's tool; owned by itself */
    struct pl_ext_chain *chain;                   /* owned; running hooks */
    struct pl_ext_wake *wake;                     /* owned; extensions that are being started */
    struct pl_str tool_result;                    /* arena; while hooks check it */
    bool is_tool_error;                           /* … and whether it is an error */
    bool has_result;                              /* hooks have checked it */
    bool is_input_changed;                        /* by a hook */
    /* For hooks/request_hooks.c: */
    void (*hooked)(struct pl_activity *activity); /* called when the hooks of a request are done */
    size_t at_payload;                            /* index of the body that they check */
    struct pl_str agent_start;                    /* arena; JSON: the additions of
                                                     before_agent_start */
    /* For hooks/update_hooks.c: */
    bool tells_updates, is_update_due, is_update_thinking;
    struct pl_buf update;  /* the text of the current block */
    int64_t update_offset; /* characters before it */
    int64_t updated_ms;
    struct pl_timer update_timer;
    int64_t first_at_ms; /* unix: time of its first word; 0: none yet */
    struct pl_span span;
    const char *span_error; /* its error.type; NULL: none so far */
};

/* Removes it from the list and frees it, now or when it is back. */
void pl_activity_end(struct pl_activity *activity);
/* Its model was called: `late` is called after this time. */
void pl_activity_call(struct pl_activity *activity, int64_t limit_ms,
                      void (*late)(struct pl_timer *timer));
/* Runs `work` on a worker, then `after` on the shard. */
void pl_activity_work(struct pl_activity *activity, void (*work)(struct pl_job *),
                      void (*after)(struct pl_activity *));
/* Applies its last output, and ends. */
void pl_activity_bring_last(struct pl_activity *activity, const struct pl_session_event *event);
/* Applies the current pace of the session's replay. */
void pl_activities_pace(struct pl_driver *driver);
/* Reads the request for the effect's loop and model. `summary`: the request after this summary;
 * {NULL, 0}: the current one. Memory of the activity. Blocks: on a worker. */
enum pl_status pl_activity_read_request(struct pl_activity *activity, bool is_answering,
                                        struct pl_str summary, struct pl_request *ret_request);
/* Prepares the request for the model again; the result is in activity->status. On a worker. */
void pl_activity_prepare(struct pl_activity *activity);
/* The traceparent for a vendor; empty: the session has no trace. Memory of the activity. */
struct pl_str pl_activity_traceparent(struct pl_activity *activity);
/* --- activity_span.c: its span, which has the id that the vendor is told */
void pl_activity_begin_span(struct pl_activity *activity, const struct pl_driver *driver);
void pl_activity_end_span(struct pl_activity *activity);
/* --- metering.c: its call is admitted and counted */
/* Fetches limits that several nodes share, before pl_activity_admit. On a worker. */
void pl_activity_fetch(struct pl_activity *activity);
/* False: it may not begin; the sentence (memory of the arena) says why. A replay is always
 * admitted. */
bool pl_activity_admit(struct pl_activity *activity, struct pl_str *ret_why);
/* The model has answered: notes its usage and cost. */
void pl_activity_count(struct pl_activity *activity, struct pl_str model, struct pl_str usage);
/* The usage becomes durable with the result of the call; without a driver, separately. */
void pl_activity_settle(struct pl_activity *activity, struct pl_driver *driver);

/* The result of a tool; ends the activity. */
void pl_activity_finish_tool(struct pl_activity *activity, struct pl_str result_json,
                             bool is_error);
void pl_activity_fail_tool(struct pl_activity *activity, enum pl_tool_error error,
                           const char *message);

/* The same after hooks have checked it. */
void pl_activity_give_result(struct pl_activity *activity, struct pl_str result_json,
                             bool is_error);

/* --- tools.c: those that are built in */
void pl_tool_run(struct pl_activity *activity);

/* --- tools/hooked.c: hooks around every call */
void pl_tool_begin(struct pl_activity *activity);
/* Tells extensions that a call has ended. */
void pl_tool_tell_end(struct pl_activity *activity, bool is_error);
/* Tells them its progress; `content` is JSON. */
void pl_tool_tell_update(struct pl_activity *activity, struct pl_str content);
/* True: hooks check the result, and pl_activity_give_result will be called. */
bool pl_tool_result_hook(struct pl_activity *activity, struct pl_str result, bool is_error);

#endif
