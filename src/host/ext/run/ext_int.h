/* A shard's part of the extension host: places, instances, and their asks. */
#ifndef PL_EXT_EXT_INT_H
#define PL_EXT_EXT_INT_H

#include "ext/cell/cell.h"
#include "ext/cell/hosts.h"
#include "ext/run/channel/channel.h"
#include "ext/run/channel/socket.h"
#include "ext/run/host_int.h"
#include "extproto/calls.h"
#include "extproto/life.h"
#include "extproto/quota.h"
#include "io/watch.h"

enum {
    PL_EXT_IDLE_MS = 600000,
    PL_EXT_TOOL_MS = 30000,
    PL_EXT_COMMAND_MS = 30000,
    PL_EXT_HOOK_MS = 5000,
    PL_EXT_MOST_MS = 600000,
    PL_EXT_DRAIN_MS = 2000, /* after `shutdown` */
    PL_EXT_TERM_MS = 1000,  /* after SIGTERM */
    PL_EXT_EXECS = 8,       /* concurrently */
};

/* A person's answer about an extension and a target, for one session or for ever. */
struct pl_ext_answer_kept {
    struct pl_ext_answer_kept *next;
    enum pl_ext_capability capability;
    bool is_allowed;
    bool is_always;
    struct pl_str session_id, target; /* in the same allocation */
};

/* The number of denials by a person in a session. */
struct pl_ext_denials {
    struct pl_ext_denials *next;
    unsigned n;
    struct pl_str session_id;
};

/* An extension of a user on this shard; instances come and go. The diagram is in place.c. */
enum pl_ext_place_state {
    PL_EXT_PLACE_EMPTY,   /* no instance */
    PL_EXT_PLACE_TAKEN,   /* an instance lives, or ends */
    PL_EXT_PLACE_RESTING, /* it crashed: the next one starts later */
    PL_EXT_PLACE_BARRED,  /* it crashed too often */
    PL_EXT_PLACE_GONE,
};

struct pl_ext_place {
    struct pl_table_link link; /* key: "extension\nuser" */
    struct pl_ext_shard *exts; /* borrowed */
    enum pl_ext_place_state state;
    struct pl_str extension_id, user_id; /* parts of the key */
    struct pl_ext_instance *instance;    /* owned; in TAKEN */
    struct pl_ext_ask *waiting, *last_waiting;
    struct pl_ext_crashes crashes;
    struct pl_timer rest;
    struct pl_timer idle;
    int64_t touched_ms;                 /* time of the last ask to it or line from it */
    struct pl_ext_answer_kept *answers; /* owned */
    struct pl_ext_denials *denials;     /* owned */
    unsigned n_restarts;
    char last_error[256];
    char key[];
};

/* An audit row that is not written yet: callers do not wait for it. */
struct pl_ext_unwritten {
    struct pl_ext_unwritten *next;
    void (*write)(
        struct pl_ext_unwritten *row); /* with pl_ext_audit_later; then it owns itself again */
};

struct pl_ext_question;
struct pl_ext_shard {
    struct pl_shard *shard;     /* borrowed */
    struct pl_ext_server *host; /* borrowed */
    struct pl_loop *loop;       /* borrowed */
    struct pl_table places;
    struct pl_table questions;     /* by id: waiting for an answer */
    unsigned n_ending;             /* cells that a worker frees */
    unsigned n_live;               /* instances, and sockets of remote ones */
    struct pl_ext_secrets secrets; /* values of ext_env that are never shown */
    bool is_stopping;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
    struct pl_loop_hook stop_hook;
    struct pl_batch *gathered; /* owned; audit rows that nobody waits for; NULL: none */
    struct pl_timer gather;    /* until they are submitted */
    struct pl_ext_unwritten *unwritten, *last_unwritten; /* they own themselves */
    size_t n_unwritten;
    struct pl_buf spare; /* empty; room for the output of the next call */
};

