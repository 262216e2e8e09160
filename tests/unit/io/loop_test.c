#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "base/table.h"
#include "unit/io/turning.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char order[16];
static size_t n_order;
static struct pl_loop *loop;

static int set_up(void **state)
{
    (void)state;
    loop = make_loop();
    memset(order, 0, sizeof order);
    n_order = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pl_loop_destroy(loop);
    return 0;
}

static void note(char c)
{
    assert_true(n_order < sizeof order - 1);
    order[n_order++] = c;
}

static struct pl_loop_hook end_a, end_b, end_c;

static void call_a(struct pl_loop_hook *self)
{
    assert_false(self->is_waiting);
    note('a');
}

static void call_b(struct pl_loop_hook *self)
{
    (void)self;
    note('b');
    pl_loop_stop(loop);
}

static void ask_again(struct pl_loop_hook *self)
{
    note('c');
    if (n_order < 4)
        pl_loop_hook_add(loop, self);
    else
        pl_loop_stop(loop);
}

static void ask_for_ends(struct pl_timer *timer)
{
    (void)timer;
    end_a.fn = call_a;
    end_b.fn = call_b;
    pl_loop_hook_add(loop, &end_a);
    pl_loop_hook_add(loop, &end_a);
    pl_loop_hook_add(loop, &end_b);
    note('t');
}

static void a_turn_end_asked_for_twice_in_a_timer_comes_once_and_without_waiting(void **state)
{
    (void)state;
    struct pl_timer timer = {0};
    pl_timer_start(loop, &timer, 1, ask_for_ends);
    pl_loop_run(loop); /* would sleep forever if the end had to wait for an event */
    assert_string_equal(order, "tab");
}

static void a_turn_end_that_asks_again_is_called_again_in_the_next_turn(void **state)
{
    (void)state;
    end_c.fn = ask_again;
    pl_loop_hook_add(loop, &end_c);
    pl_loop_run(loop);
    assert_string_equal(order, "cccc");
}

static void forget_b(struct pl_loop_hook *self)
{
    (void)self;
    note('f');
    pl_loop_hook_remove(loop, &end_b);
}

static void a_forgotten_turn_end_is_not_called(void **state)
{
    (void)state;
    end_a.fn = call_a;
    end_b.fn = call_b;
    end_c.fn = ask_again;
    n_order = 3;
    memset(order, '.', 3);
    pl_loop_hook_add(loop, &end_a);
    pl_loop_hook_add(loop, &end_b);
    pl_loop_hook_remove(loop, &end_b); /* the last in the list */
    pl_loop_hook_remove(loop, &end_b);
    pl_loop_hook_add(loop, &end_c);
    pl_loop_hook_remove(loop, &end_a); /* the first */
    pl_loop_run(loop);
    assert_string_equal(order, "...c");

    end_a.fn = forget_b; /* while the list is being called */
    n_order = 3;
    pl_loop_hook_add(loop, &end_a);
    pl_loop_hook_add(loop, &end_b);
    pl_loop_hook_add(loop, &end_c);
    pl_loop_run(loop);
    assert_string_equal(order, "...fc");
}

static void open_letter(struct pl_letter *self)
{
    (void)self;
    note('l');
}

static void a_loop_stopped_before_it_runs_opens_its_letters_first(void **state)
{
    (void)state;
    struct pl_letter letters[2] = {{.open = open_letter}, {.open = open_letter}};
    pl_loop_post(loop, &letters[0]);
    pl_loop_post(loop, &letters[1]);
    pl_loop_stop(loop);
    pl_loop_run(loop);
    assert_string_equal(order, "ll");
}

static void *stop_soon(void *arg)
{
    struct timespec wait = {.tv_nsec = 20000000};
    nanosleep(&wait, NULL);
    pl_loop_stop(arg);
    return NULL;
}

static int64_t cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

static void another_thread_can_stop_it_again_and_again(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, stop_soon, loop), 0);
        pl_loop_run(loop);
        pthread_join(thread, NULL);
    }
}

static void nothing(struct pl_timer *timer)
{
    (void)timer;
}

static void an_idle_loop_sleeps(void **state)
{
    (void)state;
    struct pl_timer timer = {0};
    pl_timer_start(loop, &timer, 60000, nothing);
    end_a.fn = call_a;
    pl_loop_hook_add(loop, &end_a);
    int64_t before_us = cpu_us();
    pthread_t threads[5];
    for (int i = 0; i < 5; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, stop_soon, loop), 0);
        pl_loop_run(loop);
        pthread_join(threads[i], NULL);
    }
    assert_true(cpu_us() - before_us < 50000); /* of 100 ms; a busy loop would use all of them */
    pl_timer_stop(loop, &timer);
}

