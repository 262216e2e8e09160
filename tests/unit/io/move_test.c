#include "base/table.h"
#include "io/move.h"
#include "unit/io/turning.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum state { TALK_ASK, TALK_HEAR, TALK_MULL, TALK_HOLD, TALK_OVER };

#define TO(name) PL_TO(TALK_##name)
static const struct pl_state states[] = {
    [TALK_ASK] = {"ask", TO(HEAR) | TO(MULL) | TO(HOLD)},
    [TALK_HEAR] = {"hear", TO(OVER), PL_WAIT_MS, PL_CANCEL_ENDS, .limit_ms = 30},
    [TALK_MULL] = {"mull", TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS, .why = "what the test says"},
    [TALK_HOLD] = {"hold", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = "the test goes on"},
    [TALK_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("talk", states);

struct talk {
    enum state state;
    struct pl_timer timer;
    bool is_late;
};

static struct pl_loop *loop;
static char traced[256];
static const void *traced_who;

static void become(struct talk *talk, enum state to)
{
    talk->state = (enum state)pl_move(&machine, talk, talk->state, to);
}

static void on_late(struct pl_timer *timer)
{
    PL_CONTAINER_OF(timer, struct talk, timer)->is_late = true;
}

static void limit(struct talk *talk, int64_t set_ms)
{
    pl_move_limit(&machine, talk->state, loop, &talk->timer, set_ms, on_late);
}

static void note_move(const struct pl_machine *moved, const void *who, unsigned from, unsigned to)
{
    size_t len = strlen(traced);
    traced_who = who;
    snprintf(traced + len, sizeof traced - len, "%s:%s->%s ", moved->name, moved->states[from].name,
             moved->states[to].name);
}

static int set_up(void **state)
{
    (void)state;
    loop = make_loop();
    traced[0] = '\0';
    pl_move_set_trace(note_move);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pl_move_set_trace(NULL);
    pl_loop_destroy(loop);
    return 0;
}

static void a_move_along_an_edge_is_made_and_told(void **state)
{
    (void)state;
    struct talk talk = {0};
    become(&talk, TALK_HEAR);
    assert_int_equal(talk.state, TALK_HEAR);
    become(&talk, TALK_OVER);
    assert_string_equal(traced, "talk:ask->hear talk:hear->over ");
    assert_ptr_equal(traced_who, &talk);
}

static void nothing_is_told_where_tracing_is_off(void **state)
{
    (void)state;
    struct talk talk = {0};
    pl_move_set_trace(NULL);
    become(&talk, TALK_HEAR);
    assert_string_equal(traced, "");
}

/* The message of a program that makes this move; fails unless the program aborts. */
static void die_of(enum state from, unsigned to, char *says, size_t size)
{
    int pipes[2];
    size_t n = 0;
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGABRT, SIG_DFL);
        dup2(pipes[1], STDERR_FILENO);
        (void)pl_move(&machine, NULL, from, to);
        _exit(0);
    }
    close(pipes[1]);
    for (ssize_t got = 1; got > 0; n += (size_t)(got > 0 ? got : 0))
        got = read(pipes[0], says + n, size - 1 - n);
    says[n] = '\0';
    close(pipes[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void a_move_without_an_edge_ends_the_program_and_names_it(void **state)
{
    (void)state;
    char says[4096];
    die_of(TALK_OVER, TALK_ASK, says, sizeof says);
    assert_non_null(strstr(says, "talk may go from over to ask"));
    die_of(TALK_HEAR, TALK_HEAR, says, sizeof says);
    assert_non_null(strstr(says, "talk may go from hear to hear"));
    die_of(TALK_HEAR, 77, says, sizeof says);
    assert_non_null(strstr(says, "talk may go from hear to ?"));
}

static void the_limit_of_the_table_passes(void **state)
{
    (void)state;
    struct talk talk = {0};
    become(&talk, TALK_HEAR);
    limit(&talk, 1000000);
    turn_until(loop, is_true, &talk.is_late);
    assert_false(pl_timer_is_on(&talk.timer));
}

static void a_limit_that_is_set_passes(void **state)
{
    (void)state;
    struct talk talk = {0};
    become(&talk, TALK_MULL);
    limit(&talk, 5);
    turn_until(loop, is_true, &talk.is_late);
}

static void a_state_without_a_limit_stops_the_timer(void **state)
{
    (void)state;
    struct talk talk = {.state = TALK_HEAR};
    limit(&talk, 0);
    assert_true(pl_timer_is_on(&talk.timer));
    become(&talk, TALK_OVER);
    limit(&talk, 5);
    assert_false(pl_timer_is_on(&talk.timer));
    struct talk held = {.state = TALK_HOLD};
    pl_timer_start(loop, &held.timer, 1000000, on_late);
    limit(&held, 5);
    assert_false(pl_timer_is_on(&held.timer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_move_along_an_edge_is_made_and_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_told_where_tracing_is_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_move_without_an_edge_ends_the_program_and_names_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_limit_of_the_table_passes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_limit_that_is_set_passes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_state_without_a_limit_stops_the_timer, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
