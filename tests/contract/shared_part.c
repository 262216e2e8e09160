/* The contract of the data that nodes share: the version of users and keys; tickets and the code of
 * the first start, which only one of many callers gets; grants of a limit; and the records of a
 * node that is gone. */
#include "contract/beside.h"
#include "store/gateway.h"
#include "store/node/node_line.h"
#include "store/node/shared.h"
#include "store/work.h"

#include <pthread.h>

static int64_t version_of(struct pl_store *store)
{
    int64_t version = -1;
    assert_int_equal(pl_store_auth_version(store, &version, NULL), PL_OK);
    return version;
}

/* --- the version ------------------------------------------------------------------------------ */

static struct pl_key_row make_key(struct fixture *f, const struct pl_id *id, const char *hash)
{
    return (struct pl_key_row){.id = id_str(id),
                               .user_id = id_str(&f->user),
                               .name = PL_STR("k"),
                               .hash = {hash, 32},
                               .last4 = PL_STR("wxyz"),
                               .is_admin = true,
                               .created_ms = 1};
}

/* Commits the batch that `fill` makes; returns whether the version has grown in both stores. */
static bool raises(struct fixture *f, struct pl_store *other,
                   void (*fill)(struct fixture *f, struct pl_batch *batch, const struct pl_id *key),
                   const struct pl_id *key)
{
    int64_t before = version_of(other);
    struct pl_batch *batch = pl_batch_create();
    fill(f, batch, key);
    commit(f, batch);
    int64_t after = version_of(other);
    assert_int_equal(after, version_of(f->store));
    assert_true(after >= before);
    return after > before;
}

static void create_key(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    struct pl_key_row row = make_key(f, key, "0123456789abcdef0123456789abcdef");
    pl_batch_create_key(batch, &row);
}
static void change_key(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    pl_batch_change_key(batch, &(struct pl_key_patch){.user_id = id_str(&f->user),
                                                      .id = id_str(key),
                                                      .name = PL_STR("new"),
                                                      .expires_ms = -1});
}
static void rotate_key(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    struct pl_key_row row = make_key(f, key, "fedcba9876543210fedcba9876543210");
    pl_batch_rotate_key(batch, &row, 77);
}
static void limit_key(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    pl_batch_put_limits(batch, &(struct pl_limits){.user_id = id_str(&f->user),
                                                   .key_id = id_str(key),
                                                   .values = {[PL_LIMIT_RPM] = 5}});
}
static void limit_user(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    (void)key;
    pl_batch_put_limits(
        batch, &(struct pl_limits){.user_id = id_str(&f->user), .values = {[PL_LIMIT_RPM] = 5}});
}
static void use_key(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    (void)f;
    pl_batch_use_key(batch, id_str(key), 99);
}
static void expire_logins(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    (void)f, (void)key;
    pl_batch_expire_logins(batch, 99);
}
static void delete_key(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    pl_batch_delete_key(batch, id_str(&f->user), id_str(key));
}
static void make_user(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    (void)key;
    struct pl_id id = pl_id_take(&f->seed, "user_");
    pl_batch_create_user(batch, &(struct pl_user_row){.id = id_str(&id), .name = PL_STR("u")});
}
static void disable_user(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    (void)key;
    pl_batch_change_user(
        batch, &(struct pl_user_change){.id = id_str(&f->other), .is_admin = -1, .disabled_ms = 5});
}
static void erase_user(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    (void)key;
    pl_batch_erase_user(batch, id_str(&f->other));
}
static void add_a_session(struct fixture *f, struct pl_batch *batch, const struct pl_id *key)
{
    (void)key;
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id);
    put_session(batch, &session);
}

