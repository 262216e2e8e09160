/* The contract: batches, their order, many submitters, the view of a reader. */
#include "base/table.h"
#include "contract/suite.h"

#include <pthread.h>
#include <stdio.h>

static void a_batch_for_a_session_that_is_not_there_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct pl_id nowhere = pl_id_take(&f->seed, "sess_"), session = pl_id_take(&f->seed, "sess_");
    struct pl_id id = pl_id_take(&f->seed, "turn_");
    struct pl_session_record record = make_session(f, &session);
    struct pl_turn_row turn = make_turn(&nowhere, &id, 0, "{}");
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &record);
    put_turn(batch, &turn);
    struct pl_error err;
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_NOT_FOUND);
    assert_true(strlen(err.message) > 0);
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, record.user_id, record.id, &record, NULL),
        PL_NOT_FOUND);
}

static void what_no_store_could_hold_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    struct pl_turn_row turn = make_turn(&session, &id, 0, NULL);
    turn.body = PL_STR("{\"text\":\"\0\"}");
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &turn);
    struct pl_error err;
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "U+0000"));
    turn.body = PL_STR("{}");
    turn.turn_id = PL_STR("turn_1");
    batch = pl_batch_create();
    put_turn(batch, &turn);
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "turn_1"));
}

/* A client may read the message: it must not contain names of tables and columns, or words of a
 * statement. */
static void must_not_speak_of_sql(const struct pl_error *err)
{
    static const char *const words[] = {"turns",  "relation", "column", "constraint", "SELECT",
                                        "INSERT", "UPDATE",   "syntax", "SQL "};
    assert_true(strlen(err->message) > 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(err->message, words[i]))
            fail_msg("it speaks of SQL: %s", err->message);
}

static void a_failed_statement_is_told_without_its_sql(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    struct pl_turn_row turn = make_turn(&session, &id, 0, "{}");
    struct pl_turn_page page = {0};
    struct pl_error err = {0};
    run_sql(f, "ALTER TABLE turns RENAME TO lost");
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &turn);
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_IO);
    must_not_speak_of_sql(&err);
    err = (struct pl_error){0};
    struct pl_turn_query query = turns_of(&session);
    assert_int_equal(pl_store_turn_list(f->store, &f->arena, &query, &page, &err), PL_IO);
    must_not_speak_of_sql(&err);
    run_sql(f, "ALTER TABLE lost RENAME TO turns");
    assert_int_equal(f->n_fatal, 0);
}

static void a_broken_rule_is_told_without_its_sql(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    struct pl_session_record record = make_session(f, &session);
    struct pl_error err = {0};
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &record);
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_CONFLICT);
    must_not_speak_of_sql(&err);
}

static void an_empty_batch_is_committed(void **state)
{
    commit(*state, pl_batch_create());
}

static void any_text_comes_back(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (uint32_t c = 1; c < 0x110000; c += c < 0x800 ? 1 : 37) {
        if (c >= 0xd800 && c < 0xe000)
            continue;
        char utf8[4] = {(char)c};
        size_t n = 1;
        if (c >= 0x10000) {
            n = 4;
            utf8[0] = (char)(0xf0 | c >> 18);
        } else if (c >= 0x800) {
            n = 3;
            utf8[0] = (char)(0xe0 | c >> 12);
        } else if (c >= 0x80) {
            n = 2;
            utf8[0] = (char)(0xc0 | c >> 6);
        }
        for (size_t i = 1; i < n; i++)
            utf8[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
        pl_buf_add(&text, (struct pl_str){utf8, n});
    }
    struct pl_turn_row turn = make_turn(&session, &id, 0, NULL), got;
    turn.body = pl_buf_str(&text);
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &turn);
    commit(f, batch);
    assert_int_equal(
        pl_store_turn_get(f->store, &f->arena, id_str(&session), id_str(&id), &got, NULL), PL_OK);
    assert_str(got.body, turn.body);
}

static void four_megabytes_of_text_come_back(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_fill(&text, 'x', 4 << 20);
    struct pl_turn_row turn = make_turn(&session, &id, 0, NULL), got;
    turn.body = pl_buf_str(&text);
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &turn);
    commit(f, batch);
    assert_int_equal(
        pl_store_turn_get(f->store, &f->arena, id_str(&session), id_str(&id), &got, NULL), PL_OK);
    assert_str(got.body, turn.body);
}

/* --- on a loop ------------------------------------------------------------------------------- */

enum { N_SUBMITTED = 300 };

struct sender {
    struct fixture *f;
    struct pl_loop *loop;
    struct pl_letter start;
    struct pl_id session;
    size_t n_done, n_wrong;
};

struct numbered {
    struct sender *sender;
    size_t number;
};

static void note_done(void *ctx, enum pl_status status, const struct pl_error *err)
{
    (void)err;
    struct numbered *numbered = ctx;
    struct sender *sender = numbered->sender;
    /* Every seventh repeats the first claim. */
    bool is_second = numbered->number % 7 == 0 && numbered->number;
    if (numbered->number != sender->n_done || status != (is_second ? PL_CONFLICT : PL_OK))
        sender->n_wrong++;
    if (++sender->n_done == N_SUBMITTED)
        pl_loop_stop(sender->loop);
}

