/* Thousands of random schedules: nodes that are killed and frozen, a database that is slow or away,
 * a bus that loses, duplicates and reorders. The decisions are the real ones; the world is
 * simulated in arrays and virtual time. Without a guard the test must fail, or the guard is
 * useless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/lease.h"
#include "cluster/node_link.h"

enum { N_SEEDS = 1000, N_NODES = 4, STEP_MS = 25, TAKE_OVER_MAX_MS = 6000 };

static uint32_t draw(uint64_t *random, uint32_t below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)(*random >> 33) % below;
}

/* --- leases ---------------------------------------------------------------------------------- */

enum at { AT_HOME, AT_THERE, AT_BACK }; /* a renewal: none; to the database; back */

struct sim_node {
    struct pl_lease lease;
    int64_t clock_ms; /* its clock minus the world's clock */
    bool is_dead;
    int64_t died_ms, frozen_until_ms;
    enum at renewal;
    int64_t arrives_ms;
    bool is_refused;         /* with AT_BACK: the row says gone */
    struct pl_lease_row row; /* in the database */
};

struct lease_world {
    uint64_t random;
    int64_t now_ms, away_until_ms;
    struct sim_node nodes[N_NODES];
    bool has_kills, has_freezes, has_outages;
    bool forgets_rule_4, forgets_self_fence; /* disabled guards */
    size_t n_taken, n_taken_alive, n_taken_holding;
    int64_t slowest_ms;
};

static bool is_away(const struct lease_world *w)
{
    return w->now_ms < w->away_until_ms;
}

static bool is_running(const struct lease_world *w, const struct sim_node *node)
{
    return !node->is_dead && w->now_ms >= node->frozen_until_ms;
}

static int64_t own_ms(const struct lease_world *w, const struct sim_node *node)
{
    return w->now_ms + node->clock_ms;
}

/* Without the guard, a node that heard nothing still believes it holds its lease. */
static bool holds(struct lease_world *w, struct sim_node *node)
{
    if (w->forgets_self_fence)
        return node->lease.state == PL_LEASE_HELD;
    return pl_lease_holds(&node->lease, own_ms(w, node));
}

static void write_row(struct lease_world *w, struct sim_node *node)
{
    node->is_refused = node->row.state == PL_NODE_STATE_GONE;
    if (!node->is_refused) {
        node->row.renewed_ms = w->now_ms;
        node->row.until_ms = w->now_ms + PL_LEASE_TTL_MS;
    }
    node->renewal = AT_BACK;
    node->arrives_ms = w->now_ms + draw(&w->random, 60);
}

static void move_renewal(struct lease_world *w, struct sim_node *node)
{
    if (node->renewal == AT_THERE && w->now_ms >= node->arrives_ms && !is_away(w))
        write_row(w, node);
    if (!is_running(w, node))
        return;
    if (node->renewal == AT_BACK && w->now_ms >= node->arrives_ms) {
        node->renewal = AT_HOME;
        if (node->is_refused)
            pl_lease_fence(&node->lease);
        else
            pl_lease_renewed(&node->lease, own_ms(w, node));
    }
    if (node->renewal == AT_HOME && pl_lease_is_time(&node->lease, own_ms(w, node))) {
        pl_lease_ask(&node->lease, own_ms(w, node));
        node->renewal = AT_THERE;
        node->arrives_ms = w->now_ms + draw(&w->random, 60);
    }
}

static void count_take_over(struct lease_world *w, struct sim_node *node)
{
    w->n_taken++;
    w->n_taken_alive += is_running(w, node);
    w->n_taken_holding += is_running(w, node) && holds(w, node);
    if (node->is_dead && w->now_ms - node->died_ms > w->slowest_ms)
        w->slowest_ms = w->now_ms - node->died_ms;
}

static void take_over(struct lease_world *w, const struct sim_node *by)
{
    bool may = w->forgets_rule_4 ? by->lease.state == PL_LEASE_HELD
                                 : pl_lease_may_take_over(&by->lease, own_ms(w, by));
    for (size_t i = 0; may && !is_away(w) && i < N_NODES; i++) {
        struct sim_node *node = &w->nodes[i];
        if (node == by || !pl_lease_is_due(&node->row, w->now_ms, false))
            continue;
        count_take_over(w, node);
        node->row.state = PL_NODE_STATE_GONE;
    }
}

