/* The contract of a remote database: servers share it, it may hang or be down for a while, and no
 * one waits for it for ever. */
#include "contract/beside.h"

#include <pthread.h>
#include <stdio.h>

enum { SHORT_MS = 300, PATIENT_MS = 600000 };

static void open_server(struct fixture *f)
{
    pl_store_close(f->store);
    f->is_server = true;
    f->answer_ms = SHORT_MS;
    f->store = NULL;
    fixture_open(f);
}

static enum pl_status try_open(struct fixture *f, bool is_server, struct pl_error *err)
{
    struct pl_store *store = NULL;
    struct pl_store_config config = {.url = f->url, .is_server = is_server, .answer_ms = SHORT_MS};
    enum pl_status status = pl_store_open(&config, &store, err);
    pl_store_close(store);
    return status;
}

static void control(const char *word)
{
    char command[600];
    snprintf(command, sizeof command, "%s %s", getenv("PARLEY_TEST_POSTGRES_CONTROL"), word);
    assert_int_equal(system(command), 0);
}

/* --- several servers ------------------------------------------------------------------------- */

#define LOCK "hashtextextended('parley server ' || current_schema(), 0)"

static void servers_share_a_database(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    open_server(f);
    assert_int_equal(try_open(f, true, &err), PL_OK);
    add_session(f);
    assert_int_equal(f->n_fatal, 0);
}

/* A server of an earlier version holds the lock exclusively. */
static void a_server_that_shares_with_nobody_keeps_others_away(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    PGconn *other = connect_beside(f);
    say(other, "SELECT pg_advisory_lock(" LOCK ")");
    assert_int_equal(try_open(f, true, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "an earlier version"));
    assert_int_equal(try_open(f, false, &err), PL_OK);
    PQfinish(other);
    open_server(f);
    add_session(f);
}

static void a_command_opens_the_store_beside_its_server(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    open_server(f);
    assert_int_equal(try_open(f, false, &err), PL_OK);
    add_session(f);
    assert_int_equal(f->n_fatal, 0);
}

#define END_SERVERS                                                                                \
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'parley "  \
    "server %'"

static void a_server_whose_lock_another_took_stops(void **state)
{
    struct fixture *f = *state;
    open_server(f);
    PGconn *other = connect_beside(f), *third = connect_beside(f);
    /* Queues for the lock, so that no other connection gets it in between. */
    assert_int_equal(PQsendQuery(other, "SELECT pg_advisory_lock(" LOCK ")"), 1);
    say(third, END_SERVERS);
    PQclear(PQgetResult(other));
    until(f->n_fatal == 1);
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id);
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_IO);
    assert_int_equal(f->n_fatal, 1);
    PQfinish(other);
    PQfinish(third);
}

struct holder {
    char pid[16]; /* of PostgreSQL's process; empty: the lock is free */
};

static struct holder holder_of_lock(PGconn *conn)
{
    struct holder holder = {0};
    PGresult *result = PQexec(conn, "SELECT l.pid FROM pg_locks AS l JOIN pg_stat_activity AS a ON "
                                    "a.pid = l.pid WHERE locktype = 'advisory' AND granted AND "
                                    "application_name LIKE 'parley server %'");
    if (PQntuples(result) > 0)
        snprintf(holder.pid, sizeof holder.pid, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return holder;
}

static void a_server_that_lost_its_connection_takes_its_lock_again(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    open_server(f);
    PGconn *other = connect_beside(f);
    for (int i = 0; i < 3; i++) {
        struct holder was = holder_of_lock(other), is = was;
        assert_int_not_equal(was.pid[0], 0);
        say(other, END_SERVERS);
        /* A terminated process holds the lock until it has ended. */
        while (!is.pid[0] || strcmp(is.pid, was.pid) == 0)
            is = holder_of_lock(other);
    }
    assert_int_equal(try_open(f, true, &err), PL_OK);
    add_session(f);
    assert_int_equal(f->n_fatal, 0);
    PQfinish(other);
}

/* The lock is lost, another server has started, and the first does not know yet: its transaction
 * fails as a whole. */
static void a_server_that_was_replaced_commits_nothing_more(void **state)
{
    struct fixture *f = *state;
    open_server(f);
    run_sql(f, "UPDATE commits SET is_fenced = 1");
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id), got;
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_IO);
    assert_int_equal(f->n_fatal, 1);
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, session.user_id, session.id, &got, NULL),
        PL_NOT_FOUND);
}

