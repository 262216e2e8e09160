/* Puts a timer on its level, finds the next occupied slot, and empties a slot: its timers fire or
 * move to a lower level. */
#include "io/wheel.h"

enum {
    GROUP_BITS = 6,
    DUE_SLOT = PL_WHEEL_LEVELS * PL_WHEEL_SLOTS,
};

/* About 550 years of uptime. */
static const int64_t last_tick = ((int64_t)1 << (GROUP_BITS * PL_WHEEL_LEVELS)) - 1;

/* The next slot that comes due, and its time. */
struct event {
    size_t slot;
    int64_t tick;
};

void pl_wheel_init(struct pl_wheel *wheel, int64_t now_ms)
{
    *wheel = (struct pl_wheel){.start_ms = now_ms};
    for (size_t i = 0; i <= DUE_SLOT; i++)
        wheel->slots[i].prev = wheel->slots[i].next = &wheel->slots[i];
}

static void append(struct pl_wheel *wheel, size_t slot, struct pl_timer *timer)
{
    struct pl_timer *head = &wheel->slots[slot];
    timer->prev = head->prev;
    timer->next = head;
    head->prev->next = timer;
    head->prev = timer;
    wheel->occupied[slot / PL_WHEEL_SLOTS] |= UINT64_C(1) << slot % PL_WHEEL_SLOTS;
}

/* Rounded up, so that no timer fires early. */
static int64_t due_tick(const struct pl_wheel *wheel, const struct pl_timer *timer)
{
    int64_t wait_ms = timer->due_ms - wheel->start_ms;
    int64_t tick = wait_ms / PL_WHEEL_TICK_MS + (wait_ms % PL_WHEEL_TICK_MS > 0);
    return tick < last_tick ? tick : last_tick;
}

static void place(struct pl_wheel *wheel, struct pl_timer *timer, int64_t tick)
{
    int level = (63 - __builtin_clzll((uint64_t)(tick ^ wheel->tick))) / GROUP_BITS;
    size_t index = (size_t)(tick >> (GROUP_BITS * level)) % PL_WHEEL_SLOTS;
    append(wheel, (size_t)level * PL_WHEEL_SLOTS + index, timer);
}

void pl_wheel_add(struct pl_wheel *wheel, struct pl_timer *timer, int64_t now_ms)
{
    int64_t now = (now_ms - wheel->start_ms) / PL_WHEEL_TICK_MS;
    if (wheel->n_timers == 0 && now > wheel->tick)
        wheel->tick = now;
    int64_t tick = due_tick(wheel, timer);
    if (tick <= wheel->tick)
        tick = wheel->tick + 1;
    place(wheel, timer, tick);
    wheel->n_timers++;
}

void pl_wheel_remove(struct pl_wheel *wheel, struct pl_timer *timer)
{
    if (!timer->next)
        return;
    timer->prev->next = timer->next;
    timer->next->prev = timer->prev;
    if (timer->prev == timer->next) { /* only the head is left */
        size_t slot = (size_t)(timer->next - wheel->slots);
        wheel->occupied[slot / PL_WHEEL_SLOTS] &= ~(UINT64_C(1) << slot % PL_WHEEL_SLOTS);
    }
    timer->prev = timer->next = NULL;
    wheel->n_timers--;
}

/* A slot of a lower level always comes before one of a higher level: the higher one begins when the
 * whole lower level has passed. */
static bool find_next(const struct pl_wheel *wheel, struct event *ret_event)
{
    for (int level = 0; level < PL_WHEEL_LEVELS; level++) {
        int shift = GROUP_BITS * level;
        int64_t present = wheel->tick >> shift;
        uint64_t later = wheel->occupied[level] & (~UINT64_C(1) << present % PL_WHEEL_SLOTS);
        if (!later)
            continue;
        int index = __builtin_ctzll(later);
        *ret_event = (struct event){
            .slot = (size_t)(level * PL_WHEEL_SLOTS + index),
            .tick = (present - present % PL_WHEEL_SLOTS + index) << shift,
        };
        return true;
    }
    return false;
}

int64_t pl_wheel_next_ms(const struct pl_wheel *wheel)
{
    struct event event;
    if (!find_next(wheel, &event))
        return INT64_MAX;
    return wheel->start_ms + event.tick * PL_WHEEL_TICK_MS;
}

/* The current tick has reached `slot`: its timers are due or move to a lower level. */
static void empty_slot(struct pl_wheel *wheel, size_t slot)
{
    struct pl_timer *head = &wheel->slots[slot];
    struct pl_timer *timer = head->next;
    head->prev = head->next = head;
    wheel->occupied[slot / PL_WHEEL_SLOTS] &= ~(UINT64_C(1) << slot % PL_WHEEL_SLOTS);
    while (timer != head) {
        struct pl_timer *next = timer->next;
        int64_t tick = due_tick(wheel, timer);
        if (tick <= wheel->tick)
            append(wheel, DUE_SLOT, timer);
        else
            place(wheel, timer, tick);
        timer = next;
    }
}

/* One at a time, because each timer may stop any other. */
static void fire(struct pl_wheel *wheel)
{
    struct pl_timer *head = &wheel->slots[DUE_SLOT];
    while (head->next != head) {
        struct pl_timer *timer = head->next;
        pl_wheel_remove(wheel, timer);
        timer->fn(timer);
    }
}

void pl_wheel_advance(struct pl_wheel *wheel, int64_t now_ms)
{
    int64_t now = (now_ms - wheel->start_ms) / PL_WHEEL_TICK_MS;
    struct event event;
    while (find_next(wheel, &event) && event.tick <= now) {
        wheel->tick = event.tick;
        empty_slot(wheel, event.slot);
        fire(wheel);
    }
    if (now > wheel->tick)
        wheel->tick = now;
}
