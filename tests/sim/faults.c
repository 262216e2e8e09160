/* The effect of each fault: see faults.h. */
#include "faults.h"

#include "base.h"
#include "bus.h"
#include "checks.h"
#include "kernel.h"
#include "machine.h"
#include "people.h"
#include "pq.h"

#include <stdlib.h>
#include <string.h>

enum { FAULTS_MAX = 8, LOOK_MS = 3 };

static const struct {
    const char *name;
    int64_t least_ms, most_ms; /* duration */
    bool moves;                /* it may move sessions between nodes */
} kinds[] = {
    [FAULT_KILL] = {"kill", 300, 6000, true},
    [FAULT_KILL_MACHINE] = {"kill the machine", 300, 6000, true},
    [FAULT_FREEZE] = {"freeze", 100, 9000, true},
    [FAULT_FREEZE_FOR_EVER] = {"freeze for ever", 100, 100, true},
    [FAULT_BASE_RESTART] = {"the database restarts", 50, 9000, false},
    [FAULT_BASE_SILENT] = {"the database is silent", 100, 9000, false},
    [FAULT_BASE_SLOW] = {"the database is slow", 500, 6000, true},
    [FAULT_BASE_CUT] = {"connections are cut", 10, 10, false},
    [FAULT_NODE_WITHOUT_BASE] = {"a node without its database", 100, 9000, true},
    [FAULT_BUS_LOSES] = {"the bus loses", 500, 8000, false},
    [FAULT_BUS_LOSES_ENDS] = {"the bus loses the ends of answers", 500, 8000, false},
    [FAULT_BUS_DOUBLES] = {"the bus doubles", 500, 8000, false},
    [FAULT_BUS_AWAY] = {"the bus is away", 100, 8000, false},
    [FAULT_BUS_PARTED] = {"the bus is parted", 100, 8000, false},
};

struct planned {
    struct fault fault;
    enum { PLANNED, BEGUN, OVER } state;
    int64_t to_us;
    bool is_for_ever;
};

static struct {
    size_t n_machines, n;
    struct planned all[FAULTS_MAX];
    bool loses_on;
} faults;

int64_t faults_draw_ms(enum fault_kind kind)
{
    return sim_between(kinds[kind].least_ms, kinds[kind].most_ms);
}

bool faults_have(enum fault_kind kind)
{
    for (size_t i = 0; i < faults.n; i++)
        if (faults.all[i].fault.kind == kind)
            return true;
    return false;
}

void faults_lose_on(void)
{
    faults.loses_on = true;
}

int64_t faults_over_us(void)
{
    int64_t over_us = 0;
    for (size_t i = 0; i < faults.n; i++)
        over_us = faults.all[i].to_us > over_us ? faults.all[i].to_us : over_us;
    return over_us + 1;
}

bool faults_move(void)
{
    bool moves = false;
    for (size_t i = 0; i < faults.n; i++)
        moves |= kinds[faults.all[i].fault.kind].moves;
    return moves;
}

/* --- the moment ------------------------------------------------------------------------------ */

static size_t n_alive(void)
{
    size_t n = 0;
    for (size_t i = 0; i < faults.n_machines; i++)
        n += machine_state(i) == MACHINE_SERVING && !machine_is_frozen(i);
    return n;
}

static bool has_come(enum fault_moment moment, size_t machine)
{
    switch (moment) {
    case MOMENT_ANY:
        return true;
    case MOMENT_SPLIT:
        return pq_is_split(machine_owner(machine));
    case MOMENT_HEARD:
        return people_hear(machine);
    }
    return true;
}

static bool is_time(struct fault *fault)
{
    for (size_t i = 0; fault->is_anybodys && i < faults.n_machines; i++)
        if (machine_state(i) == MACHINE_SERVING && has_come(fault->moment, i)) {
            fault->machine = i;
            return true;
        }
    return has_come(fault->moment, fault->machine) ||
           sim_now_us() >= fault->from_us + fault->wait_ms * SIM_MS;
}

/* --- beginning and ending -------------------------------------------------------------------- */

static size_t next_to(size_t machine)
{
    return (machine + 1) % faults.n_machines;
}

static void part(size_t i, bool is_parted, bool is_both)
{
    bus_part(machine_owner(i), machine_owner(next_to(i)), is_parted);
    if (is_both)
        bus_part(machine_owner(next_to(i)), machine_owner(i), is_parted);
}