static void fenced(void *ctx)
{
    struct fixture *f = ctx;
    f->n_fenced++;
}

/* If the service handles this case, the process continues as a new writer. */
static void a_server_that_was_replaced_may_enter_again(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    f->on_fenced = fenced;
    open_server(f);
    run_sql(f, "UPDATE commits SET is_gone = 1, is_fenced = 1");
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id), got;
    for (int i = 0; i < 2; i++) {
        struct pl_batch *batch = pl_batch_create();
        put_session(batch, &session);
        assert_int_equal(pl_store_commit(f->store, batch, &err), PL_IO);
        assert_non_null(strstr(err.message, "taken over"));
    }
    assert_int_equal(f->n_fenced, 1);
    assert_int_equal(f->n_fatal, 0);
    assert_int_equal(pl_store_enter_again(f->store, &err), PL_OK);
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, session.user_id, session.id, &got, NULL),
        PL_NOT_FOUND);
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    commit(f, batch);
    assert_int_equal(number_beside(f,
                                   "SELECT count(*) FROM commits WHERE is_gone = 0 AND is_server "
                                   "= 1 AND number > 0"),
                     1);
}

static void a_new_server_leaves_the_others_alone(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    open_server(f);
    assert_int_equal(try_open(f, true, &err), PL_OK);
    assert_int_equal(number_beside(f, "SELECT count(*) FROM commits WHERE is_fenced = 1"), 0);
    add_session(f);
}

static void rewound(void *ctx)
{
    struct fixture *f = ctx;
    f->n_rewound++;
}

/* A failover to a standby that lags: the number in the row is lower than the acknowledged one. */
static void a_database_that_went_back_in_time_is_noticed(void **state)
{
    struct fixture *f = *state;
    f->on_rewound = rewound;
    open_server(f);
    add_session(f);
    add_session(f);
    run_sql(f, "UPDATE commits SET number = number - 1 WHERE is_server = 1");
    run_sql(f, "SELECT pg_terminate_backend(CAST(backend_pid AS INTEGER)) FROM commits WHERE "
               "is_server = 1");
    add_session(f);
    assert_int_equal(f->n_rewound, 1);
    add_session(f);
    assert_int_equal(f->n_rewound, 1);
    assert_int_equal(f->n_fatal, 0);
}

/* --- old marks ------------------------------------------------------------------------------- */

/* Ends the connection that wrote the row of a command. */
#define END_COMMANDS                                                                               \
    "SELECT count(pg_terminate_backend(CAST(backend_pid AS INTEGER))) FROM commits WHERE "         \
    "is_server = 0"
#define COMMANDS_CONNECTED                                                                         \
    "SELECT count(*) FROM commits JOIN pg_stat_activity ON pid = backend_pid WHERE is_server = 0"

/* A command that has the store open for more than a day, with pauses. */
static void the_mark_of_a_command_is_not_forgotten_while_it_lives(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    add_session(f);
    run_sql(f, "UPDATE commits SET created_ms = 1");
    assert_int_equal(try_open(f, false, &err), PL_OK);
    assert_int_equal(number_beside(f, "SELECT gone_ms FROM commits WHERE created_ms = 1"), 0);
    number_beside(f, END_COMMANDS);
    until(number_beside(f, COMMANDS_CONNECTED) == 0);
    add_session(f);
    assert_int_equal(f->n_fatal, 0);
}

static void a_command_that_connects_again_is_not_gone(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    run_sql(f, "UPDATE commits SET created_ms = 1");
    number_beside(f, END_COMMANDS);
    until(number_beside(f, COMMANDS_CONNECTED) == 0);
    assert_int_equal(try_open(f, false, &err), PL_OK);
    assert_true(number_beside(f, "SELECT gone_ms FROM commits WHERE created_ms = 1") > 1);
    add_session(f);
    assert_int_equal(number_beside(f, "SELECT gone_ms FROM commits WHERE created_ms = 1"), 0);
    assert_int_equal(number_beside(f, COMMANDS_CONNECTED), 1);
}

