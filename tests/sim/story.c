/* Faults by seed, and the invariants during all of them: see story.h.
 *
 *     0 s   nodes start, people talk and read
 *     3 s   faults begin; each has its own end
 *     …     the last fault has ended: all requests are served again within 8 s, then everything
 *     becomes idle
 *  */
#include "story.h"

#include "base.h"
#include "bus.h"
#include "checks.h"
#include "descriptors.h"
#include "faults.h"
#include "kernel.h"
#include "machine.h"
#include "people.h"
#include "pq.h"

enum {
    DRAWN_MAX = 6,
    SERVED_MS = 8000,
    REST_MS = 60000,
    DRAWN_WAIT_MS = 600,  /* for the moment of a randomly drawn fault … */
    SCENE_WAIT_MS = 5000, /* … and of the fault that a scene is about */
};

/* --- faults ---------------------------------------------------------------------------------- */

static const struct {
    enum fault_kind kind;
    enum fault_moment moment;
    int64_t least_ms, most_ms; /* a lease lasts 4 s, and is checked every second */
    bool ends_taken;           /* see faults.h */
    bool is_split;             /* pipelines are often sent in two parts */
    bool loses_on;
    size_t n_long; /* see people_begin */
} scenes[SCENE_COUNT] = {
    [SCENE_LATE_WAKE] = {FAULT_FREEZE, MOMENT_HEARD, 6000, 9000, .ends_taken = true},
    [SCENE_SUCCESSION] = {FAULT_KILL, MOMENT_HEARD, 5000, 6000},
    [SCENE_LATE_WRITE] = {FAULT_NODE_WITHOUT_BASE, MOMENT_SPLIT, 6000, 9000, .is_split = true},
    [SCENE_STUCK_WRITER] = {FAULT_FREEZE_FOR_EVER, MOMENT_SPLIT, 100, 100, .is_split = true},
    [SCENE_OUTAGE] = {FAULT_BASE_RESTART, MOMENT_ANY, 4500, 9000},
    [SCENE_LONE_SPEAKER] = {FAULT_NODE_WITHOUT_BASE, MOMENT_HEARD, 6000, 9000, .n_long = 2},
    [SCENE_LAST_LETTER] = {FAULT_BUS_LOSES_ENDS, MOMENT_ANY, 500, 3000, .loses_on = true},
};

/* A third of the runs have only faults of the database: then no session may move. */
static enum fault_kind draw_kind(unsigned flavour)
{
    static const enum fault_kind of_base[] = {FAULT_BASE_RESTART, FAULT_BASE_SILENT, FAULT_BASE_CUT,
                                              FAULT_BUS_LOSES, FAULT_BUS_AWAY};
    if (flavour == 0)
        return of_base[sim_below(sizeof of_base / sizeof *of_base)];
    return (enum fault_kind)sim_below(FAULT_COUNT);
}

static void draw_faults(size_t n_machines, int64_t at_us)
{
    unsigned flavour = (unsigned)sim_below(3);
    size_t n = 1 + sim_below(flavour == 0 ? 3 : DRAWN_MAX);
    for (size_t i = 0; i < n; i++) {
        enum fault_kind kind = draw_kind(flavour);
        if (faults_have(kind))
            continue;
        bool wants_split =
            kind == FAULT_FREEZE || kind == FAULT_FREEZE_FOR_EVER || kind == FAULT_KILL_MACHINE;
        struct fault fault = {.kind = kind,
                              .moment = wants_split ? MOMENT_SPLIT : MOMENT_ANY,
                              .from_us = at_us + sim_between(0, 6000) * SIM_MS,
                              .wait_ms = DRAWN_WAIT_MS,
                              .length_ms = faults_draw_ms(kind),
                              .machine = sim_below(n_machines)};
        faults_plan(&fault);
    }
}

static void make_faults(enum scene scene, size_t n_machines)
{
    int64_t at_us = sim_now_us() + 3 * SIM_S;
    if (scene == SCENE_ANY ? sim_one_in(2) : scenes[scene].loses_on)
        faults_lose_on();
    if (scene == SCENE_ANY) {
        draw_faults(n_machines, at_us);
        return;
    }
    struct fault fault = {.kind = scenes[scene].kind,
                          .moment = scenes[scene].moment,
                          .from_us = at_us + sim_between(0, 2000) * SIM_MS,
                          .wait_ms = SCENE_WAIT_MS,
                          .length_ms = sim_between(scenes[scene].least_ms, scenes[scene].most_ms),
                          .machine = sim_below(n_machines),
                          .is_anybodys = scenes[scene].moment != MOMENT_ANY,
                          .ends_taken = scenes[scene].ends_taken};
    faults_plan(&fault);
}

