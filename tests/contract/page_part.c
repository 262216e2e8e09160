/* The contract: runs, drafts, cards and settings of users. */
#include "contract/suite.h"
#include "store/library.h"
#include "store/page.h"

static struct pl_model_run make_run(struct fixture *f, const struct pl_id *id, int64_t started_ms,
                                    const char *model)
{
    return (struct pl_model_run){
        .id = id_str(id),
        .user_id = id_str(&f->user),
        .source = PL_STR("prompt"),
        .status = PL_STR("completed"),
        .model = str_of(model),
        .started_ms = started_ms,
        .first_ms = 5,
        .total_ms = 10,
        .input_tokens = 3,
        .output_tokens = 4,
        .cost_micro = 7,
    };
}

static void add_run(struct fixture *f, const struct pl_model_run *run)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_model_run(batch, run);
    commit(f, batch);
}

static struct pl_model_run_query query_of(struct fixture *f)
{
    return (struct pl_model_run_query){
        .user_id = id_str(&f->user), .to_ms = INT64_MAX, .before_ms = INT64_MAX, .limit = 2};
}

static void runs_are_listed_newest_first_in_pages_and_by_filter(void **state)
{
    struct fixture *f = *state;
    struct pl_id ids[3];
    for (int i = 0; i < 3; i++) {
        ids[i] = pl_id_take(&f->seed, "run_");
        struct pl_model_run run = make_run(f, &ids[i], 1000 + i, i ? "a/x" : "a/y");
        add_run(f, &run);
    }
    struct pl_model_run_query query = query_of(f);
    struct pl_model_run_page page;
    assert_int_equal(pl_store_model_run_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    assert_true(page.n_items == 2 && page.total == 3 && page.has_more);
    assert_str(page.items[0].id, id_str(&ids[2]));
    query.before_ms = page.items[1].started_ms;
    query.before_id = page.items[1].id;
    assert_int_equal(pl_store_model_run_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    assert_true(page.n_items == 1 && !page.has_more);
    assert_str(page.items[0].model, PL_STR("a/y"));
    query = query_of(f);
    query.model = PL_STR("a/x");
    query.from_ms = 1002;
    assert_int_equal(pl_store_model_run_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    assert_true(page.n_items == 1 && page.total == 1);
    query.user_id = id_str(&f->other);
    assert_int_equal(pl_store_model_run_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    assert_int_equal(page.total, 0);
    struct pl_model_run got;
    assert_int_equal(
        pl_store_model_run_get(f->store, &f->arena, id_str(&f->other), id_str(&ids[0]), &got, NULL),
        PL_NOT_FOUND);
}

static void runs_are_summed_by_bucket_and_group_and_expire(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        struct pl_id id = pl_id_take(&f->seed, "run_");
        struct pl_model_run run = make_run(f, &id, i < 2 ? 100 : 1100, i % 2 ? "a/x" : "a/y");
        run.first_ms = i ? 5 : -1;
        add_run(f, &run);
    }
    struct pl_model_run_query query = query_of(f);
    struct pl_model_run_series series = {
        .which = &query, .bucket_ms = 1000, .group = PL_STR("model"), .limit = 10};
    struct pl_model_run_sum *sums;
    size_t n;
    bool has_more;
    assert_int_equal(
        pl_store_model_run_sums(f->store, &f->arena, &series, &sums, &n, &has_more, NULL), PL_OK);
    assert_true(n == 4 && !has_more);
    assert_true(sums[0].at_ms == 0 && sums[2].at_ms == 1000);
    assert_true(sums[1].n == 1 && sums[1].n_first == 0 && sums[0].n_first == 1);
    series.limit = 3;
    assert_int_equal(
        pl_store_model_run_sums(f->store, &f->arena, &series, &sums, &n, &has_more, NULL), PL_OK);
    assert_true(n == 3 && has_more);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_expire_model_runs(batch, 1000);
    commit(f, batch);
    struct pl_model_run_page page;
    assert_int_equal(pl_store_model_run_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    assert_int_equal(page.total, 2);
}

/* One of two users was erased while the calls of both ran. */
static void runs_of_an_erased_user_are_not_stored(void **state)
{
    struct fixture *f = *state;
    struct pl_batch *batch = pl_batch_create();
    const struct pl_user_row users[] = {
        {.id = id_str(&f->user), .name = PL_STR("gone"), .created_ms = 1},
        {.id = id_str(&f->other), .name = PL_STR("admin"), .is_admin = true, .created_ms = 1}};
    for (size_t i = 0; i < 2; i++)
        pl_batch_create_user(batch, &users[i]);
    pl_batch_erase_user(batch, id_str(&f->user));
    commit(f, batch);
    batch = pl_batch_create();
    for (int i = 0; i < 4; i++) {
        struct pl_id id = pl_id_take(&f->seed, "run_");
        struct pl_model_run run = make_run(f, &id, 1000 + i, "a/x");
        if (i % 2)
            run.user_id = id_str(&f->other);
        pl_batch_add_model_run(batch, &run);
    }
    struct pl_id id = pl_id_take(&f->seed, "run_");
    struct pl_model_run run = make_run(f, &id, 1004, "a/x");
    pl_batch_put_model_run(batch, &run);
    for (size_t i = 0; i < 2; i++)
        pl_batch_drop_gone_model_runs(batch, users[i].id);
    commit(f, batch);
    struct pl_model_run_query query = query_of(f);
    struct pl_model_run_page page;
    for (size_t i = 0; i < 2; i++) {
        query.user_id = users[i].id;
        assert_int_equal(pl_store_model_run_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
        assert_int_equal(page.total, 2 * i);
    }
}

static struct pl_id add_prompt(struct fixture *f)
{
    struct pl_id id = pl_id_take(&f->seed, "prompt_");
    struct pl_prompt_row prompt = {.id = id_str(&id),
                                   .user_id = id_str(&f->user),
                                   .name = PL_STR("p"),
                                   .tags = PL_STR("[]"),
                                   .terms = PL_STR("p"),
                                   .latest_version = 1,
                                   .created_ms = 1,
                                   .updated_ms = 1};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_prompt(batch, &prompt);
    commit(f, batch);
    return id;
}

static enum pl_status put_draft(struct fixture *f, const struct pl_id *prompt, int64_t revision)
{
    struct pl_draft_row draft = {.revision = revision,
                                 .based_on = 1,
                                 .updated_ms = 9,
                                 .type = PL_STR("text"),
                                 .content = PL_STR("words")};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_draft(batch, id_str(&f->user), id_str(prompt), &draft);
    return pl_store_commit(f->store, batch, NULL);
}

static void a_draft_replaces_the_one_that_was_read_and_no_other(void **state)
{
    struct fixture *f = *state;
    struct pl_id prompt = add_prompt(f), none = pl_id_take(&f->seed, "prompt_");
    struct pl_draft_row draft;
    assert_int_equal(put_draft(f, &prompt, 0), PL_OK);
    assert_int_equal(put_draft(f, &prompt, 0), PL_CONFLICT);
    assert_int_equal(put_draft(f, &prompt, 1), PL_OK);
    assert_int_equal(put_draft(f, &prompt, 1), PL_CONFLICT);
    assert_int_equal(put_draft(f, &none, 0), PL_NOT_FOUND);
    assert_int_equal(
        pl_store_draft_get(f->store, &f->arena, id_str(&f->user), id_str(&prompt), &draft, NULL),
        PL_OK);
    assert_true(draft.revision == 2 && draft.based_on == 1);
    assert_str(draft.content, PL_STR("words"));
    assert_int_equal(
        pl_store_draft_get(f->store, &f->arena, id_str(&f->other), id_str(&prompt), &draft, NULL),
        PL_NOT_FOUND);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_delete_prompt(batch, id_str(&f->user), id_str(&prompt));
    commit(f, batch);
    assert_int_equal(
        pl_store_draft_get(f->store, &f->arena, id_str(&f->user), id_str(&prompt), &draft, NULL),
        PL_NOT_FOUND);
}

static void settings_have_a_revision(void **state)
{
    struct fixture *f = *state;
    static const struct {
        int64_t revision;
        enum pl_status status;
    } puts[] = {{0, PL_OK}, {0, PL_CONFLICT}, {1, PL_OK}};
    int64_t revision;
    struct pl_str value;
    for (size_t i = 0; i < sizeof puts / sizeof *puts; i++) {
        struct pl_batch *batch = pl_batch_create();
        pl_batch_put_user_settings(batch, id_str(&f->user), puts[i].revision, PL_STR("{\"a\":1}"));
        assert_int_equal(pl_store_commit(f->store, batch, NULL), puts[i].status);
    }
    assert_int_equal(
        pl_store_user_settings_get(f->store, &f->arena, id_str(&f->user), &revision, &value, NULL),
        PL_OK);
    assert_int_equal(revision, 2);
    assert_str(value, PL_STR("{\"a\":1}"));
    assert_int_equal(
        pl_store_user_settings_get(f->store, &f->arena, id_str(&f->other), &revision, &value, NULL),
        PL_OK);
    assert_int_equal(revision, 0);
}

static void a_card_goes_with_its_session(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f);
    struct pl_str html;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_card(batch, id_str(&session), PL_STR("name"), PL_STR("<p>"));
    pl_batch_put_card(batch, id_str(&session), PL_STR("name"), PL_STR("<p>"));
    commit(f, batch);
    assert_int_equal(pl_store_card_get(f->store, &f->arena, PL_STR("name"), &html, NULL), PL_OK);
    assert_str(html, PL_STR("<p>"));
    batch = pl_batch_create();
    pl_batch_delete_session(batch, id_str(&f->user), id_str(&session));
    commit(f, batch);
    assert_int_equal(pl_store_card_get(f->store, &f->arena, PL_STR("name"), &html, NULL),
                     PL_NOT_FOUND);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(runs_are_listed_newest_first_in_pages_and_by_filter),
    ON_STORE(runs_are_summed_by_bucket_and_group_and_expire),
    ON_STORE(runs_of_an_erased_user_are_not_stored),
    ON_STORE(a_draft_replaces_the_one_that_was_read_and_no_other),
    ON_STORE(settings_have_a_revision),
    ON_STORE(a_card_goes_with_its_session),
};
const struct suite_part page_part = {tests, sizeof tests / sizeof *tests};
