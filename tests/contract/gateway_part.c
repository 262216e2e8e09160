/* The contract: usage, limits of keys, answers that a later request can continue. */
#include "contract/suite.h"

#include "store/audit.h"
#include "store/gateway.h"

static void add(struct fixture *f, const struct pl_id *user, const char *key, const char *model,
                int64_t day, int64_t tokens)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_add_usage(batch, &(struct pl_usage_row){.user_id = id_str(user),
                                                     .key_id = str_of(key),
                                                     .model = str_of(model),
                                                     .day = day,
                                                     .n_requests = 1,
                                                     .input_tokens = tokens,
                                                     .output_tokens = 2 * tokens,
                                                     .cached_tokens = 3,
                                                     .cost_micro = 10 * tokens});
    commit(f, batch);
}

static size_t list(struct fixture *f, enum pl_usage_group group, struct pl_usage_row **ret_rows)
{
    struct pl_usage_page page;
    struct pl_usage_query query = {
        .user_id = id_str(&f->user), .from_day = 10, .to_day = 12, .group = group, .limit = 100};
    assert_int_equal(pl_store_usage_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    assert_false(page.has_more);
    *ret_rows = page.rows;
    return page.n_rows;
}

static void fill(struct fixture *f)
{
    add(f, &f->user, "key_a", "m/one", 10, 1);
    add(f, &f->user, "key_a", "m/one", 10, 2);
    add(f, &f->user, "key_a", "m/two", 11, 4);
    add(f, &f->user, NULL, "m/one", 12, 8);
    add(f, &f->user, "key_a", "m/one", 13, 100);
    add(f, &f->other, "key_a", "m/one", 10, 1000);
}

static void usage_adds_up_and_is_told_by_key_model_or_day(void **state)
{
    struct fixture *f = *state;
    struct pl_usage_row *rows;
    fill(f);
    assert_int_equal(list(f, PL_USAGE_BY_KEY, &rows), 2);
    assert_int_equal(rows[0].key_id.len, 0);
    assert_int_equal(rows[0].input_tokens, 8);
    assert_int_equal(rows[1].n_requests, 3);
    assert_int_equal(rows[1].output_tokens, 14);
    assert_int_equal(list(f, PL_USAGE_BY_MODEL, &rows), 2);
    assert_str(rows[0].model, PL_STR("m/one"));
    assert_int_equal(rows[0].input_tokens, 11);
    assert_int_equal(rows[0].cached_tokens, 9);
    assert_int_equal(rows[0].cost_micro, 110);
    assert_int_equal(list(f, PL_USAGE_BY_DAY, &rows), 3);
    assert_int_equal(rows[0].day, 10);
    assert_int_equal(rows[0].input_tokens, 3);
    assert_int_equal(rows[2].day, 12);
}

/* Page by page, each item once; concurrent inserts do not shift the pages. */
static void usage_is_told_page_by_page(void **state)
{
    struct fixture *f = *state;
    static const size_t n_items[] = {
        [PL_USAGE_BY_KEY] = 2, [PL_USAGE_BY_MODEL] = 2, [PL_USAGE_BY_DAY] = 3};
    fill(f);
    for (enum pl_usage_group group = PL_USAGE_BY_KEY; group <= PL_USAGE_BY_DAY; group++) {
        struct pl_usage_row *all;
        struct pl_usage_page page = {.has_more = true};
        struct pl_usage_query query = {
            .user_id = id_str(&f->user), .from_day = 10, .to_day = 12, .group = group, .limit = 1};
        assert_int_equal(list(f, group, &all), n_items[group]);
        for (size_t i = 0; i < n_items[group]; i++) {
            assert_true(page.has_more);
            assert_int_equal(pl_store_usage_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
            assert_int_equal(page.n_rows, 1);
            assert_str(page.rows[0].key_id, all[i].key_id);
            assert_str(page.rows[0].model, all[i].model);
            assert_int_equal(page.rows[0].day, all[i].day);
            assert_int_equal(page.rows[0].input_tokens, all[i].input_tokens);
            query.after = &page.rows[0];
        }
        assert_false(page.has_more);
    }
}

static void what_a_key_has_spent_is_counted_from_a_day_on(void **state)
{
    struct fixture *f = *state;
    int64_t micro = -1;
    fill(f);
    assert_int_equal(
        pl_store_usage_spent(f->store, id_str(&f->user), PL_STR("key_a"), 11, &micro, NULL), PL_OK);
    assert_int_equal(micro, 1040);
    assert_int_equal(
        pl_store_usage_spent(f->store, id_str(&f->user), PL_STR("key_b"), 0, &micro, NULL), PL_OK);
    assert_int_equal(micro, 0);
}

static void limits_go_with_their_key(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = pl_id_take(&f->seed, "key_");
    struct pl_limits *limits,
        mine = {.key_id = id_str(&id),
                .user_id = id_str(&f->user),
                .values = {[PL_LIMIT_RPM] = 5, [PL_LIMIT_TPM] = -1, [PL_LIMIT_BUDGET_DAY] = 7}};
    size_t n;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_key(batch,
                        &(struct pl_key_row){.id = id_str(&id),
                                             .user_id = id_str(&f->user),
                                             .name = PL_STR("k"),
                                             .hash = PL_STR("0123456789abcdef0123456789abcdef"),
                                             .last4 = PL_STR("wxyz")});
    pl_batch_put_limits(batch, &mine);
    /* A change keeps the values it does not name. */
    mine.values[PL_LIMIT_RPM] = 6;
    mine.values[PL_LIMIT_BUDGET_DAY] = -1;
    pl_batch_put_limits(batch, &mine);
    commit(f, batch);
    assert_int_equal(pl_store_limits_list(f->store, &f->arena, &limits, &n, NULL), PL_OK);
    assert_int_equal(n, 1);
    assert_str(limits[0].key_id, id_str(&id));
    assert_str(limits[0].user_id, id_str(&f->user));
    assert_int_equal(limits[0].values[PL_LIMIT_RPM], 6);
    assert_int_equal(limits[0].values[PL_LIMIT_TPM], 0);
    assert_int_equal(limits[0].values[PL_LIMIT_BUDGET_DAY], 7);
    batch = pl_batch_create();
    pl_batch_delete_key(batch, id_str(&f->user), id_str(&id));
    commit(f, batch);
    assert_int_equal(pl_store_limits_list(f->store, &f->arena, &limits, &n, NULL), PL_OK);
    assert_int_equal(n, 0);
}

static void limits_of_a_user_go_with_the_user(void **state)
{
    struct fixture *f = *state;
    struct pl_limits *limits, mine = {.user_id = id_str(&f->user)};
    size_t n;
    for (int i = 0; i < PL_LIMIT_COUNT; i++)
        mine.values[i] = i + 1;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_limits(batch, &mine);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    batch = pl_batch_create();
    pl_batch_create_user(batch, &(struct pl_user_row){.id = id_str(&f->user), .name = PL_STR("a")});
    pl_batch_create_user(
        batch,
        &(struct pl_user_row){.id = id_str(&f->other), .name = PL_STR("b"), .is_admin = true});
    pl_batch_put_limits(batch, &mine);
    for (int i = 0; i < PL_LIMIT_COUNT; i++)
        mine.values[i] = i == PL_LIMIT_SOCKETS ? 99 : -1;
    pl_batch_put_limits(batch, &mine);
    commit(f, batch);
    assert_int_equal(pl_store_limits_list(f->store, &f->arena, &limits, &n, NULL), PL_OK);
    assert_int_equal(n, 1);
    assert_str(limits[0].user_id, id_str(&f->user));
    assert_int_equal(limits[0].key_id.len, 0);
    for (int i = 0; i < PL_LIMIT_COUNT; i++)
        assert_int_equal(limits[0].values[i], i == PL_LIMIT_SOCKETS ? 99 : i + 1);
    batch = pl_batch_create();
    pl_batch_erase_user(batch, id_str(&f->user));
    commit(f, batch);
    assert_int_equal(pl_store_limits_list(f->store, &f->arena, &limits, &n, NULL), PL_OK);
    assert_int_equal(n, 0);
}

static void a_quota_fails_the_batch_that_exceeds_it(void **state)
{
    struct fixture *f = *state;
    struct pl_error err = {0};
    (void)add_session(f);
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record second = make_session(f, &id), got;
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &second);
    pl_batch_check_quota(batch, id_str(&f->user), PL_LIMIT_SESSIONS, 1);
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "as many sessions as allowed"));
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&id), &got, NULL),
        PL_NOT_FOUND);
    batch = pl_batch_create();
    put_session(batch, &second);
    pl_batch_check_quota(batch, id_str(&f->user), PL_LIMIT_SESSIONS, 2);
    pl_batch_check_quota(batch, id_str(&f->user), PL_LIMIT_KEYS, 1);
    pl_batch_check_quota(batch, id_str(&f->user), PL_LIMIT_TASKS, 1);
    pl_batch_check_quota(batch, id_str(&f->user), PL_LIMIT_BLOB_BYTES, 1);
    commit(f, batch);
}

