/* Extensions at work: what the rooms above ask of them.
 *
 * One instance runs for each extension and user, on the shard that both hash to. Sessions live on other shards, so
 * what they want is an ask: a letter there and back.
 *
 *     session's shard ──ask──> place (extension, user) ──frames──> the child
 *            ^                        │
 *            └───────── answer <──────┘      exactly one, also when the child dies
 *
 * What is known of all extensions (their packages, what they have registered) is the host's, which any thread may
 * read: host_int.h. */
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

struct pl_ext_server; /* server->ext; thread-safe inside */
struct pl_ext_shard;  /* shard->exts */

/* What lower rooms call in higher ones; server/ hands it over. */
struct pl_ext_above {
    bool (*is_tool)(struct pl_str name); /* a built-in tool has this name */
    bool (*is_model)(struct pl_shard *shard, struct pl_str name);
    void (*write_tools)(struct pl_json_out *out); /* the names of the built-in tools */
    /* Bytes in a list of blocks become blobs of the user; on a worker. */
    enum pl_status (*keep_media)(struct pl_server *server, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str document,
                                 struct pl_str *ret_document, struct pl_error *err);
};

/* Reads what extensions there are; before the shards run. */
enum pl_status pl_ext_server_create(struct pl_server *server, const struct pl_ext_above *above,
                                    struct pl_ext_server **ret_host, struct pl_error *err);
void pl_ext_server_destroy(struct pl_ext_server *host); /* accepts NULL */
/* Reads them again, after a change was committed, and tells the other nodes. Blocks: on a worker. Running instances of
 * what is no longer as it was, or is not enabled, are stopped. */
enum pl_status pl_ext_server_reload(struct pl_ext_server *host, struct pl_error *err);
/* Stops all instances of an extension, and forgets its crashes: it starts anew at the next need. Any thread. */
void pl_ext_server_restart(struct pl_ext_server *host, struct pl_str extension_id);
/* Another node has changed extensions, or may have (PL_EXT_VERSION_UNKNOWN): they are read again, and what is not on
 * this node is fetched. Any thread; does not wait. */
#define PL_EXT_VERSION_UNKNOWN INT64_MAX
void pl_ext_follow(struct pl_server *server, int64_t ext_version);
/* Whether any extension is enabled: without one nothing here costs anything. */
bool pl_ext_server_has_any(struct pl_ext_server *host);

/* GET /api/extensions/connect: the WebSocket of an extension that runs elsewhere. Finishes the exchange. */
struct pl_exchange;
void pl_ext_connect(struct pl_exchange *x);

enum pl_status pl_ext_shard_create(struct pl_shard *shard, struct pl_ext_shard **ret_exts);
/* Ends all instances in order, in about three seconds at most; `done` on the shard. */
void pl_ext_shard_stop(struct pl_ext_shard *exts, void (*done)(void *ctx), void *ctx);
/* When the loops no longer run: kills what is left. What that begins comes home before destroy. Accept NULL. */
void pl_ext_shard_kill(struct pl_ext_shard *exts);
void pl_ext_shard_destroy(struct pl_ext_shard *exts);

/* --- what is offered -------------------------------------------------------------------------- */

/* A tool as a user's sessions may use it. */
struct pl_ext_offered {
    struct pl_str extension_id, name, label, description;
    struct pl_str schema; /* of its arguments, JSON; never empty */
    bool is_deferred;     /* may hide behind tool_search */
    bool is_sequential;
    int64_t timeout_ms; /* 0: the default */
};
/* All that are not withheld or hidden, in load order. Copies, in the arena. Any thread. */
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
/* `input`, a value of `doc`, against the schema of a tool. ret_says, which begins empty, gets what is wrong. PL_LIMIT;
 * PL_NOMEM; PL_INVALID: the schema itself. Any thread. */
enum pl_status pl_ext_input_check(struct pl_arena *arena, struct pl_str schema_text,
                                  const struct pl_json_doc *doc, const struct pl_json_node *input,
                                  char *ret_says, size_t size, struct pl_error *err);

