/* The settings of the server: flags, then environment, then the file. A configuration never
 * changes: SIGHUP makes another one (setup.h). */
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
    uint16_t port;                   /* 0: any free one */
    const char *data_dir;            /* store, lock and control socket are in it */
    const char *store_url;           /* NULL: "sqlite:DATA/parley.db" */
    const char *store_password;      /* NULL: what libpq's environment or password file says */
    const char *store_password_file; /* where that was read; NULL: elsewhere */
    int64_t store_answer_ms;         /* how long PostgreSQL may take to answer: 5,000 */
    int64_t store_away_ms;           /* how long a commit waits for it to come back: 600,000 */
    /* Several servers that share a PostgreSQL: */
    const char *node_name;    /* NULL: the host name */
    const char *node_address; /* for people; NULL: none */
    const char *bus_file; /* its first line is the bus_url, which may have a password; NULL: none */
    const char *bus_url;  /* NULL: letters go by PostgreSQL */
    const char *bus_ca, *bus_cert, *bus_key, *bus_creds; /* files; NULL: none */
    const char *ui_dir;    /* where the web page is read from; NULL: the one in the program */
    const char *unix_path; /* a further socket; NULL: none. DATA/parley.sock is always there */
    const char *tls_cert, *tls_key;
    bool is_behind_proxy;       /* a proxy does TLS: listening beyond loopback is allowed */
    const char *const *proxies; /* whose X-Forwarded-For is believed; ended by NULL; may be NULL */
    const char *const *proxy_protocol; /* who begins a connection with a PROXY header; the same */
    const char *const *hosts; /* further names a Host header may say; ended by NULL; may be NULL */
    const char *const *origins;     /* further origins; ended by NULL; may be NULL */
    const char *const *fetch_hosts; /* internal hosts files are fetched from, "host" or "host:port";
                                       ended by NULL; may be NULL */
    int64_t fetch_ms;               /* a fetch may take so long, its name included: 30,000 */
    size_t n_shards;                /* 0: one per core */
    size_t n_workers;               /* threads for the store, and as many to compute; 0: 4 */
    int64_t queue_wait_ms;          /* a request waits for one of them at most so long: 30,000 */
    size_t max_connections;         /* 20,000 */
    int64_t drain_accept_ms;        /* how long SIGTERM waits before it closes the port; 0: 5,000
                                       while other nodes are up, otherwise not at all */
    size_t max_address_connections; /* of one address; 0: address_limit.h says */
    size_t body_memory_mib;         /* for bodies of requests: 256 */
    int64_t drain_ms;               /* how long SIGTERM waits for running turns: 30,000 */
    int log_level;                  /* 0 errors, 1 warnings, 2 what happens, 3 every request */
    bool is_log_json;
    const char *access_log;       /* "off", "stderr", "journald" or a path (access_log.h) */
    const char *access_log_level; /* "error", "warning", "request" */
    size_t access_log_max_mib;    /* of a file, before it is rotated: 100 */
    size_t access_log_keep;       /* so many of the rotated ones stay: 7 */
    const char *default_model;    /* "demo/echo" */
    const char *model_place;      /* where it was set, for messages; NULL: by default */
    const char *gateway_record;   /* which exchanges of the gateway become sessions without being
                                       asked to: "off" (also NULL) or "sessions", all of them */
    const struct pl_models_config
        *models; /* model/vendor/vendors.h: vendors, aliases, and the four times
                                              below; lives as long as the strings */
    const struct pl_oidc_config *oidc; /* access/oidc/oidc_config.h; the same; NULL: none */
    int64_t upstream_connect_ms, upstream_first_byte_ms, upstream_idle_ms, upstream_cooldown_ms;
    int64_t demo_word_ms;      /* how long demo/agent takes for a word: 60 */
    int64_t answer_ms;         /* how long an answer in a session may take: 1,800,000 */
    int64_t client_tool_ms;    /* how long a client may take to run a tool of its own: 600,000 */
    int64_t turn_ms;           /* how long all work on one message may take: 1,800,000 */
    int64_t task_ms;           /* how long a run of a task may take: 1,800,000 */
    bool has_schedules;        /* tasks run when they are due */
    bool ends_unused;          /* it ends when no command uses it any more */
    bool allows_unpriced;      /* a model without a price passes a budget in money */
    bool is_probing;           /* servers of models on this machine are looked for */
    const char *otlp_endpoint; /* where spans go (tracing.h); NULL: nowhere */
    const char *otlp_headers_file; /* with secrets, a header to a line; NULL: none */
    size_t otlp_percent;           /* of the traces that begin here: 100 */
    size_t deleted_days;           /* what was deleted can be had back for so long; 0: not at all */
    size_t retention_days;         /* sessions not changed for so long are deleted; 0: none is */
    int64_t blob_grace;            /* ms that a blob stays which nothing refers to; 0: for ever */
    const char *backup_dir;        /* where scheduled backups go; NULL: none are made */
    int64_t backup_every;          /* ms between them; 0: none are made */
    size_t backup_keep;            /* so many of the newest stay: 7 */
    const char *ext_sandbox;       /* the least level of a cell that is accepted: "full" */
    const char *ext_uids;  /* user ids of cells, where the server runs as root: "400000-400999" */
    bool is_unsafe;        /* ext_sandbox is "none", said in another word */
    const char *workspace; /* has a directory for each user, for extensions; NULL: none */
    /* NAME=VALUE, or NAME@HOST,…=VALUE for a secret, for extensions; ended by NULL; may be NULL */
    const char *const *ext_env;
};

/* Where a configuration is read again, on SIGHUP. */
struct pl_server_source {
    /* Reads all of it, by the same rules as at the start; blocks. Settings that cannot change while
     * the server runs are as in `now`. Strings are memory of the arena, or live as long as the
     * process. The names of the settings that differ from `now`, separated by commas: `changed` are
     * those that count from now on, `kept` those that would need a restart. */
    enum pl_status (*read)(void *ctx, struct pl_arena *arena, const struct pl_server_config *now,
                           struct pl_server_config *ret_config, struct pl_buf *changed,
                           struct pl_buf *kept, struct pl_error *err);
    void *ctx;
};

#endif
