/* The contract of owners: a claim gives exclusive ownership of a session, and the sessions of a
 * node that is gone are settled once. */
#include "contract/beside.h"
#include "store/node/owners.h"

#include <pthread.h>

enum { N_RACES = 50 };

static const struct pl_node_id me = {{1}}, other = {{2}};

static enum pl_status claim(struct pl_store *store, const struct pl_id *session,
                            const struct pl_node_id *node, struct pl_error *err)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_claim_session(batch, id_str(session), node);
    return pl_store_commit(store, batch, err);
}

static void release(struct fixture *f, const struct pl_id *session, const struct pl_node_id *node)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_release_session(batch, id_str(session), node);
    commit(f, batch);
}

static enum pl_status expect(struct fixture *f, const struct pl_id *session,
                             const struct pl_node_id *node, int64_t generation)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_expect_owner(batch, id_str(session), node, generation);
    return pl_store_commit(f->store, batch, NULL);
}

static struct pl_session_held held(struct fixture *f, const struct pl_id *session)
{
    struct pl_session_held held;
    assert_int_equal(pl_store_session_held(f->store, id_str(session), &held, NULL), PL_OK);
    return held;
}

/* --- claims ---------------------------------------------------------------------------------- */

static void a_new_session_is_nobodys(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    struct pl_session_held now = held(f, &session);
    assert_int_equal(pl_owning_whose(&now.row, &me), PL_OWNING_NOBODYS);
    assert_int_equal(now.generation, 1);
}

static void a_session_that_is_nobodys_is_claimed(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    assert_int_equal(claim(f->store, &session, &me, NULL), PL_OK);
    struct pl_session_held now = held(f, &session);
    assert_int_equal(pl_owning_whose(&now.row, &me), PL_OWNING_MINE);
    assert_int_equal(pl_owning_whose(&now.row, &other), PL_OWNING_ANOTHERS);
    assert_int_equal(now.generation, 2);
}

static void claiming_ones_own_session_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    assert_int_equal(claim(f->store, &session, &me, NULL), PL_OK);
    assert_int_equal(claim(f->store, &session, &me, NULL), PL_OK);
    assert_int_equal(held(f, &session).generation, 2);
}

static void what_is_anothers_cannot_be_claimed_nor_changed_with_it(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    struct pl_turn_row turn = make_turn(&session, &id, 0, "{}"), got;
    struct pl_error err = {0};
    assert_int_equal(claim(f->store, &session, &other, NULL), PL_OK);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_claim_session(batch, id_str(&session), &me);
    put_turn(batch, &turn);
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "another node"));
    struct pl_session_held now = held(f, &session);
    assert_int_equal(pl_owning_whose(&now.row, &other), PL_OWNING_MINE);
    assert_int_equal(now.generation, 2);
    assert_int_equal(
        pl_store_turn_get(f->store, &f->arena, id_str(&session), id_str(&id), &got, NULL),
        PL_NOT_FOUND);
}

static void what_does_not_exist_has_no_owner(void **state)
{
    struct fixture *f = *state;
    struct pl_id nowhere = pl_id_take(&f->seed, "sess_");
    struct pl_session_held now;
    assert_int_equal(claim(f->store, &nowhere, &me, NULL), PL_NOT_FOUND);
    assert_int_equal(pl_store_session_held(f->store, id_str(&nowhere), &now, NULL), PL_NOT_FOUND);
    assert_int_equal(pl_store_session_held(f->store, PL_STR("sess_1"), &now, NULL), PL_NOT_FOUND);
}

static void what_is_released_can_be_claimed_by_another(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    assert_int_equal(claim(f->store, &session, &me, NULL), PL_OK);
    release(f, &session, &me);
    assert_false(held(f, &session).row.has_owner);
    assert_int_equal(held(f, &session).generation, 3);
    assert_int_equal(claim(f->store, &session, &other, NULL), PL_OK);
    assert_int_equal(held(f, &session).generation, 4);
}

static void what_is_anothers_is_not_released(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    assert_int_equal(claim(f->store, &session, &other, NULL), PL_OK);
    release(f, &session, &me);
    assert_true(held(f, &session).row.has_owner);
    assert_int_equal(held(f, &session).generation, 2);
}

