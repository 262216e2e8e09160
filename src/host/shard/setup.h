/* The immutable state from the configuration: settings, models with their keys, and the
 * certificate. SIGHUP creates a new one beside it (reload.c).
 *
 *     first shard:  newest ──older──> … ──older──> oldest
 *     every shard:  shard->setup, changed by a letter, so never in the middle of a callback
 *     who waits:    holds the setup it began with (pl_setup_hold) and releases it at its end
 *
 * So a request sees the same setup from beginning to end, and so does a model call. The count of
 * holders belongs to the shard that has them, so holding costs no atomic operation. The first shard
 * destroys a setup that has no holders on any shard, after the next reload or within a minute. Work
 * on other threads (workers) belongs to a holder. */
#ifndef PL_SHARD_SETUP_H
#define PL_SHARD_SETUP_H

#include "base/arena.h"
#include "io/net/conn.h"
#include "shard/config.h"
#include "shard/shard.h"

struct pl_setup {
    struct pl_server_config config; /* strings: in the arena, or of pl_server_run's caller */
    struct pl_models *models;       /* owned */
    struct pl_tls *tls;             /* a reference; NULL without TLS */
    struct pl_arena arena;
    char warning[512];      /* about legal but doubtful settings; may be empty */
    uint64_t generation;    /* 0 at the start, incremented by each reload */
    struct pl_setup *older; /* list of the first shard */
    struct {
        size_t n;
        char rest[64 - sizeof(size_t)]; /* each shard's count has its own cache line */
    } holders[PL_MAX_SHARDS];
};

/* Both are called on the shard's thread. */
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
