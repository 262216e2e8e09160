/* The broker: a host_call from its frame to its one result.
 *
 *     frame -> quota, id -> capability derived -> manifest, scope, policy -> [question] -> [audit] -> method -> result
 *
 * A method is a row of the table in method/methods.c. It runs on the instance's shard; blocking
 * work goes to a worker. */
#ifndef PL_EXT_BROKER_H
#define PL_EXT_BROKER_H

#include "ext/run/ext_int.h"
#include "extproto/path_scope.h"
#include "extproto/stream.h"

/* The diagram is in hostcall.c. */
enum pl_hostcall_state {
    PL_HOSTCALL_QUEUED,
    PL_HOSTCALL_HOOKING,  /* extensions inspect a call of the method tool */
    PL_HOSTCALL_ASKING,   /* a person */
    PL_HOSTCALL_AUDITING, /* the store writes its row */
    PL_HOSTCALL_RUNNING,
    PL_HOSTCALL_WORKING, /* a worker runs it */
    PL_HOSTCALL_LEFT,    /* it ended while the store or a worker had it */
    PL_HOSTCALL_OVER,
};

struct pl_ext_method;

struct pl_ext_hostcall {
    struct pl_ext_hostcall *next; /* in the instance's list */
    enum pl_hostcall_state state;
    struct pl_ext_instance *instance; /* borrowed; NULL: the instance is over */
    struct pl_ext_shard *exts;        /* borrowed */
    struct pl_ext_ask *parent;        /* borrowed; NULL: no parent */
    struct pl_ext_call *entry;        /* in the instance's table; NULL: it waits in the queue */
    struct pl_arena arena;
    struct pl_str id, call_id, method_name, cancel_token; /* arena */
    struct pl_json_doc doc;                               /* of params; arena, or line_arena */
    struct pl_arena line_arena;                           /* of a long line, taken over */
    struct pl_buf line;                                   /* the same */
    const struct pl_json_node *params;
    struct pl_str session_id, user_id, extension_id, turn_id; /* arena; session_id may be empty */
    enum pl_ext_capability capability;
    const struct pl_ext_method *method;
    enum pl_ext_reason reason;   /* of the decision */
    struct pl_str target;        /* the first directory, host, program or variable; arena */
    struct pl_str what;          /* the exact path, host or command; not redacted; arena */
    char hash[PL_EXT_HASH_SIZE]; /* of method and params; "": not computed yet */
    struct pl_str method_said;   /* as spelled in the frame; arena */
    struct pl_id instance_id;
    int64_t ended_ms; /* unix */
    struct pl_timer timer;
    int64_t timeout_ms, left_ms, started_ms;
    bool has_person;
    struct pl_loop_hook bury;
    struct pl_job job;
    void (*after)(struct pl_ext_hostcall *call); /* called after the job, unless the call is over */
    /* For judging scopes; held. */
    struct pl_ext_known *known;
    struct pl_ext_registered *registered, *first;
    /* The result: */
    struct pl_buf output;
    const char *error; /* NULL: success */
    const char *error_reason;
    bool is_retryable;
    bool has_details; /* of an error: `output` is an object with the details */
    /* A stream: */
    bool is_streamed;
    struct pl_ext_stream stream;
    struct pl_timer stalled;
    size_t n_marks;
    void (*go_on)(struct pl_ext_hostcall *call); /* the stream may send again */
    void *own;                                   /* owned by the method; arena */
    void *asking;                                /* a session command or an ask; frees itself */
    void *own_spawn;                             /* of exec: freed by `clean` */
    void (*clean)(struct pl_ext_hostcall *call); /* frees the contents of `own`, at the very end */
    struct pl_ext_question *state_question;      /* in ASKING; frees itself */
    /* For nested.c: */
    struct pl_str tool_name;                      /* of the method tool; arena */
    struct pl_ext_chain *chain;                   /* owned; running hooks */
    void (*hooked)(struct pl_ext_hostcall *call); /* called when they are done */
    bool has_result;                              /* hooks have seen the result, or none wants it */
    /* The members below are not zeroed. */
    char message[300]; /* of an error */
    /* For each chunk under way: the n_taken at which it is sent, and its bytes. */
    uint64_t marks[PL_EXT_FREE_CHUNKS];
    int64_t mark_bytes[PL_EXT_FREE_CHUNKS];
    char space[1536]; /* the first block of the arena */
};

enum pl_ext_method_flag {
    PL_EXT_METHOD_AUDIT = 1,   /* its start is durable before it runs (always for write and exec) */
    PL_EXT_METHOD_SESSION = 2, /* acts on a session */
    PL_EXT_METHOD_STREAMS = 4, /* supports `stream` */
    PL_EXT_METHOD_AT_ONCE = 8, /* ends within `start`, and needs no timer */
};

struct pl_ext_method {
    const char *name;
    unsigned flags;
    int64_t timeout_ms; /* the default */
    /* Begins; ends with pl_hostcall_succeed or pl_hostcall_fail, now or later. */
    void (*start)(struct pl_ext_hostcall *call);
    /* The call ends before that: releases running work. May be NULL. */
    void (*cancel)(struct pl_ext_hostcall *call);
};

