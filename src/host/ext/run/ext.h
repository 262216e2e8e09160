/* Running extensions: the interface for the rooms above.
 *
 * One instance runs per extension and user, on the shard that both hash to. Sessions live on other
 * shards, so they send an ask: a letter there and back.
 *
 *     session's shard ──ask──> place (extension, user) ──frames──> the child
 *            ^                        │
 *            └───────── answer <──────┘      exactly one, also when the child dies
 *
 * The data about all extensions (their packages, their registrations) belong to the host, and any
 * thread may read them: host_int.h. */
#ifndef PL_EXT_EXT_H
#define PL_EXT_EXT_H

#include "base/buf.h"
#include "conv/tool_error.h"
#include "extproto/capability.h"
#include "extproto/frame.h"
#include "extproto/hook.h"
#include "json/write.h"
#include "live/command.h"
#include "shard/shard.h"

struct pl_ext_server; /* server->ext; thread-safe */
struct pl_ext_shard;  /* shard->exts */

/* Callbacks from lower rooms to higher ones; server/ provides them. */
struct pl_ext_above {
    bool (*is_tool)(struct pl_str name); /* a built-in tool has this name */
    bool (*is_model)(struct pl_shard *shard, struct pl_str name);
    void (*write_tools)(struct pl_json_out *out); /* the names of the built-in tools */
    /* Stores bytes in a list of blocks as blobs of the user; on a worker. */
    enum pl_status (*keep_media)(struct pl_server *server, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str document,
                                 struct pl_str *ret_document, struct pl_error *err);
};

/* Reads the set of extensions; before the shards run. */
enum pl_status pl_ext_server_create(struct pl_server *server, const struct pl_ext_above *above,
                                    struct pl_ext_server **ret_host, struct pl_error *err);
void pl_ext_server_destroy(struct pl_ext_server *host); /* accepts NULL */
/* Reads them again after a committed change, and notifies the other nodes. Blocks: on a worker.
 * Stops running instances of extensions that have changed or are not enabled. */
enum pl_status pl_ext_server_reload(struct pl_ext_server *host, struct pl_error *err);
/* Stops all instances of an extension, and forgets its crashes: the next use starts a new one.
 * Any thread. */
void pl_ext_server_restart(struct pl_ext_server *host, struct pl_str extension_id);
/* Another node has changed extensions, or may have (PL_EXT_VERSION_UNKNOWN): reads them again,
 * and fetches files that this node lacks. Any thread; does not wait. */
#define PL_EXT_VERSION_UNKNOWN INT64_MAX
void pl_ext_follow(struct pl_server *server, int64_t ext_version);
/* Whether any extension is enabled: if not, nothing here costs anything. */
bool pl_ext_server_has_any(struct pl_ext_server *host);

/* GET /api/extensions/connect: the WebSocket of a remote extension. Finishes the exchange. */
struct pl_exchange;
void pl_ext_connect(struct pl_exchange *x);

enum pl_status pl_ext_shard_create(struct pl_shard *shard, struct pl_ext_shard **ret_exts);
/* Stops all instances in order, within about three seconds; then calls `done` on the shard. */
void pl_ext_shard_stop(struct pl_ext_shard *exts, void (*done)(void *ctx), void *ctx);
/* Call pl_ext_shard_kill after the loops have stopped: it kills the rest. The jobs and commits that
 * it starts must be back before destroy. Both accept NULL. */
void pl_ext_shard_kill(struct pl_ext_shard *exts);
void pl_ext_shard_destroy(struct pl_ext_shard *exts);

/* --- offers ----------------------------------------------------------------------------------- */

/* A tool that a user's sessions may use. */
struct pl_ext_offered {
    struct pl_str extension_id, name, label, description;
    struct pl_str schema; /* of its arguments, JSON; never empty */
    bool is_deferred;     /* may be found through tool_search only */
    bool is_sequential;
    int64_t timeout_ms; /* 0: the default */
};
/* All tools that are not withheld or hidden, in load order. Copies, in the arena. Any thread. */
enum pl_status pl_ext_tools_of(struct pl_ext_server *host, struct pl_arena *arena,
                               struct pl_str user_id, struct pl_ext_offered **ret_tools,
                               size_t *ret_n);
/* PL_NOT_FOUND; also finds hidden ones. */
enum pl_status pl_ext_tool_find(struct pl_ext_server *host, struct pl_arena *arena,
                                struct pl_str user_id, struct pl_str name,
                                struct pl_ext_offered *ret_tool);
struct pl_ext_offered_command {
    struct pl_str extension_id, name, description;
};
enum pl_status pl_ext_commands_of(struct pl_ext_server *host, struct pl_arena *arena,
                                  struct pl_str user_id,
                                  struct pl_ext_offered_command **ret_commands, size_t *ret_n);

enum pl_status pl_ext_keep_media(struct pl_server *server, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str document,
                                 struct pl_str *ret_document, struct pl_error *err);

