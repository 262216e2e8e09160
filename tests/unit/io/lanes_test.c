/* Which job runs next: gates block the threads of a lane while jobs are queued. */
#include "unit/io/turning.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORKS = 50 };

struct work {
    struct pl_job job; /* first: its address is ours */
    const char *name;
    bool is_done, was_refused;
};

static struct pl_loop *loop;
static struct pl_workers *workers;
static struct work works[MAX_WORKS];
static size_t n_works;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char order[400]; /* names in the order they ran; under the lock */
static sem_t gate, at_gate, abandoned;

static void start_with(size_t n_threads)
{
    struct pl_error err;
    loop = make_loop();
    memset(works, 0, sizeof works);
    n_works = 0;
    order[0] = '\0';
    sem_init(&gate, 0, 0);
    sem_init(&at_gate, 0, 0);
    sem_init(&abandoned, 0, 0);
    assert_int_equal(pl_workers_create(n_threads, &workers, &err), PL_OK);
}

static int tear_down(void **state)
{
    (void)state;
    pl_workers_destroy(workers);
    pl_loop_destroy(loop);
    sem_destroy(&gate);
    sem_destroy(&at_gate);
    sem_destroy(&abandoned);
    return 0;
}

static void note(struct pl_job *job)
{
    pthread_mutex_lock(&lock);
    strcat(order, ((struct work *)job)->name);
    strcat(order, " ");
    pthread_mutex_unlock(&lock);
}

static void wait_at_gate(struct pl_job *job)
{
    (void)job;
    sem_post(&at_gate);
    while (sem_wait(&gate) != 0)
        ;
}

static void done(struct pl_job *job)
{
    struct work *work = (struct work *)job;
    assert_false(work->is_done);
    work->is_done = true;
    work->was_refused = job->is_refused;
}

static void abandon(struct pl_job *job)
{
    (void)job;
    sem_post(&abandoned);
}

static struct work *submit(const char *name, struct pl_job job)
{
    assert_in_range(n_works, 0, MAX_WORKS - 1);
    struct work *work = &works[n_works++];
    work->name = name;
    work->job = job;
    work->job.done = done;
    work->job.abandon = abandon;
    pl_workers_submit(workers, loop, &work->job);
    return work;
}

static struct work *put(const char *name, uint64_t owner)
{
    return submit(name, (struct pl_job){.owner = owner, .wait_ms = TURNING_SAFETY_MS, .run = note});
}

/* A job that finishes work its owner has begun. */
static struct work *put_begun(const char *name, uint64_t owner)
{
    return submit(name, (struct pl_job){.owner = owner, .is_begun = true, .run = note});
}

/* Returns when a thread is blocked by it. */
static struct work *put_gate(enum pl_work lane, uint64_t owner)
{
    struct work *work = submit("gate", (struct pl_job){.lane = lane,
                                                       .owner = owner,
                                                       .wait_ms = TURNING_SAFETY_MS,
                                                       .run = wait_at_gate});
    while (sem_wait(&at_gate) != 0)
        ;
    return work;
}

static bool are_all_done(void *ctx)
{
    (void)ctx;
    for (size_t i = 0; i < n_works; i++)
        if (!works[i].is_done)
            return false;
    return true;
}

static struct pl_work_state look(enum pl_work lane)
{
    struct pl_work_state state;
    pl_workers_look(workers, lane, &state);
    return state;
}

static void owners_take_turns(void **state)
{
    (void)state;
    start_with(1);
    put_gate(PL_WORK_STORE, 9);
    put("a1", 1), put("a2", 1), put("a3", 1), put("a4", 1);
    put("b1", 2), put("b2", 2);
    put("c1", 3);
    put("s1", 0), put("s2", 0);
    assert_int_equal(look(PL_WORK_STORE).n_waiting, 9);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
    assert_string_equal(order, "a1 b1 c1 s1 a2 b2 s2 a3 a4 ");
    assert_int_equal(look(PL_WORK_STORE).n_waiting, 0);
    assert_int_equal(look(PL_WORK_STORE).n_run, 10);
}

static void one_owner_never_has_all_threads(void **state)
{
    (void)state;
    start_with(3);
    put_gate(PL_WORK_STORE, 1);
    put_gate(PL_WORK_STORE, 1);
    struct work *third = submit(
        "third", (struct pl_job){.owner = 1, .wait_ms = TURNING_SAFETY_MS, .run = wait_at_gate});
    struct work *other = put("b1", 2);
    turn_until(loop, is_true, &other->is_done);
    assert_int_equal(look(PL_WORK_STORE).n_waiting, 1);
    assert_int_equal(sem_trywait(&at_gate), -1); /* the third has not started */
    for (int i = 0; i < 3; i++)
        sem_post(&gate);
    turn_until(loop, is_true, &third->is_done);
    turn_until(loop, are_all_done, NULL);
}