static void submit_all(struct pl_letter *letter)
{
    struct sender *sender = PL_CONTAINER_OF(letter, struct sender, start);
    struct fixture *f = sender->f;
    static struct numbered numbers[N_SUBMITTED];
    for (size_t i = 0; i < N_SUBMITTED; i++) {
        struct pl_id id = pl_id_take(&f->seed, "turn_");
        struct pl_turn_row turn = make_turn(&sender->session, &id, (int64_t)i, "{}");
        struct pl_batch *batch = pl_batch_create();
        put_turn(batch, &turn);
        if (i % 7 == 0)
            pl_batch_claim_idempotency(batch,
                                       &(struct pl_idempotency_row){.user_id = id_str(&f->user),
                                                                    .key = PL_STR("k"),
                                                                    .request_hash = PL_STR("h")});
        numbers[i] = (struct numbered){sender, i};
        pl_store_submit(f->store, sender->loop, batch, note_done, &numbers[i]);
    }
}

static void batches_of_one_submitter_are_done_in_order_and_fail_alone(void **state)
{
    struct fixture *f = *state;
    struct sender sender = {.f = f, .session = add_session(f), .start.open = submit_all};
    assert_int_equal(pl_loop_create(&sender.loop, NULL), PL_OK);
    pl_loop_post(sender.loop, &sender.start);
    pl_loop_run(sender.loop);
    pl_store_flush(f->store); /* the writer no longer uses the loop */
    pl_loop_destroy(sender.loop);
    assert_int_equal(sender.n_done, N_SUBMITTED);
    assert_int_equal(sender.n_wrong, 0);
    struct pl_turn_query query = turns_of(&sender.session);
    query.limit = N_SUBMITTED;
    struct pl_turn_page page;
    assert_int_equal(pl_store_turn_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    assert_int_equal(page.n_items, N_SUBMITTED - (N_SUBMITTED - 1) / 7);
    for (size_t i = 1; i < page.n_items; i++)
        assert_true(page.items[i].sequence % 7 != 0);
}

/* --- many at once ---------------------------------------------------------------------------- */

enum { N_THREADS = 64, N_ROUNDS = 6 };

struct submitter {
    struct fixture *f;
    struct pl_id_seed seed;
    struct pl_id session;
    const char *complaint;
};

/* Writes a turn, waits for it, and reads it: an announced turn must be stored. */
static const char *write_and_look(struct submitter *submitter, int64_t sequence)
{
    struct pl_store *store = submitter->f->store;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_id id = pl_id_take(&submitter->seed, "turn_");
    struct pl_turn_row turn = make_turn(&submitter->session, &id, sequence, "{\"n\":1}"), got;
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return "no memory";
    put_turn(batch, &turn);
    if (pl_store_commit(store, batch, NULL) != PL_OK)
        return "not committed";
    if (pl_store_turn_get(store, &arena, turn.session_id, turn.turn_id, &got, NULL) != PL_OK)
        return "not seen by a reader";
    return got.sequence == sequence ? NULL : "another turn";
}

static void *submit_some(void *arg)
{
    struct submitter *submitter = arg;
    for (int64_t i = 0; i < N_ROUNDS && !submitter->complaint; i++)
        submitter->complaint = write_and_look(submitter, i);
    return NULL;
}

static void readers_see_what_sixty_four_submitters_were_told(void **state)
{
    struct fixture *f = *state;
    static struct submitter submitters[N_THREADS];
    pthread_t threads[N_THREADS];
    for (size_t i = 0; i < N_THREADS; i++) {
        submitters[i] = (struct submitter){.f = f, .session = add_session(f), .seed = f->seed};
        submitters[i].seed.random[0] += i + 1;
    }
    for (size_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_some, &submitters[i]), 0);
    for (size_t i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < N_THREADS; i++) {
        if (submitters[i].complaint)
            fail_msg("submitter %zu: %s", i, submitters[i].complaint);
        struct pl_turn_query query = turns_of(&submitters[i].session);
        struct pl_turn_page page;
        assert_int_equal(pl_store_turn_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
        assert_int_equal(page.n_items, N_ROUNDS);
    }
}

static const struct CMUnitTest tests[] = {
    ON_STORE(a_batch_for_a_session_that_is_not_there_leaves_nothing),
    ON_STORE(what_no_store_could_hold_is_refused),
    ON_SOME("sqlite postgres", a_failed_statement_is_told_without_its_sql),
    ON_STORE(a_broken_rule_is_told_without_its_sql),
    ON_STORE(an_empty_batch_is_committed),
    ON_STORE(any_text_comes_back),
    ON_STORE(four_megabytes_of_text_come_back),
    ON_STORE(batches_of_one_submitter_are_done_in_order_and_fail_alone),
    ON_STORE(readers_see_what_sixty_four_submitters_were_told),
};
const struct suite_part writer_part = {tests, sizeof tests / sizeof *tests};
