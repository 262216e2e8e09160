/* Power loss at any moment: every acknowledged write exists afterwards, once.
 *
 * usage: store-kill-test sqlite     kills a writing process with SIGKILL, fifty times
 *        store-kill-test postgres   kills the server a few times while this process continues
 *                                   (with tests/contract/with_postgres) */
#include "contract/fixture.h"
#include "io/entropy.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { N_KILLS = 50, N_CRASHES = 3, N_WRITERS = 4, N_MAX = 200000 };

/* One thread of a writing process: appends numbered turns to its own session. Every batch also
 * makes a claim, so that a repeated batch would be refused. */
struct writer {
    struct fixture *f;
    struct pl_id session;
    struct pl_id_seed seed;
    uint32_t index;
    int64_t n_before;       /* turns of this session from earlier processes */
    int fd;                 /* receives the acknowledged numbers; -1: none */
    _Atomic int64_t n_acks; /* turns up to here were acknowledged */
    atomic_bool *must_stop;
    const char *complaint;
};

struct ack {
    uint32_t index;
    uint32_t sequence;
};

static enum pl_status write_turn(struct writer *writer, int64_t sequence, struct pl_error *err)
{
    struct pl_id id = pl_id_take(&writer->seed, "turn_");
    struct pl_turn_row turn = make_turn(&writer->session, &id, sequence, "{\"text\":\"kept\"}");
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return PL_NOMEM;
    put_turn(batch, &turn);
    pl_batch_claim_idempotency(batch,
                               &(struct pl_idempotency_row){.user_id = id_str(&writer->f->user),
                                                            .key = turn.turn_id,
                                                            .request_hash = PL_STR("h")});
    return pl_store_commit(writer->f->store, batch, err);
}

static void *write_on(void *arg)
{
    struct writer *writer = arg;
    static _Thread_local struct pl_error err;
    for (int64_t i = writer->n_before; !writer->complaint && !atomic_load(writer->must_stop); i++) {
        enum pl_status status = write_turn(writer, i, &err);
        if (status != PL_OK) {
            writer->complaint = err.message;
            break;
        }
        atomic_store(&writer->n_acks, i + 1);
        struct ack ack = {writer->index, (uint32_t)i};
        if (writer->fd >= 0 && write(writer->fd, &ack, sizeof ack) != sizeof ack)
            break;
    }
    return NULL;
}

static void start_writers(struct writer *writers, pthread_t *threads)
{
    for (size_t i = 0; i < N_WRITERS; i++)
        if (pthread_create(&threads[i], NULL, write_on, &writers[i]) != 0)
            abort();
}

