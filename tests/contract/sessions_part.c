/* The contract: sessions, their list, unsettled sessions. */
#include "contract/suite.h"

#include <stdio.h>

static enum pl_status get(struct fixture *f, struct pl_str user, const struct pl_id *id,
                          struct pl_session_record *ret_session)
{
    return pl_store_session_get(f->store, &f->arena, user, id_str(id), ret_session, NULL);
}

static void a_session_comes_back_as_it_was_put(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record put = {
        .id = id_str(&id),
        .user_id = id_str(&f->user),
        .intent = PL_STR("Grüße, 世界 \xf0\x9f\x9a\x80 and \"quotes\"\n"),
        .solution_id = PL_STR(""),
        .model = PL_STR("demo/echo"),
        .status = PL_SESSION_WAITING,
        .created_ms = 1700000000123,
        .updated_ms = 1700000000456,
        .shared = true,
        .memory_enabled = true,
        .replay_state = PL_STR("{\"a\":1}"),
        .version = INT64_MAX,
        .epoch = 3,
        .next_event = 77,
        .next_entry = 12,
        .is_planning = true,
        .system_prompt = PL_STR("Be brief."),
        .settings = PL_STR("{\"seed\":7}"),
        .tools = PL_STR("\"none\""),
        .handoff = PL_STR("{\"hop_count\":2}"),
        .chat_override = PL_STR("{\"tools\":\"all\"}"),
    };
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &put);
    assert_int_equal(pl_batch_n_writes(batch), 1);
    commit(f, batch);
    struct pl_session_record got;
    assert_int_equal(get(f, id_str(&f->user), &id, &got), PL_OK);
    assert_str(got.id, put.id);
    assert_str(got.user_id, put.user_id);
    assert_str(got.intent, put.intent);
    assert_str(got.solution_id, put.solution_id);
    assert_str(got.biz_role_id, put.biz_role_id);
    assert_str(got.model, put.model);
    assert_int_equal(got.status, put.status);
    assert_int_equal(got.created_ms, put.created_ms);
    assert_int_equal(got.updated_ms, put.updated_ms);
    assert_true(got.shared && got.memory_enabled && !got.is_pinned && !got.is_persistent);
    assert_str(got.replay_state, put.replay_state);
    assert_true(got.version == put.version && got.epoch == 3);
    assert_true(got.next_event == 77 && got.next_entry == 12 && got.is_planning);
    assert_str(got.system_prompt, put.system_prompt);
    assert_str(got.settings, put.settings);
    assert_str(got.tools, put.tools);
    assert_str(got.handoff, put.handoff);
    assert_str(got.chat_override, put.chat_override);
}

static void settings_change_by_a_row_of_their_own(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_session(f);
    struct pl_session_record session = make_session(f, &id), got;
    assert_int_equal(get(f, id_str(&f->user), &id, &got), PL_OK);
    assert_true(!got.system_prompt.ptr && !got.settings.ptr && !got.tools.ptr && !got.handoff.ptr);
    session.system_prompt = PL_STR("Be brief.");
    session.settings = PL_STR("{\"seed\":7}");
    session.intent = PL_STR("Not of this row");
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_row(batch, &(struct pl_session_row){PL_ROW_SETTINGS, .session = session});
    commit(f, batch);
    /* A row of the session does not contain them. */
    session = make_session(f, &id);
    session.version = 9;
    batch = pl_batch_create();
    change_session(batch, &session);
    commit(f, batch);
    assert_int_equal(get(f, id_str(&f->user), &id, &got), PL_OK);
    assert_str(got.system_prompt, PL_STR("Be brief."));
    assert_str(got.settings, PL_STR("{\"seed\":7}"));
    assert_true(!got.tools.ptr && !got.handoff.ptr);
    assert_str(got.intent, session.intent);
    assert_int_equal(got.version, 9);
}

static void a_change_changes_the_session_but_not_whose_it_is(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_session(f);
    struct pl_session_record session = make_session(f, &id);
    session.user_id = id_str(&f->other);
    session.created_ms = 9;
    session.status = PL_SESSION_RUNNING;
    session.intent = PL_STR("Another");
    session.is_pinned = true;
    session.version = 2;
    struct pl_batch *batch = pl_batch_create();
    change_session(batch, &session);
    commit(f, batch);
    struct pl_session_record got;
    assert_int_equal(get(f, id_str(&f->user), &id, &got), PL_OK);
    assert_str(got.user_id, id_str(&f->user));
    assert_str(got.intent, PL_STR("Another"));
    assert_int_equal(got.created_ms, 1000);
    assert_int_equal(got.status, PL_SESSION_RUNNING);
    assert_true(got.is_pinned && got.version == 2);
}

