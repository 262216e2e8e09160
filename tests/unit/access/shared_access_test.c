/* Two nodes in one process: each has its own store of one PostgreSQL, and its own table of keys.
 * The bell between them is a function call, or nothing. */
#include "access/audit.h"
#include "access/auth_refresh.h"
#include "access/key_table.h"
#include "access/meter/meter.h"
#include "contract/suite.h"
#include "io/clock.h"
#include "store/audit.h"
#include "store/node/shared.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_TAKERS = 50 };

struct pair {
    struct fixture *f;
    struct pl_store *stores[2];
    struct pl_auth *auths[2];
    struct pl_id user; /* the administrator created at the first start */
    _Atomic(int) n_rung;
};

static void ring(void *ctx)
{
    ((struct pair *)ctx)->n_rung++;
}

static int open_pair(void **state)
{
    struct pair *pair = calloc(1, sizeof *pair);
    assert_non_null(pair);
    pair->f = fixture_create("postgres");
    pair->stores[0] = pair->f->store;
    pair->stores[1] = fixture_join(pair->f);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pl_auth_create(pair->stores[i], &pair->auths[i], NULL), PL_OK);
    struct pl_caller caller;
    assert_int_equal(pl_auth_local_caller(pair->auths[1], &pair->f->arena, &caller), PL_OK);
    snprintf(pair->user.text, sizeof pair->user.text, "%.*s", (int)caller.user_id.len,
             caller.user_id.ptr);
    pl_auth_watch(pair->auths[0], ring, pair);
    *state = pair;
    return 0;
}

static int close_pair(void **state)
{
    struct pair *pair = *state;
    for (int i = 0; i < 2; i++)
        pl_auth_destroy(pair->auths[i]);
    fixture_leave(pair->f, pair->stores[1]);
    fixture_destroy(pair->f);
    free(pair);
    return 0;
}

struct made {
    struct pl_id id;
    char plain[PL_KEY_SIZE + 1];
    uint8_t hash[32];
};

static struct pl_key_row row_of(struct pair *pair, const struct made *made)
{
    return (struct pl_key_row){.id = id_str(&made->id),
                               .user_id = id_str(&pair->user),
                               .name = PL_STR("k"),
                               .hash = {(const char *)made->hash, 32},
                               .last4 = PL_STR("wxyz"),
                               .scope = PL_STR("all"),
                               .is_admin = true,
                               .created_ms = 1};
}

static void write_batch(struct pl_store *store, struct pl_batch *batch)
{
    assert_int_equal(pl_store_commit(store, batch, NULL), PL_OK);
}

/* As the routes of the first node do: stores the key, then adds it to the node's table. */
static struct made make_key(struct pair *pair)
{
    struct made made = {.id = pl_id_take(&pair->f->seed, "key_")};
    assert_true(pl_key_make(made.plain, made.hash));
    struct pl_key_row row = row_of(pair, &made);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_key(batch, &row);
    write_batch(pair->stores[0], batch);
    assert_int_equal(pl_auth_add_key(pair->auths[0], &row), PL_OK);
    return made;
}

static void revoke(struct pair *pair, const struct made *made)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_delete_key(batch, id_str(&pair->user), id_str(&made->id));
    write_batch(pair->stores[0], batch);
    pl_auth_remove_key(pair->auths[0], id_str(&pair->user), id_str(&made->id));
}

static bool opens(struct pair *pair, int node, const struct made *made)
{
    struct pl_caller caller;
    const char *why;
    return pl_auth_check_key(pair->auths[node], &pair->f->arena, pl_str_of(made->plain), false,
                             1000, &caller, &why) == PL_OK;
}

static int64_t version_of(struct pair *pair)
{
    int64_t version = 0;
    assert_int_equal(pl_store_auth_version(pair->stores[1], &version, NULL), PL_OK);
    return version;
}

static void refresh(struct pair *pair, int node)
{
    struct pl_error err = {0};
    if (pl_auth_refresh(pair->auths[node], NULL, &err) != PL_OK)
        fail_msg("%s", err.message);
}

