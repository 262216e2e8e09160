#include "service/blobs/fetch_slots.h"

#include <assert.h>

void pl_fetch_slots_init(struct pl_fetch_slots *slots)
{
    slots->n = 0;
    pthread_mutex_init(&slots->lock, NULL);
}

void pl_fetch_slots_deinit(struct pl_fetch_slots *slots)
{
    pthread_mutex_destroy(&slots->lock);
}

enum pl_fetch_slot pl_fetch_slots_take(struct pl_fetch_slots *slots, uint64_t owner)
{
    enum pl_fetch_slot slot = PL_FETCH_SLOT_TAKEN;
    size_t n_own = 0;
    pthread_mutex_lock(&slots->lock);
    for (size_t i = 0; i < slots->n; i++)
        n_own += slots->owners[i] == owner;
    if (n_own >= PL_FETCHES_MAX_OF_USER)
        slot = PL_FETCH_SLOT_YOURS;
    else if (slots->n == PL_FETCHES_MAX)
        slot = PL_FETCH_SLOT_OTHERS;
    else
        slots->owners[slots->n++] = owner;
    pthread_mutex_unlock(&slots->lock);
    return slot;
}

void pl_fetch_slots_give(struct pl_fetch_slots *slots, uint64_t owner)
{
    size_t i = 0;
    pthread_mutex_lock(&slots->lock);
    while (i < slots->n && slots->owners[i] != owner)
        i++;
    assert(i < slots->n);
    slots->owners[i] = slots->owners[--slots->n];
    pthread_mutex_unlock(&slots->lock);
}
