#include "unit/io/turning.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>

enum { N_JOBS = 200, N_THREADS = 3 };

struct work {
    struct pl_job job; /* first: its address is ours */
    pthread_t done_by, run_by;
    bool is_run, is_done;
};

static struct pl_loop *loop;
static struct pl_workers *workers;
static struct work works[N_JOBS];
static atomic_int n_run;
static int n_done;

static int set_up(void **state)
{
    (void)state;
    loop = make_loop();
    memset(works, 0, sizeof works);
    n_run = 0;
    n_done = 0;
    struct pl_error err;
    return pl_workers_create(N_THREADS, &workers, &err) == PL_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    pl_workers_destroy(workers);
    pl_loop_destroy(loop);
    return 0;
}

static void run(struct pl_job *job)
{
    struct work *work = (struct work *)job;
    struct timespec wait = {.tv_nsec = 200000};
    nanosleep(&wait, NULL);
    work->is_run = true;
    work->run_by = pthread_self();
    atomic_fetch_add(&n_run, 1);
}

/* Passes when as many jobs as the pool has threads are here. */
static pthread_barrier_t together;

static void meet(struct pl_job *job)
{
    pthread_barrier_wait(&together);
    run(job);
}

static void done(struct pl_job *job)
{
    struct work *work = (struct work *)job;
    assert_true(work->is_run);
    assert_false(work->is_done);
    work->is_done = true;
    work->done_by = pthread_self();
    n_done++;
}

static void submit(size_t i)
{
    works[i].job.run = run;
    works[i].job.wait_ms = TURNING_SAFETY_MS;
    works[i].job.done = done;
    pl_workers_submit(workers, loop, &works[i].job);
}

static size_t count_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    size_t n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static bool is_all_done(void *n)
{
    return n_done == *(int *)n;
}

static void jobs_run_elsewhere_and_are_done_at_home(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_JOBS; i++)
        submit(i);
    turn_until(loop, is_all_done, &(int){N_JOBS});
    for (size_t i = 0; i < N_JOBS; i++) {
        assert_true(pthread_equal(works[i].done_by, pthread_self()));
        assert_false(pthread_equal(works[i].run_by, pthread_self()));
    }
}

static void as_many_jobs_run_at_once_as_there_are_threads(void **state)
{
    (void)state;
    pthread_barrier_init(&together, NULL, N_THREADS);
    for (size_t i = 0; i < N_THREADS; i++) {
        works[i].job.run = meet;
        works[i].job.wait_ms = TURNING_SAFETY_MS;
        works[i].job.done = done;
        pl_workers_submit(workers, loop, &works[i].job);
    }
    turn_until(loop, is_all_done, &(int){N_THREADS});
    pthread_barrier_destroy(&together);
}

/* The first test: joined threads may be visible for a moment longer. */
static void threads_are_started_when_there_is_work(void **state)
{
    (void)state;
    size_t n_before = count_threads(), n_first = 0;
    for (size_t i = 0; i < 5; i++) { /* one after the other: one thread suffices */
        submit(i);
        turn_until(loop, is_all_done, &(int){(int)i + 1});
        if (!i)
            n_first = count_threads(); /* a sanitizer may start its own thread with the first */
    }
    assert_true(n_first > n_before);
    assert_int_equal(count_threads(), n_first);
}

static void destroying_the_pool_finishes_its_jobs_and_the_loop_brings_them_home(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_JOBS; i++)
        submit(i);
    pl_workers_destroy(workers);
    workers = NULL;
    assert_int_equal(atomic_load(&n_run), N_JOBS);
    assert_int_equal(n_done, 0);
    pl_loop_destroy(loop);
    loop = NULL;
    assert_int_equal(n_done, N_JOBS);
}

static void resubmit(struct pl_job *job)
{
    if (++n_done < 50)
        pl_workers_submit(workers, loop, job);
}

static void a_job_may_be_submitted_again_when_it_is_done(void **state)
{
    (void)state;
    works[0].job.run = run;
    works[0].job.wait_ms = TURNING_SAFETY_MS;
    works[0].job.done = resubmit;
    pl_workers_submit(workers, loop, &works[0].job);
    turn_until(loop, is_all_done, &(int){50});
    assert_int_equal(atomic_load(&n_run), 50);
}

static void what_is_finished_has_run_and_is_on_its_way_home(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_JOBS; i++)
        submit(i);
    pl_workers_finish(workers);
    assert_int_equal(atomic_load(&n_run), N_JOBS);
    assert_int_equal(n_done, 0);
    assert_true(pl_loop_settle(loop));
    assert_int_equal(n_done, N_JOBS);
    assert_false(pl_loop_settle(loop));
}

/* As at the end of a server: finished work adds more work, until no more comes. */
static void a_finished_pool_takes_more_work(void **state)
{
    (void)state;
    works[0].job.run = run;
    works[0].job.wait_ms = TURNING_SAFETY_MS;
    works[0].job.done = resubmit;
    pl_workers_submit(workers, loop, &works[0].job);
    int n_rounds = 0;
    do {
        pl_workers_finish(workers);
        n_rounds++;
    } while (pl_loop_settle(loop));
    assert_int_equal(atomic_load(&n_run), 50);
    assert_int_equal(n_rounds, 51);
}

static void a_pool_without_threads_is_refused(void **state)
{
    (void)state;
    struct pl_error err = {0};
    struct pl_workers *none = NULL;
    assert_int_equal(pl_workers_create(0, &none, &err), PL_USAGE);
    assert_int_equal(pl_workers_create(SIZE_MAX / 2, &none, &err), PL_USAGE);
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_are_started_when_there_is_work, set_up, tear_down),
        cmocka_unit_test_setup_teardown(jobs_run_elsewhere_and_are_done_at_home, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_many_jobs_run_at_once_as_there_are_threads, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_finished_has_run_and_is_on_its_way_home, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_finished_pool_takes_more_work, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            destroying_the_pool_finishes_its_jobs_and_the_loop_brings_them_home, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_may_be_submitted_again_when_it_is_done, set_up,
                                        tear_down),
        cmocka_unit_test(a_pool_without_threads_is_refused),
    };
    return cmocka_run_group_tests_name("io/workers", tests, NULL, NULL);
}
