/* The private parts of the server and of a shard: sockets, threads, background work. */
#ifndef PL_SERVER_SERVER_INT_H
#define PL_SERVER_SERVER_INT_H

#include "agent/background/resume_queued.h"
#include "agent/background/retention.h"
#include "service/admin/backup/backup_schedule.h"
#include "service/blobs/blob_collect.h"
#include "service/blobs/fetch_slots.h"
#include "shard/log.h"
#include "shard/shard.h"

#include <pthread.h>

#define PL_MAX_SOCKETS 8

struct pl_reload_ask;
struct pl_server_source;

/* Reads the settings again (reload.c). On the first shard, except the job. */
struct pl_reload {
    const struct pl_server_source *source; /* borrowed; NULL: no source */
    enum pl_reload_state {
        PL_RELOAD_QUIET,
        PL_RELOAD_READING, /* the job is running */
        PL_RELOAD_TELLING, /* letters to all shards are on their way */
        PL_RELOAD_OVER,
    } state;                      /* the diagram is in reload.c */
    bool wants_again;             /* another SIGHUP came meanwhile */
    struct pl_reload_ask *asking; /* requests that wait for this reading; owned by their senders */
    struct pl_reload_ask *next;   /* requests that came meanwhile, and wait for the next one; owned
                                     by their senders */
    bool is_announced;            /* systemd was told of the start */
    struct pl_job job;
    struct pl_setup *made; /* owned; while READING */
    struct pl_buf changed, kept;
    enum pl_status status;
    struct pl_error err;
    size_t n_answered; /* shards; while TELLING */
    uint64_t least;    /* the oldest generation that any of them uses */
};

struct pl_server_own {
    struct pl_server server;                  /* first */
    struct pl_socket sockets[PL_MAX_SOCKETS]; /* owned */
    bool is_control[PL_MAX_SOCKETS];
    struct pl_fetch_slots fetch_slots;
    struct pl_timer care;              /* once a minute, on the first shard */
    int64_t swept_ms;                  /* unix; sign-ins that ended by then are deleted */
    int64_t cared_ms;                  /* unix; when `care` last ran */
    struct pl_resume_queued requeue;   /* on the first shard */
    struct pl_retention retention;     /* the same */
    struct pl_backup_schedule backups; /* the same */
    struct pl_blob_collect unused;     /* the same */
    int64_t ahead_ms;             /* of the wall clock over the monotonic one, at the last check */
    int64_t jumped_ms;            /* when the wall clock last jumped forward; 0: never */
    struct pl_timer accepting_on; /* shutdown.c; on the first shard */
    struct pl_letter node_end;    /* cluster.c: this node is asked to end; sent once */
    size_t n_ended;               /* shards that have finished the current stage of the end */
    struct pl_job probe;          /* at the start: finds model servers on this machine */
    struct pl_setup *probed;      /* in use meanwhile */
    struct pl_setup *setup; /* owned: the newest, linked to the older ones; on the first shard */
    struct pl_reload reload;
};

static inline struct pl_server_own *pl_server_own(struct pl_server *server)
{
    return (struct pl_server_own *)server;
}

/* loop_lag.c */
struct pl_loop_lag {
    struct pl_timer timer;
    int64_t due_ms, span_ms; /* when it should fire; when the current span began */
    int64_t worst_ms, before_ms;
};

struct pl_shard_own {
    struct pl_shard shard; /* first */
    struct pl_loop_lag lag;
    pthread_t thread;
    bool has_thread;
    struct pl_listener *listeners[PL_MAX_SOCKETS]; /* owned */
    struct pl_accepting {
        struct pl_shard *shard;
        bool is_control;
    } accepting[PL_MAX_SOCKETS]; /* the context of each listener */
    struct pl_letter settling;   /* to this shard with new settings, and back */
    uint64_t least;              /* the oldest generation that this shard uses */
    /* The end: */
    struct pl_letter ending; /* to this shard, and back to the first one */
    struct pl_timer drain_timer;
    int64_t drain_until_ms;
};

static inline struct pl_shard_own *pl_shard_own(struct pl_shard *shard)
{
    return (struct pl_shard_own *)shard;
}

#endif
