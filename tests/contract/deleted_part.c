/* The contract: deleted records that can be restored. */
#include "contract/suite.h"
#include "store/gateway.h"
#include "store/library.h"
#include "store/page.h"
#include "store/work.h"

#include <stdio.h>

static struct pl_id add_prompt(struct fixture *f, const char *name)
{
    struct pl_id id = pl_id_take(&f->seed, "prompt_");
    struct pl_prompt_row prompt = {.id = id_str(&id),
                                   .user_id = id_str(&f->user),
                                   .name = str_of(name),
                                   .tags = PL_STR("[\"tag\"]"),
                                   .terms = str_of(name),
                                   .latest_version = 1,
                                   .created_ms = 1,
                                   .updated_ms = 1};
    struct pl_prompt_version_row version = {.prompt_id = prompt.id,
                                            .version = 1,
                                            .type = PL_STR("text"),
                                            .content = PL_STR("c"),
                                            .hash = PL_STR("cccccccccccccccccccccccccccccccc"),
                                            .created_ms = 1};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_prompt(batch, &prompt);
    pl_batch_put_prompt_version(batch, prompt.user_id, &version);
    commit(f, batch);
    return id;
}

static int64_t add_memory(struct fixture *f, const char *content)
{
    struct pl_id uid = pl_id_take(&f->seed, "mem_");
    struct pl_memory_row memory = {.uid = id_str(&uid),
                                   .user_id = id_str(&f->user),
                                   .type = PL_STR("experience"),
                                   .content = str_of(content),
                                   .terms = str_of(content),
                                   .created_ms = 1,
                                   .updated_ms = 1};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_memory(batch, &memory);
    commit(f, batch);
    assert_int_equal(
        pl_store_memory_find(f->store, &f->arena, memory.user_id, memory.uid, &memory, NULL),
        PL_OK);
    return memory.id;
}

static struct pl_id add_task(struct fixture *f)
{
    struct pl_id id = pl_id_take(&f->seed, "task_");
    struct pl_task_row task = {.id = id_str(&id),
                               .user_id = id_str(&f->user),
                               .title = PL_STR("tea"),
                               .prompt = PL_STR("make tea"),
                               .cron = PL_STR("0 5 * * *"),
                               .timezone = PL_STR("UTC"),
                               .overlap = PL_STR("skip"),
                               .enabled = true,
                               .next_ms = 10,
                               .revision = 1,
                               .created_ms = 1,
                               .updated_ms = 1};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_task(batch, &task);
    commit(f, batch);
    return id;
}

static void bury(struct fixture *f, enum pl_deleted_kind kind, struct pl_str id, int64_t now_ms)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_bury(batch, kind, id_str(&f->user), id, now_ms);
    commit(f, batch);
}

static enum pl_status raise_for(struct fixture *f, const struct pl_id *user,
                                enum pl_deleted_kind kind, struct pl_str id)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_raise(batch, kind, id_str(user), id);
    return pl_store_commit(f->store, batch, NULL);
}

static size_t list(struct fixture *f, const struct pl_id *user, const char *kind,
                   struct pl_deleted_row **ret_rows)
{
    size_t n = 0;
    assert_int_equal(
        pl_store_deleted_list(f->store, &f->arena, id_str(user), str_of(kind), ret_rows, &n, NULL),
        PL_OK);
    return n;
}

static int64_t n_sessions(struct fixture *f, struct pl_str user_id)
{
    struct pl_session_query query = {
        .user_id = user_id, .status = PL_SESSION_STATUS_COUNT, .limit = 10};
    struct pl_session_page page;
    assert_int_equal(pl_store_session_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    assert_int_equal(page.total, page.n_items);
    return page.total;
}

static void a_session_is_away_until_it_comes_back(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_session(f), turn = pl_id_take(&f->seed, "turn_");
    struct pl_turn_row row = make_turn(&id, &turn, 0, "{\"blocks\":[]}");
    struct pl_session_record got;
    struct pl_deleted_row *rows;
    struct pl_str html;
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &row);
    pl_batch_put_card(batch, id_str(&id), PL_STR("card"), PL_STR("<p>"));
    commit(f, batch);
    bury(f, PL_DELETED_SESSION, id_str(&id), 1000);
    const struct pl_str whose[] = {id_str(&f->user), {NULL, 0}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            pl_store_session_get(f->store, &f->arena, whose[i], id_str(&id), &got, NULL),
            PL_NOT_FOUND);
        assert_int_equal(n_sessions(f, whose[i]), 0);
    }
    assert_int_equal(pl_store_card_get(f->store, &f->arena, PL_STR("card"), &html, NULL),
                     PL_NOT_FOUND);
    /* A late change does not restore it. */
    struct pl_session_record late = make_session(f, &id);
    batch = pl_batch_create();
    change_session(batch, &late);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    assert_int_equal(list(f, &f->user, NULL, &rows), 1);
    assert_str(rows[0].id, id_str(&id));
    assert_int_equal(rows[0].deleted_ms, 1000);
    assert_int_equal(list(f, &f->other, NULL, &rows), 0);
    assert_int_equal(raise_for(f, &f->other, PL_DELETED_SESSION, id_str(&id)), PL_NOT_FOUND);
    assert_int_equal(raise_for(f, &f->user, PL_DELETED_SESSION, id_str(&id)), PL_OK);
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&id), &got, NULL),
        PL_OK);
    assert_str(got.user_id, id_str(&f->user));
    assert_int_equal(n_sessions(f, id_str(&f->user)), 1);
    assert_int_equal(pl_store_card_get(f->store, &f->arena, PL_STR("card"), &html, NULL), PL_OK);
    assert_int_equal(list(f, &f->user, NULL, &rows), 0);
}