static void the_session_of_another_user_is_not_found(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_session(f);
    struct pl_session_record got = {.version = -7};
    assert_int_equal(get(f, id_str(&f->other), &id, &got), PL_NOT_FOUND);
    assert_int_equal(got.version, -7);
    assert_int_equal(get(f, (struct pl_str){NULL, 0}, &id, &got), PL_OK);
}

static void what_is_no_id_is_not_found(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_session(f);
    static const char *const wrong[] = {"",
                                        "sess_",
                                        "root",
                                        "sess_' OR 1=1 --",
                                        "turn_018f0000-0000-7000-8000-000000000000",
                                        "sess_018f0000-0000-7000-8000-00000000000g"};
    struct pl_session_record got;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pl_store_session_get(f->store, &f->arena, id_str(&f->user),
                                              str_of(wrong[i]), &got, NULL),
                         PL_NOT_FOUND);
    for (char *c = id.text + 5; *c; c++)
        if (*c >= 'a' && *c <= 'f')
            *c = (char)(*c - 32);
    assert_int_equal(get(f, id_str(&f->user), &id, &got), PL_NOT_FOUND);
}

/* --- lists ----------------------------------------------------------------------------------- */

static struct pl_session_query list_of(struct fixture *f)
{
    return (struct pl_session_query){
        .user_id = id_str(&f->user), .status = PL_SESSION_STATUS_COUNT, .limit = 100};
}

static struct pl_session_page list(struct fixture *f, const struct pl_session_query *query)
{
    struct pl_session_page page;
    struct pl_error err;
    if (pl_store_session_list(f->store, &f->arena, query, &page, &err) != PL_OK)
        fail_msg("%s", err.message);
    return page;
}

static void continue_behind(struct pl_session_query *query, const struct pl_session_record *last)
{
    query->has_cursor = true;
    query->cursor_is_pinned = last->is_pinned;
    query->cursor_updated_ms = last->updated_ms;
    query->cursor_id = last->id;
}

/* Sessions with the given time of change; negative: pinned. */
static void add_sessions(struct fixture *f, const int64_t *times, size_t n, struct pl_id *ret_ids)
{
    struct pl_batch *batch = pl_batch_create();
    for (size_t i = 0; i < n; i++) {
        ret_ids[i] = pl_id_take(&f->seed, "sess_");
        struct pl_session_record session = make_session(f, &ret_ids[i]);
        session.is_pinned = times[i] < 0;
        session.updated_ms = times[i] < 0 ? -times[i] : times[i];
        put_session(batch, &session);
    }
    commit(f, batch);
}

static void the_list_has_pinned_ones_first_then_the_newest(void **state)
{
    struct fixture *f = *state;
    struct pl_id ids[6];
    add_sessions(f, (int64_t[]){10, -5, 30, -50, 30, 20}, 6, ids);
    struct pl_session_query query = list_of(f);
    struct pl_session_page page = list(f, &query);
    static const size_t order[] = {3, 1, 4, 2, 5, 0};
    assert_int_equal(page.n_items, 6);
    assert_int_equal(page.total, 6);
    assert_false(page.has_more);
    for (size_t i = 0; i < 6; i++)
        assert_str(page.items[i].id, id_str(&ids[order[i]]));
}

static void pages_by_cursor_neither_repeat_nor_skip_while_others_change(void **state)
{
    struct fixture *f = *state;
    struct pl_id ids[10];
    add_sessions(f, (int64_t[]){1, 2, 3, 4, 5, 5, 5, 8, -9, -10}, 10, ids);
    struct pl_session_query query = list_of(f);
    query.limit = 3;
    size_t n_seen = 0;
    bool was_seen[10] = {false};
    for (bool has_more = true; has_more;) {
        struct pl_session_page page = list(f, &query);
        assert_int_equal(page.total, 10 + (n_seen ? n_seen / 3 : 0));
        for (size_t i = 0; i < page.n_items; i++)
            for (size_t k = 0; k < 10; k++)
                if (pl_str_eq(page.items[i].id, id_str(&ids[k]))) {
                    assert_false(was_seen[k]);
                    was_seen[k] = true;
                    n_seen++;
                }
        has_more = page.has_more;
        if (has_more)
            continue_behind(&query, &page.items[page.n_items - 1]);
        struct pl_id newer;
        add_sessions(f, (int64_t[]){1000 + (int64_t)n_seen}, 1, &newer);
    }
    assert_int_equal(n_seen, 10);
}