struct beginner {
    struct pl_store *store;
    struct pl_auth *auth;
    enum pl_status status;
};

static void *begin(void *ctx)
{
    struct beginner *beginner = ctx;
    beginner->status = pl_auth_create(beginner->store, &beginner->auth, NULL);
    return NULL;
}

static void count_user(void *ctx, const struct pl_auth_user *user)
{
    (void)user;
    ++*(int *)ctx;
}

static void nodes_that_start_at_once_have_one_first_user(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct fixture *f = fixture_create("postgres");
        struct beginner beginners[4];
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            beginners[i] = (struct beginner){.store = fixture_join(f)};
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, begin, &beginners[i]), 0);
        for (int i = 0; i < 4; i++) {
            int n = 0;
            pthread_join(threads[i], NULL);
            assert_int_equal(beginners[i].status, PL_OK);
            pl_auth_each_user(beginners[i].auth, count_user, &n);
            assert_int_equal(n, 1);
            pl_auth_destroy(beginners[i].auth);
            fixture_leave(f, beginners[i].store);
        }
        fixture_destroy(f);
    }
}

/* --- keys ------------------------------------------------------------------------------------- */

static void a_new_key_is_found_by_a_look(void **state)
{
    struct pair *pair = *state;
    struct made made = make_key(pair);
    assert_true(opens(pair, 0, &made));
    assert_false(opens(pair, 1, &made));
    assert_true(pl_auth_may_look(pair->auths[1], pl_str_of(made.plain), 1000));
    refresh(pair, 1);
    assert_true(opens(pair, 1, &made));
    assert_false(pl_auth_may_look(pair->auths[1], pl_str_of(made.plain), 1000));
}

static void a_revoked_key_is_refused_and_told_of(void **state)
{
    struct pair *pair = *state;
    struct made kept = make_key(pair), made = make_key(pair);
    struct pl_auth_news news;
    refresh(pair, 1);
    assert_false(pl_auth_take_news(pair->auths[1], &news));
    revoke(pair, &made);
    assert_true(opens(pair, 1, &made));
    assert_true(pl_auth_is_behind(pair->auths[1], version_of(pair)));
    refresh(pair, 1);
    assert_false(opens(pair, 1, &made));
    assert_true(opens(pair, 1, &kept));
    /* The news stay until they are taken, however often the keys are read. */
    refresh(pair, 1);
    assert_true(pl_auth_is_behind(pair->auths[1], version_of(pair)));
    assert_true(pl_auth_take_news(pair->auths[1], &news));
    assert_int_equal(news.kind, PL_AUTH_KEY_GONE);
    assert_string_equal(news.id, made.id.text);
    assert_false(pl_auth_take_news(pair->auths[1], &news));
}

static void a_rotated_key_has_both_secrets_everywhere(void **state)
{
    struct pair *pair = *state;
    struct made made = make_key(pair), next = {.id = made.id};
    assert_true(pl_key_make(next.plain, next.hash));
    struct pl_key_row row = row_of(pair, &next);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_rotate_key(batch, &row, 5000);
    write_batch(pair->stores[0], batch);
    refresh(pair, 1);
    assert_true(opens(pair, 1, &made) && opens(pair, 1, &next));
    struct pl_caller caller;
    const char *why;
    assert_int_equal(pl_auth_check_key(pair->auths[1], &pair->f->arena, pl_str_of(made.plain),
                                       false, 5000, &caller, &why),
                     PL_NOT_FOUND);
}