/* --- the run --------------------------------------------------------------------------------- */

static bool is_at_rest(void)
{
    return people_are_done() && checks_are_at_rest();
}

static void run_for_ms(int64_t ms, int64_t most_us)
{
    int64_t to_us = sim_now_us() + ms * SIM_MS;
    sim_run_until(to_us < most_us ? to_us : most_us);
}

/* A start takes a while; probes find a node that serves. */
static void probe(void)
{
    people_probe();
    int64_t served_us = sim_now_us() + (int64_t)SERVED_MS * SIM_MS;
    while (!sim_failure() && sim_now_us() < served_us && !people_are_done())
        run_for_ms(250, served_us);
    if (!sim_failure() && !people_are_done()) {
        people_say_missing();
        sim_fail("something is not served %d ms after the last fault", SERVED_MS);
    }
}

static void come_to_rest(void)
{
    int64_t until_us = sim_now_us() + (int64_t)REST_MS * SIM_MS;
    while (!sim_failure() && sim_now_us() < until_us && !is_at_rest())
        run_for_ms(250, INT64_MAX);
    if (!sim_failure() && !is_at_rest())
        sim_fail("the sessions do not come to rest: %s", checks_why_not_at_rest());
}

static void run_to_rest(size_t n_machines)
{
    while (!sim_failure() && sim_now_us() < faults_over_us())
        run_for_ms(100, faults_over_us());
    for (size_t i = 0; i < n_machines; i++)
        machine_start(i); /* nodes that were killed while frozen, or twice */
    people_hush();
    sim_trace("--- the faults are over");
    /* A session that is stuck until its next message shows only if no message is sent. */
    if (sim_one_in(4))
        come_to_rest();
    probe();
    come_to_rest();
    faults_end();
    /* Time for readers to get the last change; the next beat reveals a loss. */
    run_for_ms(3000, INT64_MAX);
}

static enum scene draw_scene(void)
{
    return sim_one_in(4) ? (enum scene)(1 + sim_below(SCENE_COUNT - 1)) : SCENE_ANY;
}

static unsigned draw_split(enum scene scene)
{
    if (scenes[scene].is_split)
        return (unsigned)sim_between(1, 3);
    return sim_one_in(2) ? (unsigned)sim_between(2, 12) : 0;
}

bool story_run(uint64_t seed, enum scene scene, enum guard without, enum sim_tracing tracing)
{
    static const unsigned of_base[GUARD_COUNT + 1] = {
        [GUARD_MARK] = BASE_GUARD_MARK,
        [GUARD_LOCK] = BASE_GUARD_LOCK,
        [GUARD_TERMINATE] = BASE_GUARD_TERMINATE,
        [GUARD_GENERATION] = BASE_GUARD_GENERATION,
    };
    sim_begin(seed, tracing);
    sim_fd_forget_all();
    if (scene == SCENE_COUNT)
        scene = draw_scene();
    guards_begin(without);
    base_begin(sim_between(-3600, 3600) * SIM_S + sim_between(0, 999999), of_base[without]);
    bus_begin();
    pq_begin(draw_split(scene));
    size_t n_machines = sim_one_in(4) ? 2 : 3;
    machines_begin(n_machines, 1 + sim_below(2));
    for (size_t i = 0; i < n_machines; i++)
        sim_set_clock(machine_owner(i), sim_between(0, 7200) * SIM_S + sim_between(0, 999999));
    checks_begin(faults_taken);
    people_begin(1 + sim_below(3), 2 + sim_below(5), 1 + sim_below(3), scenes[scene].n_long);
    for (size_t i = 0; i < n_machines; i++)
        machine_start(i);
    faults_begin(n_machines);
    make_faults(scene, n_machines);
    run_to_rest(n_machines);
    if (!sim_failure())
        checks_at_the_end(!faults_move());
    bool is_good = !sim_failure();
    base_end();
    return is_good;
}