/* --- asks ------------------------------------------------------------------------------------- */

enum pl_ext_ask_kind {
    PL_EXT_ASK_WAKE,    /* be ready: start it if it never registered for this user */
    PL_EXT_ASK_TOOL,    /* name, input */
    PL_EXT_ASK_COMMAND, /* name, args, input */
    PL_EXT_ASK_HOOK,    /* hook, input: its data; an answer is waited for */
    PL_EXT_ASK_EVENT,   /* hook, input: seen only; goes to an instance that runs or is started */
    PL_EXT_ASK_STOP,    /* end the instance; a later need starts another */
};

/* Where an ask is, on the far side; the diagram is in ask.c. */
enum pl_ext_ask_state {
    PL_EXT_ASK_STATE_NEW,
    PL_EXT_ASK_STATE_SENT,
    PL_EXT_ASK_STATE_WAITING,  /* for an instance that is ready */
    PL_EXT_ASK_STATE_QUEUED,   /* in the instance's queue */
    PL_EXT_ASK_STATE_RUNNING,  /* the child has it */
    PL_EXT_ASK_STATE_ANSWERED, /* on its way home, or there */
};

struct pl_ext_instance;
struct pl_ext_hostcall;
struct pl_ext_question;

/* Made by pl_ext_ask_create, filled, sent; it is its own from then on, until `done` has returned. */
struct pl_ext_ask {
    struct pl_letter letter;     /* there and back */
    struct pl_letter cancelling; /* there and back, after a cancel */
    enum pl_ext_ask_state state;
    enum pl_ext_ask_kind kind;
    struct pl_shard *home; /* borrowed */
    struct pl_arena arena;
    /* Filled before it is sent; arena or static. */
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
    bool is_failed;           /* there is none: error and message say why */
    enum pl_tool_error error; /* of a failure */
    char message[256];
    bool is_error;       /* what the extension said: its tool failed */
    struct pl_buf reply; /* JSON: `output` of a tool or command, `data` of a hook's answer */

    /* Of the far side: */
    struct pl_ext_instance *instance; /* borrowed; from QUEUED to ANSWERED */
    struct pl_ext_ask *next;          /* of a place's or an instance's list */
    struct pl_ext_hostcall *calls;    /* the host calls that belong to it */
    struct pl_ext_ask *nested; /* a tool at another owner, that this child waits for; theirs */
    struct pl_timer timer;
    int64_t left_ms;                    /* while the clock stands */
    unsigned n_questions;               /* open: the clock stands */
    struct pl_ext_question *question;   /* its own, before it runs; NULL: none is open */
    enum pl_ext_capability asked;       /* of that question */
    uint32_t allowed;                   /* what such questions have allowed */
    void (*go)(struct pl_ext_ask *ask); /* when all of them have */
    char call_id[PL_ID_MAX];
    bool is_cancelled;      /* far side: its asker is gone */
    struct pl_buf progress; /* the newest, which is told when `progressing` rings */
    struct pl_timer progressing;
    /* Of home: */
    unsigned n_away;  /* letters that come back */
    bool is_over;     /* done was called */
    bool is_auditing; /* a tool call: it is sent when its row is durable */
    int64_t sent_ms;
    char hash[PL_EXT_HASH_SIZE]; /* of its name and input */
    bool is_handed_on;           /* far side: its child has called the same of the host */
};

/* NULL when out of memory. */
struct pl_ext_ask *pl_ext_ask_create(struct pl_shard *home, enum pl_ext_ask_kind kind);
/* A copy in the ask's arena; what does not fit the memory makes the ask fail when it is sent. */
struct pl_str pl_ext_ask_keep(struct pl_ext_ask *ask, struct pl_str text);
void pl_ext_ask_send(struct pl_ext_ask *ask);
/* Nobody waits any more: `done` comes later with ctx NULL and must not look at anything else. Accepts NULL. */
void pl_ext_ask_cancel(struct pl_ext_ask *ask);
/* Of one that was not sent. */
void pl_ext_ask_destroy(struct pl_ext_ask *ask);

