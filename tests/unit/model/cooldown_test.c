/* Resting models of a chain: the edges of the states, and that only one of many calls is the
 * probe. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <cmocka.h>

#include "model/cooldown.h"

enum { REST_MS = 1000, BIT_LATER_MS = REST_MS / 2 };

static struct pl_cooldown make(void)
{
    return (struct pl_cooldown){.model = "a/b", .rest_ms = REST_MS};
}

static void make_busy(struct pl_cooldown *c, int64_t retry_ms, int64_t now_ms)
{
    assert_int_equal(pl_cooldown_enter(c, now_ms), PL_PASS_CALL);
    pl_cooldown_leave(c, PL_PASS_CALL, PL_NEWS_BUSY, retry_ms, now_ms);
    assert_int_equal(pl_cooldown_state(c), PL_COOLDOWN_OPEN);
}

static void one_that_answers_is_asked(void **state)
{
    (void)state;
    struct pl_cooldown c = make();
    static const enum pl_cooldown_news news[] = {PL_NEWS_FINE, PL_NEWS_NONE};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pl_cooldown_enter(&c, 0), PL_PASS_CALL);
        pl_cooldown_leave(&c, PL_PASS_CALL, news[i], -1, 0);
        assert_int_equal(pl_cooldown_state(&c), PL_COOLDOWN_CLOSED);
    }
}

static void one_that_is_busy_rests_until_a_probe(void **state)
{
    (void)state;
    struct pl_cooldown c = make();
    make_busy(&c, -1, 0);
    assert_int_equal(pl_cooldown_left_ms(&c, BIT_LATER_MS), REST_MS - BIT_LATER_MS);
    assert_int_equal(pl_cooldown_enter(&c, REST_MS - 1), PL_PASS_NONE);
    assert_int_equal(pl_cooldown_enter(&c, REST_MS), PL_PASS_PROBE);
    assert_int_equal(pl_cooldown_state(&c), PL_COOLDOWN_HALF_OPEN);
    assert_int_equal(pl_cooldown_enter(&c, 10 * REST_MS), PL_PASS_NONE);
}

static void the_probe_decides(void **state)
{
    (void)state;
    static const struct {
        enum pl_cooldown_news news;
        enum pl_cooldown_state then;
        int64_t left_ms;
    } cases[] = {
        {PL_NEWS_FINE, PL_COOLDOWN_CLOSED, 0},
        {PL_NEWS_BUSY, PL_COOLDOWN_OPEN, REST_MS},
        {PL_NEWS_NONE, PL_COOLDOWN_OPEN, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_cooldown c = make();
        make_busy(&c, -1, 0);
        assert_int_equal(pl_cooldown_enter(&c, REST_MS), PL_PASS_PROBE);
        pl_cooldown_leave(&c, PL_PASS_PROBE, cases[i].news, -1, REST_MS);
        assert_int_equal(pl_cooldown_state(&c), cases[i].then);
        assert_int_equal(pl_cooldown_left_ms(&c, REST_MS), cases[i].left_ms);
    }
}

static void calls_that_began_before_change_nothing(void **state)
{
    (void)state;
    struct pl_cooldown c = make();
    for (int i = 0; i < 3; i++)
        assert_int_equal(pl_cooldown_enter(&c, 0), PL_PASS_CALL);
    pl_cooldown_leave(&c, PL_PASS_CALL, PL_NEWS_BUSY, -1, 0);
    pl_cooldown_leave(&c, PL_PASS_CALL, PL_NEWS_BUSY, -1, BIT_LATER_MS);
    assert_int_equal(pl_cooldown_left_ms(&c, 0), REST_MS);
    assert_int_equal(pl_cooldown_enter(&c, REST_MS), PL_PASS_PROBE);
    pl_cooldown_leave(&c, PL_PASS_CALL, PL_NEWS_FINE, -1, REST_MS);
    assert_int_equal(pl_cooldown_state(&c), PL_COOLDOWN_HALF_OPEN);
}

static void the_vendor_says_how_long(void **state)
{
    (void)state;
    static const int64_t told[][2] = {
        {0, 0},
        {BIT_LATER_MS, BIT_LATER_MS},
        {7 * REST_MS, 7 * REST_MS},
        {PL_COOLDOWN_MAX_MS, PL_COOLDOWN_MAX_MS},
        {PL_COOLDOWN_MAX_MS + 1, PL_COOLDOWN_MAX_MS},
        {INT64_MAX, PL_COOLDOWN_MAX_MS},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct pl_cooldown c = make();
        make_busy(&c, told[i][0], 5);
        assert_int_equal(pl_cooldown_left_ms(&c, 5), told[i][1]);
    }
}

static void without_a_time_nothing_rests(void **state)
{
    (void)state;
    struct pl_cooldown c = {.model = "a/b"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pl_cooldown_enter(&c, 0), PL_PASS_CALL);
        pl_cooldown_leave(&c, PL_PASS_CALL, PL_NEWS_BUSY, 100, 0);
    }
    assert_int_equal(pl_cooldown_state(&c), PL_COOLDOWN_CLOSED);
    assert_int_equal(pl_cooldown_enter(NULL, 0), PL_PASS_CALL);
    pl_cooldown_leave(NULL, PL_PASS_CALL, PL_NEWS_BUSY, 100, 0);
}

/* --- many threads ---------------------------------------------------------------------------- */

struct race {
    struct pl_cooldown cooldown;
    pthread_barrier_t start;
    _Atomic(int) n_probes;
};

static void *enter_once(void *ctx)
{
    struct race *race = ctx;
    pthread_barrier_wait(&race->start);
    if (pl_cooldown_enter(&race->cooldown, REST_MS) == PL_PASS_PROBE)
        race->n_probes++;
    return NULL;
}

static void one_of_many_threads_is_the_probe(void **state)
{
    (void)state;
    enum { N_THREADS = 8, N_ROUNDS = 50 };
    for (int round = 0; round < N_ROUNDS; round++) {
        struct race race = {.cooldown = make()};
        pthread_t threads[N_THREADS];
        make_busy(&race.cooldown, -1, 0);
        pthread_barrier_init(&race.start, NULL, N_THREADS);
        for (int i = 0; i < N_THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, enter_once, &race), 0);
        for (int i = 0; i < N_THREADS; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&race.start);
        assert_int_equal(race.n_probes, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_answers_is_asked),
        cmocka_unit_test(one_that_is_busy_rests_until_a_probe),
        cmocka_unit_test(the_probe_decides),
        cmocka_unit_test(calls_that_began_before_change_nothing),
        cmocka_unit_test(the_vendor_says_how_long),
        cmocka_unit_test(without_a_time_nothing_rests),
        cmocka_unit_test(one_of_many_threads_is_the_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