static void a_disabled_user_and_an_erased_one_are_told_of(void **state)
{
    struct pair *pair = *state;
    struct pl_auth_news news;
    struct pl_id ids[2];
    struct pl_batch *batch = pl_batch_create();
    for (int i = 0; i < 2; i++) {
        ids[i] = pl_id_take(&pair->f->seed, "user_");
        pl_batch_create_user(batch,
                             &(struct pl_user_row){.id = id_str(&ids[i]), .name = PL_STR("u")});
    }
    write_batch(pair->stores[0], batch);
    refresh(pair, 1);
    assert_true(pl_auth_is_active(pair->auths[1], id_str(&ids[0])));
    batch = pl_batch_create();
    pl_batch_change_user(
        batch, &(struct pl_user_change){.id = id_str(&ids[0]), .is_admin = -1, .disabled_ms = 7});
    pl_batch_erase_user(batch, id_str(&ids[1]));
    write_batch(pair->stores[0], batch);
    refresh(pair, 1);
    for (int i = 0; i < 2; i++) {
        assert_false(pl_auth_is_active(pair->auths[1], id_str(&ids[i])));
        assert_true(pl_auth_take_news(pair->auths[1], &news));
        bool is_first = strcmp(news.id, ids[0].text) == 0;
        assert_string_equal(news.id, ids[!is_first].text);
        assert_int_equal(news.kind, is_first ? PL_AUTH_USER_DISABLED : PL_AUTH_USER_GONE);
    }
    assert_false(pl_auth_take_news(pair->auths[1], &news));
}

static void a_node_that_has_not_read_the_limits_is_behind(void **state)
{
    struct pair *pair = *state;
    refresh(pair, 1);
    /* The limits were not read yet, so the node is behind and reads them once. */
    assert_true(pl_auth_is_behind(pair->auths[1], version_of(pair)));
    assert_true(pl_auth_is_behind(pair->auths[1], PL_AUTH_VERSION_UNKNOWN));
}

static enum pl_status read_nothing(void *ctx, struct pl_error *err)
{
    (void)err;
    ++*(int *)ctx;
    return PL_OK;
}

static void set_nothing(void *ctx)
{
    *(int *)ctx += 100;
}

static void what_hangs_on_keys_is_read_once_for_a_version(void **state)
{
    struct pair *pair = *state;
    int n = 0;
    struct pl_auth_more more = {read_nothing, set_nothing, &n};
    for (int i = 0; i < 3; i++)
        assert_int_equal(pl_auth_refresh(pair->auths[1], &more, NULL), PL_OK);
    assert_int_equal(n, 101);
    assert_false(pl_auth_is_behind(pair->auths[1], version_of(pair)));
    (void)make_key(pair);
    /* A refresh of the keys alone does not hide that the limits must be read. */
    refresh(pair, 1);
    assert_true(pl_auth_is_behind(pair->auths[1], version_of(pair)));
    assert_int_equal(pl_auth_refresh(pair->auths[1], &more, NULL), PL_OK);
    assert_int_equal(n, 202);
    assert_false(pl_auth_is_behind(pair->auths[1], version_of(pair)));
}

static void every_change_rings(void **state)
{
    struct pair *pair = *state;
    struct made made = make_key(pair);
    assert_int_equal(pair->n_rung, 1);
    revoke(pair, &made);
    assert_int_equal(pair->n_rung, 2);
    refresh(pair, 0);
    assert_int_equal(pair->n_rung, 2);
}

static void ten_looks_a_second_are_enough(void **state)
{
    struct pair *pair = *state;
    struct made made = {0};
    int n = 0;
    assert_true(pl_key_make(made.plain, made.hash));
    for (int i = 0; i < 50; i++)
        n += pl_auth_may_look(pair->auths[1], pl_str_of(made.plain), 1000 + i);
    assert_int_equal(n, 10);
    assert_true(pl_auth_may_look(pair->auths[1], pl_str_of(made.plain), 2000));
    assert_false(pl_auth_may_look(pair->auths[1], PL_STR("sk-parley-v1-short"), 3000));
}

struct changing {
    struct pair *pair;
    _Atomic(bool) is_over;
};

static void *read_all_the_time(void *ctx)
{
    struct changing *changing = ctx;
    while (!changing->is_over)
        (void)pl_auth_refresh(changing->pair->auths[0], NULL, NULL);
    return NULL;
}

