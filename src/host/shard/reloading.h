/* Asking for the configuration to be read again, and waiting for what came of it. server/ does it;
 * rooms below it ask through struct pl_server. */
#ifndef PL_SHARD_RELOADING_H
#define PL_SHARD_RELOADING_H

#include "base/buf.h"
#include "io/loop.h"
#include "shard/shard.h"

struct pl_reload_ask {
    struct pl_shard *shard;                  /* who asks, and where done is called */
    void (*done)(struct pl_reload_ask *ask); /* once, always */
    /* The outcome: */
    enum pl_status status; /* PL_CONFLICT: the server is stopping */
    struct pl_error err;
    struct pl_buf changed, kept; /* names of settings; owned by whoever asked */
    struct pl_letter letter;
    struct pl_reload_ask *next;
};

struct pl_reload_ops {
    /* Any shard. The file is read after this call, not before, however many ask. */
    void (*ask)(struct pl_reload_ask *ask);
};

#endif
