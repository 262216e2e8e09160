/* What is known of all extensions: their packages as they were accepted, and what they have registered. Everything
 * here is counted and never changes; a change makes another one beside it. Any thread. */
#ifndef PL_EXT_HOST_INT_H
#define PL_EXT_HOST_INT_H

#include "ext/run/ext.h"
#include "ext/package/package.h"
#include "base/table.h"
#include "ext/cell/level.h"
#include "extproto/redact.h"
#include "extproto/registration.h"

#include <pthread.h>
#include <stdatomic.h>

/* A register that was accepted. */
struct pl_ext_registered {
    atomic_uint n_refs;
    struct pl_arena arena;
    struct pl_str artifact;          /* of the package that registered */
    struct pl_str payload;           /* JSON, as it was sent */
    struct pl_json_doc doc;          /* of it */
    struct pl_ext_registration said; /* views of it; refused tools have their reason */
    bool *is_withheld;               /* by tool: changed, and not accepted yet */
    struct pl_str *denied_hooks;     /* as they were spelled */
    size_t n_denied_hooks;
};

/* One extension as a person has accepted it. */
struct pl_ext_known {
    atomic_uint n_refs;
    struct pl_arena arena;
    struct pl_extension_row row; /* arena */
    struct pl_ext_package package;
    struct pl_ext_registered *registered; /* held: the last one of anybody; NULL: it never ran */
    struct pl_extension_quarantine_row *quarantines; /* of users; arena */
    size_t n_quarantines;
    bool is_missing; /* its files are not on this node: nothing starts */
};

struct pl_ext_set {
    atomic_uint n_refs;
    size_t n;
    struct pl_ext_known *items[]; /* held; in load order */
};

struct pl_ext_log_line {
    int64_t at_ms;
    struct pl_str user_id, json; /* one allocation at user_id.ptr */
};
enum { PL_EXT_LOG_LINES = 256 };
struct pl_ext_log {
    struct pl_table_link link; /* key: the extension's id */
    struct pl_ext_log_line lines[PL_EXT_LOG_LINES];
    size_t n; /* ever */
    char id[];
};

/* What is around a cell. */
struct pl_ext_walls {
    enum pl_cell_level level;
    unsigned parts; /* PL_CELL_HAS(…) */
    int landlock_abi;
};

struct pl_ext_server {
    struct pl_server *server; /* borrowed */
    const struct pl_ext_above *above;
    pthread_mutex_t
        reloading; /* from reading the set to showing it: what was read first is shown first */
    pthread_mutex_t lock; /* of what follows */
    struct pl_ext_set *set;
    struct pl_table registered; /* "extension\nuser" -> struct pl_ext_entry */
    struct pl_table logs;
    struct pl_table ran; /* "extension\nuser" -> struct pl_ext_ran */
    struct pl_ext_walls probed;
    int64_t probed_ms; /* unix; 0: never */
    atomic_bool has_any;
    atomic_llong version;     /* of the store's extensions, as the set has them; 0: not known */
    atomic_bool is_following; /* a worker reads what other nodes have changed */
    atomic_bool is_bringing;  /* a worker fetches and shares files */
};

/* --- host.c */
/* Reads the set again, and stops what is no longer as it was. Blocks. */
enum pl_status pl_ext_set_read(struct pl_ext_server *host, struct pl_error *err);
struct pl_ext_set *pl_ext_set_hold(struct pl_ext_server *host);
void pl_ext_set_release(struct pl_ext_set *set); /* accepts NULL */
struct pl_ext_known *pl_ext_known_hold(struct pl_ext_known *known);
void pl_ext_known_release(struct pl_ext_known *known); /* accepts NULL */
/* How it is for this user: it is quarantined for those it has crashed for, and for nobody else. */
enum pl_ext_state pl_ext_known_state(const struct pl_ext_known *known, struct pl_str user_id);
/* One of the set, held, enabled or not; NULL: there is none. */
struct pl_ext_known *pl_ext_known_any(struct pl_ext_server *host, struct pl_str id);
/* The last register of this package for this user, or of anybody; held; NULL: there is none. */
struct pl_ext_registered *pl_ext_registered_of(struct pl_ext_server *host,
                                               const struct pl_ext_known *known,
                                               struct pl_str user_id);
bool pl_ext_registered_put(struct pl_ext_server *host, struct pl_str extension_id,
                           struct pl_str user_id, struct pl_ext_registered *registered);

/* --- shard.c */
/* Every shard looks at its places: empty: what is no longer as it was is stopped; else that extension is. */
void pl_ext_shards_visit(struct pl_ext_server *host, struct pl_str extension_id);

/* --- registered.c */
/* Reads a payload that fits its schema. `pins` are the tools that were seen before. PL_INVALID; PL_NOMEM. One
 * reference. */
enum pl_status pl_ext_registered_create(struct pl_str payload, struct pl_str artifact,
                                        const struct pl_extension_tool_row *pins, size_t n_pins,
                                        struct pl_ext_registered **ret_registered,
                                        struct pl_error *err);
struct pl_ext_registered *pl_ext_registered_hold(struct pl_ext_registered *registered);
void pl_ext_registered_release(struct pl_ext_registered *registered); /* accepts NULL */
bool pl_ext_registered_wants(const struct pl_ext_registered *registered, enum pl_ext_hook hook,
                             struct pl_str tool_name, struct pl_ext_subscription *ret_subscription);

/* --- ran.c */
void pl_ext_rans_deinit(struct pl_ext_server *host);

/* --- log.c */
/* Keeps a line for GET …/log. `json` is an object of seed 004's log. */
void pl_ext_log_add(struct pl_ext_server *host, struct pl_str extension_id, struct pl_str user_id,
                    int64_t unix_ms, struct pl_str json);
void pl_ext_logs_deinit(struct pl_ext_server *host);

#endif