static void changes_of_users_keys_and_limits_raise_the_version(void **state)
{
    struct fixture *f = *state;
    struct pl_store *other = fixture_join(f);
    struct pl_id key = pl_id_take(&f->seed, "key_");
    static const struct {
        void (*fill)(struct fixture *f, struct pl_batch *batch, const struct pl_id *key);
        bool raises;
    } steps[] = {
        {create_key, true},   {change_key, true}, {rotate_key, true},     {limit_key, true},
        {limit_user, true},   {use_key, false},   {expire_logins, false}, {make_user, true},
        {disable_user, true}, {erase_user, true}, {add_a_session, false}, {delete_key, true},
    };
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_user(batch, &(struct pl_user_row){
                                    .id = id_str(&f->user), .name = PL_STR("a"), .is_admin = true});
    pl_batch_create_user(batch,
                         &(struct pl_user_row){.id = id_str(&f->other), .name = PL_STR("b")});
    commit(f, batch);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (raises(f, other, steps[i].fill, &key) != steps[i].raises)
            fail_msg("step %zu", i);
    fixture_leave(f, other);
}

static void a_change_that_fails_raises_nothing(void **state)
{
    struct fixture *f = *state;
    int64_t before = version_of(f->store);
    struct pl_id none = pl_id_take(&f->seed, "key_");
    struct pl_batch *batch = pl_batch_create();
    change_key(f, batch, &none);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    assert_int_equal(version_of(f->store), before);
}

static void a_renewal_tells_the_version(void **state)
{
    struct fixture *f = *state;
    struct pl_node_about about = {.name = PL_STR("a"), .build = PL_STR("1"), .address = PL_STR("")};
    struct pl_node_line *line = NULL;
    struct pl_node_view view = {0};
    assert_int_equal(pl_node_line_open(f->store, &about, &line, NULL), PL_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            pl_node_line_renew(line, &(struct pl_node_load){0}, &f->arena, &view, NULL), PL_OK);
        assert_int_equal(view.auth_version, version_of(f->store));
        assert_int_equal(view.ext_version, 1);
        struct pl_batch *batch = pl_batch_create();
        make_user(f, batch, NULL);
        commit(f, batch);
    }
    pl_node_line_close(line);
}

/* --- taken once --------------------------------------------------------------------------------- */

enum { N_TAKERS = 50 };

struct taker {
    struct pl_store *store;
    const uint8_t *hash; /* NULL: the code */
    struct pl_str code;
    enum pl_status status;
    char user[PL_ID_MAX];
};

static void *take(void *ctx)
{
    struct taker *taker = ctx;
    struct pl_arena arena;
    struct pl_ticket_row row = {0};
    pl_arena_init(&arena, 0);
    taker->status = taker->hash
                        ? pl_store_ticket_take(taker->store, &arena, taker->hash, &row, NULL)
                        : pl_store_login_code_take(taker->store, taker->code, NULL);
    if (taker->status == PL_OK && taker->hash)
        snprintf(taker->user, sizeof taker->user, "%.*s", (int)row.user_id.len, row.user_id.ptr);
    pl_arena_deinit(&arena);
    return NULL;
}

/* Fifty attempts at once over two stores; returns the number of successes. */
static size_t race(struct fixture *f, struct pl_store *other, const uint8_t *hash,
                   struct pl_str code, struct taker *ret_winner)
{
    struct taker takers[N_TAKERS];
    pthread_t threads[N_TAKERS];
    size_t n = 0;
    for (size_t i = 0; i < N_TAKERS; i++) {
        takers[i] = (struct taker){.store = i % 2 ? other : f->store, .hash = hash, .code = code};
        assert_int_equal(pthread_create(&threads[i], NULL, take, &takers[i]), 0);
    }
    for (size_t i = 0; i < N_TAKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(takers[i].status == PL_OK || takers[i].status == PL_NOT_FOUND);
        if (takers[i].status == PL_OK)
            *ret_winner = takers[i], n++;
    }
    return n;
}

static struct pl_ticket_row make_ticket(struct fixture *f, unsigned char number)
{
    struct pl_ticket_row ticket = {.user_id = id_str(&f->user), .key_id = PL_STR("key_a")};
    memset(ticket.hash, number, sizeof ticket.hash);
    return ticket;
}