static int64_t n_found(struct fixture *f, const char *terms)
{
    struct pl_prompt_query query = {
        .user_id = id_str(&f->user), .terms = str_of(terms), .limit = 10};
    struct pl_prompt_page page;
    assert_int_equal(pl_store_prompt_list(f->store, &f->arena, &query, &page, NULL), PL_OK);
    return page.total;
}

static void a_prompt_is_not_found_until_it_comes_back(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_prompt(f, "zebra");
    struct pl_count_query counting = {.user_id = id_str(&f->user), .limit = 10};
    struct pl_count_page tags;
    bury(f, PL_DELETED_PROMPT, id_str(&id), 1000);
    assert_true(n_found(f, "zebra") == 0 && n_found(f, NULL) == 0);
    assert_int_equal(pl_store_prompt_tags(f->store, &f->arena, &counting, &tags, NULL), PL_OK);
    assert_int_equal(tags.n_items, 0);
    assert_int_equal(raise_for(f, &f->user, PL_DELETED_PROMPT, id_str(&id)), PL_OK);
    assert_true(n_found(f, "zebra") == 1 && n_found(f, NULL) == 1);
    assert_int_equal(pl_store_prompt_tags(f->store, &f->arena, &counting, &tags, NULL), PL_OK);
    assert_int_equal(tags.n_items, 1);
    assert_int_equal(raise_for(f, &f->user, PL_DELETED_PROMPT, id_str(&id)), PL_NOT_FOUND);
    assert_int_equal(n_found(f, "zebra"), 1);
}

/* Files of a repository may contain a prompt that was deleted here. */
static void a_prompt_with_the_id_of_a_deleted_one_takes_its_place(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_prompt(f, "old");
    struct pl_deleted_row *rows;
    bool is_others = true;
    bury(f, PL_DELETED_PROMPT, id_str(&id), 1000);
    assert_int_equal(
        pl_store_prompt_is_others(f->store, id_str(&f->user), id_str(&id), &is_others, NULL),
        PL_OK);
    assert_false(is_others);
    assert_int_equal(
        pl_store_prompt_is_others(f->store, id_str(&f->other), id_str(&id), &is_others, NULL),
        PL_OK);
    assert_true(is_others);
    struct pl_prompt_row prompt = {.id = id_str(&id),
                                   .user_id = id_str(&f->user),
                                   .name = PL_STR("new"),
                                   .tags = PL_STR("[]"),
                                   .terms = PL_STR("new"),
                                   .latest_version = 1,
                                   .created_ms = 2,
                                   .updated_ms = 2};
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_prompt(batch, &prompt);
    commit(f, batch);
    assert_int_equal(list(f, &f->user, NULL, &rows), 0);
    assert_int_equal(n_found(f, "new"), 1);
}

static void a_deleted_task_is_not_due_and_comes_back_disabled(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_task(f);
    struct pl_task_row task;
    struct pl_task_page due;
    assert_int_equal(pl_store_task_due(f->store, &f->arena, 100, 10, &due, NULL), PL_OK);
    assert_int_equal(due.n_items, 1);
    bury(f, PL_DELETED_TASK, id_str(&id), 1000);
    assert_int_equal(pl_store_task_due(f->store, &f->arena, 100, 10, &due, NULL), PL_OK);
    assert_int_equal(due.n_items, 0);
    assert_int_equal(
        pl_store_task_get(f->store, &f->arena, (struct pl_str){0}, id_str(&id), &task, NULL),
        PL_NOT_FOUND);
    assert_int_equal(raise_for(f, &f->user, PL_DELETED_TASK, id_str(&id)), PL_OK);
    assert_int_equal(
        pl_store_task_get(f->store, &f->arena, id_str(&f->user), id_str(&id), &task, NULL), PL_OK);
    assert_true(!task.enabled && task.revision == 2);
}

static void a_memory_leaves_its_chain_for_good(void **state)
{
    struct fixture *f = *state;
    int64_t old = add_memory(f, "old"), now = add_memory(f, "now");
    struct pl_memory_row memory;
    struct pl_deleted_row *rows;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_supersede_memory(batch, id_str(&f->user), old, 0, now, 5);
    commit(f, batch);
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)now);
    bury(f, PL_DELETED_MEMORY, str_of(digits), 1000);
    assert_int_equal(pl_store_memory_get(f->store, &f->arena, id_str(&f->user), old, &memory, NULL),
                     PL_OK);
    assert_int_equal(memory.superseded_by, 0);
    assert_int_equal(list(f, &f->user, "memory", &rows), 1);
    assert_str(rows[0].id, str_of(digits));
    assert_str(rows[0].title, PL_STR("now"));
    assert_int_equal(raise_for(f, &f->user, PL_DELETED_MEMORY, str_of(digits)), PL_OK);
    assert_int_equal(pl_store_memory_get(f->store, &f->arena, id_str(&f->user), now, &memory, NULL),
                     PL_OK);
    assert_int_equal(memory.superseded_by, 0);
}