/* --- tool_input.c */
/* Validates `input`, a value of `doc`, against the schema of a tool. ret_says, initially empty,
 * gets the error. PL_LIMIT; PL_NOMEM; PL_INVALID: the schema itself. Any thread. */
enum pl_status pl_ext_input_check(struct pl_arena *arena, struct pl_str schema_text,
                                  const struct pl_json_doc *doc, const struct pl_json_node *input,
                                  char *ret_says, size_t size, struct pl_error *err);

/* --- asks ------------------------------------------------------------------------------------- */

enum pl_ext_ask_kind {
    PL_EXT_ASK_WAKE,    /* start it if it has never registered for this user */
    PL_EXT_ASK_TOOL,    /* name, input */
    PL_EXT_ASK_COMMAND, /* name, args, input */
    PL_EXT_ASK_HOOK,    /* hook, input: its data; waits for an answer */
    PL_EXT_ASK_EVENT,   /* hook, input: observed only; for a running or starting instance */
    PL_EXT_ASK_STOP,    /* end the instance; a later use starts another */
};

/* State of an ask, on the far side; the diagram is in ask.c. */
enum pl_ext_ask_state {
    PL_EXT_ASK_STATE_NEW,
    PL_EXT_ASK_STATE_SENT,
    PL_EXT_ASK_STATE_WAITING,  /* for a ready instance */
    PL_EXT_ASK_STATE_QUEUED,   /* in the instance's queue */
    PL_EXT_ASK_STATE_RUNNING,  /* the child has it */
    PL_EXT_ASK_STATE_ANSWERED, /* on its way home, or there */
};

struct pl_ext_instance;
struct pl_ext_hostcall;
struct pl_ext_question;

/* Created by pl_ext_ask_create, filled in, sent; then it owns itself, until `done` has returned. */
struct pl_ext_ask {
    struct pl_letter letter;     /* there and back */
    struct pl_letter cancelling; /* there and back, after a cancel */
    enum pl_ext_ask_state state;
    enum pl_ext_ask_kind kind;
    struct pl_shard *home; /* borrowed */
    struct pl_arena arena;
    /* Filled in before it is sent; arena or static. */
    struct pl_str extension_id, user_id, session_id, turn_id, loop_id, tool_call_id;
    struct pl_str name;
    struct pl_str tool_name; /* of a hook about a tool */
    struct pl_str input;     /* JSON object; empty: {} */
    struct pl_str args;      /* JSON array of a command; empty: [] */
    enum pl_ext_hook hook;
    int64_t timeout_ms; /* 0: the default of its kind */
    bool is_sequential;
    bool has_person;
    void (*done)(struct pl_ext_ask *ask); /* on home; ask->ctx is NULL after a cancel */
    /* Progress, on home; may be NULL. `content` is JSON. */
    void (*update)(struct pl_ext_ask *ask, struct pl_str content);
    void *ctx;

    /* The answer: */
    bool is_failed;           /* no answer: error and message have the reason */
    enum pl_tool_error error; /* of a failure */
    char message[256];
    bool is_error;       /* the extension reports that its tool failed */
    struct pl_buf reply; /* JSON: `output` of a tool or command, `data` of a hook's answer */

    /* On the far side: */
    struct pl_ext_instance *instance; /* borrowed; from QUEUED to ANSWERED */
    struct pl_ext_ask *next;          /* in the list of a place or an instance */
    struct pl_ext_hostcall *calls;    /* the host calls that belong to it */
    struct pl_ext_ask *nested; /* a tool at another owner that this child waits for; owned there */
    struct pl_timer timer;
    int64_t left_ms;                    /* while the clock is paused */
    unsigned n_questions;               /* open: the clock is paused */
    struct pl_ext_question *question;   /* before it runs; frees itself; NULL: none is open */
    enum pl_ext_capability asked;       /* of that question */
    uint32_t allowed;                   /* capabilities that such questions have allowed */
    void (*go)(struct pl_ext_ask *ask); /* called when all are allowed */
    char call_id[PL_ID_MAX];
    bool is_cancelled;      /* far side: its asker is gone */
    struct pl_buf progress; /* the newest, sent when `progressing` fires */
    struct pl_timer progressing;
    /* At home: */
    unsigned n_away;  /* letters that are still to return */
    bool is_over;     /* done was called */
    bool is_auditing; /* a tool call: it is sent when its row is durable */
    int64_t sent_ms;
    char hash[PL_EXT_HASH_SIZE]; /* of its name and input */
    bool is_handed_on;           /* far side: its child has passed the same call on to the host */
};

/* NULL if out of memory. */
struct pl_ext_ask *pl_ext_ask_create(struct pl_shard *home, enum pl_ext_ask_kind kind);
/* A copy in the ask's arena. If out of memory, the ask fails when it is sent. */
struct pl_str pl_ext_ask_keep(struct pl_ext_ask *ask, struct pl_str text);
void pl_ext_ask_send(struct pl_ext_ask *ask);
/* Nobody waits any more: `done` is called later with ctx NULL and must not use anything else.
 * Accepts NULL. */
