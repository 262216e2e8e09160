/* The contract: users, keys, shares, idempotency, settings. */
#include "contract/suite.h"

#include "store/gateway.h"

#include <stdio.h>

static const struct pl_str hash_a = {"aaaaaaaaaaaaaaaa\0aaaaaaaaaaaaaaa", 32};
static const struct pl_str hash_b = {"bbbbbbbbbbbbbbbb\xff\xfe\xfd\xfc"
                                     "bbbbbbbbbbbb",
                                     32};

static void users_are_listed(void **state)
{
    struct fixture *f = *state;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_user(batch, &(struct pl_user_row){id_str(&f->user), PL_STR("Ada"), true, 5});
    pl_batch_create_user(batch, &(struct pl_user_row){id_str(&f->other), PL_STR("Bo"), false, 6});
    commit(f, batch);
    struct pl_user_row *users;
    size_t n;
    assert_int_equal(pl_store_user_list(f->store, &f->arena, &users, &n, NULL), PL_OK);
    assert_int_equal(n, 2);
    assert_str(users[0].id, id_str(&f->user));
    assert_str(users[0].name, PL_STR("Ada"));
    assert_str(users[1].name, PL_STR("Bo"));
    assert_true(!users[1].is_admin && users[1].created_ms == 6);
}

static struct pl_key_row make_key(const struct pl_id *id, const struct pl_id *user,
                                  struct pl_str hash)
{
    return (struct pl_key_row){.id = id_str(id),
                               .user_id = id_str(user),
                               .name = PL_STR("laptop"),
                               .hash = hash,
                               .last4 = PL_STR("wxyz"),
                               .created_ms = 3};
}

static void keys_are_listed_by_user_changed_and_deleted(void **state)
{
    struct fixture *f = *state;
    struct pl_id a = pl_id_take(&f->seed, "key_"), b = pl_id_take(&f->seed, "key_");
    struct pl_key_row mine = make_key(&a, &f->user, hash_a),
                      theirs = make_key(&b, &f->other, hash_b);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_key(batch, &mine);
    pl_batch_create_key(batch, &theirs);
    pl_batch_use_key(batch, mine.id, 44);
    pl_batch_use_key(batch, mine.id, 43);
    pl_batch_change_key(batch, &(struct pl_key_patch){.user_id = mine.user_id,
                                                      .id = mine.id,
                                                      .name = PL_STR("desk"),
                                                      .expires_ms = -1});
    pl_batch_delete_key(batch, id_str(&f->user), id_str(&b));
    commit(f, batch);
    struct pl_key_row *keys;
    size_t n;
    struct pl_str nobody = {NULL, 0};
    assert_int_equal(pl_store_key_list(f->store, &f->arena, nobody, &keys, &n, NULL), PL_OK);
    assert_int_equal(n, 2);
    assert_int_equal(pl_store_key_list(f->store, &f->arena, id_str(&f->user), &keys, &n, NULL),
                     PL_OK);
    assert_int_equal(n, 1);
    assert_str(keys[0].id, id_str(&a));
    assert_str(keys[0].user_id, id_str(&f->user));
    assert_str(keys[0].name, PL_STR("desk"));
    assert_str(keys[0].hash, hash_a);
    assert_str(keys[0].last4, PL_STR("wxyz"));
    assert_true(keys[0].created_ms == 3 && keys[0].last_used_ms == 44);
    batch = pl_batch_create();
    pl_batch_delete_key(batch, id_str(&f->user), id_str(&a));
    commit(f, batch);
    assert_int_equal(pl_store_key_list(f->store, &f->arena, id_str(&f->user), &keys, &n, NULL),
                     PL_OK);
    assert_int_equal(n, 0);
}

static void a_key_of_another_user_is_not_changed(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = pl_id_take(&f->seed, "key_");
    struct pl_key_row key = make_key(&id, &f->user, hash_a);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_key(batch, &key);
    commit(f, batch);
    batch = pl_batch_create();
    pl_batch_change_key(batch, &(struct pl_key_patch){.user_id = id_str(&f->other),
                                                      .id = key.id,
                                                      .name = PL_STR("stolen"),
                                                      .expires_ms = -1});
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    struct pl_key_row *keys;
    size_t n;
    assert_int_equal(pl_store_key_list(f->store, &f->arena, id_str(&f->user), &keys, &n, NULL),
                     PL_OK);
    assert_int_equal(n, 1);
    assert_str(keys[0].name, PL_STR("laptop"));
}