/* --- hooks ------------------------------------------------------------------------------------ */

/* Whether any extension of this user wants this event. Any thread; quick. */
bool pl_ext_wants(struct pl_ext_server *host, struct pl_str user_id, enum pl_ext_hook hook,
                  struct pl_str tool_name);

/* What a chain of deciding hooks came to. */
struct pl_ext_ruling {
    enum pl_ext_verdict verdict;
    bool is_handled;    /* input: an extension did it */
    struct pl_str by;   /* extension of the verdict; empty: of none */
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
/* One extension after the other, in load order, each seeing what those before it changed. `done` is never called
 * before this has returned; the ruling is valid during the call, and the chain is gone after it. NULL: out of
 * memory. */
struct pl_ext_chain *pl_ext_chain_start(struct pl_shard *home,
                                        const struct pl_ext_chain_query *query,
                                        void (*done)(void *ctx, const struct pl_ext_ruling *ruling),
                                        void *ctx);
void pl_ext_chain_cancel(struct pl_ext_chain *chain); /* accepts NULL */

/* Tells all who want to know; nothing comes back. `data` is a JSON object. */
void pl_ext_tell(struct pl_shard *home, struct pl_str user_id, struct pl_str session_id,
                 enum pl_ext_hook hook, struct pl_str tool_name, struct pl_str data);

/* To those who subscribe bus:TOPIC. */
void pl_ext_emit(struct pl_shard *home, struct pl_str user_id, struct pl_str session_id,
                 struct pl_str topic, struct pl_str data);

/* Starts every enabled extension that has never registered for this user, and waits for them. NULL: there is nothing
 * to wait for (or no memory to), and `done` is not called. */
struct pl_ext_wake; /* owned by its starter until `done` or cancel */
struct pl_ext_wake *pl_ext_wake_start(struct pl_shard *home, struct pl_str user_id,
                                      void (*done)(void *ctx), void *ctx);
void pl_ext_wake_cancel(struct pl_ext_wake *wake); /* accepts NULL */

/* --- questions -------------------------------------------------------------------------------- */

/* The session has the answer to a question of an extension (PL_EFFECT_TELL_ASIDE); empty: it was cancelled. */
void pl_ext_question_tell(struct pl_shard *home, struct pl_str question_id, struct pl_str answer);

/* --- looking ---------------------------------------------------------------------------------- */

/* For how many users an extension is quarantined, and whether and why for this one. Any thread. */
size_t pl_ext_quarantines(struct pl_ext_server *host, struct pl_str extension_id,
                          struct pl_str user_id, bool *ret_is, char *ret_why, size_t size);

/* Members is_running, restarts, sandbox, is_measured and walls[{name, stands, says}] of an extension for this user: what stood
 * around it when it ran last, or else what this machine would give it. May make a process to see: on a worker. */
void pl_ext_sandbox_write(struct pl_ext_server *host, struct pl_str extension_id,
                          struct pl_str user_id, bool is_remote, struct pl_json_out *out);

/* Appends what concerns a user of every extension that is not disabled: JSON objects with commas between them. PL_NOMEM. May make a
 * process to see: on a worker. */
enum pl_status pl_ext_concerns_write(struct pl_ext_server *host, struct pl_str user_id,
                                     struct pl_buf *to);

/* Appends the log of an extension: JSON objects with commas between them, oldest first. `user_id` {NULL, 0}: of all
 * users. Any thread. */
void pl_ext_log_write(struct pl_ext_server *host, struct pl_str extension_id, struct pl_str user_id,
                      struct pl_buf *to);
/* Appends what the extension is for this user, a JSON object: what was granted and denied and why, its tools with
 * those that are withheld, its hooks, what it may reach. PL_NOT_FOUND; PL_NOMEM. Any thread. */
enum pl_status pl_ext_explain(struct pl_ext_server *host, struct pl_str extension_id,
                              struct pl_str user_id, struct pl_buf *to);

#endif
