/* A seal for tests: not secret, but it depends on the key, the receiver and every byte. */
#ifndef PL_TESTS_CLUSTER_SEAL_H
#define PL_TESTS_CLUSTER_SEAL_H

#include "base/hash.h"
#include "cluster/node_letter.h"

static inline void seal_make(void *ctx, const struct pl_node_id *receiver, struct pl_str bytes,
                             unsigned char ret_seal[PL_NODE_LETTER_SEAL])
{
    const uint64_t *key = ctx;
    struct pl_str to = {(const char *)receiver->bytes, sizeof receiver->bytes};
    uint64_t words[2];
    words[0] = pl_hash_with((struct pl_hash_key){{key[0], pl_hash_quick(to)}}, bytes);
    words[1] = pl_hash_with((struct pl_hash_key){{key[1], words[0]}}, bytes);
    memcpy(ret_seal, words, sizeof words);
}

#endif