static void put_ticket(struct pl_store *store, const struct pl_ticket_row *ticket)
{
    assert_int_equal(pl_store_ticket_put(store, ticket, 30000, 64, NULL), PL_OK);
}

static enum pl_status take_ticket(struct fixture *f, struct pl_store *store, unsigned char number)
{
    struct pl_ticket_row ticket = make_ticket(f, number), found;
    return pl_store_ticket_take(store, &f->arena, ticket.hash, &found, NULL);
}

static void a_ticket_is_taken_once_of_fifty(void **state)
{
    struct fixture *f = *state;
    struct pl_store *other = fixture_join(f);
    for (unsigned char i = 1; i <= 4; i++) {
        struct pl_ticket_row ticket = make_ticket(f, i);
        struct taker winner = {0};
        put_ticket(i % 2 ? f->store : other, &ticket);
        assert_int_equal(race(f, other, ticket.hash, (struct pl_str){0}, &winner), 1);
        assert_string_equal(winner.user, f->user.text);
        assert_int_equal(take_ticket(f, f->store, i), PL_NOT_FOUND);
    }
    fixture_leave(f, other);
}

static void a_ticket_ends_and_makes_room_for_newer_ones(void **state)
{
    struct fixture *f = *state;
    struct pl_ticket_row ticket = make_ticket(f, 1);
    assert_int_equal(pl_store_ticket_put(f->store, &ticket, -1, 64, NULL), PL_OK);
    assert_int_equal(take_ticket(f, f->store, 1), PL_NOT_FOUND);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_sweep_shared(batch);
    commit(f, batch);
    assert_int_equal(number_beside(f, "SELECT count(*) FROM tickets"), 0);
    for (unsigned char i = 1; i <= 70; i++) {
        ticket = make_ticket(f, i);
        put_ticket(f->store, &ticket);
    }
    assert_int_equal(number_beside(f, "SELECT count(*) FROM tickets"), 64);
    assert_int_equal(take_ticket(f, f->store, 6), PL_NOT_FOUND);
    assert_int_equal(take_ticket(f, f->store, 7), PL_OK);
    assert_int_equal(take_ticket(f, f->store, 70), PL_OK);
}

static void all_nodes_have_one_code_which_is_taken_once(void **state)
{
    struct fixture *f = *state;
    struct pl_store *other = fixture_join(f);
    struct pl_str code = {0};
    int64_t lasts_ms = 0;
    struct taker winner;
    assert_int_equal(pl_store_login_code_put(f->store, PL_STR("first"), 60000, NULL), PL_OK);
    assert_int_equal(pl_store_login_code_put(other, PL_STR("second"), 3600000, NULL), PL_OK);
    assert_int_equal(pl_store_login_code_get(other, &f->arena, &code, &lasts_ms, NULL), PL_OK);
    assert_str(code, PL_STR("first"));
    assert_true(lasts_ms > 60000 && lasts_ms <= 3600000);
    assert_int_equal(pl_store_login_code_take(other, PL_STR("second"), NULL), PL_NOT_FOUND);
    assert_int_equal(race(f, other, NULL, PL_STR("first"), &winner), 1);
    assert_int_equal(pl_store_login_code_get(other, &f->arena, &code, &lasts_ms, NULL),
                     PL_NOT_FOUND);
    fixture_leave(f, other);
}

static void the_code_ends_with_the_first_key_of_an_administrator(void **state)
{
    struct fixture *f = *state;
    struct pl_id key = pl_id_take(&f->seed, "key_");
    assert_int_equal(pl_store_login_code_put(f->store, PL_STR("code"), 60000, NULL), PL_OK);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_user(batch, &(struct pl_user_row){
                                    .id = id_str(&f->user), .name = PL_STR("a"), .is_admin = true});
    create_key(f, batch, &key);
    commit(f, batch);
    assert_int_equal(pl_store_login_code_take(f->store, PL_STR("code"), NULL), PL_NOT_FOUND);
}