/* One run of an extension. */
struct pl_ext_instance {
    struct pl_ext_place *place; /* borrowed */
    struct pl_ext_shard *exts;  /* borrowed */
    struct pl_ext_known *known; /* held */
    enum pl_ext_life life;
    struct pl_id id;                /* "inst_…" */
    struct pl_ext_channel *channel; /* owned; NULL before the start and at the end */
    struct pl_ext_child *child;     /* owned; NULL: over a socket, or not started */
    struct pl_ext_wire *wire;       /* held; NULL: not over a socket */
    struct pl_ext_adapter *adapter; /* owned; NULL: not an MCP server */
    bool has_exited, is_remote, is_over;
    struct pl_ext_codec *codec;           /* owned */
    struct pl_arena arena;                /* of the current line */
    struct pl_ext_registered *registered; /* held; NULL before READY */
    struct pl_ext_registered *candidate;  /* held; in RESOLVING_CAPS */
    struct pl_str register_id;            /* owned: of the current registration */
    struct pl_ext_calls out;              /* asks by call_id */
    struct pl_ext_calls in;               /* host calls by call_id */
    struct pl_ext_ask *asks;              /* all that are QUEUED or RUNNING here */
    struct pl_ext_hostcall *hostcalls;    /* all of this instance; owned */
    struct pl_ext_bucket buckets[PL_EXT_QUOTA_COUNT];
    struct pl_ext_strikes bad_lines, over_quota;
    struct pl_ext_secrets secrets; /* the shard's */
    struct pl_timer timer;         /* for a life state, and for the stages of an end */
    struct pl_job job;             /* starting, reading a long line, or resolving */
    bool is_away;                  /* the job has it */
    unsigned stop_stage;
    char why[256]; /* the reason of its end */
    /* For jobs: */
    enum pl_status status;
    struct pl_error err;
    struct pl_buf long_line;
    struct pl_buf said; /* the beginning of a line on standard error */
    struct pl_ext_frame frame;
    struct pl_ext_fault fault;
    char params_hash[PL_EXT_HASH_SIZE]; /* of a long host_call */
    struct pl_arena job_arena;
    struct pl_extension_answer_row *answers; /* job_arena */
    size_t n_answers;
    enum pl_cell_level least;        /* for the job that starts it */
    char workspace[512];             /* the same: of the user; "": none */
    struct pl_cell *made;            /* owned; made by that job */
    struct pl_cell_end ended;        /* how the child ended */
    struct pl_ext_registered *first; /* held: the first registration, which no later one widens */
    char sandbox[24];                /* "full", … of the cell; "remote" */
    struct pl_loop_hook bury;
};

/* --- child.c: a cell on the loop */
struct pl_ext_ward;  /* ward.c */
struct pl_ext_child; /* owned; after leaving it lives until the cell is gone */
/* Watches a spawned cell; calls `on_exit` once, when all its processes are gone. NULL: out of
 * memory, and the cell is still the caller's. */
struct pl_ext_child *pl_ext_child_take(struct pl_ext_shard *exts, struct pl_cell *cell,
                                       void (*on_exit)(void *ctx, const struct pl_cell_end *end),
                                       void *ctx);
void pl_ext_child_signal(struct pl_ext_child *child, int signal);
void pl_ext_child_kill(struct pl_ext_child *child);
/* No more callbacks. Kills what still runs; a worker frees it, then ends the ward (may be NULL)
 * and frees it. Accepts NULL without a ward. */
void pl_ext_child_leave(struct pl_ext_child *child, struct pl_ext_ward *ward);
/* The same for a cell without a child. Accepts NULL. */
void pl_ext_cell_leave(struct pl_ext_shard *exts, struct pl_cell *cell, struct pl_ext_ward *ward);

/* --- ward.c: protected paths in directories that a program may write to */
struct pl_ext_warded_call {
    struct pl_str extension_id, user_id, instance_id, session_id, call_id; /* for the audit */
    bool is_renewed; /* checked while the program runs: pl_ext_ward_renew */
};
struct pl_ext_ward *pl_ext_ward_create(const struct pl_ext_warded_call *call); /* NULL: no memory */
/* `dir`: relative to the workspace. Before the program starts; on a worker. */
enum pl_status pl_ext_ward_add(struct pl_ext_ward *ward, const char *dir, int fd,
                               struct pl_error *err);