static void a_write_of_an_earlier_generation_fails(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    assert_int_equal(claim(f->store, &session, &me, NULL), PL_OK);
    assert_int_equal(expect(f, &session, &me, 2), PL_OK);
    assert_int_equal(expect(f, &session, &other, 2), PL_NOT_FOUND);
    release(f, &session, &me);
    assert_int_equal(expect(f, &session, &me, 2), PL_NOT_FOUND);
    assert_int_equal(claim(f->store, &session, &me, NULL), PL_OK);
    assert_int_equal(expect(f, &session, &me, 2), PL_NOT_FOUND);
    assert_int_equal(expect(f, &session, &me, 4), PL_OK);
}

struct claiming {
    struct pl_store *store;
    struct pl_id session;
    struct pl_node_id node;
    enum pl_status status;
};

static void *claim_one(void *arg)
{
    struct claiming *claiming = arg;
    claiming->status = claim(claiming->store, &claiming->session, &claiming->node, NULL);
    return NULL;
}

static void of_two_that_claim_at_once_one_has_it(void **state)
{
    struct fixture *f = *state;
    struct pl_store *beside = fixture_join(f);
    for (int i = 0; i < N_RACES; i++) {
        struct pl_id session = add_session(f);
        struct claiming a = {f->store, session, me, PL_INTERNAL},
                        b = {beside, session, other, PL_INTERNAL};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, claim_one, &a), 0);
        claim_one(&b);
        pthread_join(thread, NULL);
        assert_true((a.status == PL_OK) != (b.status == PL_OK));
        assert_int_equal(a.status == PL_OK ? b.status : a.status, PL_CONFLICT);
        struct pl_session_held now = held(f, &session);
        assert_int_equal(pl_owning_whose(&now.row, a.status == PL_OK ? &me : &other),
                         PL_OWNING_MINE);
        assert_int_equal(now.generation, 2);
    }
    fixture_leave(f, beside);
}

/* --- sessions of a node that is gone --------------------------------------------------------- */

static struct pl_node_line *enter(struct pl_store *store, const char *name)
{
    struct pl_node_about about = {.name = pl_str_of(name)};
    struct pl_node_line *line = NULL;
    assert_int_equal(pl_node_line_open(store, &about, &line, NULL), PL_OK);
    return line;
}

/* A session of this node, running or idle. */
static struct pl_id add_owned(struct fixture *f, const struct pl_node_id *node,
                              enum pl_session_status status)
{
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id);
    session.status = status;
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    pl_batch_claim_session(batch, id_str(&id), node);
    commit(f, batch);
    return id;
}

/* A node that is gone, and one that settles, both in this process. */
struct ended {
    struct pl_store *store;
    struct pl_node_line *gone, *settler;
    struct pl_node_id node;
};

static struct ended end_node(struct fixture *f)
{
    struct ended ended = {.store = fixture_join(f)};
    ended.gone = enter(ended.store, "gone");
    ended.settler = enter(f->store, "settler");
    ended.node = *pl_node_line_writer(ended.gone);
    return ended;
}

static void is_gone(struct ended *ended)
{
    assert_int_equal(pl_node_line_become(ended->gone, PL_NODE_STATE_GONE, NULL), PL_OK);
}

static void leave(struct fixture *f, struct ended *ended)
{
    pl_node_line_close(ended->gone);
    pl_node_line_close(ended->settler);
    fixture_leave(f, ended->store);
}

static struct pl_settle_page settle(struct fixture *f, struct ended *ended)
{
    struct pl_settle_page page = {0};
    assert_int_equal(pl_node_line_settle(ended->settler, &ended->node, &f->arena, &page, NULL),
                     PL_OK);
    return page;
}

static void a_session_of_a_node_that_is_gone_is_claimed(void **state)
{
    struct fixture *f = *state;
    struct ended ended = end_node(f);
    struct pl_id session = add_owned(f, &ended.node, PL_SESSION_CREATED);
    assert_int_equal(claim(f->store, &session, &me, NULL), PL_CONFLICT);
    assert_false(held(f, &session).row.is_owner_gone);
    is_gone(&ended);
    assert_true(held(f, &session).row.is_owner_gone);
    assert_int_equal(claim(f->store, &session, &me, NULL), PL_OK);
    assert_int_equal(held(f, &session).generation, 3);
    leave(f, &ended);
}