static void begin(struct planned *planned)
{
    size_t i = planned->fault.machine;
    switch (planned->fault.kind) {
    case FAULT_KILL:
    case FAULT_KILL_MACHINE:
        if (!machine_is_frozen(i))
            machine_kill(i, planned->fault.kind == FAULT_KILL_MACHINE);
        break;
    case FAULT_FREEZE:
        if (machine_state(i) != MACHINE_OFF)
            machine_freeze(i, true);
        break;
    case FAULT_FREEZE_FOR_EVER:
        planned->is_for_ever = n_alive() > 1 && machine_state(i) == MACHINE_SERVING;
        if (planned->is_for_ever)
            machine_freeze(i, true);
        break;
    case FAULT_BASE_RESTART:
        base_stop();
        break;
    case FAULT_BASE_SILENT:
        base_silence(0, true);
        break;
    case FAULT_BASE_SLOW:
        base_slow((int64_t)1 << sim_between(4, 12));
        break;
    case FAULT_BASE_CUT:
        base_cut(machine_owner(i));
        break;
    case FAULT_NODE_WITHOUT_BASE:
        base_silence(machine_owner(i), true);
        break;
    case FAULT_BUS_LOSES:
        bus_lose((unsigned)sim_between(3, 20));
        break;
    case FAULT_BUS_LOSES_ENDS:
        bus_lose_when(checks_has_ended, (unsigned)sim_between(1, 3));
        break;
    case FAULT_BUS_DOUBLES:
        bus_double((unsigned)sim_between(2, 10));
        break;
    case FAULT_BUS_AWAY:
        bus_away(true);
        break;
    case FAULT_BUS_PARTED:
        part(i, true, sim_one_in(2));
        break;
    case FAULT_COUNT:
        break;
    }
}

static bool is_frozen_for_ever(size_t machine)
{
    for (size_t i = 0; i < faults.n; i++)
        if (faults.all[i].is_for_ever && faults.all[i].fault.machine == machine)
            return true;
    return false;
}

static void end(void *ctx)
{
    struct planned *planned = ctx;
    const struct fault *fault = &planned->fault;
    size_t i = fault->machine;
    if (planned->state == OVER)
        return;
    planned->state = OVER;
    planned->to_us = sim_now_us();
    bool is_loss = fault->kind == FAULT_BUS_LOSES || fault->kind == FAULT_BUS_LOSES_ENDS;
    if (is_loss && faults.loses_on) {
        /* Fewer, so that some repetition of an ask gets through: all is served again by then. */
        if (fault->kind == FAULT_BUS_LOSES)
            bus_lose((unsigned)sim_between(10, 20));
        return;
    }
    sim_trace("--- end: %s (%d)", kinds[fault->kind].name, machine_owner(i));
    switch (fault->kind) {
    case FAULT_KILL:
    case FAULT_KILL_MACHINE:
        machine_start(i);
        break;
    case FAULT_FREEZE:
        if (!is_frozen_for_ever(i) && machine_is_frozen(i))
            machine_freeze(i, false);
        break;
    case FAULT_BASE_RESTART:
        base_go();
        break;
    case FAULT_BASE_SILENT:
        base_silence(0, false);
        break;
    case FAULT_BASE_SLOW:
        base_slow(1);
        break;
    case FAULT_NODE_WITHOUT_BASE:
        base_silence(machine_owner(i), false);
        break;
    case FAULT_BUS_LOSES:
        bus_lose(0);
        break;
    case FAULT_BUS_LOSES_ENDS:
        bus_lose_when(NULL, 0);
        break;
    case FAULT_BUS_DOUBLES:
        bus_double(0);
        break;
    case FAULT_BUS_AWAY:
        bus_away(false);
        break;
    case FAULT_BUS_PARTED:
        part(i, false, true);
        break;
    default:
        break;
    }
}

static void look(void *ctx)
{
    struct planned *planned = ctx;
    if (!is_time(&planned->fault)) {
        sim_at(sim_now_us() + LOOK_MS * SIM_MS, look, planned);
        return;
    }
    sim_trace("--- %s (%d)", kinds[planned->fault.kind].name,
              machine_owner(planned->fault.machine));
    planned->state = BEGUN;
    planned->to_us = sim_now_us() + planned->fault.length_ms * SIM_MS;
    sim_at(planned->to_us, end, planned);
    begin(planned);
}

void faults_taken(void)
{
    for (size_t i = 0; i < faults.n; i++)
        if (faults.all[i].state == BEGUN && faults.all[i].fault.ends_taken)
            end(&faults.all[i]);
}

/* --- a run ----------------------------------------------------------------------------------- */

void faults_begin(size_t n_machines)
{
    memset(&faults, 0, sizeof faults);
    faults.n_machines = n_machines;
}

void faults_plan(const struct fault *fault)
{
    if (faults.n == FAULTS_MAX)
        abort();
    struct planned *planned = &faults.all[faults.n++];
    *planned = (struct planned){.fault = *fault,
                                .to_us = fault->from_us +
                                         (fault->wait_ms + LOOK_MS + fault->length_ms) * SIM_MS};
    sim_at(fault->from_us, look, planned);
}

/* Effects that may outlast their fault. */
void faults_end(void)
{
    bus_lose(0);
    bus_lose_when(NULL, 0);
}
