/* A shard: a thread with its loop, its connections and its sessions. Shards share the store, the
 * workers, the keys and the configuration, and otherwise exchange letters. */
#ifndef PL_SHARD_SHARD_H
#define PL_SHARD_SHARD_H

#include "base/hash.h"
#include "base/text/uuid.h"
#include "io/net/conn.h"
#include "io/workers.h"
#include "shard/bell.h"
#include "shard/config.h"
#include "shard/life.h"
#include "shard/metrics.h"

#define PL_MAX_SHARDS 64

/* State that the rooms above keep on a server or a shard. Only the room itself looks inside.
 * server/ creates each and passes it on. */
struct pl_access_log;
struct pl_audit;
struct pl_auth;
struct pl_blob_fetch;
struct pl_claim_ops;
struct pl_claims;
struct pl_hub;
struct pl_drivers;
struct pl_ext_server;
struct pl_ext_shard;
struct pl_exchange_pool;
struct pl_fetch_slots;
struct pl_gateway;
struct pl_guard;
struct pl_http_conn;
struct pl_log;
struct pl_meter;
struct pl_meter_watch;
struct pl_node;
struct pl_node_seats;
struct pl_oidc_cache;
struct pl_reload_ops;
struct pl_route_times;
struct pl_running;
struct pl_scheduler;
struct pl_session_home;
struct pl_session_owner;
struct pl_quota;
struct pl_setup;
struct pl_socket_event;
struct pl_store;
struct pl_store_size;
struct pl_unattended;
struct pl_tracer;
struct pl_upstreams;
struct pl_zones;

struct pl_exchange;
struct pl_model_run; /* store/page.h */

struct pl_server {
    struct pl_store *store;           /* owned */
    struct pl_workers *workers;       /* owned */
    struct pl_auth *auth;             /* owned; thread-safe inside */
    struct pl_audit *audit;           /* owned; thread-safe inside */
    struct pl_log *log;               /* owned; thread-safe inside */
    struct pl_access_log *access_log; /* owned; thread-safe inside; may be NULL */
    struct pl_tracer *tracer;         /* owned; thread-safe inside; NULL if off (tracing.h) */
    struct pl_running *running;       /* owned; thread-safe inside: see running_turns.h */
    struct pl_zones *zones;           /* owned; thread-safe inside */
    struct pl_unattended *unattended; /* owned; thread-safe inside */
    struct pl_scheduler *scheduler;   /* owned; on the first shard */
    struct pl_meter *meter;           /* owned; thread-safe inside: usage and limits of keys */
    struct pl_oidc_cache *oidc;       /* owned; thread-safe inside */
    const struct pl_meter_watch *meter_watch; /* static: access/meter/meter.h; may be NULL */
    struct pl_store_size *store_size;         /* owned; thread-safe inside */
    struct pl_ext_server *ext;                /* owned; thread-safe inside: extensions */
    struct pl_claims *claims;             /* owned; thread-safe inside: transaction/idempotency.h */
    const struct pl_guard *guard;         /* static: http/guard.h */
    const struct pl_claim_ops *claim_ops; /* static: http/claim.h */
    const struct pl_session_owner *session_owner; /* static: live/command.h */
    const struct pl_session_home *session_home;   /* static: live/session_home.h; may be NULL */
    struct pl_node *node;                        /* owned; thread-safe inside; NULL without nodes */
    const struct pl_socket_event *socket_events; /* static: live/socket/socket.h */
    void (*tell_change)(struct pl_exchange *x);  /* static: live/lists.h; may be NULL */
    /* Called when a model call has ended: static, service/runs; may be NULL. */
    void (*tell_run)(struct pl_server *server, const struct pl_model_run *run);
    /* Notifies the other nodes; thread-safe, never blocks, may lose the bell. Static, of a higher
     * room; NULL if this server is alone. */
    void (*ring)(struct pl_server *server, enum pl_bell bell, struct pl_str text);
    const struct pl_reload_ops *reloader; /* static: shard/reloading.h */
    const struct pl_socket *sockets;      /* the listening sockets */
    size_t n_sockets;
    struct pl_quota *bodies;                /* owned; thread-safe inside: body_memory.h */
    struct pl_quota *spools;                /* owned; thread-safe inside: answers in files */
    struct pl_quota *address_limit;         /* owned; thread-safe inside: address_limit.h */
    struct pl_shard *shards[PL_MAX_SHARDS]; /* owned */
    size_t n_shards;
    struct pl_fetch_slots *fetch_slots; /* owned; thread-safe inside */
    int64_t started_ms;                 /* unix */
    char node_name[64];                 /* of this process in a cluster, or of its machine */
    char node_header[96]; /* "X-Parley-Node: …" with its line end; "" without nodes */
    pl_life_atomic life;
    _Atomic(bool) is_backing_up;  /* a copy is being made or sent to a client */
    _Atomic(bool) is_storage_bad; /* the fate of a commit is unknown: nothing may be acknowledged */
};

struct pl_shard {
    size_t index;
    struct pl_server *server;       /* borrowed */
    struct pl_loop *loop;           /* owned */
    struct pl_setup *setup;         /* borrowed from the server: the newest that this shard knows */
    struct pl_hub *hub;             /* owned; sockets that listen to sessions */
    struct pl_drivers *drivers;     /* owned; sessions on this shard */
    struct pl_node_seats *seats;    /* owned; owners of its sessions; NULL without nodes */
    struct pl_ext_shard *exts;      /* owned; extensions on this shard */
    struct pl_upstreams *upstreams; /* owned; to vendors (pl_vendor_upstreams); NULL until used */
    struct pl_blob_fetch *fetches;  /* each owns itself; running fetches, newest first */
    struct pl_gateway *gateway;     /* owned; state shared by calls through the gateway */
    struct pl_route_times *route_times; /* owned */
    struct pl_metrics metrics;          /* counters of this thread; /metrics sums them */
    _Atomic(int64_t) lag_ms;            /* recent delay of the loop; also for /metrics */
    struct pl_http_conn *conns;         /* owned; all HTTP connections, newest first */
    struct pl_exchange_pool *exchanges; /* owned */
    size_t n_conns;                     /* including WebSockets: max_connections limits it */
    struct pl_loop_hook log_end;        /* passes on the log lines of this iteration */
    uint64_t random[64]; /* drawn ahead: a system call each time would be half the cost of an id */
    size_t n_random;
};

/* The owner for a job's fair share of a lane's queue; requests without a user (public routes) share
 * one owner. */
static inline uint64_t pl_owner_of(struct pl_str user_id)
{
    uint64_t hash = user_id.len ? pl_hash(user_id) : 0;
    return hash ? hash : 1;
}

/* The shard that owns a session. */
struct pl_shard *pl_shard_of_session(struct pl_server *server, struct pl_str session_id);

/* The sum of a metric over all shards. Thread-safe. */
int64_t pl_metric_sum(const struct pl_server *server, enum pl_metric metric);

/* Returns the time and randomness for new ids on this shard. */
struct pl_id_seed pl_shard_seed(struct pl_shard *shard);
/* The same on any thread, at the cost of a system call. */
struct pl_id_seed pl_seed_draw(void);

/* The version of this program, as printed by `parley version`. */
extern const char pl_server_version[];

#endif