static void a_store_of_one_process_keeps_no_tickets(void **state)
{
    struct fixture *f = *state;
    struct pl_ticket_row ticket = make_ticket(f, 1), found;
    struct pl_grant_line *line = NULL;
    assert_false(pl_store_is_shared(f->store));
    assert_int_equal(pl_store_ticket_put(f->store, &ticket, 1, 1, NULL), PL_INVALID);
    assert_int_equal(pl_store_ticket_take(f->store, &f->arena, ticket.hash, &found, NULL),
                     PL_INVALID);
    assert_int_equal(pl_store_login_code_put(f->store, PL_STR("code"), 1, NULL), PL_INVALID);
    assert_int_equal(pl_store_login_code_take(f->store, PL_STR("code"), NULL), PL_INVALID);
    assert_int_equal(pl_grant_line_open(f->store, &line, NULL), PL_INVALID);
}

/* --- grants ------------------------------------------------------------------------------------- */

enum { N_NODES = 3 };

struct asker {
    struct pl_grant_line *line;
    int64_t limit, size, n_given;
    bool has_failed;
};

/* Repeats until the minute is used up. */
static void *ask_all(void *ctx)
{
    struct asker *asker = ctx;
    struct pl_grant_ask ask = {
        .id = PL_STR("key_a"), .kind = "rpm", .limit = asker->limit, .size = asker->size};
    int64_t given = 1, lasts_ms = 0;
    while (given && !asker->has_failed) {
        asker->has_failed =
            pl_grant_line_take(asker->line, &ask, &given, &lasts_ms, NULL) != PL_OK || given < 0 ||
            given > asker->size || lasts_ms < 1 || lasts_ms > 60000;
        asker->n_given += given;
    }
    return NULL;
}