/* --- hostcall.c: its life */
/* With the object in call->output. */
void pl_hostcall_succeed(struct pl_ext_hostcall *call);
/* `error`: one of seed 004; `reason` may be NULL. */
void pl_hostcall_fail(struct pl_ext_hostcall *call, const char *error, const char *reason,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same with a reason of the policy. */
void pl_hostcall_deny(struct pl_ext_hostcall *call, enum pl_ext_reason reason);
void pl_hostcall_fail_status(struct pl_ext_hostcall *call, enum pl_status status,
                             const struct pl_error *err);
/* Runs `run` on a worker: it may set error, reason and message, or fill output. Then calls
 * `after`, or sends the result. */
void pl_hostcall_work(struct pl_ext_hostcall *call, void (*run)(struct pl_job *job),
                      void (*after)(struct pl_ext_hostcall *call));
/* Sets the error; on a worker. */
void pl_hostcall_set_error(struct pl_ext_hostcall *call, const char *error, const char *reason,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));
void pl_hostcall_become(struct pl_ext_hostcall *call, enum pl_hostcall_state state);
/* Sends the last chunk, which ends the call. */
void pl_hostcall_end_streamed(struct pl_ext_hostcall *call, const struct pl_ext_result *last);

/* Read params by name; a text is decoded. False: wrong type, and the call has failed. Absent:
 * {NULL, 0}. */
bool pl_hostcall_text(struct pl_ext_hostcall *call, const struct pl_json_node *object,
                      const char *key, struct pl_str *ret_text);
bool pl_hostcall_int(struct pl_ext_hostcall *call, const struct pl_json_node *object,
                     const char *key, int64_t least, int64_t most, int64_t otherwise,
                     int64_t *ret_value);
/* Checks that the object has only these members; otherwise the call fails, with a suggestion.
 * `names` is NULL-terminated. */
bool pl_hostcall_members(struct pl_ext_hostcall *call, const struct pl_json_node *object,
                         const char *const *names);

/* Sends the result of the call, after the hooks. */
void pl_hostcall_finish(struct pl_ext_hostcall *call);

/* --- nested.c: hooks around the method tool */
bool pl_nested_is(const struct pl_ext_hostcall *call);
/* Runs tool_call and tool_call_final, then calls `hooked`; or the call has failed. They may
 * change its params. */
void pl_nested_hook(struct pl_ext_hostcall *call, void (*hooked)(struct pl_ext_hostcall *call));
/* It begins to run: notifies the observers. */
void pl_nested_tell_start(struct pl_ext_hostcall *call);
/* True: hooks inspect the result, then call pl_hostcall_finish. */
bool pl_nested_result(struct pl_ext_hostcall *call);

/* --- judge.c: manifests, scopes, policy */
/* Finds what a call wants to touch, from its params. False: the call has failed. */
bool pl_hostcall_aim(struct pl_ext_hostcall *call);
/* Checks all manifests that bind it. PL_EXT_REASON_COUNT: they allow it. Any thread that has the
 * call. */
enum pl_ext_reason pl_hostcall_judge_scope(const struct pl_ext_hostcall *call,
                                           struct pl_arena *arena, const struct pl_ext_wish *wish);
enum pl_ext_reason pl_hostcall_judge(struct pl_ext_hostcall *call);
/* The same for another capability of the same extension; true if allowed. */
bool pl_hostcall_is_granted(const struct pl_ext_hostcall *call, enum pl_ext_capability capability);

/* --- question.c: a person is asked */
/* For a capability: calls `decided` with the answer. */
void pl_question_ask_capability(struct pl_ext_hostcall *call,
                                void (*decided)(struct pl_ext_hostcall *call,
                                                enum pl_ext_reason reason));
/* For the method ui ("ask") and for a hook that wants a confirmation ("capability"): calls
 * `answered` with the JSON of the answer; empty: it was dismissed. The call is in its former
 * state again. */
void pl_question_ask_person(struct pl_ext_hostcall *call, const char *kind, struct pl_str questions,
                            void (*answered)(struct pl_ext_hostcall *call, struct pl_str answer));
/* For the capability `ask->asked` of a tool call, before it runs; the target is the tool's name. */
void pl_question_ask_call(struct pl_ext_ask *ask, struct pl_str what,
                          void (*decided)(struct pl_ext_ask *ask, enum pl_ext_reason reason));
void pl_question_leave_call(struct pl_ext_ask *ask);
/* The call no longer waits. */
void pl_question_leave(struct pl_ext_hostcall *call);

/* --- answers.c: stored answers */
/* PL_EXT_REASON_PROMPT_CACHE_ALLOW, _DENY; PROMPT_REQUIRED: no stored answer. */
enum pl_ext_reason pl_ext_answers_find(const struct pl_ext_place *place,
                                       enum pl_ext_capability capability, struct pl_str target,
                                       struct pl_str session_id);
/* Forgets the answers that are not for one session. */
void pl_ext_answers_forget_always(struct pl_ext_place *place);
/* session_id empty: for ever. If out of memory, the person is asked again. */
void pl_ext_answers_keep(struct pl_ext_place *place, enum pl_ext_capability capability,
                         struct pl_str target, struct pl_str session_id, bool is_allowed);
void pl_ext_denials_add(struct pl_ext_place *place, struct pl_str session_id);
unsigned pl_ext_denials_of(const struct pl_ext_place *place, struct pl_str session_id);

/* --- stream.c: results in chunks */
/* Whether a chunk may be sent now; if not, call->go_on is called when it may. */
bool pl_hostcall_may_send(struct pl_ext_hostcall *call);
/* Sends the object in call->output as the next chunk, and clears it. After the last one the call
 * is over. */
void pl_hostcall_send_chunk(struct pl_ext_hostcall *call, bool is_last);
void pl_hostcall_stream_begin(struct pl_ext_hostcall *call);

/* --- method/methods.c */
const struct pl_ext_method *pl_ext_method_find(struct pl_str name);

#endif
