/* What the server was told, as one that never changes: configuration, models with their keys, and
 * the certificate. SIGHUP makes another one beside it (reload.c).
 *
 *     first shard:  newest ──older──> … ──older──> oldest
 *     every shard:  shard->setup, changed by a letter, so never in the middle of a callback
 *     who waits:    holds the one he began with (pl_setup_hold) and releases it at his end
 *
 * So a request sees the same setup from its beginning to its end, and so does a model call. The
 * count of holders belongs to the shard that has them: holding costs no atomic operation. One that
 * no shard has any holders of is destroyed by the first shard after the next reload, or within a
 * minute. Work on other threads (workers) belongs to somebody who holds. */
#ifndef PL_SHARD_SETUP_H
#define PL_SHARD_SETUP_H

#include "base/arena.h"
#include "io/net/conn.h"
#include "shard/config.h"
#include "shard/shard.h"

struct pl_setup {
    struct pl_server_config config; /* strings: the arena, or the caller of pl_server_run */
    struct pl_models *models;       /* owned */
    struct pl_tls *tls;             /* a reference; NULL: plain */
    struct pl_arena arena;
    char warning[512];      /* about what is legal and doubtful; empty: nothing */
    uint64_t generation;    /* 0 at the start, one more for each reload */
    struct pl_setup *older; /* the first shard's list */
    struct {
        size_t n;
        char rest[64 - sizeof(size_t)]; /* of one shard each: on lines of their own */
    } holders[PL_MAX_SHARDS];
};

/* On the shard's thread, both. */
static inline struct pl_setup *pl_setup_hold(struct pl_shard *shard)
{
    shard->setup->holders[shard->index].n++;
    return shard->setup;
}

static inline void pl_setup_release(struct pl_shard *shard, struct pl_setup *setup)
{
    if (setup)
        setup->holders[shard->index].n--;
}

#endif
