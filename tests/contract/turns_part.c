/* The contract: turns, questions, the queue. */
#include "contract/suite.h"

#include <stdio.h>

static struct pl_turn_page list(struct fixture *f, const struct pl_turn_query *query)
{
    struct pl_turn_page page;
    struct pl_error err;
    if (pl_store_turn_list(f->store, &f->arena, query, &page, &err) != PL_OK)
        fail_msg("%s", err.message);
    return page;
}

static void a_turn_comes_back_as_it_was_put(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    struct pl_id loop = pl_id_take(&f->seed, "loop_");
    struct pl_turn_row put = make_turn(&session, &id, 7, "{\"text\":\"\\u0000 \xe2\x82\xac\"}");
    put.loop_id = id_str(&loop);
    put.status = PL_TURN_PAUSED;
    put.is_compaction = true;
    put.last_event = 99;
    put.client_message_id = PL_STR("c-1");
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &put);
    commit(f, batch);
    struct pl_turn_row got;
    assert_int_equal(
        pl_store_turn_get(f->store, &f->arena, id_str(&session), id_str(&id), &got, NULL), PL_OK);
    assert_str(got.session_id, put.session_id);
    assert_str(got.turn_id, put.turn_id);
    assert_str(got.loop_id, put.loop_id);
    assert_str(got.client_message_id, put.client_message_id);
    assert_str(got.body, put.body);
    assert_int_equal(got.status, PL_TURN_PAUSED);
    assert_true(got.is_compaction && got.sequence == 7 && got.last_event == 99);
    assert_int_equal(got.created_ms, 5007);
}

static void a_checkpoint_is_replaced_by_the_finished_turn(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    struct pl_turn_row turn = make_turn(&session, &id, 0, "{\"text\":\"hel\"}");
    turn.status = PL_TURN_STREAMING;
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &turn);
    commit(f, batch);
    turn.status = PL_TURN_COMPLETED;
    turn.body = PL_STR("{\"text\":\"hello\"}");
    batch = pl_batch_create();
    put_turn(batch, &turn);
    commit(f, batch);
    struct pl_turn_query query = turns_of(&session);
    struct pl_turn_page page = list(f, &query);
    assert_int_equal(page.n_items, 1);
    assert_int_equal(page.items[0].status, PL_TURN_COMPLETED);
    assert_str(page.items[0].body, turn.body);
}

/* Twenty turns: every third in its own loop, the last two streaming, turn i changed by event 100 -
 * i (the newest first), the fourth a compaction. */
static struct pl_id add_twenty(struct fixture *f, const struct pl_id *session)
{
    struct pl_id loop = pl_id_take(&f->seed, "loop_");
    struct pl_batch *batch = pl_batch_create();
    for (int64_t i = 0; i < 20; i++) {
        struct pl_id id = pl_id_take(&f->seed, "turn_");
        struct pl_turn_row turn = make_turn(session, &id, i, "{}");
        if (i % 3 == 0)
            turn.loop_id = id_str(&loop);
        if (i >= 18)
            turn.status = i == 18 ? PL_TURN_STREAMING : PL_TURN_PAUSED;
        turn.last_event = 100 - i;
        turn.is_compaction = i == 4 || i == 8 || i == 9;
        put_turn(batch, &turn);
    }
    commit(f, batch);
    return loop;
}

static void assert_sequences(const struct pl_turn_page *page, const char *expected)
{
    char text[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < page->n_items; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, i ? " %lld" : "%lld",
                              (long long)page->items[i].sequence);
    assert_string_equal(text, expected);
}

static void turns_are_listed_by_either_end_within_bounds(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), another = add_session(f);
    add_twenty(f, &session);
    add_twenty(f, &another);
    struct pl_turn_query query = turns_of(&session);
    query.limit = 3;
    struct pl_turn_page page = list(f, &query);
    assert_sequences(&page, "0 1 2");
    assert_true(page.has_more);
    query.is_newest_first = true;
    page = list(f, &query);
    assert_sequences(&page, "17 18 19");
    assert_true(page.has_more);
    query.before = 3;
    page = list(f, &query);
    assert_sequences(&page, "0 1 2");
    assert_false(page.has_more);
    query.is_newest_first = false;
    query.before = INT64_MAX;
    query.after = 16;
    page = list(f, &query);
    assert_sequences(&page, "17 18 19");
    assert_false(page.has_more);
    query.is_terminal_only = true;
    page = list(f, &query);
    assert_sequences(&page, "17");
}