/* All processes of the program are gone: removes new protected paths. On a worker. */
void pl_ext_ward_end(struct pl_ext_ward *ward);
/* The same while the program runs on: ends this one, and returns its successor. NULL: out of
 * memory, and this one continues. On a worker. */
struct pl_ext_ward *pl_ext_ward_renew(struct pl_ext_ward *ward);
/* It has ended, or there was nothing writable. */
bool pl_ext_ward_is_over(const struct pl_ext_ward *ward);
/* Not PL_OK: not everything could be checked. */
enum pl_status pl_ext_ward_status(const struct pl_ext_ward *ward, const char **ret_why);
bool pl_ext_ward_has_removed(const struct pl_ext_ward *ward);
/* The member `removed`: an array of paths, at most 100. */
void pl_ext_ward_put(const struct pl_ext_ward *ward, struct pl_json_out *out);
/* Audits the removals. After its end, on the loop. Accepts NULL. */
void pl_ext_ward_free(struct pl_ext_shard *exts, struct pl_ext_ward *ward);

/* --- place.c */
struct pl_ext_place *pl_ext_place_get(struct pl_ext_shard *exts, struct pl_str extension_id,
                                      struct pl_str user_id); /* NULL: out of memory */
struct pl_ext_place *pl_ext_place_find(struct pl_ext_shard *exts, struct pl_str extension_id,
                                       struct pl_str user_id); /* NULL if there is none */
/* Gives an ask to its instance: now, or when one is ready. */
void pl_ext_place_take(struct pl_ext_place *place, struct pl_ext_ask *ask);
/* Why a remote extension may not connect now; `says` empty: it may. */
struct pl_ext_refusal {
    enum pl_problem problem;
    int retry_s; /* 0: waiting does not help */
    char says[200];
};
/* A remote extension has connected. Holds the wire. */
void pl_ext_place_connect(struct pl_ext_place *place, struct pl_ext_wire *wire,
                          struct pl_ext_refusal *ret_refusal);
/* The instance is ready: it gets the waiting asks. */
void pl_ext_place_ready(struct pl_ext_place *place);
/* The instance is over and freed. `is_crash`: by its own fault. */
void pl_ext_place_left(struct pl_ext_place *place, bool is_crash, const char *why);
/* Something happened: it is not idle. */
void pl_ext_place_touch(struct pl_ext_place *place);
void pl_ext_place_destroy(struct pl_ext_place *place);
/* The shard of an extension of a user. */
struct pl_shard *pl_ext_shard_of(struct pl_server *server, struct pl_str extension_id,
                                 struct pl_str user_id);

/* --- ran.c: the isolation of a run */
/* A run begins (with its cell; NULL: it is remote), or has ended. */
void pl_ext_ran_tell(const struct pl_ext_place *place, const struct pl_cell *cell, bool is_running);

/* --- instance.c: the life of a run */
/* NULL: out of memory. */
struct pl_ext_instance *pl_ext_instance_start(struct pl_ext_place *place,
                                              struct pl_ext_known *known);
/* The same for a remote one that has connected. */
struct pl_ext_instance *pl_ext_instance_connect(struct pl_ext_place *place,
                                                struct pl_ext_known *known,
                                                struct pl_ext_wire *wire);
void pl_ext_instance_become(struct pl_ext_instance *instance, enum pl_ext_life life);
/* Stops it in order: it is notified, and has three seconds. */
void pl_ext_instance_stop(struct pl_ext_instance *instance, const char *why);
/* Ends it at once; FAILED or KILLED. All its asks fail. The instance may be gone when this
 * returns. */
void pl_ext_instance_end(struct pl_ext_instance *instance, enum pl_ext_life life, const char *why);
void pl_ext_instance_send(struct pl_ext_instance *instance, struct pl_buf *line);
void pl_ext_instance_send_result(struct pl_ext_instance *instance,
                                 const struct pl_ext_result *result);