void pl_ext_ask_cancel(struct pl_ext_ask *ask);
/* Frees one that was not sent. */
void pl_ext_ask_destroy(struct pl_ext_ask *ask);

/* --- hooks ------------------------------------------------------------------------------------ */

/* Whether any extension of this user subscribes to this event. Any thread; fast. */
bool pl_ext_wants(struct pl_ext_server *host, struct pl_str user_id, enum pl_ext_hook hook,
                  struct pl_str tool_name);

/* The result of a chain of deciding hooks. */
struct pl_ext_ruling {
    enum pl_ext_verdict verdict;
    bool is_handled;    /* input: an extension has handled it */
    struct pl_str by;   /* extension of the verdict; empty: none */
    struct pl_str why;  /* its reason; may be empty */
    struct pl_str data; /* JSON: the data after all changes */
    bool is_changed;
};

struct pl_ext_chain; /* owned by its starter until `done` or cancel */
struct pl_ext_chain_query {
    struct pl_str user_id, session_id, turn_id, loop_id, tool_call_id;
    enum pl_ext_hook hook;
    struct pl_str tool_name; /* of a tool's hook */
    struct pl_str data;      /* JSON object */
    bool has_person;
};
/* Calls one extension after the other, in load order; each sees the changes of those before it.
 * `done` is never called before this has returned. The ruling is valid during the call, and the
 * chain is freed after it. NULL: out of memory. */
struct pl_ext_chain *pl_ext_chain_start(struct pl_shard *home,
                                        const struct pl_ext_chain_query *query,
                                        void (*done)(void *ctx, const struct pl_ext_ruling *ruling),
                                        void *ctx);
void pl_ext_chain_cancel(struct pl_ext_chain *chain); /* accepts NULL */

/* Notifies all subscribers; no answer. `data` is a JSON object. */
void pl_ext_tell(struct pl_shard *home, struct pl_str user_id, struct pl_str session_id,
                 enum pl_ext_hook hook, struct pl_str tool_name, struct pl_str data);

/* Notifies the subscribers of bus:TOPIC. */
void pl_ext_emit(struct pl_shard *home, struct pl_str user_id, struct pl_str session_id,
                 struct pl_str topic, struct pl_str data);

/* Starts every enabled extension that has never registered for this user, and waits for them.
 * NULL: nothing to wait for (or no memory), and `done` is not called. */
struct pl_ext_wake; /* owned by its starter until `done` or cancel */
struct pl_ext_wake *pl_ext_wake_start(struct pl_shard *home, struct pl_str user_id,
                                      void (*done)(void *ctx), void *ctx);
void pl_ext_wake_cancel(struct pl_ext_wake *wake); /* accepts NULL */

/* --- questions -------------------------------------------------------------------------------- */

/* The session has the answer to a question of an extension (PL_EFFECT_TELL_ASIDE); empty: it was
 * cancelled. */
void pl_ext_question_tell(struct pl_shard *home, struct pl_str question_id, struct pl_str answer);

/* --- looking ---------------------------------------------------------------------------------- */

/* The number of users for which an extension is quarantined, and whether and why for this user.
 * Any thread. */
size_t pl_ext_quarantines(struct pl_ext_server *host, struct pl_str extension_id,
                          struct pl_str user_id, bool *ret_is, char *ret_why, size_t size);

/* Writes the members is_running, restarts, sandbox, is_measured and walls[{name, stands, says}]
 * of an extension for this user: the walls of its last run, otherwise those that this machine
 * supports. May start a process to find out: on a worker. */
void pl_ext_sandbox_write(struct pl_ext_server *host, struct pl_str extension_id,
                          struct pl_str user_id, bool is_remote, struct pl_json_out *out);

/* Appends the state of every extension that is not disabled, for a user: JSON objects separated
 * by commas. PL_NOMEM. May start a process to find out: on a worker. */
enum pl_status pl_ext_concerns_write(struct pl_ext_server *host, struct pl_str user_id,
                                     struct pl_buf *to);

/* Appends the log of an extension: JSON objects separated by commas, oldest first. `user_id`
 * {NULL, 0}: all users. Any thread. */
void pl_ext_log_write(struct pl_ext_server *host, struct pl_str extension_id, struct pl_str user_id,
                      struct pl_buf *to);
/* Appends what the extension may do for this user, a JSON object: granted and denied
 * capabilities with reasons, its tools including withheld ones, its hooks, its scopes.
 * PL_NOT_FOUND; PL_NOMEM. Any thread. */
enum pl_status pl_ext_explain(struct pl_ext_server *host, struct pl_str extension_id,
                              struct pl_str user_id, struct pl_buf *to);

#endif
