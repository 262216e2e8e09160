/* State and deadline are one atomic word, so that any shard can read it and only one gets the
 * probe. */
#include "model/cooldown.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

enum { STATE_BITS = 2 };

static uint64_t word_of(enum pl_cooldown_state state, int64_t until_ms)
{
    return (uint64_t)(until_ms < 0 ? 0 : until_ms) << STATE_BITS | state;
}

static enum pl_cooldown_state state_of(uint64_t word)
{
    return (enum pl_cooldown_state)(word & ((1u << STATE_BITS) - 1));
}

static int64_t until_of(uint64_t word)
{
    return (int64_t)(word >> STATE_BITS);
}

enum pl_cooldown_pass pl_cooldown_enter(struct pl_cooldown *cooldown, int64_t now_ms)
{
    if (!cooldown || !cooldown->rest_ms)
        return PL_PASS_CALL;
    uint64_t word = atomic_load(&cooldown->word);
    switch (state_of(word)) {
    case PL_COOLDOWN_CLOSED:
        return PL_PASS_CALL;
    case PL_COOLDOWN_OPEN:
        /* Of many concurrent callers, one makes the change and becomes the probe. */
        return now_ms >= until_of(word) &&
                       atomic_compare_exchange_strong(&cooldown->word, &word,
                                                      word_of(PL_COOLDOWN_HALF_OPEN, 0))
                   ? PL_PASS_PROBE
                   : PL_PASS_NONE;
    case PL_COOLDOWN_HALF_OPEN:
        break;
    }
    return PL_PASS_NONE;
}

static int64_t end_of_rest(const struct pl_cooldown *cooldown, int64_t retry_ms, int64_t now_ms)
{
    int64_t rest_ms = retry_ms < 0                    ? cooldown->rest_ms
                      : retry_ms < PL_COOLDOWN_MAX_MS ? retry_ms
                                                      : PL_COOLDOWN_MAX_MS;
    return now_ms + rest_ms;
}

void pl_cooldown_leave(struct pl_cooldown *cooldown, enum pl_cooldown_pass pass,
                       enum pl_cooldown_news news, int64_t retry_ms, int64_t now_ms)
{
    assert(pass != PL_PASS_NONE);
    if (!cooldown || !cooldown->rest_ms)
        return;
    uint64_t closed = word_of(PL_COOLDOWN_CLOSED, 0);
    uint64_t open = word_of(PL_COOLDOWN_OPEN, end_of_rest(cooldown, retry_ms, now_ms));
    if (pass == PL_PASS_CALL) {
        if (news == PL_NEWS_BUSY)
            (void)atomic_compare_exchange_strong(&cooldown->word, &closed, open);
        return;
    }
    assert(pl_cooldown_state(cooldown) == PL_COOLDOWN_HALF_OPEN);
    const uint64_t words[] = {
        [PL_NEWS_NONE] = word_of(PL_COOLDOWN_OPEN, now_ms),
        [PL_NEWS_FINE] = closed,
        [PL_NEWS_BUSY] = open,
    };
    atomic_store(&cooldown->word, words[news]);
}

enum pl_cooldown_state pl_cooldown_state(const struct pl_cooldown *cooldown)
{
    return state_of(atomic_load(&cooldown->word));
}

int64_t pl_cooldown_left_ms(const struct pl_cooldown *cooldown, int64_t now_ms)
{
    uint64_t word = atomic_load(&cooldown->word);
    int64_t left_ms = state_of(word) == PL_COOLDOWN_OPEN ? until_of(word) - now_ms : 0;
    return left_ms > 0 ? left_ms : 0;
}