static void pages_by_offset_and_total_agree(void **state)
{
    struct fixture *f = *state;
    struct pl_id ids[5];
    add_sessions(f, (int64_t[]){1, 2, 3, 4, 5}, 5, ids);
    struct pl_session_query query = list_of(f);
    query.limit = 2;
    query.offset = 3;
    struct pl_session_page page = list(f, &query);
    assert_int_equal(page.n_items, 2);
    assert_int_equal(page.total, 5);
    assert_false(page.has_more);
    assert_str(page.items[0].id, id_str(&ids[1]));
    query.offset = 9;
    page = list(f, &query);
    assert_int_equal(page.n_items, 0);
    assert_int_equal(page.total, 5);
}

static void the_list_of_one_user_does_not_have_another_users(void **state)
{
    struct fixture *f = *state;
    struct pl_id mine = add_session(f), id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id);
    session.user_id = id_str(&f->other);
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    commit(f, batch);
    struct pl_session_query query = list_of(f);
    struct pl_session_page page = list(f, &query);
    assert_int_equal(page.n_items, 1);
    assert_int_equal(page.total, 1);
    assert_str(page.items[0].id, id_str(&mine));
    query.user_id = (struct pl_str){NULL, 0};
    page = list(f, &query);
    assert_int_equal(page.n_items, 2);
    assert_int_equal(page.total, 2);
}

static void filters_narrow_the_list_and_its_total(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *intent;
        enum pl_session_status status;
        bool is_pinned;
    } rows[] = {
        {"Bake a CAKE, 100%", PL_SESSION_CREATED, false},
        {"ÄPFEL und Birnen", PL_SESSION_RUNNING, true},
        {"a_b", PL_SESSION_RUNNING, false},
        {"axb!", PL_SESSION_COMPLETED, false},
    };
    struct pl_batch *batch = pl_batch_create();
    for (size_t i = 0; i < 4; i++) {
        struct pl_id id = pl_id_take(&f->seed, "sess_");
        struct pl_session_record session = make_session(f, &id);
        session.intent = str_of(rows[i].intent);
        session.status = rows[i].status;
        session.is_pinned = rows[i].is_pinned;
        put_session(batch, &session);
    }
    commit(f, batch);
    static const struct {
        const char *text;
        enum pl_session_status status;
        int pinned; /* -1: either */
        size_t n;
    } cases[] = {
        {"cake", PL_SESSION_STATUS_COUNT, -1, 1}, {"äpfel", PL_SESSION_STATUS_COUNT, -1, 1},
        {"100%", PL_SESSION_STATUS_COUNT, -1, 1}, {"%", PL_SESSION_STATUS_COUNT, -1, 1},
        {"A_B", PL_SESSION_STATUS_COUNT, -1, 1},  {"b!", PL_SESSION_STATUS_COUNT, -1, 1},
        {"pie", PL_SESSION_STATUS_COUNT, -1, 0},  {NULL, PL_SESSION_RUNNING, -1, 2},
        {NULL, PL_SESSION_RUNNING, 0, 1},         {NULL, PL_SESSION_STATUS_COUNT, 1, 1},
        {"birnen", PL_SESSION_COMPLETED, -1, 0},  {NULL, PL_SESSION_STATUS_COUNT, -1, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_session_query query = list_of(f);
        query.text = str_of(cases[i].text);
        query.status = cases[i].status;
        query.has_pinned = cases[i].pinned >= 0;
        query.is_pinned = cases[i].pinned == 1;
        struct pl_session_page page = list(f, &query);
        if (page.n_items != cases[i].n || page.total != (int64_t)cases[i].n)
            fail_msg("case %zu: %zu items of %lld", i, page.n_items, (long long)page.total);
    }
}