static void the_server_itself_may_have_them_all(void **state)
{
    (void)state;
    start_with(2);
    put_gate(PL_WORK_STORE, 0);
    put_gate(PL_WORK_STORE, 0);
    sem_post(&gate);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
}

static void lanes_do_not_wait_for_each_other(void **state)
{
    (void)state;
    start_with(1);
    put_gate(PL_WORK_STORE, 1);
    put_gate(PL_WORK_LOOKUP, 1);
    struct work *computing = submit(
        "cpu", (struct pl_job){.lane = PL_WORK_CPU, .wait_ms = TURNING_SAFETY_MS, .run = note});
    struct work *filing = submit(
        "file", (struct pl_job){.lane = PL_WORK_FILE, .wait_ms = TURNING_SAFETY_MS, .run = note});
    turn_until(loop, is_true, &computing->is_done);
    turn_until(loop, is_true, &filing->is_done);
    sem_post(&gate);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
}

static void a_job_that_waits_too_long_comes_home_without_having_run(void **state)
{
    (void)state;
    start_with(1);
    put_gate(PL_WORK_CPU, 1);
    struct work *patient = submit(
        "patient", (struct pl_job){.lane = PL_WORK_CPU, .wait_ms = TURNING_SAFETY_MS, .run = note});
    struct work *late =
        submit("late", (struct pl_job){.lane = PL_WORK_CPU, .wait_ms = 1, .run = note});
    struct work *far = submit(
        "far", (struct pl_job){.lane = PL_WORK_CPU, .owner = 5, .wait_ms = 600000, .run = note});
    turn_until(loop, is_true, &late->is_done);
    assert_true(late->was_refused);
    struct pl_work_state now = look(PL_WORK_CPU);
    assert_int_equal(now.n_waiting, 2);
    assert_int_equal(now.n_refused, 1);
    assert_true(now.oldest_ms > 0);
    assert_string_equal(now.name, "cpu");
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
    assert_false(patient->was_refused || far->was_refused);
    assert_string_equal(order, "patient far ");
    assert_int_equal(look(PL_WORK_CPU).oldest_ms, 0);
}

/* Begun work cannot be undone, so the unstarted jobs of the same owner wait for it; other owners do
 * not. */
static void what_was_begun_goes_before_what_was_not(void **state)
{
    (void)state;
    start_with(1);
    put_gate(PL_WORK_STORE, 9);
    put("a1", 1), put("a2", 1), put("b1", 2);
    put_begun("A1", 1), put_begun("A2", 1);
    put("a3", 1);
    put_begun("A3", 1);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
    assert_string_equal(order, "A1 b1 A2 A3 a1 a2 a3 ");
}

static void what_was_begun_is_not_refused_and_others_around_it_are(void **state)
{
    (void)state;
    start_with(1);
    put_gate(PL_WORK_STORE, 9);
    struct work *late = submit("late", (struct pl_job){.owner = 1, .wait_ms = 1, .run = note});
    put_begun("A1", 1);
    turn_until(loop, is_true, &late->is_done);
    assert_true(late->was_refused);
    struct work *again = submit("again", (struct pl_job){.owner = 1, .wait_ms = 1, .run = note});
    turn_until(loop, is_true, &again->is_done);
    assert_true(again->was_refused);
    put("a1", 1), put_begun("A2", 1);
    assert_int_equal(look(PL_WORK_STORE).n_waiting, 3);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
    assert_string_equal(order, "A1 A2 a1 ");
}

static bool is_aged(void *ctx)
{
    (void)ctx;
    return look(PL_WORK_STORE).oldest_ms > 0;
}

static void the_age_of_a_queue_is_that_of_its_oldest_job(void **state)
{
    (void)state;
    start_with(1);
    put_gate(PL_WORK_STORE, 9);
    put("a1", 1);
    turn_until(loop, is_aged, NULL);
    put_begun("A1", 1); /* runs first, although it is younger */
    assert_true(look(PL_WORK_STORE).oldest_ms > 0);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
}

