/* What the server and a shard have besides what everybody may see: sockets, threads, spares. */
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

/* Reading the settings again (reload.c). On the first shard, but the job. */
struct pl_reload {
    const struct pl_server_source *source; /* borrowed; NULL: there is nothing to read */
    enum pl_reload_state {
        PL_RELOAD_QUIET,
        PL_RELOAD_READING, /* the job is away */
        PL_RELOAD_TELLING, /* letters to all shards are on their way */
    } state;
    bool wants_again;             /* another SIGHUP came meanwhile */
    struct pl_reload_ask *asking; /* who waits for this reading; theirs */
    struct pl_reload_ask *next;   /* who came meanwhile, and waits for the one after it; theirs */
    bool is_announced;            /* systemd was told that it began */
    struct pl_job job;
    struct pl_setup *made; /* owned; while READING */
    struct pl_buf changed, kept;
    enum pl_status status;
    struct pl_error err;
    size_t n_answered; /* shards; while TELLING */
    uint64_t least;    /* the oldest generation any of them has holders of */
};

struct pl_server_own {
    struct pl_server server;                  /* first */
    struct pl_socket sockets[PL_MAX_SOCKETS]; /* owned */
    bool is_control[PL_MAX_SOCKETS];
    struct pl_fetch_slots fetch_slots;
    struct pl_timer care;              /* once a minute, on the first shard */
    int64_t swept_ms;                  /* unix; sign-ins that ended by then are deleted */
    int64_t cared_ms;                  /* unix; when that was last done */
    struct pl_resume_queued requeue;   /* on the first shard */
    struct pl_retention retention;     /* the same */
    struct pl_backup_schedule backups; /* the same */
    struct pl_blob_collect unused;     /* the same */
    int64_t ahead_ms;  /* of the wall clock before the other, when it was last looked at */
    int64_t jumped_ms; /* when it was last put forward; 0: never */
    struct pl_timer accepting_on; /* shutdown.c; on the first shard */
    struct pl_letter node_end;    /* cluster.c: somebody wants this node to end; sent once */
    size_t n_ended;          /* shards that have done what the present stage of the end wants */
    struct pl_job probe;     /* at the start: which servers of models this machine has */
    struct pl_setup *probed; /* held meanwhile */
    struct pl_setup *setup;  /* owned: the newest, with those before it; on the first shard */
    struct pl_reload reload;
};

static inline struct pl_server_own *pl_server_own(struct pl_server *server)
{
    return (struct pl_server_own *)server;
}

/* loop_lag.c */
struct pl_loop_lag {
    struct pl_timer timer;
    int64_t due_ms, span_ms; /* when it should come; when the present span began */
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
    } accepting[PL_MAX_SOCKETS]; /* what each listener gives back */
    struct pl_letter settling;   /* to this shard with new settings, and back */
    uint64_t least;              /* the oldest generation this shard has holders of */
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