/* A node creates and revokes keys while it reads them: acknowledged changes stay. */
static void a_reading_undoes_no_change_that_was_made_meanwhile(void **state)
{
    struct pair *pair = *state;
    struct changing changing = {.pair = pair};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_all_the_time, &changing), 0);
    for (int i = 0; i < 60; i++) {
        struct made made = make_key(pair);
        bool was_open = opens(pair, 0, &made);
        revoke(pair, &made);
        bool is_open = opens(pair, 0, &made);
        if (!was_open || is_open) {
            changing.is_over = true;
            fail_msg("round %d: %d %d", i, was_open, is_open);
        }
    }
    changing.is_over = true;
    pthread_join(thread, NULL);
}

/* --- tickets and the code --------------------------------------------------------------------- */

struct taker {
    struct pair *pair;
    int node;
    const char *ticket; /* NULL: the code */
    bool has_it;
};

static void *take(void *ctx)
{
    struct taker *taker = ctx;
    struct pl_auth *auth = taker->pair->auths[taker->node];
    struct pl_arena arena;
    struct pl_caller caller;
    pl_arena_init(&arena, 0);
    taker->has_it =
        taker->ticket
            ? pl_auth_ticket_take(auth, &arena, pl_str_of(taker->ticket), 0, &caller) == PL_OK
            : pl_auth_take_first_code(auth, pl_str_of(pl_auth_first_code(auth)), 0);
    pl_arena_deinit(&arena);
    return NULL;
}

static size_t race(struct pair *pair, const char *ticket)
{
    struct taker takers[N_TAKERS];
    pthread_t threads[N_TAKERS];
    size_t n = 0;
    for (int i = 0; i < N_TAKERS; i++) {
        takers[i] = (struct taker){.pair = pair, .node = i % 2, .ticket = ticket};
        assert_int_equal(pthread_create(&threads[i], NULL, take, &takers[i]), 0);
    }
    for (int i = 0; i < N_TAKERS; i++) {
        pthread_join(threads[i], NULL);
        n += takers[i].has_it;
    }
    return n;
}

static void a_ticket_opens_one_socket_of_fifty_on_any_node(void **state)
{
    struct pair *pair = *state;
    struct made made = make_key(pair);
    struct pl_caller caller = {.user_id = id_str(&pair->user), .key_id = id_str(&made.id)};
    char ticket[PL_TICKET_SIZE + 1];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pl_auth_ticket_make(pair->auths[0], &caller, 0, ticket), PL_OK);
        assert_int_equal(race(pair, ticket), 1);
    }
}

static void a_ticket_of_a_key_that_was_revoked_opens_nothing(void **state)
{
    struct pair *pair = *state;
    struct made made = make_key(pair);
    struct pl_caller caller = {.user_id = id_str(&pair->user), .key_id = id_str(&made.id)}, who;
    char ticket[PL_TICKET_SIZE + 1];
    refresh(pair, 1);
    assert_int_equal(pl_auth_ticket_make(pair->auths[0], &caller, 0, ticket), PL_OK);
    revoke(pair, &made);
    assert_int_equal(
        pl_auth_ticket_take(pair->auths[1], &pair->f->arena, pl_str_of(ticket), 0, &who),
        PL_NOT_FOUND);
}

static void nodes_have_one_code_and_it_is_taken_once(void **state)
{
    struct pair *pair = *state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pl_auth_share_first_code(pair->auths[i], NULL), PL_OK);
    const char *code = pl_auth_first_code(pair->auths[0]);
    assert_string_equal(code, pl_auth_first_code(pair->auths[1]));
    assert_false(pl_auth_take_first_code(pair->auths[1], PL_STR("wrong"), 0));
    assert_int_equal(race(pair, NULL), 1);
    pl_auth_return_first_code(pair->auths[1]);
    assert_true(pl_auth_take_first_code(pair->auths[0], pl_str_of(code), 0));
}