static void shares_are_found_by_their_token_until_deleted(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "share_");
    struct pl_share_row share = {id_str(&id), id_str(&f->user), id_str(&session), hash_b, 9}, got;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_share(batch, &share);
    pl_batch_delete_shares(batch, id_str(&f->other), id_str(&session));
    commit(f, batch);
    assert_int_equal(pl_store_share_find(f->store, &f->arena, hash_a, &got, NULL), PL_NOT_FOUND);
    assert_int_equal(pl_store_share_find(f->store, &f->arena, hash_b, &got, NULL), PL_OK);
    assert_str(got.id, id_str(&id));
    assert_str(got.user_id, id_str(&f->user));
    assert_str(got.session_id, id_str(&session));
    assert_str(got.hash, hash_b);
    assert_int_equal(got.created_ms, 9);
    batch = pl_batch_create();
    pl_batch_delete_shares(batch, id_str(&f->user), id_str(&session));
    commit(f, batch);
    assert_int_equal(pl_store_share_find(f->store, &f->arena, hash_b, &got, NULL), PL_NOT_FOUND);
}

static void the_session_of_another_user_cannot_be_shared(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "share_");
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_share(
        batch, &(struct pl_share_row){id_str(&id), id_str(&f->other), id_str(&session), hash_a, 9});
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
}

static struct pl_idempotency_row make_claim(const struct pl_id *user)
{
    return (struct pl_idempotency_row){.user_id = id_str(user),
                                       .key = PL_STR("request 1"),
                                       .request_hash = hash_a,
                                       .created_ms = 100};
}

static void a_second_claim_fails_its_whole_batch(void **state)
{
    struct fixture *f = *state;
    struct pl_idempotency_row mine = make_claim(&f->user), theirs = make_claim(&f->other);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_claim_idempotency(batch, &mine);
    pl_batch_claim_idempotency(batch, &theirs);
    commit(f, batch);
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id);
    batch = pl_batch_create();
    put_session(batch, &session);
    pl_batch_claim_idempotency(batch, &mine);
    struct pl_error err;
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_CONFLICT);
    assert_int_equal(err.status, PL_CONFLICT);
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, session.user_id, session.id, &session, NULL),
        PL_NOT_FOUND);
}

static void a_claim_is_settled_and_expires(void **state)
{
    struct fixture *f = *state;
    struct pl_idempotency_row row = make_claim(&f->user), got;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_claim_idempotency(batch, &row);
    commit(f, batch);
    assert_int_equal(
        pl_store_idempotency_get(f->store, &f->arena, row.user_id, row.key, &got, NULL), PL_OK);
    assert_int_equal(got.status, 0);
    row.status = 201;
    row.answer = PL_STR("{\"id\":1}");
    batch = pl_batch_create();
    pl_batch_settle_idempotency(batch, &row);
    pl_batch_expire_idempotency(batch, 100);
    commit(f, batch);
    assert_int_equal(
        pl_store_idempotency_get(f->store, &f->arena, row.user_id, row.key, &got, NULL), PL_OK);
    assert_int_equal(got.status, 201);
    assert_str(got.answer, row.answer);
    assert_str(got.request_hash, hash_a);
    assert_str(got.user_id, row.user_id);
    assert_str(got.key, row.key);
    assert_int_equal(got.created_ms, 100);
    assert_int_equal(
        pl_store_idempotency_get(f->store, &f->arena, id_str(&f->other), row.key, &got, NULL),
        PL_NOT_FOUND);
    batch = pl_batch_create();
    pl_batch_expire_idempotency(batch, 101);
    commit(f, batch);
    assert_int_equal(
        pl_store_idempotency_get(f->store, &f->arena, row.user_id, row.key, &got, NULL),
        PL_NOT_FOUND);
}

static void settings_keep_their_last_value(void **state)
{
    struct fixture *f = *state;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_setting(batch, PL_STR("a"), PL_STR("one"));
    pl_batch_put_setting(batch, PL_STR("a"), hash_a);
    pl_batch_put_setting(batch, PL_STR("empty"), (struct pl_str){NULL, 0});
    commit(f, batch);
    struct pl_str value;
    assert_int_equal(pl_store_setting_get(f->store, &f->arena, PL_STR("a"), &value, NULL), PL_OK);
    assert_str(value, hash_a);
    assert_int_equal(pl_store_setting_get(f->store, &f->arena, PL_STR("empty"), &value, NULL),
                     PL_OK);
    assert_int_equal(value.len, 0);
    assert_int_equal(pl_store_setting_get(f->store, &f->arena, PL_STR("b"), &value, NULL),
                     PL_NOT_FOUND);
}

static struct pl_user_row make_user(const struct pl_id *id, bool is_admin)
{
    return (struct pl_user_row){
        .id = id_str(id), .name = PL_STR("somebody"), .is_admin = is_admin, .created_ms = 5};
}

static enum pl_status change_user(struct fixture *f, const struct pl_id *id, int is_admin,
                                  int64_t disabled_ms, struct pl_error *err)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_change_user(batch, &(struct pl_user_change){.id = id_str(id),
                                                         .is_admin = is_admin,
                                                         .disabled_ms = disabled_ms});
    return pl_store_commit(f->store, batch, err);
}