static void make_trouble(struct lease_world *w)
{
    struct sim_node *node = &w->nodes[1 + draw(&w->random, N_NODES - 1)]; /* one survives */
    if (w->has_kills && !node->is_dead && draw(&w->random, 400) == 0) {
        node->is_dead = true;
        node->died_ms = w->now_ms;
    }
    if (w->has_freezes && is_running(w, node) && draw(&w->random, 300) == 0)
        node->frozen_until_ms = w->now_ms + draw(&w->random, 12000);
    if (w->has_outages && !is_away(w) && draw(&w->random, 400) == 0)
        w->away_until_ms = w->now_ms + draw(&w->random, 20000);
}

static void run_leases(struct lease_world *w, int64_t duration_ms)
{
    for (size_t i = 0; i < N_NODES; i++) {
        w->nodes[i] = (struct sim_node){.clock_ms = draw(&w->random, 1000000)};
        pl_lease_init(&w->nodes[i].lease);
        w->nodes[i].row.until_ms = w->now_ms + PL_LEASE_TTL_MS;
        w->nodes[i].row.renewed_ms = w->now_ms;
    }
    for (int64_t end_ms = w->now_ms + duration_ms; w->now_ms < end_ms; w->now_ms += STEP_MS) {
        make_trouble(w);
        for (size_t i = 0; i < N_NODES; i++) {
            move_renewal(w, &w->nodes[i]);
            if (is_running(w, &w->nodes[i]))
                take_over(w, &w->nodes[i]);
        }
    }
}

/* Sums over all seeds. */
static struct lease_world run_many(struct lease_world like)
{
    struct lease_world sum = {0};
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        struct lease_world w = like;
        w.random = seed * 0x9E3779B97F4A7C15;
        w.now_ms = 1000000;
        run_leases(&w, 60000);
        sum.n_taken += w.n_taken;
        sum.n_taken_alive += w.n_taken_alive;
        sum.n_taken_holding += w.n_taken_holding;
        if (w.slowest_ms > sum.slowest_ms)
            sum.slowest_ms = w.slowest_ms;
    }
    return sum;
}

static void nothing_moves_while_all_is_well(void **state)
{
    (void)state;
    struct lease_world sum = run_many((struct lease_world){0});
    assert_int_equal(sum.n_taken, 0);
}

static void an_outage_of_the_database_moves_nothing(void **state)
{
    (void)state;
    struct lease_world sum = run_many((struct lease_world){.has_outages = true});
    assert_int_equal(sum.n_taken, 0);
}

static void without_rule_four_an_outage_moves_nodes(void **state)
{
    (void)state;
    struct lease_world sum =
        run_many((struct lease_world){.has_outages = true, .forgets_rule_4 = true});
    assert_true(sum.n_taken_alive > 0);
}

static void a_killed_node_is_taken_over_within_six_seconds(void **state)
{
    (void)state;
    struct lease_world sum = run_many((struct lease_world){.has_kills = true});
    assert_true(sum.n_taken > N_SEEDS);
    assert_int_equal(sum.n_taken_alive, 0);
    assert_in_range(sum.slowest_ms, PL_LEASE_TTL_MS - PL_LEASE_EVERY_MS, TAKE_OVER_MAX_MS);
}

static const struct lease_world all_faults = {
    .has_kills = true, .has_freezes = true, .has_outages = true};

static void who_is_taken_over_has_stopped_by_itself(void **state)
{
    (void)state;
    struct lease_world sum = run_many(all_faults);
    assert_true(sum.n_taken > 0);
    assert_int_equal(sum.n_taken_holding, 0);
}

static void without_the_self_fence_one_is_taken_over_that_goes_on(void **state)
{
    (void)state;
    struct lease_world without = all_faults;
    without.forgets_self_fence = true;
    assert_true(run_many(without).n_taken_holding > 0);
}

/* --- links ----------------------------------------------------------------------------------- */