static struct pl_usage_page usage_by(struct fixture *f, enum pl_usage_group group)
{
    struct pl_usage_query query = {.to_day = 100, .group = group, .limit = 10};
    struct pl_usage_page page;
    assert_int_equal(pl_store_usage_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    return page;
}

static void a_call_that_was_cut_off_counts_as_estimated(void **state)
{
    struct fixture *f = *state;
    struct pl_id ids[3];
    struct pl_batch *batch = pl_batch_create();
    for (int i = 0; i < 3; i++) {
        ids[i] = pl_id_take(&f->seed, "call_");
        pl_batch_open_call(batch, &(struct pl_open_call){.id = id_str(&ids[i]),
                                                         .user_id = id_str(&f->user),
                                                         .key_id = PL_STR("key_a"),
                                                         .model = PL_STR("corp/big"),
                                                         .day = 7,
                                                         .tokens = 10,
                                                         .cost_micro = 100});
    }
    commit(f, batch);
    /* One of them ends: its usage is counted, and its row is removed. */
    batch = pl_batch_create();
    pl_batch_add_usage(batch, &(struct pl_usage_row){.user_id = id_str(&f->user),
                                                     .key_id = PL_STR("key_a"),
                                                     .model = PL_STR("corp/big"),
                                                     .day = 7,
                                                     .n_requests = 1,
                                                     .input_tokens = 3,
                                                     .cost_micro = 5});
    pl_batch_close_call(batch, id_str(&ids[1]));
    commit(f, batch);
    fixture_outlive(f);
    for (int i = 0; i < 2; i++) {
        batch = pl_batch_create();
        pl_batch_count_lost_calls(batch);
        commit(f, batch);
        struct pl_usage_page page = usage_by(f, PL_USAGE_BY_PROVIDER);
        assert_int_equal(page.n_rows, 1);
        assert_str(page.rows[0].model, PL_STR("corp"));
        assert_int_equal(page.rows[0].n_requests, 3);
        assert_int_equal(page.rows[0].n_aborted, 2);
        assert_int_equal(page.rows[0].input_tokens, 23);
        assert_int_equal(page.rows[0].cost_micro, 205);
    }
    struct pl_usage_page page = usage_by(f, PL_USAGE_BY_USER);
    assert_int_equal(page.n_rows, 1);
    assert_str(page.rows[0].user_id, id_str(&f->user));
}

static void rows_of_the_audit_are_sealed_once(void **state)
{
    struct fixture *f = *state;
    struct pl_audit_page page;
    struct pl_audit_row last;
    struct pl_str hash = PL_STR("0123456789abcdef0123456789abcdef");
    struct pl_batch *batch = pl_batch_create();
    for (int i = 0; i < 3; i++)
        pl_batch_add_audit(batch, &(struct pl_audit_row){.at_ms = i,
                                                         .user_id = PL_STR("user_x"),
                                                         .action = PL_STR("key.create"),
                                                         .detail = PL_STR("{}")});
    commit(f, batch);
    assert_int_equal(pl_store_audit_list(f->store, &f->arena, PL_AUDIT_UNSEALED, 0, 2, &page, NULL),
                     PL_OK);
    assert_true(page.n_rows == 2 && page.has_more);
    assert_int_equal(pl_store_audit_last(f->store, &f->arena, &last, NULL), PL_OK);
    assert_int_equal(last.number, 0);
    int64_t first = page.rows[0].number;
    batch = pl_batch_create();
    pl_batch_seal_audit(batch, first, hash);
    pl_batch_seal_audit(batch, first, PL_STR("another hash, which comes too late"));
    commit(f, batch);
    assert_int_equal(pl_store_audit_last(f->store, &f->arena, &last, NULL), PL_OK);
    assert_int_equal(last.number, first);
    assert_str(last.hash, hash);
    assert_str(last.action, PL_STR("key.create"));
    assert_int_equal(
        pl_store_audit_list(f->store, &f->arena, PL_AUDIT_NEWEST, INT64_MAX, 10, &page, NULL),
        PL_OK);
    assert_true(page.n_rows == 3 && page.rows[0].number > page.rows[2].number);
    assert_int_equal(
        pl_store_audit_list(f->store, &f->arena, PL_AUDIT_OLDEST, first, 10, &page, NULL), PL_OK);
    assert_int_equal(page.n_rows, 2);
}

static void an_answer_is_found_by_its_owner_as_long_as_its_session_is(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    struct pl_kept_response found;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_keep_response(batch, id_str(&f->user),
                           &(struct pl_kept_response){.id = PL_STR("resp_1"),
                                                      .session_id = id_str(&session),
                                                      .body = PL_STR("{\"id\":\"resp_1\"}"),
                                                      .n_input = 3});
    commit(f, batch);
    assert_int_equal(pl_store_response_find(f->store, &f->arena, id_str(&f->user), PL_STR("resp_1"),
                                            &found, NULL),
                     PL_OK);
    assert_str(found.session_id, id_str(&session));
    assert_str(found.body, PL_STR("{\"id\":\"resp_1\"}"));
    assert_int_equal(found.n_input, 3);
    assert_int_equal(pl_store_response_find(f->store, &f->arena, id_str(&f->other),
                                            PL_STR("resp_1"), &found, NULL),
                     PL_NOT_FOUND);
    batch = pl_batch_create();
    pl_batch_delete_session(batch, id_str(&f->user), id_str(&session));
    commit(f, batch);
    assert_int_equal(pl_store_response_find(f->store, &f->arena, id_str(&f->user), PL_STR("resp_1"),
                                            &found, NULL),
                     PL_NOT_FOUND);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(usage_adds_up_and_is_told_by_key_model_or_day),
    ON_STORE(usage_is_told_page_by_page),
    ON_STORE(what_a_key_has_spent_is_counted_from_a_day_on),
    ON_STORE(limits_go_with_their_key),
    ON_STORE(limits_of_a_user_go_with_the_user),
    ON_STORE(a_quota_fails_the_batch_that_exceeds_it),
    ON_STORE(a_call_that_was_cut_off_counts_as_estimated),
    ON_STORE(rows_of_the_audit_are_sealed_once),
    ON_STORE(an_answer_is_found_by_its_owner_as_long_as_its_session_is),
};
const struct suite_part gateway_part = {tests, sizeof tests / sizeof *tests};