static void turns_are_listed_by_loop_and_by_change(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), loop = add_twenty(f, &session);
    struct pl_turn_query query = turns_of(&session);
    query.loop_id = id_str(&loop);
    struct pl_turn_page page = list(f, &query);
    assert_sequences(&page, "0 3 6 9 12 15 18");
    query.is_newest_first = true;
    query.limit = 2;
    page = list(f, &query);
    assert_sequences(&page, "15 18");
    query.changed_after = 90;
    page = list(f, &query);
    assert_sequences(&page, "6 9");
    query.is_newest_first = false;
    page = list(f, &query);
    assert_sequences(&page, "0 3");
    query.loop_id = PL_STR("root");
    page = list(f, &query);
    assert_sequences(&page, "1 2");
    query.loop_id = (struct pl_str){NULL, 0};
    query.changed_after = 97;
    page = list(f, &query);
    assert_sequences(&page, "0 1");
    assert_true(page.has_more);
    query.is_newest_first = true;
    page = list(f, &query);
    assert_sequences(&page, "1 2");
}

static void the_newest_compaction_of_a_loop_is_found(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), loop = add_twenty(f, &session);
    struct pl_id nowhere = pl_id_take(&f->seed, "loop_");
    struct pl_turn_row turn;
    assert_int_equal(pl_store_turn_last_compaction(f->store, &f->arena, id_str(&session),
                                                   PL_STR("root"), &turn, NULL),
                     PL_OK);
    assert_int_equal(turn.sequence, 8);
    assert_int_equal(pl_store_turn_last_compaction(f->store, &f->arena, id_str(&session),
                                                   id_str(&loop), &turn, NULL),
                     PL_OK);
    assert_int_equal(turn.sequence, 9);
    assert_int_equal(pl_store_turn_last_compaction(f->store, &f->arena, id_str(&session),
                                                   id_str(&nowhere), &turn, NULL),
                     PL_NOT_FOUND);
}

static void a_clients_message_is_found_in_turns_and_in_the_queue(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), other = add_session(f);
    struct pl_id id = pl_id_take(&f->seed, "turn_");
    struct pl_turn_row turn = make_turn(&session, &id, 0, "{}");
    turn.client_message_id = PL_STR("said");
    struct pl_session_row queued = {PL_ROW_QUEUED,
                                    .queued = {.session_id = id_str(&session),
                                               .position = 4,
                                               .client_message_id = PL_STR("waiting"),
                                               .body = PL_STR("{}")}};
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &turn);
    pl_batch_put_row(batch, &queued);
    commit(f, batch);
    struct pl_str found = PL_STR("untouched"), body;
    const struct {
        const struct pl_id *session;
        const char *message;
        enum pl_status status;
    } cases[] = {{&session, "said", PL_OK},
                 {&session, "waiting", PL_OK},
                 {&session, "never", PL_NOT_FOUND},
                 {&session, "", PL_NOT_FOUND},
                 {&other, "said", PL_NOT_FOUND}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pl_store_client_message_find(f->store, &f->arena, id_str(cases[i].session),
                                                      str_of(cases[i].message), &found, &body,
                                                      NULL),
                         cases[i].status);
        if (cases[i].status == PL_OK)
            assert_str(body, PL_STR("{}"));
        if (i == 0)
            assert_str(found, id_str(&id));
        else
            assert_int_equal(found.len, 0);
    }
}

static void a_clients_message_is_said_once_for_ever(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    for (int64_t i = 0; i < 2; i++) {
        struct pl_id id = pl_id_take(&f->seed, "turn_");
        struct pl_turn_row turn = make_turn(&session, &id, i, "{}");
        turn.client_message_id = PL_STR("once");
        struct pl_batch *batch = pl_batch_create();
        put_turn(batch, &turn);
        assert_int_equal(pl_store_commit(f->store, batch, NULL), i == 0 ? PL_OK : PL_CONFLICT);
    }
    struct pl_turn_query query = turns_of(&session);
    assert_int_equal(list(f, &query).n_items, 1);
}

static struct pl_question_row make_question(const struct pl_id *session, const struct pl_id *turn,
                                            const char *call)
{
    return (struct pl_question_row){
        .session_id = id_str(session),
        .tool_call_id = str_of(call),
        .turn_id = id_str(turn),
        .loop_id = PL_STR("root"),
        .kind = PL_STR("ask"),
        .questions = PL_STR("[{\"question\":\"Which?\"}]"),
        .state = PL_STR("pending"),
        .asked_ms = 10,
    };
}