/* The row holds the granted amount, also if a minute begins in between. */
static void grants_of_a_minute_are_the_limit_and_no_more(void **state)
{
    struct fixture *f = *state;
    static const int64_t cases[][2] = {{5, 1}, {100, 3}, {7, 10}, {1, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct pl_store *stores[N_NODES];
        struct asker askers[N_NODES];
        pthread_t threads[N_NODES];
        int64_t n_given = 0;
        run_sql(f, "DELETE FROM key_grants");
        for (size_t i = 0; i < N_NODES; i++) {
            stores[i] = fixture_join(f);
            askers[i] = (struct asker){.limit = cases[c][0], .size = cases[c][1]};
            assert_int_equal(pl_grant_line_open(stores[i], &askers[i].line, NULL), PL_OK);
        }
        for (size_t i = 0; i < N_NODES; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
        for (size_t i = 0; i < N_NODES; i++) {
            pthread_join(threads[i], NULL);
            assert_false(askers[i].has_failed);
            n_given += askers[i].n_given;
            pl_grant_line_close(askers[i].line);
            fixture_leave(f, stores[i]);
        }
        assert_int_equal(number_beside(f, "SELECT sum(taken)::bigint FROM key_grants"), n_given);
        assert_int_equal(number_beside(f, "SELECT max(taken) FROM key_grants"), cases[c][0]);
    }
}

/* --- records of a node that is gone -------------------------------------------------------------- */

static struct pl_id add_run(struct fixture *f, const struct pl_id *task, int64_t due_ms)
{
    struct pl_id id = pl_id_take(&f->seed, "run_");
    struct pl_task_run_row run = {.id = id_str(&id),
                                  .task_id = id_str(task),
                                  .due_ms = due_ms,
                                  .triggered_ms = 1,
                                  .status = PL_STR("running")};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_run(batch, &run);
    commit(f, batch);
    return id;
}

static struct pl_str status_of(struct fixture *f, const struct pl_id *task)
{
    struct pl_task_run_query query = {.task_id = id_str(task),
                                      .status = PL_STR(""),
                                      .due_after_ms = -1,
                                      .due_before_ms = INT64_MAX,
                                      .limit = 10};
    struct pl_task_run_page page;
    assert_int_equal(pl_store_run_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    assert_int_equal(page.n_items, 1);
    return page.items[0].status;
}

static struct pl_id add_task(struct fixture *f)
{
    struct pl_id id = pl_id_take(&f->seed, "task_");
    struct pl_task_row task = {.id = id_str(&id),
                               .user_id = id_str(&f->user),
                               .title = PL_STR("t"),
                               .prompt = PL_STR("p"),
                               .cron = PL_STR("* * * * *"),
                               .timezone = PL_STR("UTC"),
                               .overlap = PL_STR("skip"),
                               .enabled = true,
                               .revision = 1};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_task(batch, &task);
    commit(f, batch);
    return id;
}

static void add_call(struct fixture *f)
{
    struct pl_id id = pl_id_take(&f->seed, "call_");
    struct pl_batch *batch = pl_batch_create();
    pl_batch_open_call(batch, &(struct pl_open_call){.id = id_str(&id),
                                                     .user_id = id_str(&f->user),
                                                     .key_id = PL_STR("key_a"),
                                                     .model = PL_STR("corp/big"),
                                                     .day = 7,
                                                     .tokens = 10,
                                                     .cost_micro = 100});
    commit(f, batch);
}

/* Live runs and calls stay, at a start (settle_runs, count_lost_calls) and at a take-over. */
static void runs_and_calls_are_ended_with_their_node_and_not_before(void **state)
{
    struct fixture *f = *state;
    struct pl_store *other = fixture_join(f);
    struct pl_node_about about = {.name = PL_STR("a"), .build = PL_STR("1"), .address = PL_STR("")};
    struct pl_node_line *line = NULL;
    struct pl_id task = add_task(f);
    add_run(f, &task, 5000);
    add_call(f);
    assert_int_equal(pl_node_line_open(f->store, &about, &line, NULL), PL_OK);
    struct pl_node_id writer = *pl_node_line_writer(line);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_settle_runs(batch, PL_STR("ended"), 9000);
    pl_batch_count_lost_calls(batch);
    assert_int_equal(pl_store_commit(other, batch, NULL), PL_OK);
    assert_int_equal(pl_store_task_runs_fail_of(other, &writer, PL_STR("ended"), 9000, NULL),
                     PL_OK);
    assert_str(status_of(f, &task), PL_STR("running"));
    assert_int_equal(number_beside(f, "SELECT count(*) FROM open_calls"), 1);
    assert_int_equal(pl_node_line_become(line, PL_NODE_STATE_GONE, NULL), PL_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pl_store_task_runs_fail_of(other, &writer, PL_STR("ended"), 9000, NULL),
                         PL_OK);
        assert_str(status_of(f, &task), PL_STR("failed"));
        assert_int_equal(number_beside(f, "SELECT count(*) FROM open_calls"), 0);
        assert_int_equal(number_beside(f, "SELECT sum(n_aborted)::bigint FROM usage_days"), 1);
    }
    pl_node_line_close(line);
    fixture_leave(f, other);
}

/* Two that begin a queued run, and two that adopt a run of a node that is gone: only one succeeds.
 * */
struct starter {
    struct pl_store *store;
    struct pl_task_run_row row;
    bool adopts;
    enum pl_status status;
};

static void *start(void *ctx)
{
    struct starter *starter = ctx;
    struct pl_batch *batch = pl_batch_create();
    if (starter->adopts)
        pl_batch_adopt_run(batch, starter->row.id);
    else
        pl_batch_start_run(batch, &starter->row);
    starter->status = pl_store_commit(starter->store, batch, NULL);
    return NULL;
}

static size_t n_started(struct fixture *f, struct pl_store *other, const struct pl_id *task,
                        const struct pl_id *run, bool adopts)
{
    struct starter starters[8];
    pthread_t threads[8];
    size_t n = 0;
    for (size_t i = 0; i < 8; i++) {
        starters[i] = (struct starter){
            .store = i % 2 ? other : f->store,
            .row = {.id = id_str(run), .task_id = id_str(task), .status = PL_STR("running")},
            .adopts = adopts};
        assert_int_equal(pthread_create(&threads[i], NULL, start, &starters[i]), 0);
    }
    for (size_t i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_true(starters[i].status == PL_OK || starters[i].status == PL_NOT_FOUND);
        n += starters[i].status == PL_OK;
    }
    return n;
}

static void a_queued_run_begins_once(void **state)
{
    struct fixture *f = *state;
    struct pl_store *other = fixture_join(f);
    struct pl_id task = add_task(f);
    struct pl_id id = pl_id_take(&f->seed, "run_");
    struct pl_task_run_row run = {.id = id_str(&id),
                                  .task_id = id_str(&task),
                                  .due_ms = 5000,
                                  .triggered_ms = 1,
                                  .status = PL_STR("queued")};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_run(batch, &run);
    commit(f, batch);
    assert_int_equal(n_started(f, other, &task, &id, false), 1);
    fixture_leave(f, other);
}

static void a_run_that_was_left_is_adopted_once(void **state)
{
    struct fixture *f = *state;
    struct pl_id task = add_task(f), run = add_run(f, &task, 5000);
    struct pl_store *other = fixture_join(f);
    assert_int_equal(n_started(f, other, &task, &run, true), 0);
    fixture_leave(f, other);
    fixture_outlive(f);
    other = fixture_join(f);
    assert_int_equal(n_started(f, other, &task, &run, true), 1);
    fixture_leave(f, other);
}

/* --- a request that two nodes have --------------------------------------------------------------- */

static void the_loser_of_a_claim_finds_the_winner(void **state)
{
    struct fixture *f = *state;
    struct pl_store *other = fixture_join(f);
    struct pl_idempotency_row row = {.user_id = id_str(&f->user),
                                     .key = PL_STR("k"),
                                     .request_hash = PL_STR("01234567890123456789012345678901"),
                                     .answer = PL_STR("seed"),
                                     .created_ms = 1},
                              found;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_claim_idempotency(batch, &row);
    commit(f, batch);
    batch = pl_batch_create();
    pl_batch_claim_idempotency(batch, &row);
    assert_int_equal(pl_store_commit(other, batch, NULL), PL_CONFLICT);
    assert_int_equal(pl_store_idempotency_get(other, &f->arena, row.user_id, row.key, &found, NULL),
                     PL_OK);
    assert_true(found.is_elsewhere && !found.status);
    assert_int_equal(
        pl_store_idempotency_get(f->store, &f->arena, row.user_id, row.key, &found, NULL), PL_OK);
    assert_false(found.is_elsewhere);
    fixture_leave(f, other);
    fixture_outlive(f);
    assert_int_equal(
        pl_store_idempotency_get(f->store, &f->arena, row.user_id, row.key, &found, NULL), PL_OK);
    assert_false(found.is_elsewhere);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(changes_of_users_keys_and_limits_raise_the_version),
    ON_STORE(a_change_that_fails_raises_nothing),
    ON_SOME("postgres", a_renewal_tells_the_version),
    ON_SOME("postgres", a_ticket_is_taken_once_of_fifty),
    ON_SOME("postgres", a_ticket_ends_and_makes_room_for_newer_ones),
    ON_SOME("postgres", all_nodes_have_one_code_which_is_taken_once),
    ON_SOME("postgres", the_code_ends_with_the_first_key_of_an_administrator),
    ON_SOME("memory sqlite", a_store_of_one_process_keeps_no_tickets),
    ON_SOME("postgres", grants_of_a_minute_are_the_limit_and_no_more),
    ON_STORE(a_queued_run_begins_once),
    ON_SOME("postgres", a_run_that_was_left_is_adopted_once),
    ON_SOME("postgres", the_loser_of_a_claim_finds_the_winner),
    ON_SOME("postgres", runs_and_calls_are_ended_with_their_node_and_not_before),
};
const struct suite_part shared_part = {tests, sizeof tests / sizeof *tests};