static void ten_thousand_unsettled_sessions_are_found_in_pages(void **state)
{
    struct fixture *f = *state;
    enum { N = 10000, N_BATCH = 500 };
    for (size_t i = 0; i < N; i += N_BATCH) {
        struct pl_batch *batch = pl_batch_create();
        for (size_t k = 0; k < N_BATCH; k++) {
            struct pl_id id = pl_id_take(&f->seed, "sess_");
            struct pl_session_record session = make_session(f, &id);
            session.status = k % 5 == 0   ? PL_SESSION_COMPLETED
                             : k % 2 == 0 ? PL_SESSION_RUNNING
                                          : PL_SESSION_WAITING;
            put_session(batch, &session);
        }
        commit(f, batch);
    }
    size_t n_seen = 0;
    char after[PL_ID_MAX] = "";
    for (bool has_more = true; has_more;) {
        struct pl_session_page page;
        assert_int_equal(
            pl_store_session_unsettled(f->store, &f->arena, str_of(after), 300, &page, NULL),
            PL_OK);
        assert_int_equal(page.total, N / 5 * 4);
        for (size_t i = 0; i < page.n_items; i++) {
            assert_true(pl_str_cmp(page.items[i].id, str_of(after)) > 0);
            snprintf(after, sizeof after, "%.*s", PL_STR_ARG(page.items[i].id));
            assert_true(page.items[i].status == PL_SESSION_RUNNING ||
                        page.items[i].status == PL_SESSION_WAITING);
        }
        n_seen += page.n_items;
        has_more = page.has_more;
        pl_arena_reset(&f->arena);
    }
    assert_int_equal(n_seen, N / 5 * 4);
}

static void a_deleted_session_takes_everything_of_its_own_along(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_session(f), kept = add_session(f);
    struct pl_id turn = pl_id_take(&f->seed, "turn_"), share = pl_id_take(&f->seed, "share_");
    struct pl_turn_row row = make_turn(&id, &turn, 0, "{}"),
                       other = make_turn(&kept, &turn, 0, "{}");
    char hash[32] = "0123456789abcdef0123456789abcde";
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &row);
    put_turn(batch, &other);
    pl_batch_put_share(batch, &(struct pl_share_row){.id = id_str(&share),
                                                     .user_id = id_str(&f->user),
                                                     .session_id = id_str(&id),
                                                     .hash = {hash, 32}});
    pl_batch_delete_session(batch, id_str(&f->other), id_str(&id));
    commit(f, batch);
    struct pl_session_record got;
    assert_int_equal(get(f, id_str(&f->user), &id, &got), PL_OK);

    batch = pl_batch_create();
    pl_batch_delete_session(batch, id_str(&f->user), id_str(&id));
    commit(f, batch);
    struct pl_turn_row got_turn;
    struct pl_share_row got_share;
    assert_int_equal(get(f, id_str(&f->user), &id, &got), PL_NOT_FOUND);
    assert_int_equal(
        pl_store_turn_get(f->store, &f->arena, id_str(&id), id_str(&turn), &got_turn, NULL),
        PL_NOT_FOUND);
    assert_int_equal(
        pl_store_share_find(f->store, &f->arena, (struct pl_str){hash, 32}, &got_share, NULL),
        PL_NOT_FOUND);
    assert_int_equal(
        pl_store_turn_get(f->store, &f->arena, id_str(&kept), id_str(&turn), &got_turn, NULL),
        PL_OK);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(a_session_comes_back_as_it_was_put),
    ON_STORE(settings_change_by_a_row_of_their_own),
    ON_STORE(a_change_changes_the_session_but_not_whose_it_is),
    ON_STORE(the_session_of_another_user_is_not_found),
    ON_STORE(what_is_no_id_is_not_found),
    ON_STORE(the_list_has_pinned_ones_first_then_the_newest),
    ON_STORE(pages_by_cursor_neither_repeat_nor_skip_while_others_change),
    ON_STORE(pages_by_offset_and_total_agree),
    ON_STORE(the_list_of_one_user_does_not_have_another_users),
    ON_STORE(filters_narrow_the_list_and_its_total),
    ON_STORE(ten_thousand_unsettled_sessions_are_found_in_pages),
    ON_STORE(a_deleted_session_takes_everything_of_its_own_along),
};
const struct suite_part sessions_part = {tests, sizeof tests / sizeof *tests};
