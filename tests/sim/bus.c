/* The functions of bus/bus.h. Letters from one sender to one receiver keep their order on each way;
 * the fast way may lose them, and letters can overtake each other between the two. The slow way is
 * the database's: it waits while the database is down. */
#include "bus.h"

#include "base.h"
#include "base/mem.h"
#include "bus/bus.h"
#include "kernel.h"

#include <stdio.h>
#include <string.h>

enum { BUSES_MAX = 64, WAYS = 2 };
enum way { FAST, SLOW };

struct parcel {
    struct parcel *next;
    struct pl_bus *to;
    int from, to_owner;
    uint64_t to_number;
    enum way way;
    struct pl_node_id sender, receiver;
    bool is_to_all;
    size_t n;
    char bytes[];
};

struct pl_bus {
    bool is_open;
    int owner;
    uint64_t number; /* of this opening */
    struct pl_bus_config config;
    struct parcel *come, **come_end;
    uint64_t thread;
    bool is_closing;
    int64_t last_us[BUSES_MAX][WAYS]; /* arrival of the last letter at that place */
    bool is_unheard[BUSES_MAX];
};

static struct {
    struct pl_bus buses[BUSES_MAX];
    uint64_t n_opened;
    unsigned lose_one_in, lose_then_one_in, double_one_in;
    bool (*is_moment)(void);
    bool is_away, is_parted[SIM_OWNERS][SIM_OWNERS];
} all;

void bus_begin(void)
{
    memset(&all, 0, sizeof all);
}

void bus_lose(unsigned one_in)
{
    all.lose_one_in = one_in;
}

void bus_lose_when(bool (*is_moment)(void), unsigned one_in)
{
    all.is_moment = is_moment;
    all.lose_then_one_in = one_in;
}

void bus_double(unsigned one_in)
{
    all.double_one_in = one_in;
}

void bus_away(bool is_away)
{
    all.is_away = is_away;
}

void bus_part(int from, int to, bool is_parted)
{
    all.is_parted[from][to] = is_parted;
}

bool bus_is_well(void)
{
    bool is_well = !all.is_away && !all.lose_one_in && !all.lose_then_one_in && !all.double_one_in;
    for (int i = 0; i < SIM_OWNERS; i++)
        for (int k = 0; k < SIM_OWNERS; k++)
            is_well &= !all.is_parted[i][k];
    return is_well;
}

static size_t place_of(const struct pl_bus *bus)
{
    return (size_t)(bus - all.buses);
}

static struct pl_bus *find(const struct pl_node_id *id)
{
    for (size_t i = 0; i < BUSES_MAX; i++)
        if (all.buses[i].is_open && pl_node_id_eq(&all.buses[i].config.me, id))
            return &all.buses[i];
    return NULL;
}

/* --- letters --------------------------------------------------------------------------------- */

static void arrive(void *ctx)
{
    struct parcel *parcel = ctx;
    struct pl_bus *to = parcel->to;
    if (parcel->way == SLOW && !base_is_well()) {
        sim_at(sim_now_us() + 50 * SIM_MS, arrive, parcel);
        return;
    }
    if (!to->is_open || to->number != parcel->to_number ||
        (parcel->way == FAST && (all.is_away || all.is_parted[parcel->from][to->owner]))) {
        pl_mem_free(parcel);
        return;
    }
    *to->come_end = parcel;
    to->come_end = &parcel->next;
    sim_wake(to);
}

static void carry(struct pl_bus *from, struct pl_bus *to, struct pl_str bytes, bool is_to_all,
                  enum way way)
{
    struct parcel *parcel = sim_alloc(sizeof *parcel + bytes.len);
    *parcel = (struct parcel){.to = to,
                              .from = from->owner,
                              .to_owner = to->owner,
                              .to_number = to->number,
                              .way = way,
                              .sender = from->config.me,
                              .is_to_all = is_to_all,
                              .n = bytes.len};
    memcpy(parcel->bytes, bytes.ptr, bytes.len);
    int64_t us = way == FAST ? sim_between(80, 2000) : sim_between(2000, 40000);
    if (sim_one_in(50))
        us += sim_between(1000, way == FAST ? 60000 : 600000);
    uint64_t number;
    memcpy(&number, bytes.ptr + 18, sizeof number);
    sim_trace("[%d] letter to %d: kind %d, number %llx, %zu bytes, by the %s way", from->owner,
              to->owner, bytes.ptr[1], (unsigned long long)number, bytes.len,
              way == FAST ? "fast" : "slow");
    int64_t *last_us = &from->last_us[place_of(to)][way];
    *last_us = sim_now_us() + us > *last_us ? sim_now_us() + us : *last_us;
    sim_at(*last_us, arrive, parcel);
}

static bool is_fast_up(const struct pl_bus *bus)
{
    (void)bus;
    return !all.is_away;
}