enum { N_FLYING = 16, N_LETTERS = 400 };

struct flying {
    bool is_there;
    uint64_t number, sequence;
};

/* One session's frames from one node to another. */
struct link_world {
    uint64_t random;
    struct pl_node_link_out out;
    struct pl_node_link_in in;
    uint64_t sent, have; /* sequences of the frames */
    struct flying flying[N_FLYING];
    bool forgets_gaps; /* disabled guard */
    size_t n_missed;
};

/* The receiver asks with `since` and gets the rest in order. Later letters with the same frames are
 * known. */
static void resync(struct link_world *w)
{
    if (!w->forgets_gaps)
        w->have = w->sent;
}

static void receive(struct link_world *w, struct flying letter)
{
    enum pl_node_link_verdict verdict =
        pl_node_link_got(&w->in, PL_NODE_LETTER_FRAMES, letter.number);
    if (verdict == PL_NODE_LINK_RESYNC)
        resync(w);
    if (verdict == PL_NODE_LINK_DROP || letter.sequence <= w->have)
        return;
    w->n_missed += letter.sequence != w->have + 1;
    w->have = letter.sequence;
}

static void fly(struct link_world *w)
{
    struct flying *slot = &w->flying[draw(&w->random, N_FLYING)];
    uint32_t luck = draw(&w->random, 20);
    if (!slot->is_there)
        return;
    if (luck > 0) /* otherwise it is lost */
        receive(w, *slot);
    slot->is_there = luck == 1; /* it will come again */
}

static void send_one(struct link_world *w)
{
    struct flying letter = {.is_there = true};
    bool has_room = pl_node_link_send(&w->out, PL_NODE_LETTER_FRAMES,
                                      draw(&w->random, PL_NODE_LETTER_MAX), &letter.number);
    letter.sequence = ++w->sent;
    struct flying *slot = &w->flying[draw(&w->random, N_FLYING)];
    if (has_room)
        *slot = letter;          /* the letter in this slot is lost */
    if (draw(&w->random, 5) < 2) /* more arrives than is sent */
        pl_node_link_sent(&w->out, PL_NODE_LETTER_MAX);
}

static void beat(struct link_world *w)
{
    if (pl_node_link_beat(&w->in, w->out.last) == PL_NODE_LINK_RESYNC)
        resync(w);
}

static struct link_world run_link(uint64_t seed, bool forgets_gaps)
{
    struct link_world w = {.random = seed * 0x9E3779B97F4A7C15, .forgets_gaps = forgets_gaps};
    for (int i = 0; i < N_LETTERS; i++) {
        send_one(&w);
        for (uint32_t n = draw(&w.random, 8); n > 0; n--)
            fly(&w);
        if (draw(&w.random, 50) == 0)
            beat(&w);
    }
    beat(&w);
    return w;
}

static void a_receiver_misses_nothing_and_has_all_after_a_beat(void **state)
{
    (void)state;
    uint64_t n_gaps = 0, n_dropped = 0;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        struct link_world w = run_link(seed, false);
        assert_int_equal(w.n_missed, 0);
        assert_true(w.have == w.sent);
        n_gaps += w.in.n_gaps;
        n_dropped += w.out.n_dropped;
    }
    assert_true(n_gaps > N_SEEDS && n_dropped > 0);
}

static void without_the_gaps_a_receiver_misses_frames(void **state)
{
    (void)state;
    size_t n_missed = 0;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
        n_missed += run_link(seed, true).n_missed;
    assert_true(n_missed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_moves_while_all_is_well),
        cmocka_unit_test(an_outage_of_the_database_moves_nothing),
        cmocka_unit_test(without_rule_four_an_outage_moves_nodes),
        cmocka_unit_test(a_killed_node_is_taken_over_within_six_seconds),
        cmocka_unit_test(who_is_taken_over_has_stopped_by_itself),
        cmocka_unit_test(without_the_self_fence_one_is_taken_over_that_goes_on),
        cmocka_unit_test(a_receiver_misses_nothing_and_has_all_after_a_beat),
        cmocka_unit_test(without_the_gaps_a_receiver_misses_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
