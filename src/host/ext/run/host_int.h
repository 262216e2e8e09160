/* The data about all extensions: their accepted packages, and their registrations. Everything
 * here is reference-counted and immutable; a change makes a new object. Any thread. */
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

/* An accepted registration. */
struct pl_ext_registered {
    atomic_uint n_refs;
    struct pl_arena arena;
    struct pl_str artifact;          /* of the package that registered */
    struct pl_str payload;           /* JSON, as sent */
    struct pl_json_doc doc;          /* of the payload */
    struct pl_ext_registration said; /* views of it; refused tools have their reason */
    bool *is_withheld;               /* by tool: changed, and not accepted yet */
    struct pl_str *denied_hooks;     /* as spelled */
    size_t n_denied_hooks;
};

/* An extension as a person has accepted it. */
struct pl_ext_known {
    atomic_uint n_refs;
    struct pl_arena arena;
    struct pl_extension_row row; /* arena */
    struct pl_ext_package package;
    struct pl_ext_registered *registered; /* held: the last one of any user; NULL: it never ran */
    struct pl_extension_quarantine_row *quarantines; /* of users; arena */
    size_t n_quarantines;
    bool is_missing; /* its files are not on this node: it cannot start */
};

struct pl_ext_set {
    atomic_uint n_refs;
    size_t n;
    struct pl_ext_known *items[]; /* held; in load order */
};

struct pl_ext_log_line {
    int64_t at_ms;
    struct pl_str user_id, json; /* one allocation, at user_id.ptr */
};
enum { PL_EXT_LOG_LINES = 256 };
struct pl_ext_log {
    struct pl_table_link link; /* key: the extension's id */
    struct pl_ext_log_line lines[PL_EXT_LOG_LINES];
    size_t n; /* total */
    char id[];
};

/* The isolation of a cell. */
struct pl_ext_walls {
    enum pl_cell_level level;
    unsigned parts; /* PL_CELL_HAS(…) */
    int landlock_abi;
};

struct pl_ext_server {
    struct pl_server *server; /* borrowed */
    const struct pl_ext_above *above;
    pthread_mutex_t reloading; /* held from reading the set to publishing it, to keep the order */
    pthread_mutex_t lock;      /* protects the following */
    struct pl_ext_set *set;
    struct pl_table registered; /* "extension\nuser" -> struct pl_ext_entry */
    struct pl_table logs;
    struct pl_table ran; /* "extension\nuser" -> struct pl_ext_ran */
    struct pl_ext_walls probed;
    int64_t probed_ms; /* unix; 0: never */
    atomic_bool has_any;
    atomic_llong version;     /* version of the store's extensions in the set; 0: unknown */
    atomic_bool is_following; /* a worker reads the changes of other nodes */
    atomic_bool is_bringing;  /* a worker fetches and shares files */
};

/* --- host.c */
/* Reads the set again, and stops changed extensions. Blocks. */
enum pl_status pl_ext_set_read(struct pl_ext_server *host, struct pl_error *err);
struct pl_ext_set *pl_ext_set_hold(struct pl_ext_server *host);
void pl_ext_set_release(struct pl_ext_set *set); /* accepts NULL */
struct pl_ext_known *pl_ext_known_hold(struct pl_ext_known *known);
void pl_ext_known_release(struct pl_ext_known *known); /* accepts NULL */
/* Its state for this user: it is quarantined only for users for whom it has crashed. */
enum pl_ext_state pl_ext_known_state(const struct pl_ext_known *known, struct pl_str user_id);
/* One of the set, held, enabled or not; NULL if there is none. */
struct pl_ext_known *pl_ext_known_any(struct pl_ext_server *host, struct pl_str id);
/* The last registration of this package for this user, otherwise of any user; held; NULL if
 * there is none. */
struct pl_ext_registered *pl_ext_registered_of(struct pl_ext_server *host,
                                               const struct pl_ext_known *known,
                                               struct pl_str user_id);
bool pl_ext_registered_put(struct pl_ext_server *host, struct pl_str extension_id,
                           struct pl_str user_id, struct pl_ext_registered *registered);

/* --- shard.c */
/* Every shard checks its places. Empty id: stops changed extensions; otherwise stops that
 * extension. */
void pl_ext_shards_visit(struct pl_ext_server *host, struct pl_str extension_id);

/* --- registered.c */
/* Reads a payload that has passed its schema. `pins` are the tools seen before. PL_INVALID;
 * PL_NOMEM. One reference. */
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
/* Stores a line for GET …/log. `json` is an object of seed 004's log. */
void pl_ext_log_add(struct pl_ext_server *host, struct pl_str extension_id, struct pl_str user_id,
                    int64_t unix_ms, struct pl_str json);
void pl_ext_logs_deinit(struct pl_ext_server *host);

#endif
