#include "shard/shard.h"

#include "io/clock.h"

#include <sodium/randombytes.h>

struct pl_shard *pl_shard_of_session(struct pl_server *server, struct pl_str session_id)
{
    return server->shards[pl_hash(session_id) % server->n_shards];
}

int64_t pl_metric_sum(const struct pl_server *server, enum pl_metric metric)
{
    int64_t sum = 0;
    for (size_t i = 0; i < server->n_shards; i++)
        sum +=
            atomic_load_explicit(&server->shards[i]->metrics.values[metric], memory_order_relaxed);
    return sum;
}

struct pl_id_seed pl_shard_seed(struct pl_shard *shard)
{
    if (shard->n_random < 2) {
        randombytes_buf(shard->random, sizeof shard->random);
        shard->n_random = sizeof shard->random / sizeof *shard->random;
    }
    struct pl_id_seed seed = {.unix_ms = pl_loop_unix_ms(shard->loop)};
    seed.random[0] = shard->random[--shard->n_random];
    seed.random[1] = shard->random[--shard->n_random];
    return seed;
}

struct pl_id_seed pl_seed_draw(void)
{
    struct pl_id_seed seed = {.unix_ms = pl_clock_unix_ms()};
    randombytes_buf(seed.random, sizeof seed.random);
    return seed;
}
