/* The settings of the server: from flags, then the environment, then the file. A configuration
 * never changes: SIGHUP creates another one (setup.h). */
#ifndef PL_SHARD_CONFIG_H
#define PL_SHARD_CONFIG_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pl_models_config;
struct pl_oidc_config;

struct pl_server_config {
    const char *host;                /* "127.0.0.1" */
    uint16_t port;                   /* 0 for any free port */
    const char *data_dir;            /* holds the store, the lock and the control socket */
    const char *store_url;           /* NULL: "sqlite:DATA/parley.db" */
    const char *store_password;      /* NULL: from libpq's environment or password file */
    const char *store_password_file; /* the file it was read from; NULL if from elsewhere */
    int64_t store_answer_ms;         /* timeout for answers of PostgreSQL; default 5,000 */
    int64_t store_away_ms;           /* how long a commit waits for PostgreSQL; default 600,000 */
    /* Several servers that share a PostgreSQL database: */
    const char *node_name;    /* NULL for the host name */
    const char *node_address; /* for people; may be NULL */
    const char *bus_file;     /* first line: the bus_url, which may hold a password; may be NULL */
    const char *bus_url;      /* NULL to send letters through PostgreSQL */
    const char *bus_ca, *bus_cert, *bus_key, *bus_creds; /* files; may be NULL */
    const char *ui_dir;    /* directory of the web page; NULL for the built-in one */
    const char *unix_path; /* an additional socket beside DATA/parley.sock; may be NULL */
    const char *tls_cert, *tls_key;
    bool is_behind_proxy;       /* a proxy terminates TLS: allows listening beyond loopback */
    const char *const *proxies; /* trusted for X-Forwarded-For; ended by NULL; may be NULL */
    const char *const *proxy_protocol; /* peers that send a PROXY header; the same */
    const char *const *hosts;   /* additional names allowed in Host; ended by NULL; may be NULL */
    const char *const *origins; /* additional origins; ended by NULL; may be NULL */
    /* internal hosts that files may be fetched from, "host" or "host:port"; ended by NULL; may be
     * NULL */
    const char *const *fetch_hosts;
    int64_t fetch_ms;       /* timeout of a fetch, including name resolution; default 30,000 */
    size_t n_shards;        /* 0 for one per core */
    size_t n_workers;       /* threads for the store, and as many for computing; 0 for 4 */
    int64_t queue_wait_ms;  /* longest wait of a request for one of them; default 30,000 */
    size_t max_connections; /* default 20,000 */
    /* how long SIGTERM waits before it closes the port; 0: 5,000 while other nodes are up,
     * otherwise not at all */
    int64_t drain_accept_ms;
    size_t max_address_connections; /* per address; 0: see address_limit.h */
    size_t body_memory_mib;         /* for request bodies; default 256 */
    int64_t drain_ms;               /* how long SIGTERM waits for running turns; default 30,000 */
    int log_level;                  /* 0 errors, 1 warnings, 2 events, 3 every request */
    bool is_log_json;
    const char *access_log;       /* "off", "stderr", "journald" or a path (access_log.h) */
    const char *access_log_level; /* "error", "warning", "request" */
    size_t access_log_max_mib;    /* of a file, before it is rotated; default 100 */
    size_t access_log_keep;       /* number of rotated files to keep; default 7 */
    const char *default_model;    /* "demo/echo" */
    const char *model_place;      /* where it was set, for messages; NULL for the default */
    /* which gateway exchanges become sessions without a request for it: "off" (also NULL) or
     * "sessions" (all of them) */
    const char *gateway_record;
    /* model/vendor/vendors.h: vendors, aliases, and the four times below; lives as long as the
     * strings */
    const struct pl_models_config *models;
    const struct pl_oidc_config *oidc; /* access/oidc/oidc_config.h; the same; may be NULL */
    int64_t upstream_connect_ms, upstream_first_byte_ms, upstream_idle_ms, upstream_cooldown_ms;
    int64_t demo_word_ms;          /* delay of a word of demo/agent; default 60 */
    int64_t answer_ms;             /* time limit of an answer in a session; default 1,800,000 */
    int64_t client_tool_ms;        /* time limit of a tool that a client runs; default 600,000 */
    int64_t turn_ms;               /* time limit of all work on one message; default 1,800,000 */
    int64_t task_ms;               /* time limit of a run of a task; default 1,800,000 */
    bool has_schedules;            /* run tasks when they are due */
    bool ends_unused;              /* stop when no command uses the server any more */
    bool allows_unpriced;          /* a model without a price passes a budget in money */
    bool is_probing;               /* look for model servers on this machine */
    const char *otlp_endpoint;     /* destination of spans (tracing.h); NULL if none */
    const char *otlp_headers_file; /* has secrets; one header per line; may be NULL */
    size_t otlp_percent;           /* of the traces that begin here; default 100 */
    size_t deleted_days;           /* how long deleted data can be restored; 0 if not at all */
    size_t retention_days;         /* sessions unchanged for this long are deleted; 0 for never */
    int64_t blob_grace;            /* ms that an unreferenced blob is kept; 0 for ever */
    const char *backup_dir;        /* directory of scheduled backups; NULL for none */
    int64_t backup_every;          /* ms between backups; 0 for none */
    size_t backup_keep;            /* number of newest backups to keep; default 7 */
    const char *ext_sandbox;       /* lowest accepted sandbox level of a cell; default "full" */
    const char *ext_uids;  /* user ids of cells if the server runs as root: "400000-400999" */
    bool is_unsafe;        /* another way to set ext_sandbox to "none" */
    const char *workspace; /* has a directory per user, for extensions; may be NULL */
    /* for extensions: NAME=VALUE, or NAME@HOST,…=VALUE for a secret; ended by NULL; may be NULL */
    const char *const *ext_env;
};

/* The source from which SIGHUP reads a new configuration. */
struct pl_server_source {
    /* Reads the whole configuration, by the same rules as at the start; blocks. Settings that
     * cannot change while the server runs keep their value in `now`. Strings are in the arena, or
     * live as long as the process. Appends the names of the settings that differ from `now`,
     * separated by commas: to `changed` those that take effect now, to `kept` those that need a
     * restart. */
    enum pl_status (*read)(void *ctx, struct pl_arena *arena, const struct pl_server_config *now,
                           struct pl_server_config *ret_config, struct pl_buf *changed,
                           struct pl_buf *kept, struct pl_error *err);
    void *ctx;
};

#endif
