/* Faults by seed, and what must hold whatever they are: see story.h.
 *
 *     0 s   nodes start, people talk and read
 *     3 s   faults begin; each has its own end
 *     …     the last fault has ended: everything is served again within 8 s, then all comes to rest
 */
#include "story.h"

#include "base.h"
#include "base/mem.h"
#include "bus.h"
#include "checks.h"
#include "descriptors.h"
#include "kernel.h"
#include "machine.h"
#include "people.h"
#include "pq.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FAULTS_MAX = 6, SERVED_MS = 8000, REST_MS = 60000, WAITS_MAX = 200 };

enum fault_kind {
    FAULT_KILL,
    FAULT_KILL_MACHINE,
    FAULT_FREEZE,
    FAULT_FREEZE_FOR_EVER,
    FAULT_BASE_RESTART,
    FAULT_BASE_SILENT,
    FAULT_BASE_SLOW,
    FAULT_BASE_CUT,
    FAULT_NODE_WITHOUT_BASE,
    FAULT_BUS_LOSES,
    FAULT_BUS_DOUBLES,
    FAULT_BUS_AWAY,
    FAULT_BUS_PARTED,
    FAULT_COUNT,
};

static const struct {
    const char *name;
    int64_t least_ms, most_ms; /* how long */
    bool moves;                /* sessions may change hands by it */
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
    [FAULT_BUS_DOUBLES] = {"the bus doubles", 500, 8000, false},
    [FAULT_BUS_AWAY] = {"the bus is away", 100, 8000, false},
    [FAULT_BUS_PARTED] = {"the bus is parted", 100, 8000, false},
};

struct fault {
    enum fault_kind kind;
    int64_t from_us, to_us;
    size_t machine, other;
    bool is_for_ever;
    int n_waits; /* for the right moment */
};

static struct {
    size_t n_machines;
    struct fault faults[FAULTS_MAX];
    size_t n_faults;
    int64_t over_us; /* the last fault has ended */
    bool moves;      /* some fault may move sessions */
    bool loses_to_the_end;
} story;

/* --- faults ---------------------------------------------------------------------------------- */

static size_t n_alive(void)
{
    size_t n = 0;
    for (size_t i = 0; i < story.n_machines; i++)
        n += machine_state(i) == MACHINE_SERVING && !machine_is_frozen(i);
    return n;
}

static void begin_fault(void *ctx)
{
    struct fault *fault = ctx;
    size_t i = fault->machine;
    bool wants_split = fault->kind == FAULT_FREEZE || fault->kind == FAULT_FREEZE_FOR_EVER ||
                       fault->kind == FAULT_KILL_MACHINE;
    /* Best in the middle of a transaction. */
    if (wants_split && !pq_is_split(machine_owner(i)) && fault->n_waits++ < WAITS_MAX) {
        sim_at(sim_now_us() + 3 * SIM_MS, begin_fault, fault);
        return;
    }
    fault->n_waits = INT_MAX;
    sim_trace("--- %s (%d)", kinds[fault->kind].name, machine_owner(i));
    switch (fault->kind) {
    case FAULT_KILL:
    case FAULT_KILL_MACHINE:
        if (!machine_is_frozen(i))
            machine_kill(i, fault->kind == FAULT_KILL_MACHINE);
        break;
    case FAULT_FREEZE:
        if (machine_state(i) != MACHINE_OFF)
            machine_freeze(i, true);
        break;
    case FAULT_FREEZE_FOR_EVER:
        fault->is_for_ever = n_alive() > 1 && machine_state(i) == MACHINE_SERVING;
        if (fault->is_for_ever)
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
    case FAULT_BUS_DOUBLES:
        bus_double((unsigned)sim_between(2, 10));
        break;
    case FAULT_BUS_AWAY:
        bus_away(true);
        break;
    case FAULT_BUS_PARTED:
        bus_part(machine_owner(i), machine_owner(fault->other), true);
        if (sim_one_in(2))
            bus_part(machine_owner(fault->other), machine_owner(i), true);
        break;
    case FAULT_COUNT:
        break;
    }
}

static bool is_frozen_for_ever(size_t i)
{
    for (size_t k = 0; k < story.n_faults; k++)
        if (story.faults[k].is_for_ever && story.faults[k].machine == i)
            return true;
    return false;
}

static void end_fault(void *ctx)
{
    struct fault *fault = ctx;
    size_t i = fault->machine;
    if (fault->kind == FAULT_BUS_LOSES && story.loses_to_the_end)
        return;
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
    case FAULT_BUS_DOUBLES:
        bus_double(0);
        break;
    case FAULT_BUS_AWAY:
        bus_away(false);
        break;
    case FAULT_BUS_PARTED:
        bus_part(machine_owner(i), machine_owner(fault->other), false);
        bus_part(machine_owner(fault->other), machine_owner(i), false);
        break;
    default:
        break;
    }
}