static void the_mark_of_a_fenced_server_stays_for_a_day_after_that(void **state)
{
    struct fixture *f = *state;
    open_server(f);
    run_sql(f, "UPDATE commits SET created_ms = 1, is_gone = 1, is_fenced = 1, gone_ms = "
               "CAST(extract(epoch FROM now()) * 1000 AS BIGINT) WHERE is_server = 1");
    fixture_reopen(f);
    assert_int_equal(number_beside(f, "SELECT count(*) FROM commits WHERE created_ms = 1"), 1);
    run_sql(f, "UPDATE commits SET gone_ms = gone_ms - 82800000 WHERE created_ms = 1");
    fixture_reopen(f);
    assert_int_equal(number_beside(f, "SELECT count(*) FROM commits WHERE created_ms = 1"), 1);
    run_sql(f, "UPDATE commits SET gone_ms = gone_ms - 3600001 WHERE created_ms = 1");
    fixture_reopen(f);
    assert_int_equal(number_beside(f, "SELECT count(*) FROM commits WHERE created_ms = 1"), 0);
}

static void the_mark_of_a_command_goes_a_day_after_it_was_missed(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    open_server(f);
    until(number_beside(f, COMMANDS_CONNECTED) == 0);
    assert_int_equal(try_open(f, false, &err), PL_OK);
    assert_int_equal(number_beside(f, "SELECT count(*) FROM commits WHERE is_server = 0"), 2);
    run_sql(f, "UPDATE commits SET gone_ms = gone_ms - 86400001 WHERE gone_ms > 0");
    assert_int_equal(try_open(f, false, &err), PL_OK);
    /* The command whose connection had already ended at the first check; the two after it stay. */
    assert_int_equal(number_beside(f, "SELECT count(*) FROM commits WHERE is_server = 0"), 2);
}

static void the_mark_of_a_server_is_not_forgotten_while_it_lives(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    open_server(f);
    run_sql(f, "UPDATE commits SET created_ms = 1");
    assert_int_equal(try_open(f, false, &err), PL_OK);
    control("--crash");
    until(!pl_store_is_away(f->store));
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id);
    enum pl_status status = PL_IO;
    /* The first statement finds the connection cut. */
    for (int i = 0; i < PATIENCE && status == PL_IO && f->n_fatal == 0; i++) {
        struct pl_batch *batch = pl_batch_create();
        put_session(batch, &session);
        status = pl_store_commit(f->store, batch, NULL);
    }
    assert_int_equal(status, PL_OK);
    assert_int_equal(f->n_fatal, 0);
}

/* --- silence --------------------------------------------------------------------------------- */

struct committing {
    struct fixture *f;
    struct pl_session_record session;
    enum pl_status status;
};

static void *commit_one(void *arg)
{
    struct committing *committing = arg;
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &committing->session);
    committing->status = pl_store_commit(committing->f->store, batch, NULL);
    return NULL;
}

static void a_silent_database_is_not_waited_for_and_nothing_is_lost(void **state)
{
    struct fixture *f = *state;
    struct pl_id kept = {0}, ids[2];
    struct pl_session_record got;
    struct pl_error err = {0};
    open_server(f);
    kept = add_session(f);
    struct committing committing[2] = {{.f = f}, {.f = f}};
    for (size_t i = 0; i < 2; i++) {
        ids[i] = pl_id_take(&f->seed, "sess_");
        committing[i].session = make_session(f, &ids[i]);
    }
    control("--pause");
    /* One commit is in progress when the silence begins: only the database knows its outcome. */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, commit_one, &committing[0]), 0);
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&kept), &got, &err),
        PL_IO);
    until(pl_store_is_away(f->store));
    /* A commit that waits after it is refused. */
    commit_one(&committing[1]);
    assert_int_equal(committing[1].status, PL_IO);
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&kept), &got, &err),
        PL_IO);
    control("--resume");
    pthread_join(thread, NULL);
    until(!pl_store_is_away(f->store));
    const struct {
        const struct pl_id *id;
        enum pl_status wanted;
    } cases[] = {{&kept, PL_OK},
                 {&ids[0], committing[0].status == PL_OK ? PL_OK : PL_NOT_FOUND},
                 {&ids[1], PL_NOT_FOUND}};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pl_store_session_get(f->store, &f->arena, id_str(&f->user),
                                              id_str(cases[i].id), &got, NULL),
                         cases[i].wanted);
    add_session(f);
    assert_int_equal(f->n_fatal, 0);
}