static bool is_lost(void)
{
    return (all.lose_one_in && sim_one_in(all.lose_one_in)) ||
           (all.lose_then_one_in && all.is_moment() && sim_one_in(all.lose_then_one_in));
}

static void send_to(struct pl_bus *from, struct pl_bus *to, struct pl_str bytes, bool is_to_all,
                    bool by_store)
{
    bool is_slow = by_store || !is_fast_up(from) || from->is_unheard[place_of(to)];
    if (!is_slow && is_lost()) {
        sim_trace("[%d] a letter to %d is lost: kind %d", from->owner, to->owner, bytes.ptr[1]);
        return;
    }
    carry(from, to, bytes, is_to_all, is_slow ? SLOW : FAST);
    if (!is_slow && all.double_one_in && sim_one_in(all.double_one_in))
        carry(from, to, bytes, is_to_all, SLOW);
}

enum pl_status pl_bus_send(struct pl_bus *bus, const struct pl_node_id *to, struct pl_str bytes,
                           bool by_store)
{
    struct pl_bus *other = find(to);
    if (other)
        send_to(bus, other, bytes, false, by_store);
    else if (is_fast_up(bus)) /* no one listens there */
        for (size_t i = 0; i < BUSES_MAX; i++)
            if (pl_node_id_eq(&all.buses[i].config.me, to))
                bus->is_unheard[i] = true;
    return PL_OK;
}

enum pl_status pl_bus_send_all(struct pl_bus *bus, struct pl_str bytes)
{
    for (size_t i = 0; i < BUSES_MAX; i++)
        if (all.buses[i].is_open && &all.buses[i] != bus)
            send_to(bus, &all.buses[i], bytes, true, false);
    return PL_OK;
}

/* --- the delivering thread ------------------------------------------------------------------- */

static void *deliver(void *arg)
{
    struct pl_bus *bus = arg;
    while (!bus->is_closing) {
        struct parcel *parcel = bus->come;
        if (!parcel) {
            (void)sim_wait(bus, INT64_MAX);
            continue;
        }
        bus->come = parcel->next;
        if (!bus->come)
            bus->come_end = &bus->come;
        for (size_t i = 0; i < BUSES_MAX; i++)
            if (pl_node_id_eq(&all.buses[i].config.me, &parcel->sender))
                bus->is_unheard[i] = false;
        bus->config.on_letter(bus->config.ctx, (struct pl_str){parcel->bytes, parcel->n},
                              parcel->is_to_all);
        pl_mem_free(parcel);
    }
    return NULL;
}

enum pl_status pl_bus_open(const struct pl_bus_config *config, struct pl_bus **ret_bus,
                           struct pl_error *err)
{
    (void)err;
    size_t i = 0;
    while (i < BUSES_MAX && all.buses[i].number)
        i++;
    if (i == BUSES_MAX)
        return pl_fail(err, PL_LIMIT, "the simulated bus has no place left");
    struct pl_bus *bus = &all.buses[i];
    *bus = (struct pl_bus){
        .is_open = true, .owner = sim_owner(), .number = ++all.n_opened, .config = *config};
    bus->come_end = &bus->come;
    bus->thread = sim_fiber_id(sim_fiber_start(sim_owner(), "bus", deliver, bus));
    *ret_bus = bus;
    return PL_OK;
}

void pl_bus_close(struct pl_bus *bus)
{
    if (!bus)
        return;
    bus->is_open = false;
    bus->is_closing = true;
    sim_wake(bus);
    sim_fiber_join(bus->thread);
}

void bus_client_gone(int owner)
{
    for (size_t i = 0; i < BUSES_MAX; i++)
        if (all.buses[i].is_open && all.buses[i].owner == owner)
            all.buses[i].is_open = false;
}

/* --- looking --------------------------------------------------------------------------------- */

void pl_bus_look(struct pl_bus *bus)
{
    (void)bus;
}

bool pl_bus_is_unheard(struct pl_bus *bus, const struct pl_node_id *node)
{
    for (size_t i = 0; i < BUSES_MAX; i++)
        if (pl_node_id_eq(&all.buses[i].config.me, node))
            return bus->is_unheard[i];
    return false;
}

enum pl_bus_kind pl_bus_kind(const struct pl_bus *bus)
{
    (void)bus;
    return PL_BUS_NATS;
}

enum pl_bus_state pl_bus_state(struct pl_bus *bus)
{
    return is_fast_up(bus) ? PL_BUS_UP : PL_BUS_DEGRADED;
}

size_t pl_bus_waiting(struct pl_bus *bus, const struct pl_node_id *to)
{
    (void)bus, (void)to;
    return 0;
}

const char *pl_bus_kind_text(enum pl_bus_kind kind)
{
    static const char *const texts[] = {"local", "pg", "nats"};
    return texts[kind];
}

const char *pl_bus_state_text(enum pl_bus_state state)
{
    static const char *const texts[] = {"up", "degraded", "down"};
    return texts[state];
}

bool pl_bus_has_nats_library(void)
{
    return true;
}
