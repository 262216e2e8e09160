/* Limits of concurrent fetches: for one user and for all. Any thread. */
#ifndef PL_SERVICE_BLOBS_FETCH_SLOTS_H
#define PL_SERVICE_BLOBS_FETCH_SLOTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define PL_FETCHES_MAX         64
#define PL_FETCHES_MAX_OF_USER 8

enum pl_fetch_slot {
    PL_FETCH_SLOT_TAKEN,
    PL_FETCH_SLOT_YOURS,  /* the user has reached the limit per user */
    PL_FETCH_SLOT_OTHERS, /* all are taken */
};

struct pl_fetch_slots {
    pthread_mutex_t lock; /* protects the members below */
    uint64_t owners[PL_FETCHES_MAX];
    size_t n;
};

void pl_fetch_slots_init(struct pl_fetch_slots *slots);
void pl_fetch_slots_deinit(struct pl_fetch_slots *slots);
enum pl_fetch_slot pl_fetch_slots_take(struct pl_fetch_slots *slots, uint64_t owner);
/* Releases a slot. */
void pl_fetch_slots_give(struct pl_fetch_slots *slots, uint64_t owner);

#endif