/* Sends an `error` frame. */
void pl_ext_instance_complain(struct pl_ext_instance *instance, enum pl_ext_code code,
                              struct pl_str id, const char *message);
/* A quota was exceeded; true: too often, and the instance ends. */
bool pl_ext_instance_strike(struct pl_ext_instance *instance, const char *what);
bool pl_ext_instance_is_quiet(const struct pl_ext_instance *instance);

/* --- hear.c: frames from the child */
/* Adds our own line to its log. */
void pl_ext_instance_keep_line(struct pl_ext_instance *instance, const char *level,
                               const char *event, struct pl_str message);
void pl_ext_hear_line(void *ctx, struct pl_str line);
void pl_ext_hear_said(void *ctx, struct pl_str bytes);
/* It ends: the rest of standard error becomes a line. */
void pl_ext_hear_rest(struct pl_ext_instance *instance);

/* --- register.c */
void pl_ext_register(struct pl_ext_instance *instance, const struct pl_ext_frame *frame);
/* The present rights of an extension: for the answer to a registration and for `explain`. `first`
 * may be NULL. */
struct pl_ext_standing {
    const struct pl_ext_known *known;
    const struct pl_ext_registered *registered, *first;
    bool is_remote;
};
/* The reason of the decision about a whole capability. */
enum pl_ext_reason pl_ext_standing_judge(const struct pl_ext_standing *standing,
                                         enum pl_ext_capability capability);
/* Writes the members granted, denied, asks, tools, refused_tools, withheld_tools, hooks,
 * denied_hooks and unknown_hooks. */
void pl_ext_standing_write(const struct pl_ext_standing *standing, struct pl_json_out *out);