static void a_living_node_has_left_nothing(void **state)
{
    struct fixture *f = *state;
    struct ended ended = end_node(f);
    struct pl_id session = add_owned(f, &ended.node, PL_SESSION_RUNNING);
    assert_int_equal(settle(f, &ended).n_running, 0);
    assert_int_equal(held(f, &session).generation, 2);
    leave(f, &ended);
}

static void what_ran_is_claimed_and_the_rest_loses_its_owner(void **state)
{
    struct fixture *f = *state;
    struct ended ended = end_node(f);
    struct pl_id running = add_owned(f, &ended.node, PL_SESSION_RUNNING);
    struct pl_id waiting = add_owned(f, &ended.node, PL_SESSION_WAITING);
    struct pl_id resting = add_owned(f, &ended.node, PL_SESSION_CREATED);
    struct pl_id anothers = add_owned(f, &other, PL_SESSION_RUNNING);
    is_gone(&ended);
    struct pl_settle_page page = settle(f, &ended);
    assert_int_equal(page.n_running, 1);
    assert_true(pl_str_eq(page.running[0].id, id_str(&running)));
    assert_false(page.has_more);
    struct pl_session_held now = held(f, &running);
    assert_int_equal(pl_owning_whose(&now.row, pl_node_line_writer(ended.settler)), PL_OWNING_MINE);
    assert_int_equal(now.generation, 3);
    assert_false(held(f, &waiting).row.has_owner);
    assert_false(held(f, &resting).row.has_owner);
    assert_int_equal(held(f, &resting).generation, 3);
    assert_int_equal(held(f, &anothers).generation, 2);
    leave(f, &ended);
}

static void what_another_settles_just_now_is_left_to_it(void **state)
{
    struct fixture *f = *state;
    struct ended ended = end_node(f);
    struct pl_id first = add_owned(f, &ended.node, PL_SESSION_RUNNING);
    struct pl_id second = add_owned(f, &ended.node, PL_SESSION_RUNNING);
    is_gone(&ended);
    PGconn *beside = connect_beside(f);
    say(beside, "BEGIN; SELECT 1 FROM sessions ORDER BY key LIMIT 1 FOR UPDATE");
    struct pl_settle_page page = settle(f, &ended);
    assert_int_equal(page.n_running, 1);
    assert_true(pl_str_eq(page.running[0].id, id_str(&second)));
    say(beside, "ROLLBACK");
    PQfinish(beside);
    page = settle(f, &ended);
    assert_int_equal(page.n_running, 1);
    assert_true(pl_str_eq(page.running[0].id, id_str(&first)));
    leave(f, &ended);
}

static void more_than_a_page_is_settled_page_by_page(void **state)
{
    struct fixture *f = *state;
    struct ended ended = end_node(f);
    for (int i = 0; i < PL_SETTLE_PAGE + 3; i++)
        add_owned(f, &ended.node, PL_SESSION_RUNNING);
    is_gone(&ended);
    struct pl_settle_page page = settle(f, &ended);
    assert_int_equal(page.n_running, PL_SETTLE_PAGE);
    assert_true(page.has_more);
    page = settle(f, &ended);
    assert_int_equal(page.n_running, 3);
    assert_false(page.has_more);
    leave(f, &ended);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(a_new_session_is_nobodys),
    ON_STORE(a_session_that_is_nobodys_is_claimed),
    ON_STORE(claiming_ones_own_session_changes_nothing),
    ON_STORE(what_is_anothers_cannot_be_claimed_nor_changed_with_it),
    ON_STORE(what_does_not_exist_has_no_owner),
    ON_STORE(what_is_released_can_be_claimed_by_another),
    ON_STORE(what_is_anothers_is_not_released),
    ON_STORE(a_write_of_an_earlier_generation_fails),
    ON_STORE(of_two_that_claim_at_once_one_has_it),
    ON_SOME("postgres", a_session_of_a_node_that_is_gone_is_claimed),
    ON_SOME("postgres", a_living_node_has_left_nothing),
    ON_SOME("postgres", what_ran_is_claimed_and_the_rest_loses_its_owner),
    ON_SOME("postgres", what_another_settles_just_now_is_left_to_it),
    ON_SOME("postgres", more_than_a_page_is_settled_page_by_page),
};
const struct suite_part owners_part = {tests, sizeof tests / sizeof *tests};