static void the_code_is_over_on_all_nodes_when_an_administrator_has_a_key(void **state)
{
    struct pair *pair = *state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pl_auth_share_first_code(pair->auths[i], NULL), PL_OK);
    assert_true(pl_auth_first_code_is_open(pair->auths[1], 1000));
    (void)make_key(pair);
    assert_false(pl_auth_take_first_code(pair->auths[1],
                                         pl_str_of(pl_auth_first_code(pair->auths[1])), 1000));
    refresh(pair, 1);
    assert_false(pl_auth_first_code_is_open(pair->auths[1], 1000));
}

/* --- the audit log ---------------------------------------------------------------------------- */

enum { N_ROWS = 150 };

struct auditor {
    struct pl_store *store;
    bool has_failed;
};

static void *audit(void *ctx)
{
    struct auditor *auditor = ctx;
    for (int i = 0; i < N_ROWS && !auditor->has_failed; i++) {
        struct pl_batch *batch = pl_batch_create();
        pl_batch_add_audit(batch, &(struct pl_audit_row){.at_ms = i,
                                                         .user_id = PL_STR("user_a"),
                                                         .action = PL_STR("key.create"),
                                                         .object = PL_STR("key_b")});
        auditor->has_failed = pl_store_commit(auditor->store, batch, NULL) != PL_OK;
        if (i % 5 == 0 && !auditor->has_failed)
            auditor->has_failed = pl_audit_seal(auditor->store, NULL) != PL_OK;
    }
    return NULL;
}