/* A third of the runs have faults of the database alone: nothing may move then. */
static enum fault_kind draw_kind(unsigned flavour)
{
    static const enum fault_kind of_base[] = {FAULT_BASE_RESTART, FAULT_BASE_SILENT, FAULT_BASE_CUT,
                                              FAULT_BUS_LOSES, FAULT_BUS_AWAY};
    if (flavour == 0)
        return of_base[sim_below(sizeof of_base / sizeof *of_base)];
    return (enum fault_kind)sim_below(FAULT_COUNT);
}

static bool is_drawn(enum fault_kind kind)
{
    for (size_t i = 0; i < story.n_faults; i++)
        if (story.faults[i].kind == kind)
            return true;
    return false;
}

/* Each kind once at most: the end of one is not the end of another. */
static void make_faults(void)
{
    unsigned flavour = (unsigned)sim_below(3);
    size_t n = 1 + sim_below(flavour == 0 ? 3 : FAULTS_MAX);
    int64_t at_us = sim_now_us() + 3 * SIM_S;
    story.over_us = at_us;
    for (size_t i = 0; i < n; i++) {
        enum fault_kind kind = draw_kind(flavour);
        if (is_drawn(kind))
            continue;
        struct fault *fault = &story.faults[story.n_faults++];
        fault->kind = kind;
        fault->machine = sim_below(story.n_machines);
        fault->other = (fault->machine + 1) % story.n_machines;
        fault->from_us = at_us + sim_between(0, 6000) * SIM_MS;
        /* A fault that waits for its moment begins up to 0.6 s later. */
        fault->to_us =
            fault->from_us + WAITS_MAX * 3 * SIM_MS +
            sim_between(kinds[fault->kind].least_ms, kinds[fault->kind].most_ms) * SIM_MS;
        story.moves |= kinds[fault->kind].moves;
        if (fault->to_us > story.over_us)
            story.over_us = fault->to_us;
        sim_at(fault->from_us, begin_fault, fault);
        sim_at(fault->to_us, end_fault, fault);
    }
}

/* --- the run --------------------------------------------------------------------------------- */

static bool is_at_rest(void)
{
    return people_are_done() && checks_are_at_rest();
}

static void run_to_rest(void)
{
    sim_run_until(story.over_us);
    for (size_t i = 0; i < story.n_machines; i++)
        machine_start(i); /* those that were killed while frozen, or twice */
    people_hush();
    sim_trace("--- the faults are over");
    /* A start takes its time; probes ask whoever serves. */
    people_probe();
    int64_t served_us = story.over_us + (int64_t)SERVED_MS * SIM_MS;
    while (!sim_failure() && sim_now_us() < served_us && !people_are_done())
        sim_run_until(sim_now_us() + 250 * SIM_MS < served_us ? sim_now_us() + 250 * SIM_MS
                                                              : served_us);
    if (!sim_failure() && !people_are_done()) {
        people_say_missing();
        sim_fail("something is not served %d ms after the last fault", SERVED_MS);
    }
    int64_t until_us = sim_now_us() + (int64_t)REST_MS * SIM_MS;
    while (!sim_failure() && sim_now_us() < until_us && !is_at_rest())
        sim_run_until(sim_now_us() + 250 * SIM_MS);
    if (!sim_failure() && !is_at_rest())
        sim_fail("the sessions do not come to rest: %s", checks_why_not_at_rest());
    bus_lose(0);
    /* What readers get after the last change; a loss is found by the next beat. */
    sim_run_until(sim_now_us() + 3 * SIM_S);
}

bool story_run(uint64_t seed, enum guard without, bool is_traced)
{
    static const unsigned of_base[GUARD_COUNT + 1] = {
        [GUARD_MARK] = BASE_GUARD_MARK,
        [GUARD_LOCK] = BASE_GUARD_LOCK,
        [GUARD_TERMINATE] = BASE_GUARD_TERMINATE,
        [GUARD_GENERATION] = BASE_GUARD_GENERATION,
    };
    memset(&story, 0, sizeof story);
    sim_begin(seed, is_traced);
    sim_fd_forget_all();
    guards_begin(without);
    base_begin(sim_between(-3600, 3600) * SIM_S + sim_between(0, 999999), of_base[without]);
    bus_begin();
    pq_begin(sim_one_in(2) ? (unsigned)sim_between(2, 12) : 0);
    story.n_machines = sim_one_in(4) ? 2 : 3;
    machines_begin(story.n_machines, 1 + sim_below(2));
    for (size_t i = 0; i < story.n_machines; i++)
        sim_set_clock(machine_owner(i), sim_between(0, 7200) * SIM_S + sim_between(0, 999999));
    checks_begin();
    people_begin(1 + sim_below(3), 2 + sim_below(5), 1 + sim_below(3));
    for (size_t i = 0; i < story.n_machines; i++)
        machine_start(i);
    story.loses_to_the_end = sim_one_in(2);
    make_faults();
    run_to_rest();
    if (!sim_failure())
        checks_at_the_end(!story.moves);
    bool is_good = !sim_failure();
    base_end();
    return is_good;
}
