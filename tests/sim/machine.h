/* A simulated node: the rooms of a server as server/server.c makes them, without sockets and
 * routes. */
#ifndef PL_TESTS_SIM_MACHINE_H
#define PL_TESTS_SIM_MACHINE_H

#include "shard/shard.h"

enum { MACHINES_MAX = 4 };

enum machine_state {
    MACHINE_OFF,      /* no process */
    MACHINE_STARTING, /* not serving yet */
    MACHINE_SERVING,
};

void machines_begin(size_t n, size_t n_shards);
/* Starts a process on it; does nothing if there is one. */
void machine_start(size_t i);
/* kill -9; is_silent: the whole machine is gone, so nothing closes its connections. */
void machine_kill(size_t i, bool is_silent);
void machine_freeze(size_t i, bool is_frozen);
enum machine_state machine_state(size_t i);
bool machine_is_frozen(size_t i);
/* The view of a proxy that checks readiness every two seconds. */
bool machine_looks_ready(size_t i);
/* The owner of its memory and fibers. */
int machine_owner(size_t i);
/* The number of processes it has had: requests to an earlier one get no answer. */
uint64_t machine_life(size_t i);
struct pl_server *machine_server(size_t i); /* NULL: not serving */
/* Runs fn on the loop of one of its shards, with memory of the node; ctx belongs to the world, and
 * outlives it. */
void machine_do(size_t i, void (*fn)(struct pl_shard *shard, void *ctx), void *ctx);

#endif