static void the_audit_log_of_two_writers_is_one_chain(void **state)
{
    struct pair *pair = *state;
    struct auditor auditors[2];
    pthread_t threads[2];
    struct pl_audit_check check;
    for (int i = 0; i < 2; i++) {
        auditors[i] = (struct auditor){.store = pair->stores[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, audit, &auditors[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_false(auditors[i].has_failed);
    }
    assert_int_equal(pl_audit_seal(pair->stores[0], NULL), PL_OK);
    assert_int_equal(pl_audit_verify(pair->stores[1], &check, NULL), PL_OK);
    if (check.broken_at)
        fail_msg("row %lld: %s", (long long)check.broken_at, check.what);
    assert_int_equal(check.n_rows, 2 * N_ROWS);
    assert_int_equal(check.n_unsealed, 0);
}

/* --- limits ----------------------------------------------------------------------------------- */

enum { N_METERS = 3 };

struct meters {
    struct fixture *f;
    struct pl_server servers[N_METERS];
    struct pl_meter *meters[N_METERS];
    struct pl_id key;
};

static int open_meters(void **state)
{
    struct meters *all = calloc(1, sizeof *all);
    assert_non_null(all);
    all->f = fixture_create("postgres");
    all->key = pl_id_take(&all->f->seed, "key_");
    for (int i = 0; i < N_METERS; i++) {
        all->servers[i] = (struct pl_server){.store = fixture_join(all->f)};
        assert_int_equal(pl_meter_create(&all->servers[i], &all->meters[i], NULL), PL_OK);
        pl_meter_hear_nodes(all->meters[i], N_METERS);
    }
    *state = all;
    return 0;
}

static int close_meters(void **state)
{
    struct meters *all = *state;
    for (int i = 0; i < N_METERS; i++) {
        pl_meter_destroy(all->meters[i]);
        fixture_leave(all->f, all->servers[i].store);
    }
    fixture_destroy(all->f);
    free(all);
    return 0;
}

static void limit_all(struct meters *all, struct pl_limits limits)
{
    limits.key_id = id_str(&all->key);
    limits.user_id = id_str(&all->f->user);
    for (int i = 0; i < N_METERS; i++)
        assert_int_equal(pl_meter_set_limits(all->meters[i], &limits, 0, 0, 1), PL_OK);
}

/* As a call does: fetches on a worker, begins on a loop. */
static bool begins(struct meters *all, int node, int64_t tokens, int64_t cost_micro,
                   struct pl_meter_call *call)
{
    struct pl_meter_refusal refusal;
    int64_t now_ms = pl_clock_unix_ms();
    struct pl_meter_ask ask = {.user_id = id_str(&all->f->user),
                               .key_id = id_str(&all->key),
                               .model = PL_STR("vendor/model"),
                               .tokens = tokens,
                               .cost_micro = cost_micro,
                               .now_ms = now_ms};
    assert_true(pl_meter_needs_fetch(all->meters[node], ask.user_id, ask.key_id));
    pl_meter_fetch(all->meters[node], ask.user_id, ask.key_id, tokens, now_ms);
    bool is_in = pl_meter_begin(all->meters[node], NULL, &ask, call, &refusal);
    assert_true(is_in || refusal.retry_after_s >= 1);
    return is_in;
}

static int64_t minute_now(void)
{
    return pl_clock_unix_ms() / 60000;
}

static void requests_a_minute_are_those_of_all_nodes(void **state)
{
    struct meters *all = *state;
    struct pl_meter_call call;
    int64_t n_in = 0, minute = 0, n_rounds = 0;
    limit_all(all, (struct pl_limits){.values = {[PL_LIMIT_RPM] = 5}});
    /* Again if the minute changed meanwhile. */
    do {
        run_sql(all->f, "DELETE FROM key_grants");
        minute = minute_now();
        n_in = 0;
        for (int i = 0; i < 30; i++)
            n_in += begins(all, i % N_METERS, 0, 0, &call);
    } while (minute_now() != minute && n_rounds++ < 3);
    assert_int_equal(n_in, 5);
}

static void nine_tenths_of_a_limit_can_be_used_by_any_node(void **state)
{
    struct meters *all = *state;
    struct pl_meter_call call;
    int64_t n_in = 0, minute = 0, n_rounds = 0;
    limit_all(all, (struct pl_limits){.values = {[PL_LIMIT_RPM] = 100}});
    do {
        run_sql(all->f, "DELETE FROM key_grants");
        minute = minute_now();
        /* Two nodes take one unit each and keep the rest of their grants; the third takes the
         * remainder. */
        n_in = begins(all, 1, 0, 0, &call) + begins(all, 2, 0, 0, &call);
        for (int i = 0; i < 200; i++)
            n_in += begins(all, 0, 0, 0, &call);
    } while (minute_now() != minute && n_rounds++ < 3);
    assert_in_range(n_in, 90, 100);
}

static void tokens_a_minute_are_those_of_all_nodes(void **state)
{
    struct meters *all = *state;
    struct pl_meter_call call;
    int64_t n_in = 0, minute = 0, n_rounds = 0;
    limit_all(all, (struct pl_limits){.values = {[PL_LIMIT_TPM] = 1000}});
    do {
        run_sql(all->f, "DELETE FROM key_grants");
        minute = minute_now();
        n_in = 0;
        for (int i = 0; i < 30; i++)
            n_in += begins(all, i % N_METERS, 100, 0, &call);
    } while (minute_now() != minute && n_rounds++ < 3);
    assert_in_range(n_in, 9, 12);
}

static void money_that_another_node_has_spent_is_seen(void **state)
{
    struct meters *all = *state;
    struct pl_meter_call call;
    limit_all(all, (struct pl_limits){.values = {[PL_LIMIT_BUDGET_DAY] = 1000}});
    assert_true(begins(all, 1, 0, 0, &call));
    struct pl_batch *batch = pl_batch_create();
    pl_batch_add_usage(batch, &(struct pl_usage_row){.user_id = id_str(&all->f->user),
                                                     .key_id = id_str(&all->key),
                                                     .model = PL_STR("vendor/model"),
                                                     .day = pl_meter_day(pl_clock_unix_ms()),
                                                     .n_requests = 1,
                                                     .cost_micro = 960});
    write_batch(all->servers[0].store, batch);
    assert_false(begins(all, 2, 0, 0, &call) && begins(all, 2, 0, 50, &call) &&
                 begins(all, 2, 0, 50, &call));
}

static void a_node_that_has_heard_of_nobody_yet_takes_grants_too(void **state)
{
    struct meters *all = *state;
    struct pl_meter_call call;
    int64_t n_in = 0, minute = 0, n_rounds = 0;
    /* A new meter: it does not know of the other nodes. */
    pl_meter_destroy(all->meters[2]);
    assert_int_equal(pl_meter_create(&all->servers[2], &all->meters[2], NULL), PL_OK);
    limit_all(all, (struct pl_limits){.values = {[PL_LIMIT_RPM] = 5}});
    do {
        run_sql(all->f, "DELETE FROM key_grants");
        minute = minute_now();
        n_in = 0;
        for (int i = 0; i < 30; i++)
            n_in += begins(all, i % N_METERS, 0, 0, &call);
    } while (minute_now() != minute && n_rounds++ < 3);
    assert_int_equal(n_in, 5);
}

static void a_server_without_nodes_asks_nobody(void **state)
{
    struct meters *all = *state;
    limit_all(all, (struct pl_limits){.values = {[PL_LIMIT_RPM] = 5}});
    pl_meter_hear_nodes(all->meters[0], 0);
    assert_false(pl_meter_needs_fetch(all->meters[0], id_str(&all->f->user), id_str(&all->key)));
    pl_meter_fetch(all->meters[0], id_str(&all->f->user), id_str(&all->key), 1, 1);
    struct pl_meter_ask ask = {.user_id = id_str(&all->f->user),
                               .key_id = id_str(&all->key),
                               .model = PL_STR("vendor/model"),
                               .now_ms = 1000};
    struct pl_meter_call call;
    struct pl_meter_refusal refusal;
    for (int i = 0; i < 6; i++)
        assert_int_equal(pl_meter_begin(all->meters[0], NULL, &ask, &call, &refusal), i < 5);
}

#define ON_METERS(test) cmocka_unit_test_setup_teardown(test, open_meters, close_meters)
#define ON_PAIR(test)   cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_start_at_once_have_one_first_user),
        ON_PAIR(a_new_key_is_found_by_a_look),
        ON_PAIR(a_revoked_key_is_refused_and_told_of),
        ON_PAIR(a_rotated_key_has_both_secrets_everywhere),
        ON_PAIR(a_disabled_user_and_an_erased_one_are_told_of),
        ON_PAIR(a_node_that_has_not_read_the_limits_is_behind),
        ON_PAIR(what_hangs_on_keys_is_read_once_for_a_version),
        ON_PAIR(every_change_rings),
        ON_PAIR(ten_looks_a_second_are_enough),
        ON_PAIR(a_reading_undoes_no_change_that_was_made_meanwhile),
        ON_PAIR(a_ticket_opens_one_socket_of_fifty_on_any_node),
        ON_PAIR(a_ticket_of_a_key_that_was_revoked_opens_nothing),
        ON_PAIR(nodes_have_one_code_and_it_is_taken_once),
        ON_PAIR(the_code_is_over_on_all_nodes_when_an_administrator_has_a_key),
        ON_PAIR(the_audit_log_of_two_writers_is_one_chain),
        ON_METERS(requests_a_minute_are_those_of_all_nodes),
        ON_METERS(nine_tenths_of_a_limit_can_be_used_by_any_node),
        ON_METERS(tokens_a_minute_are_those_of_all_nodes),
        ON_METERS(money_that_another_node_has_spent_is_seen),
        ON_METERS(a_node_that_has_heard_of_nobody_yet_takes_grants_too),
        ON_METERS(a_server_without_nodes_asks_nobody),
    };
    const char *reason = getenv("PARLEY_TEST_POSTGRES_SKIP");
    if (!getenv("PARLEY_TEST_POSTGRES")) {
        printf("1..0 # SKIP %s\n",
               reason ? reason : "no server: run with tests/contract/with_postgres");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