static void an_administrator_is_always_left(void **state)
{
    struct fixture *f = *state;
    struct pl_user_row boss = make_user(&f->user, true), member = make_user(&f->other, false);
    struct pl_id nobody = pl_id_take(&f->seed, "user_");
    struct pl_error err = {0};
    struct pl_user_row *users;
    size_t n;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_user(batch, &boss);
    pl_batch_create_user(batch, &member);
    commit(f, batch);
    assert_int_equal(change_user(f, &f->user, 0, -1, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "last administrator"));
    assert_int_equal(change_user(f, &f->user, -1, 7, &err), PL_CONFLICT);
    batch = pl_batch_create();
    pl_batch_erase_user(batch, id_str(&f->user));
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_CONFLICT);
    assert_int_equal(change_user(f, &nobody, 1, -1, &err), PL_NOT_FOUND);
    assert_int_equal(change_user(f, &f->other, 1, -1, &err), PL_OK);
    assert_int_equal(change_user(f, &f->user, 0, 9, &err), PL_OK);
    assert_int_equal(pl_store_user_list(f->store, &f->arena, &users, &n, &err), PL_OK);
    assert_int_equal(n, 2);
    bool is_first = pl_str_eq(users[0].id, id_str(&f->user));
    const struct pl_user_row *was = &users[is_first ? 0 : 1], *is = &users[is_first ? 1 : 0];
    assert_true(!was->is_admin && was->disabled_ms == 9 && is->is_admin && !is->disabled_ms);
    assert_str(was->name, PL_STR("somebody"));
}

/* Erasing a user removes all their records, and late writes restore nothing; other users are
 * unaffected. */
static void who_is_erased_stays_so(void **state)
{
    struct fixture *f = *state;
    struct pl_user_row boss = make_user(&f->other, true), member = make_user(&f->user, false);
    struct pl_id id = add_session(f), key_id = pl_id_take(&f->seed, "key_");
    struct pl_key_row key = make_key(&key_id, &f->user, hash_a);
    struct pl_session_record late = make_session(f, &id), got;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_user(batch, &boss);
    pl_batch_create_user(batch, &member);
    pl_batch_create_key(batch, &key);
    commit(f, batch);
    batch = pl_batch_create();
    pl_batch_erase_user(batch, id_str(&f->user));
    commit(f, batch);
    struct pl_key_row *keys;
    struct pl_user_row *users;
    size_t n;
    assert_int_equal(pl_store_user_list(f->store, &f->arena, &users, &n, NULL), PL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(pl_store_key_list(f->store, &f->arena, id_str(&f->user), &keys, &n, NULL),
                     PL_OK);
    assert_int_equal(n, 0);
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&id), &got, NULL),
        PL_NOT_FOUND);
    /* Writes that were in progress come too late. */
    batch = pl_batch_create();
    put_session(batch, &late);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    batch = pl_batch_create();
    pl_batch_create_key(batch, &key);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    batch = pl_batch_create();
    pl_batch_erase_user(batch, id_str(&f->user));
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
}

/* A subject of an issuer is one user; the same subject of another issuer is another person. */
static void a_person_of_a_provider_is_one_user(void **state)
{
    struct fixture *f = *state;
    struct pl_user_row boss = make_user(&f->other, true), member = make_user(&f->user, false);
    struct pl_identity_row identity = {PL_STR("https://a"), PL_STR("s"), id_str(&f->user), 5};
    struct pl_batch *batch = pl_batch_create();
    struct pl_str user_id;
    int64_t n;
    pl_batch_create_user(batch, &boss);
    pl_batch_create_user(batch, &member);
    pl_batch_create_identity(batch, &identity);
    commit(f, batch);
    assert_int_equal(pl_store_identity_find(f->store, &f->arena, PL_STR("https://a"), PL_STR("s"),
                                            &user_id, NULL),
                     PL_OK);
    assert_str(user_id, id_str(&f->user));
    assert_int_equal(pl_store_identity_find(f->store, &f->arena, PL_STR("https://b"), PL_STR("s"),
                                            &user_id, NULL),
                     PL_NOT_FOUND);
    assert_int_equal(
        pl_store_identity_count(f->store, PL_STR("https://a"), id_str(&f->user), &n, NULL), PL_OK);
    assert_int_equal(n, 1);
    identity.user_id = id_str(&f->other);
    batch = pl_batch_create();
    pl_batch_create_identity(batch, &identity);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_CONFLICT);
    batch = pl_batch_create();
    pl_batch_erase_user(batch, id_str(&f->user));
    commit(f, batch);
    assert_int_equal(pl_store_identity_find(f->store, &f->arena, PL_STR("https://a"), PL_STR("s"),
                                            &user_id, NULL),
                     PL_NOT_FOUND);
    identity.user_id = id_str(&f->user);
    batch = pl_batch_create();
    pl_batch_create_identity(batch, &identity);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
}

