#include "base/table.h"
#include "unit/io/turning.h"

#include <pthread.h>
#include <stdlib.h>

enum { N_SENDERS = 4, N_LETTERS = 20000 };

struct numbered {
    struct pl_letter letter; /* first: its address is ours */
    int sender, number;
};

static struct pl_loop *loop;
static int last_of[N_SENDERS];
static int n_opened;
static pthread_t home;

static void open_numbered(struct pl_letter *letter)
{
    struct numbered *self = (struct numbered *)letter;
    assert_true(pthread_equal(pthread_self(), home));
    assert_int_equal(self->number, last_of[self->sender] + 1);
    last_of[self->sender] = self->number;
    n_opened++;
    free(self);
}

static void *send_all(void *arg)
{
    for (int i = 0; i < N_LETTERS; i++) {
        struct numbered *letter = malloc(sizeof *letter);
        *letter = (struct numbered){{.open = open_numbered}, (int)(intptr_t)arg, i + 1};
        pl_loop_post(loop, &letter->letter);
    }
    return NULL;
}

static bool is_all(void *ctx)
{
    (void)ctx;
    return n_opened == N_SENDERS * N_LETTERS;
}

static void letters_of_each_of_many_senders_arrive_in_order(void **state)
{
    (void)state;
    loop = make_loop();
    home = pthread_self();
    pthread_t threads[N_SENDERS];
    for (intptr_t i = 0; i < N_SENDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, send_all, (void *)i), 0);
    turn_until(loop, is_all, NULL);
    for (int i = 0; i < N_SENDERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(last_of[i], N_LETTERS);
    }
    pl_loop_destroy(loop);
}

static void letters_nobody_read_are_opened_by_the_destroy(void **state)
{
    (void)state;
    loop = make_loop();
    home = pthread_self();
    memset(last_of, 0, sizeof last_of);
    n_opened = 0;
    send_all((void *)(intptr_t)2);
    assert_int_equal(n_opened, 0);
    pl_loop_destroy(loop);
    assert_int_equal(n_opened, N_LETTERS);
}

/* Two loops on two threads; one letter goes back and forth. */
struct ball {
    struct pl_letter letter;
    struct pl_loop *sides[2];
    int n_hops;
};

static void hit(struct pl_letter *letter)
{
    struct ball *ball = (struct ball *)letter;
    ball->n_hops++;
    if (ball->n_hops < 5000) {
        pl_loop_post(ball->sides[ball->n_hops % 2], letter);
        return;
    }
    pl_loop_stop(ball->sides[0]);
    pl_loop_stop(ball->sides[1]);
}

static void *run_loop(void *arg)
{
    pl_loop_run(arg);
    return NULL;
}

static void a_letter_may_be_sent_on_when_it_is_opened(void **state)
{
    (void)state;
    struct ball ball = {.letter.open = hit, .sides = {make_loop(), make_loop()}};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_loop, ball.sides[1]), 0);
    pl_loop_post(ball.sides[0], &ball.letter);
    pl_loop_run(ball.sides[0]);
    pthread_join(other, NULL);
    assert_int_equal(ball.n_hops, 5000);
    pl_loop_destroy(ball.sides[0]);
    pl_loop_destroy(ball.sides[1]);
}

/* Posts itself again until the timer ends it. */
struct echo {
    struct pl_timer timer; /* first: its address is ours */
    struct pl_letter letter;
    bool is_over;
};

static void post_again(struct pl_letter *letter)
{
    struct echo *echo = PL_CONTAINER_OF(letter, struct echo, letter);
    if (!echo->is_over)
        pl_loop_post(loop, letter);
}

static void end_echo(struct pl_timer *timer)
{
    ((struct echo *)timer)->is_over = true;
}

static void a_letter_that_posts_itself_leaves_time_for_timers(void **state)
{
    (void)state;
    loop = make_loop();
    struct echo echo = {.letter.open = post_again};
    pl_loop_post(loop, &echo.letter);
    pl_timer_start(loop, &echo.timer, 10, end_echo);
    turn_until(loop, is_true, &echo.is_over);
    assert_true(echo.is_over);
    pl_loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_of_each_of_many_senders_arrive_in_order),
        cmocka_unit_test(letters_nobody_read_are_opened_by_the_destroy),
        cmocka_unit_test(a_letter_may_be_sent_on_when_it_is_opened),
        cmocka_unit_test(a_letter_that_posts_itself_leaves_time_for_timers),
    };
    return cmocka_run_group_tests_name("io/letter", tests, NULL, NULL);
}