static void the_newest_of_a_kind_are_kept(void **state)
{
    struct fixture *f = *state;
    struct pl_deleted_row *rows;
    struct pl_id session = add_session(f);
    bury(f, PL_DELETED_SESSION, id_str(&session), 1);
    for (int i = 0; i <= PL_DELETED_MAX; i++) {
        struct pl_id id = add_prompt(f, "p");
        bury(f, PL_DELETED_PROMPT, id_str(&id), 1000 + i);
    }
    size_t n = list(f, &f->user, "prompt", &rows);
    assert_int_equal(n, PL_DELETED_MAX);
    assert_int_equal(rows[0].deleted_ms, 1000 + PL_DELETED_MAX);
    assert_int_equal(rows[n - 1].deleted_ms, 1001);
    assert_int_equal(list(f, &f->user, NULL, &rows), PL_DELETED_MAX + 1);
}

static void what_is_old_and_what_is_dropped_is_gone(void **state)
{
    struct fixture *f = *state;
    struct pl_deleted_row *rows;
    struct pl_id ids[3];
    for (int i = 0; i < 3; i++) {
        ids[i] = add_session(f);
        bury(f, PL_DELETED_SESSION, id_str(&ids[i]), 1000 + i);
    }
    struct pl_id prompt = add_prompt(f, "p");
    bury(f, PL_DELETED_PROMPT, id_str(&prompt), 1000);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_expire_deleted(batch, 1001);
    commit(f, batch);
    assert_int_equal(list(f, &f->user, NULL, &rows), 2);
    batch = pl_batch_create();
    pl_batch_drop_deleted(batch, PL_DELETED_SESSION, id_str(&f->other), id_str(&ids[1]));
    commit(f, batch);
    assert_int_equal(list(f, &f->user, NULL, &rows), 2);
    batch = pl_batch_create();
    pl_batch_drop_deleted(batch, PL_DELETED_SESSION, id_str(&f->user), id_str(&ids[1]));
    commit(f, batch);
    assert_int_equal(list(f, &f->user, NULL, &rows), 1);
    assert_int_equal(raise_for(f, &f->user, PL_DELETED_SESSION, id_str(&ids[1])), PL_NOT_FOUND);
    batch = pl_batch_create();
    pl_batch_empty_deleted(batch, id_str(&f->user));
    commit(f, batch);
    assert_int_equal(list(f, &f->user, NULL, &rows), 0);
}

static void an_erased_user_leaves_nothing_deleted(void **state)
{
    struct fixture *f = *state;
    struct pl_deleted_row *rows;
    struct pl_id admin = pl_id_take(&f->seed, "user_");
    const struct pl_user_row users[] = {
        {.id = id_str(&f->user), .name = PL_STR("u"), .created_ms = 1},
        {.id = id_str(&admin), .name = PL_STR("a"), .is_admin = true, .created_ms = 1}};
    struct pl_batch *batch = pl_batch_create();
    for (size_t i = 0; i < 2; i++)
        pl_batch_create_user(batch, &users[i]);
    commit(f, batch);
    struct pl_id session = add_session(f), prompt = add_prompt(f, "p"), task = add_task(f);
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)add_memory(f, "m"));
    bury(f, PL_DELETED_SESSION, id_str(&session), 1);
    bury(f, PL_DELETED_PROMPT, id_str(&prompt), 1);
    bury(f, PL_DELETED_TASK, id_str(&task), 1);
    bury(f, PL_DELETED_MEMORY, str_of(digits), 1);
    assert_int_equal(list(f, &f->user, NULL, &rows), 4);
    batch = pl_batch_create();
    pl_batch_erase_user(batch, id_str(&f->user));
    commit(f, batch);
    assert_int_equal(list(f, &f->user, NULL, &rows), 0);
    assert_int_equal(raise_for(f, &f->user, PL_DELETED_SESSION, id_str(&session)), PL_NOT_FOUND);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(a_session_is_away_until_it_comes_back),
    ON_STORE(a_prompt_is_not_found_until_it_comes_back),
    ON_STORE(a_prompt_with_the_id_of_a_deleted_one_takes_its_place),
    ON_STORE(a_deleted_task_is_not_due_and_comes_back_disabled),
    ON_STORE(a_memory_leaves_its_chain_for_good),
    ON_STORE(the_newest_of_a_kind_are_kept),
    ON_STORE(what_is_old_and_what_is_dropped_is_gone),
    ON_STORE(an_erased_user_leaves_nothing_deleted),
};
const struct suite_part deleted_part = {tests, sizeof tests / sizeof *tests};