/* The number of turns of a session; they must be numbered without a gap. */
static int64_t count_turns(struct fixture *f, const struct pl_id *session)
{
    struct pl_turn_query query = turns_of(session);
    query.limit = N_MAX;
    struct pl_turn_page page;
    assert_int_equal(pl_store_turn_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    for (size_t i = 0; i < page.n_items; i++)
        assert_int_equal(page.items[i].sequence, i);
    pl_arena_reset(&f->arena);
    return (int64_t)page.n_items;
}

/* --- the process is killed ------------------------------------------------------------------- */

/* In the child: writes until it is killed. */
static void live(struct fixture *f, struct writer *writers, int fd)
{
    struct pl_error err;
    pthread_t threads[N_WRITERS];
    if (pl_store_open(&(struct pl_store_config){.url = f->url}, &f->store, &err) != PL_OK)
        _exit(1);
    for (size_t i = 0; i < N_WRITERS; i++)
        writers[i].fd = fd;
    start_writers(writers, threads);
    pause();
}

static void kill_after(pid_t child, unsigned ms)
{
    usleep(ms * 1000);
    kill(child, SIGKILL);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    assert_true(WIFSIGNALED(status));
}

static void nothing_acknowledged_is_lost_when_the_process_is_killed(void **state)
{
    (void)state;
    atomic_bool must_stop = false;
    struct fixture *f = fixture_create("sqlite");
    static struct writer writers[N_WRITERS];
    for (uint32_t i = 0; i < N_WRITERS; i++)
        writers[i] =
            (struct writer){.f = f, .index = i, .session = add_session(f), .must_stop = &must_stop};
    int64_t n_all = 0;
    for (int round = 0; round < N_KILLS; round++) {
        unsigned char dice[2];
        int pipe_fds[2];
        pl_store_close(f->store);
        f->store = NULL;
        assert_true(pl_entropy_fill(dice, sizeof dice));
        for (size_t i = 0; i < N_WRITERS; i++)
            assert_true(pl_entropy_fill(writers[i].seed.random, sizeof writers[i].seed.random));
        assert_int_equal(pipe(pipe_fds), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            close(pipe_fds[0]);
            live(f, writers, pipe_fds[1]);
        }
        close(pipe_fds[1]);
        kill_after(child, 10 + dice[0] % 80);
        int64_t n_acks[N_WRITERS] = {0};
        for (struct ack ack; read(pipe_fds[0], &ack, sizeof ack) == sizeof ack;)
            n_acks[ack.index] = ack.sequence + 1;
        close(pipe_fds[0]);
        fixture_open(f);
        for (size_t i = 0; i < N_WRITERS; i++) {
            int64_t n = count_turns(f, &writers[i].session);
            /* One more may have become durable before its acknowledgement. */
            assert_true(n >= n_acks[i] && n <= (n_acks[i] ? n_acks[i] : writers[i].n_before) + 1);
            n_all += n - writers[i].n_before;
            writers[i].n_before = n;
        }
    }
    assert_true(n_all > N_KILLS);
    fixture_destroy(f);
}

/* --- the server is killed -------------------------------------------------------------------- */

static void nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed(void **state)
{
    (void)state;
    atomic_bool must_stop = false;
    struct fixture *f = fixture_create("postgres");
    static struct writer writers[N_WRITERS];
    pthread_t threads[N_WRITERS];
    char command[600];
    snprintf(command, sizeof command, "%s --crash", getenv("PARLEY_TEST_POSTGRES_CONTROL"));
    for (uint32_t i = 0; i < N_WRITERS; i++) {
        writers[i] = (struct writer){
            .f = f, .index = i, .session = add_session(f), .fd = -1, .must_stop = &must_stop};
        assert_true(pl_entropy_fill(writers[i].seed.random, sizeof writers[i].seed.random));
    }
    start_writers(writers, threads);
    for (int i = 0; i < N_CRASHES; i++) {
        int64_t before = atomic_load(&writers[0].n_acks);
        usleep(300000);
        assert_int_equal(system(command), 0);
        for (int k = 0; k < 300 && atomic_load(&writers[0].n_acks) <= before + 1; k++)
            usleep(100000);
        assert_true(atomic_load(&writers[0].n_acks) > before + 1);
    }
    atomic_store(&must_stop, true);
    for (size_t i = 0; i < N_WRITERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < N_WRITERS; i++) {
        if (writers[i].complaint)
            fail_msg("a batch failed: %s", writers[i].complaint);
        assert_int_equal(count_turns(f, &writers[i].session), atomic_load(&writers[i].n_acks));
    }
    assert_int_equal(f->n_fatal, 0);
    fixture_destroy(f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest on_sqlite[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_when_the_process_is_killed)};
    const struct CMUnitTest on_postgres[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed)};
    if (argc < 2 || strcmp(argv[1], "postgres") != 0)
        return cmocka_run_group_tests(on_sqlite, NULL, NULL);
    const char *reason = getenv("PARLEY_TEST_POSTGRES_SKIP");
    if (!getenv("PARLEY_TEST_POSTGRES")) {
        printf("1..0 # SKIP %s\n",
               reason ? reason : "no server: run with tests/contract/with_postgres");
        return 0;
    }
    return cmocka_run_group_tests(on_postgres, NULL, NULL);
}