static void open_rows_are_what_is_not_settled(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), other = add_session(f);
    struct pl_id turns[3];
    struct pl_batch *batch = pl_batch_create();
    for (int64_t i = 0; i < 3; i++) {
        turns[i] = pl_id_take(&f->seed, "turn_");
        struct pl_turn_row turn = make_turn(&session, &turns[i], i, "{}");
        turn.status = i == 0 ? PL_TURN_COMPLETED : i == 1 ? PL_TURN_PAUSED : PL_TURN_STREAMING;
        put_turn(batch, &turn);
    }
    struct pl_session_row row = {PL_ROW_QUESTION,
                                 .question = make_question(&session, &turns[1], "call_1")};
    pl_batch_put_row(batch, &row);
    row.question.tool_call_id = PL_STR("call_2");
    row.question.state = PL_STR("answered");
    row.question.answer = PL_STR("\"yes\"");
    row.question.settled_ms = 20;
    pl_batch_put_row(batch, &row);
    for (int64_t i = 3; i > 0; i--)
        pl_batch_put_row(batch, &(struct pl_session_row){PL_ROW_QUEUED,
                                                         .queued = {.session_id = id_str(&session),
                                                                    .position = i,
                                                                    .body = PL_STR("{}")}});
    pl_batch_put_row(
        batch, &(struct pl_session_row){PL_ROW_UNQUEUED,
                                        .queued = {.session_id = id_str(&session), .position = 2}});
    commit(f, batch);
    struct pl_open_rows rows;
    assert_int_equal(pl_store_open_rows(f->store, &f->arena, id_str(&session), &rows, NULL), PL_OK);
    assert_int_equal(rows.n_turns, 2);
    assert_int_equal(rows.turns[0].status, PL_TURN_PAUSED);
    assert_int_equal(rows.turns[1].status, PL_TURN_STREAMING);
    assert_int_equal(rows.n_questions, 1);
    assert_str(rows.questions[0].tool_call_id, PL_STR("call_1"));
    assert_str(rows.questions[0].answer, ((struct pl_str){NULL, 0}));
    assert_int_equal(rows.n_queued, 2);
    assert_int_equal(rows.queued[0].position, 1);
    assert_int_equal(rows.queued[1].position, 3);
    assert_int_equal(pl_store_open_rows(f->store, &f->arena, id_str(&other), &rows, NULL), PL_OK);
    assert_int_equal(rows.n_turns + rows.n_questions + rows.n_queued, 0);
}

static void a_question_is_answered_in_its_place(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), turn = pl_id_take(&f->seed, "turn_");
    struct pl_session_row row = {PL_ROW_QUESTION, .question = make_question(&session, &turn, "c")};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_row(batch, &row);
    row.question.state = PL_STR("answered");
    row.question.answer = PL_STR("{\"a\":[1]}");
    row.question.settled_ms = 30;
    pl_batch_put_row(batch, &row);
    commit(f, batch);
    struct pl_question_row got;
    assert_int_equal(
        pl_store_question_get(f->store, &f->arena, id_str(&session), PL_STR("c"), &got, NULL),
        PL_OK);
    assert_str(got.session_id, id_str(&session));
    assert_str(got.turn_id, id_str(&turn));
    assert_str(got.loop_id, PL_STR("root"));
    assert_str(got.kind, PL_STR("ask"));
    assert_str(got.questions, row.question.questions);
    assert_str(got.state, PL_STR("answered"));
    assert_str(got.answer, row.question.answer);
    assert_true(got.asked_ms == 10 && got.settled_ms == 30);
    assert_int_equal(
        pl_store_question_get(f->store, &f->arena, id_str(&session), PL_STR("d"), &got, NULL),
        PL_NOT_FOUND);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(a_turn_comes_back_as_it_was_put),
    ON_STORE(a_checkpoint_is_replaced_by_the_finished_turn),
    ON_STORE(turns_are_listed_by_either_end_within_bounds),
    ON_STORE(turns_are_listed_by_loop_and_by_change),
    ON_STORE(the_newest_compaction_of_a_loop_is_found),
    ON_STORE(a_clients_message_is_found_in_turns_and_in_the_queue),
    ON_STORE(a_clients_message_is_said_once_for_ever),
    ON_STORE(open_rows_are_what_is_not_settled),
    ON_STORE(a_question_is_answered_in_its_place),
};
const struct suite_part turns_part = {tests, sizeof tests / sizeof *tests};