static void a_database_that_is_away_says_so_and_comes_back(void **state)
{
    struct fixture *f = *state;
    open_server(f);
    struct pl_id kept = add_session(f);
    struct pl_session_record got;
    control("--stop");
    until(pl_store_is_away(f->store));
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&kept), &got, NULL),
        PL_IO);
    control("--start");
    until(!pl_store_is_away(f->store));
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&kept), &got, NULL),
        PL_OK);
    assert_int_equal(f->n_fatal, 0);
}

/* --- locks of others ------------------------------------------------------------------------- */

static struct pl_session_record add_named(struct fixture *f, struct pl_id *id, const char *intent)
{
    *id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, id);
    session.intent = str_of(intent);
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    commit(f, batch);
    return session;
}

struct changing {
    struct fixture *f;
    struct pl_session_record first, second;
    enum pl_status status;
};

static void *change_both(void *arg)
{
    struct changing *changing = arg;
    struct pl_batch *batch = pl_batch_create();
    change_session(batch, &changing->second);
    change_session(batch, &changing->first);
    changing->status = pl_store_commit(changing->f->store, batch, NULL);
    return NULL;
}

/* Each transaction waits for the other's lock. PostgreSQL ends the one whose deadlock_timeout
 * expires first, which is the store's. */
static void a_deadlock_is_tried_again(void **state)
{
    struct fixture *f = *state;
    struct pl_id ids[2];
    struct changing changing = {.f = f, .status = PL_INTERNAL};
    f->answer_ms = PATIENT_MS; /* only the deadlock ends the wait, even on a busy machine */
    fixture_reopen(f);
    changing.first = add_named(f, &ids[0], "first");
    changing.second = add_named(f, &ids[1], "second");
    PGconn *other = connect_beside(f);
    say(other, "SET deadlock_timeout = '1h'; BEGIN; UPDATE sessions SET is_pinned = 1 WHERE intent "
               "= 'first'");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, change_both, &changing), 0);
    until(number_beside(f, "SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);
    say(other, "UPDATE sessions SET is_pinned = 1 WHERE intent = 'second'");
    say(other, "COMMIT");
    pthread_join(thread, NULL);
    PQfinish(other);
    assert_int_equal(changing.status, PL_OK);
    assert_int_equal(f->n_fatal, 0);
}

/* The message of a failure for clients names neither host nor user nor SQL; the log may. */
static void a_failure_does_not_tell_where_the_database_is(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    struct pl_session_record got;
    open_server(f);
    struct pl_id id = add_session(f);
    control("--stop");
    enum pl_status status =
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&id), &got, &err);
    control("--start");
    assert_int_equal(status, PL_IO);
    static const char *const secrets[] = {"socket", "/", "host", "user", "SELECT", "connection to"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (strstr(err.message, secrets[i]))
            fail_msg("it tells: %s", err.message);
}

static const struct CMUnitTest tests[] = {
    ON_SOME("postgres", servers_share_a_database),
    ON_SOME("postgres", a_server_that_shares_with_nobody_keeps_others_away),
    ON_SOME("postgres", a_command_opens_the_store_beside_its_server),
    ON_SOME("postgres", a_server_whose_lock_another_took_stops),
    ON_SOME("postgres", a_server_that_lost_its_connection_takes_its_lock_again),
    ON_SOME("postgres", a_server_that_was_replaced_commits_nothing_more),
    ON_SOME("postgres", a_server_that_was_replaced_may_enter_again),
    ON_SOME("postgres", a_new_server_leaves_the_others_alone),
    ON_SOME("postgres", a_database_that_went_back_in_time_is_noticed),
    ON_SOME("postgres", the_mark_of_a_server_is_not_forgotten_while_it_lives),
    ON_SOME("postgres", the_mark_of_a_command_is_not_forgotten_while_it_lives),
    ON_SOME("postgres", a_command_that_connects_again_is_not_gone),
    ON_SOME("postgres", the_mark_of_a_fenced_server_stays_for_a_day_after_that),
    ON_SOME("postgres", the_mark_of_a_command_goes_a_day_after_it_was_missed),
    ON_SOME("postgres", a_silent_database_is_not_waited_for_and_nothing_is_lost),
    ON_SOME("postgres", a_database_that_is_away_says_so_and_comes_back),
    ON_SOME("postgres", a_deadlock_is_tried_again),
    ON_SOME("postgres", a_failure_does_not_tell_where_the_database_is),
};
const struct suite_part servers_part = {tests, sizeof tests / sizeof *tests};