static void the_clocks_are_those_of_the_turn(void **state)
{
    (void)state;
    turn_for(loop, 10);
    int64_t now_ms = pl_loop_now_ms(loop);
    assert_true(pl_clock_ms() >= now_ms);
    int64_t unix_ms = pl_loop_unix_ms(loop);
    assert_true(pl_clock_unix_ms() + 1 >= unix_ms);
    struct timespec wait = {.tv_nsec = 5000000};
    nanosleep(&wait, NULL);
    assert_int_equal(pl_loop_now_ms(loop), now_ms);
    assert_int_equal(pl_loop_unix_ms(loop), unix_ms);
    turn_for(loop, 10);
    assert_true(pl_loop_now_ms(loop) >= now_ms + 10);
    assert_true(pl_clock_unix_ms() + 1 >= pl_loop_unix_ms(loop));
}

static void catch_signal(void *ctx, int number)
{
    *(int *)ctx = number;
    pl_loop_stop(loop);
}

static void a_signal_becomes_a_call_on_the_loop(void **state)
{
    (void)state;
    int hup = 0, term = 0;
    assert_int_equal(pl_loop_on_signal(loop, SIGHUP, catch_signal, &hup), PL_OK);
    assert_int_equal(pl_loop_on_signal(loop, SIGTERM, catch_signal, &term), PL_OK);
    raise(SIGTERM);
    pl_loop_run(loop);
    assert_int_equal(term, SIGTERM);
    assert_int_equal(hup, 0);
    raise(SIGHUP);
    pl_loop_run(loop);
    assert_int_equal(hup, SIGHUP);
    assert_int_equal(pl_loop_on_signal(loop, SIGKILL, catch_signal, &hup), PL_IO);
}

static void a_loop_out_of_descriptors_says_so(void **state)
{
    (void)state;
    struct rlimit limit, low;
    getrlimit(RLIMIT_NOFILE, &limit);
    struct pl_error err = {0};
    struct pl_loop *other = NULL;
    int n_failed = 0;
    for (rlim_t n = 3; n < 40; n++) {
        low = (struct rlimit){.rlim_cur = n, .rlim_max = limit.rlim_max};
        setrlimit(RLIMIT_NOFILE, &low);
        enum pl_status status = pl_loop_create(&other, &err);
        setrlimit(RLIMIT_NOFILE, &limit);
        if (status == PL_OK) {
            pl_loop_destroy(other);
            continue;
        }
        n_failed++;
        assert_int_equal(status, PL_IO);
        assert_non_null(strstr(err.message, "Too many open files"));
        assert_null(other);
    }
    assert_true(n_failed > 0);
}

struct post_again {
    struct pl_letter letter; /* first: its address is ours */
    struct pl_loop_hook end;
    int n_left;
};

static void post_at_end(struct pl_loop_hook *end)
{
    struct post_again *self = PL_CONTAINER_OF(end, struct post_again, end);
    pl_loop_post(loop, &self->letter);
}

static void ask_for_end(struct pl_letter *letter)
{
    struct post_again *self = (struct post_again *)letter;
    if (self->n_left-- > 0)
        pl_loop_hook_add(loop, &self->end);
}

static void a_loop_that_settles_opens_what_its_letters_lead_to(void **state)
{
    (void)state;
    struct post_again self = {.letter.open = ask_for_end, .end.fn = post_at_end, .n_left = 10};
    assert_false(pl_loop_settle(loop));
    pl_loop_post(loop, &self.letter);
    assert_true(pl_loop_settle(loop));
    assert_int_equal(self.n_left, -1);
    assert_false(pl_loop_settle(loop));
}

static void open_nothing(struct pl_letter *letter)
{
    (void)letter;
}

static void a_loop_for_which_somebody_works_cannot_be_destroyed(void **state)
{
    (void)state;
    pl_loop_expect(loop);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        pl_loop_destroy(loop);
        _exit(0);
    }
    int code = 0;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFSIGNALED(code) && WTERMSIG(code) == SIGABRT);
    struct pl_letter letter = {.open = open_nothing};
    pl_loop_deliver(loop, &letter);
    assert_true(pl_loop_settle(loop)); /* now it can */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_turn_end_asked_for_twice_in_a_timer_comes_once_and_without_waiting, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(a_turn_end_that_asks_again_is_called_again_in_the_next_turn,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_forgotten_turn_end_is_not_called, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loop_stopped_before_it_runs_opens_its_letters_first,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_thread_can_stop_it_again_and_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_idle_loop_sleeps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_clocks_are_those_of_the_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_signal_becomes_a_call_on_the_loop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loop_out_of_descriptors_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loop_that_settles_opens_what_its_letters_lead_to, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_loop_for_which_somebody_works_cannot_be_destroyed, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("io/loop", tests, NULL, NULL);
}