static void a_job_that_could_wait_for_ever_is_not_taken(void **state)
{
    (void)state;
    static const struct pl_job wrong[] = {
        {.owner = 1, .run = note, .done = done},
        {.owner = 0, .run = note, .done = done},
        {.owner = 1, .wait_ms = 5, .is_begun = true, .run = note, .done = done},
    };
    start_with(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct pl_job job = wrong[i];
            signal(SIGABRT, SIG_DFL);
            close(STDERR_FILENO);
            pl_workers_submit(workers, loop, &job);
            _exit(0);
        }
        int code = 0;
        assert_int_equal(waitpid(child, &code, 0), child);
        assert_true(WIFSIGNALED(code) && WTERMSIG(code) == SIGABRT);
    }
}

/* The owner was next in turn: its removal must not break the turns of later owners either. */
static void an_owner_whose_jobs_were_all_refused_has_turns_again(void **state)
{
    (void)state;
    start_with(1);
    put_gate(PL_WORK_STORE, 9);
    struct work *late = submit("late", (struct pl_job){.owner = 1, .wait_ms = 1, .run = note});
    turn_until(loop, is_true, &late->is_done);
    put("b1", 2), put("a1", 1);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
    assert_int_equal(strlen(order), 6);
}

static void a_job_behind_the_share_of_its_owner_is_refused_in_time_too(void **state)
{
    (void)state;
    start_with(2); /* one per owner: the other is idle */
    put_gate(PL_WORK_STORE, 1);
    struct work *late = submit("late", (struct pl_job){.owner = 1, .wait_ms = 1, .run = note});
    turn_until(loop, is_true, &late->is_done);
    assert_true(late->was_refused);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
}

/* Both threads sleep when the two jobs come: the second waits only after the first has started. */
static void a_job_that_must_wait_only_later_is_refused_in_time_too(void **state)
{
    (void)state;
    start_with(2);
    for (int round = 0; round < 10; round++) {
        put_gate(PL_WORK_STORE, 1), put_gate(PL_WORK_STORE, 2);
        sem_post(&gate), sem_post(&gate);
        turn_until(loop, are_all_done, NULL);
        submit("first",
               (struct pl_job){.owner = 1, .wait_ms = TURNING_SAFETY_MS, .run = wait_at_gate});
        struct work *late = submit("late", (struct pl_job){.owner = 1, .wait_ms = 1, .run = note});
        turn_until(loop, is_true, &late->is_done);
        assert_true(late->was_refused);
        while (sem_wait(&at_gate) != 0)
            ;
        sem_post(&gate);
        turn_until(loop, are_all_done, NULL);
    }
}

/* Room of two threads: the part that the gate takes, and the rest. */
static const size_t room = 2 * PL_WORK_ROOM_BYTES, held = PL_WORK_ROOM_BYTES / 4 * 5;
static const size_t left = 2 * PL_WORK_ROOM_BYTES - PL_WORK_ROOM_BYTES / 4 * 5;

static struct work *put_heavy(const char *name, uint64_t owner, size_t n_bytes,
                              void (*run)(struct pl_job *))
{
    return submit(
        name, (struct pl_job){
                  .owner = owner, .wait_ms = TURNING_SAFETY_MS, .n_bytes = n_bytes, .run = run});
}

static void hold_room(size_t n_bytes)
{
    put_heavy("gate", 9, n_bytes, wait_at_gate);
    while (sem_wait(&at_gate) != 0)
        ;
}

static void a_job_waits_for_room_and_small_ones_pass_it(void **state)
{
    (void)state;
    start_with(2);
    hold_room(held);
    struct work *large = put_heavy("large", 1, left + 1, note);
    struct work *small = put("small", 2);
    turn_until(loop, is_true, &small->is_done);
    assert_false(large->is_done);
    assert_int_equal(look(PL_WORK_STORE).n_waiting, 1);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
    assert_string_equal(order, "small large ");
}

static void a_job_for_which_there_is_just_room_does_not_wait(void **state)
{
    (void)state;
    start_with(2);
    hold_room(held);
    struct work *large = put_heavy("large", 1, left, note);
    turn_until(loop, is_true, &large->is_done);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
}

static void a_large_job_is_not_passed_by_others_that_take_much(void **state)
{
    (void)state;
    start_with(2);
    hold_room(held);
    struct work *large = put_heavy("large", 1, held, note);
    struct work *later = put_heavy("later", 2, left / 2, note); /* there would be room */
    struct work *small = put("small", 3);
    turn_until(loop, is_true, &small->is_done);
    assert_false(large->is_done || later->is_done);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
}

