/* Requests a reload of the configuration and waits for the result. server/ does the reload; rooms
 * below it ask through struct pl_server. */
#ifndef PL_SHARD_RELOADING_H
#define PL_SHARD_RELOADING_H

#include "base/buf.h"
#include "io/loop.h"
#include "shard/shard.h"

struct pl_reload_ask {
    struct pl_shard *shard;                  /* the requesting shard, on which done is called */
    void (*done)(struct pl_reload_ask *ask); /* called exactly once */
    /* The outcome: */
    enum pl_status status; /* PL_CONFLICT: the server is stopping */
    struct pl_error err;
    struct pl_buf changed, kept; /* names of settings; owned by the requester */
    struct pl_letter letter;
    struct pl_reload_ask *next;
};

struct pl_reload_ops {
    /* Any shard may call it. The file is read after this call, not before, even if several ask. */
    void (*ask)(struct pl_reload_ask *ask);
};

#endif