/* --- ask.c: the far side */
void pl_ext_ask_become(struct pl_ext_ask *ask, enum pl_ext_ask_state state);
/* Puts it into the queue of a ready instance. */
void pl_ext_ask_queue(struct pl_ext_ask *ask, struct pl_ext_instance *instance);
/* Sends the asks that may be sent now. */
void pl_ext_asks_pump(struct pl_ext_instance *instance);
/* Answers it; `reply` is JSON. */
void pl_ext_ask_answer(struct pl_ext_ask *ask, struct pl_str reply, bool is_error);
void pl_ext_ask_fail(struct pl_ext_ask *ask, enum pl_tool_error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Progress of a tool. */
void pl_ext_ask_tell(struct pl_ext_ask *ask, struct pl_str content);
/* The clock of an ask is paused while a question is open. */
void pl_ext_ask_hold_clock(struct pl_ext_ask *ask);
void pl_ext_ask_let_clock(struct pl_ext_ask *ask);
struct pl_ext_ask *pl_ext_ask_find(struct pl_ext_instance *instance, struct pl_str id);

/* --- broker: see broker/broker.h */
void pl_ext_hostcall_hear(struct pl_ext_instance *instance, const struct pl_ext_frame *frame);
/* The hash of the params of a host_call. Any thread that has the frame. */
enum pl_status pl_ext_hostcall_hash(struct pl_arena *arena, const struct pl_ext_frame *frame,
                                    char ret_hash[PL_EXT_HASH_SIZE]);
/* Ends the host calls of an ending ask, or (NULL) of the whole instance. */
void pl_ext_hostcalls_end(struct pl_ext_instance *instance, struct pl_ext_ask *ask);
void pl_ext_hostcall_cancel_named(struct pl_ext_instance *instance, struct pl_str call_id,
                                  struct pl_str token);
void pl_ext_hostcall_credit(struct pl_ext_instance *instance, struct pl_str call_id, int64_t n);
void pl_ext_hostcalls_taken(struct pl_ext_instance *instance);

/* --- adapter.c: the mounts of the workspace in the cell of an MCP server, and its hosts */
enum { PL_EXT_ADAPTER_MOUNTS = 64 };
struct pl_ext_adapter {
    struct pl_ext_instance *instance; /* borrowed */
    struct pl_arena arena;
    struct pl_cell_mount mounts[PL_EXT_ADAPTER_MOUNTS];
    size_t n_mounts;
    const char *env[2]; /* arena */
    struct pl_cell_host hosts[PL_CELL_MAX_HOSTS];
    size_t n_hosts;
    bool writes;                      /* a mount is writable */
    struct pl_ext_ward *ward;         /* owned: of those mounts; NULL while it is renewed */
    struct pl_ext_sweeping *sweeping; /* the renewal; owns itself */
    bool sweeps_again;                /* after it */
    struct pl_cell_hosts *running;    /* owned; NULL: no hosts */
    struct pl_fetch_rules rules;
    unsigned n_connects; /* number reported */
};
/* Sets instance->adapter; NULL for other runtimes. On a worker. PL_IO, PL_LIMIT, PL_NOMEM. Call
 * pl_ext_adapter_leave in any case. */
enum pl_status pl_ext_adapter_open(struct pl_ext_instance *instance, struct pl_error *err);
/* Call it when the cell has the mounts. Accepts NULL. */
void pl_ext_adapter_close_mounts(struct pl_ext_adapter *adapter);
/* Starts its hosts, on the loop; false if out of memory. */
bool pl_ext_adapter_start(struct pl_ext_instance *instance, struct pl_cell *cell);
/* A call has ended: removes new protected paths. Does nothing for other runtimes. */
void pl_ext_adapter_sweep(struct pl_ext_instance *instance);
/* Frees it before the cell; returns the ward (or NULL) of the cell's writable directories. */
struct pl_ext_ward *pl_ext_adapter_leave(struct pl_ext_instance *instance);

/* --- broker/first_call.c: asks before the first call of a tool of an adapter */
/* True: a person is asked; calls `go` if they allow it; a refusal fails the ask. It may have
 * failed when this returns. */
bool pl_ext_first_call(struct pl_ext_ask *ask, void (*go)(struct pl_ext_ask *ask));

/* --- method/methods.c */
/* The values of ext_env that are never shown; the caller frees the list. PL_NOMEM. */
enum pl_status pl_ext_env_secrets(struct pl_shard *shard, struct pl_ext_secrets *ret_secrets);

/* --- shard.c */
/* Commits a change of the record, then has the set read again. Takes the batch. */
void pl_ext_server_commit(struct pl_ext_shard *exts, struct pl_batch *batch);
/* --- place.c */
void pl_ext_place_pardon(struct pl_ext_place *place);

/* --- audit.c */
struct pl_ext_text {
    const char *key;
    struct pl_str value;
};
/* Writes each as a member of an object; leaves out empty ones. */
void pl_ext_put_texts(struct pl_json_out *out, const struct pl_ext_text *texts, size_t n);
struct pl_ext_audited {
    struct pl_str extension_id, user_id;
    const char *action;
    struct pl_str object;
    struct pl_str detail; /* JSON object; empty: no detail */
    int64_t at_ms;        /* unix; 0: now */
};
/* Adds a row after the collected ones. `done` (may be NULL) is called when it is durable, on
 * this shard. */
void pl_ext_audit(struct pl_ext_shard *exts, const struct pl_ext_audited *what,
                  pl_batch_done_fn *done, void *ctx);
/* Adds a row that nobody waits for: it is submitted with others, shortly after. */
void pl_ext_audit_later(struct pl_ext_shard *exts, const struct pl_ext_audited *what);
/* The same for a row that is written when the rows are submitted, or when another follows it:
 * the order is kept. */
void pl_ext_audit_defer(struct pl_ext_shard *exts, struct pl_ext_unwritten *row);
/* Writes the deferred rows, and submits nothing. */
void pl_ext_audit_write(struct pl_ext_shard *exts);
/* Submits the collected rows. */
void pl_ext_audit_flush(struct pl_ext_shard *exts);
/* A tool call, on its home shard: {tool, tool_call_id, params_hash, …}; at its end also the
 * outcome. */
void pl_ext_audit_tool_call(const struct pl_ext_ask *ask, const char *action,
                            pl_batch_done_fn *done, void *ctx);
/* An event of an instance: {instance_id, …} and a sentence. */
void pl_ext_audit_life(struct pl_ext_instance *instance, const char *action, const char *why);

#endif