static void a_job_that_is_larger_than_all_room_runs_alone(void **state)
{
    (void)state;
    start_with(2);
    struct work *huge = put_heavy("huge", 1, 10 * room, note);
    turn_until(loop, is_true, &huge->is_done);
    hold_room(1);
    huge = put_heavy("huge", 1, 10 * room, note);
    struct work *small = put("small", 3);
    turn_until(loop, is_true, &small->is_done);
    assert_false(huge->is_done);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
}

static void a_job_that_waits_for_room_is_refused_in_time(void **state)
{
    (void)state;
    start_with(2);
    hold_room(room);
    struct work *late =
        submit("late", (struct pl_job){.owner = 1, .n_bytes = 1 << 20, .wait_ms = 1, .run = note});
    turn_until(loop, is_true, &late->is_done);
    assert_true(late->was_refused);
    struct work *again = put("again", 1);
    sem_post(&gate);
    turn_until(loop, are_all_done, NULL);
    assert_false(again->was_refused);
}

static void the_end_does_not_wait_for_a_look_up(void **state)
{
    (void)state;
    start_with(1);
    for (uint64_t owner = 1; owner <= 4; owner++)
        for (int i = 0; i < 4; i++)
            put_gate(PL_WORK_LOOKUP, owner);
    struct work *waiting =
        submit("waits",
               (struct pl_job){.lane = PL_WORK_LOOKUP, .wait_ms = TURNING_SAFETY_MS, .run = note});
    pl_workers_destroy(workers);
    workers = NULL;
    pl_loop_destroy(loop);
    loop = NULL;
    assert_true(waiting->is_done && waiting->was_refused);
    for (int i = 0; i < 16; i++)
        sem_post(&gate);
    for (int i = 0; i < 16; i++)
        while (sem_wait(&abandoned) != 0)
            ;
    for (int i = 0; i < 16; i++)
        assert_false(works[i].is_done);
}

static void names_are_not_looked_up_any_more_when_the_rest_is_finished(void **state)
{
    (void)state;
    start_with(2);
    put_gate(PL_WORK_LOOKUP, 1);
    put("other", 1);
    pl_workers_finish(workers); /* except the job at the gate */
    struct work *after =
        submit("after",
               (struct pl_job){.lane = PL_WORK_LOOKUP, .wait_ms = TURNING_SAFETY_MS, .run = note});
    (void)pl_loop_settle(loop);
    assert_true(after->is_done && after->was_refused);
    assert_false(works[0].is_done);
    assert_string_equal(order, "other ");
    sem_post(&gate);
    while (sem_wait(&abandoned) != 0)
        ;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(owners_take_turns, tear_down),
        cmocka_unit_test_teardown(one_owner_never_has_all_threads, tear_down),
        cmocka_unit_test_teardown(the_server_itself_may_have_them_all, tear_down),
        cmocka_unit_test_teardown(lanes_do_not_wait_for_each_other, tear_down),
        cmocka_unit_test_teardown(a_job_that_waits_too_long_comes_home_without_having_run,
                                  tear_down),
        cmocka_unit_test_teardown(what_was_begun_goes_before_what_was_not, tear_down),
        cmocka_unit_test_teardown(what_was_begun_is_not_refused_and_others_around_it_are,
                                  tear_down),
        cmocka_unit_test_teardown(a_job_that_could_wait_for_ever_is_not_taken, tear_down),
        cmocka_unit_test_teardown(the_age_of_a_queue_is_that_of_its_oldest_job, tear_down),
        cmocka_unit_test_teardown(an_owner_whose_jobs_were_all_refused_has_turns_again, tear_down),
        cmocka_unit_test_teardown(a_job_behind_the_share_of_its_owner_is_refused_in_time_too,
                                  tear_down),
        cmocka_unit_test_teardown(a_job_that_must_wait_only_later_is_refused_in_time_too,
                                  tear_down),
        cmocka_unit_test_teardown(a_job_waits_for_room_and_small_ones_pass_it, tear_down),
        cmocka_unit_test_teardown(a_job_for_which_there_is_just_room_does_not_wait, tear_down),
        cmocka_unit_test_teardown(a_large_job_is_not_passed_by_others_that_take_much, tear_down),
        cmocka_unit_test_teardown(a_job_that_is_larger_than_all_room_runs_alone, tear_down),
        cmocka_unit_test_teardown(a_job_that_waits_for_room_is_refused_in_time, tear_down),
        cmocka_unit_test_teardown(the_end_does_not_wait_for_a_look_up, tear_down),
        cmocka_unit_test_teardown(names_are_not_looked_up_any_more_when_the_rest_is_finished,
                                  tear_down),
    };
    return cmocka_run_group_tests_name("io/lanes", tests, NULL, NULL);
}