static void a_key_keeps_what_it_may_do_through_a_rotation(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = pl_id_take(&f->seed, "key_");
    struct pl_key_row key = make_key(&id, &f->user, hash_a), *keys;
    size_t n;
    key.scope = PL_STR("gateway");
    key.models = PL_STR("a/b\nc/*");
    key.expires_ms = 77;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_key(batch, &key);
    commit(f, batch);
    key.hash = hash_b;
    key.last4 = PL_STR("abcd");
    batch = pl_batch_create();
    pl_batch_rotate_key(batch, &key, 88);
    commit(f, batch);
    assert_int_equal(pl_store_key_list(f->store, &f->arena, id_str(&f->user), &keys, &n, NULL),
                     PL_OK);
    assert_int_equal(n, 1);
    assert_str(keys[0].hash, hash_b);
    assert_str(keys[0].old_hash, hash_a);
    assert_str(keys[0].last4, PL_STR("abcd"));
    assert_str(keys[0].scope, PL_STR("gateway"));
    assert_str(keys[0].models, PL_STR("a/b\nc/*"));
    assert_true(keys[0].expires_ms == 77 && keys[0].old_until_ms == 88 && !keys[0].is_admin);
}

/* Checks that the user's keys have these ids, in this order. */
static void assert_keys(struct fixture *f, const struct pl_id *ids, size_t n_ids)
{
    struct pl_key_row *keys;
    size_t n;
    assert_int_equal(pl_store_key_list(f->store, &f->arena, id_str(&f->user), &keys, &n, NULL),
                     PL_OK);
    assert_int_equal(n, n_ids);
    for (size_t i = 0; i < n; i++)
        assert_str(keys[i].id, id_str(&ids[i]));
}

static void sign_ins_that_ended_are_deleted_and_none_counts_as_a_key(void **state)
{
    struct fixture *f = *state;
    /* A key with an expiry, a sign-in without one, and sign-ins with one. */
    static const struct {
        bool is_login;
        int64_t expires_ms;
    } kinds[] = {{false, 50}, {true, 0}, {true, 102}, {true, 101}, {true, 100}};
    enum { N = sizeof kinds / sizeof *kinds };
    struct pl_id ids[N];
    char hashes[N][32];
    struct pl_batch *batch = pl_batch_create();
    for (size_t i = 0; i < N; i++) {
        ids[i] = pl_id_take(&f->seed, "key_");
        memset(hashes[i], 'a' + (int)i, sizeof hashes[i]);
        struct pl_key_row key = make_key(&ids[i], &f->user, (struct pl_str){hashes[i], 32});
        key.is_login = kinds[i].is_login;
        key.expires_ms = kinds[i].expires_ms;
        pl_batch_create_key(batch, &key);
    }
    pl_batch_check_quota(batch, id_str(&f->user), PL_LIMIT_KEYS, 1);
    commit(f, batch);
    for (size_t left = N; left >= 2; left--) {
        assert_keys(f, ids, left);
        batch = pl_batch_create();
        pl_batch_expire_logins(batch, 99 + (int64_t)(N - left) + 1);
        commit(f, batch);
        if (left == 2) /* the rest does not expire at any time */
            assert_keys(f, ids, left);
    }
    struct pl_id second = pl_id_take(&f->seed, "key_");
    struct pl_key_row key = make_key(&second, &f->user, hash_b);
    batch = pl_batch_create();
    pl_batch_create_key(batch, &key);
    pl_batch_check_quota(batch, id_str(&f->user), PL_LIMIT_KEYS, 1);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_CONFLICT);
    assert_keys(f, ids, 2);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(sign_ins_that_ended_are_deleted_and_none_counts_as_a_key),
    ON_STORE(an_administrator_is_always_left),
    ON_STORE(who_is_erased_stays_so),
    ON_STORE(a_person_of_a_provider_is_one_user),
    ON_STORE(a_key_keeps_what_it_may_do_through_a_rotation),
    ON_STORE(users_are_listed),
    ON_STORE(keys_are_listed_by_user_changed_and_deleted),
    ON_STORE(a_key_of_another_user_is_not_changed),
    ON_STORE(shares_are_found_by_their_token_until_deleted),
    ON_STORE(the_session_of_another_user_cannot_be_shared),
    ON_STORE(a_second_claim_fails_its_whole_batch),
    ON_STORE(a_claim_is_settled_and_expires),
    ON_STORE(settings_keep_their_last_value),
};
const struct suite_part records_part = {tests, sizeof tests / sizeof *tests};
