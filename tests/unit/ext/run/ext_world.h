/* Ready extensions without a child process: the loop and the instances are real, and each channel
 * is two pipes; the test holds the other ends. The test provides the store: a submitted batch is
 * counted and answered in the next turn (link with --wrap=pl_store_submit). One user, one session,
 * one shard; time stands still. */
#ifndef PL_TESTS_EXT_WORLD_H
#define PL_TESTS_EXT_WORLD_H

#include "ext/run/ext_int.h"
#include "shard/setup.h"

enum { PL_EXT_WORLD_MOST = 3 };

struct ext_world_one {
    struct pl_ext_place *place; /* owned, with its instance */
    struct pl_ext_wire *wire;   /* held: our ends of the pipes */
    char heard[64 << 10];       /* the host's output, read by the last ext_world_hear */
};

struct ext_world {
    struct pl_server server;
    struct pl_setup setup;
    struct pl_shard shard;
    struct pl_ext_server ext;
    struct pl_ext_shard exts;
    struct ext_world_one ones[PL_EXT_WORLD_MOST];
    size_t n;
    enum pl_status store_status; /* result of batches */
    size_t n_rows;               /* committed rows */
};

/* Opens extensions a, b, … with these register payloads, ready, under a profile. NULL: out of
 * memory. */
struct ext_world *ext_world_open(const char *profile, const char *const *payloads, size_t n);
void ext_world_close(struct ext_world *world); /* accepts NULL */
/* NULL: it has ended. */
struct pl_ext_instance *ext_world_instance(struct ext_world *world, size_t which);
/* Runs all letters and hooks. */
void ext_world_settle(struct ext_world *world);
/* The host's output to it since the last call. */
const char *ext_world_hear(struct ext_world *world, size_t which);
/* Sends a line as the extension; does nothing if it has ended. */
void ext_world_say(struct ext_world *world, size_t which, const char *line);
/* The id of the first frame of the last output, at most `size` bytes; "": none. */
const char *ext_world_id(struct ext_world *world, size_t which, char *to, size_t size);

#endif
