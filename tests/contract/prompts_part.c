/* The contract: prompts, their versions, labels, tags and folders, and the search. */
#include "base/text/terms.h"
#include "contract/suite.h"
#include "store/library.h"

#include <stdio.h>

static const struct pl_str hash = {"cccccccccccccccc\0cccccccccccccc\xff", 32};

static struct pl_prompt_row make_prompt(struct fixture *f, const struct pl_id *id, const char *name)
{
    return (struct pl_prompt_row){
        .id = id_str(id),
        .user_id = id_str(&f->user),
        .name = str_of(name),
        .description = PL_STR(""),
        .folder = PL_STR(""),
        .tags = PL_STR("[]"),
        .latest_version = 1,
        .created_ms = 1000,
        .updated_ms = 1000,
        .terms = str_of(name),
    };
}

static struct pl_prompt_version_row make_version(struct pl_str prompt_id, int64_t version,
                                                 const char *content)
{
    return (struct pl_prompt_version_row){.prompt_id = prompt_id,
                                          .version = version,
                                          .type = PL_STR("text"),
                                          .content = str_of(content),
                                          .note = PL_STR("first"),
                                          .hash = hash,
                                          .based_on = version - 1,
                                          .created_ms = 900 + version};
}

static void put_prompt(struct pl_batch *batch, const struct pl_prompt_row *prompt)
{
    struct pl_prompt_version_row version = make_version(prompt->id, 1, "Hello {{name}}");
    pl_batch_create_prompt(batch, prompt);
    pl_batch_put_prompt_version(batch, prompt->user_id, &version);
}

static struct pl_id add_prompt(struct fixture *f, const struct pl_prompt_row *like)
{
    struct pl_id id = pl_id_take(&f->seed, "prompt_");
    struct pl_prompt_row prompt = *like;
    prompt.id = id_str(&id);
    struct pl_batch *batch = pl_batch_create();
    put_prompt(batch, &prompt);
    commit(f, batch);
    return id;
}

static struct pl_prompt_row get_prompt(struct fixture *f, const struct pl_id *id)
{
    struct pl_prompt_row prompt = {0};
    struct pl_error err = {0};
    if (pl_store_prompt_get(f->store, &f->arena, id_str(&f->user), id_str(id), &prompt, &err) !=
        PL_OK)
        fail_msg("%s", err.message);
    return prompt;
}

static struct pl_prompt_page list_prompts(struct fixture *f, struct pl_prompt_query query)
{
    struct pl_prompt_page page = {0};
    struct pl_error err = {0};
    query.user_id = id_str(&f->user);
    query.limit = query.limit ? query.limit : 100;
    if (pl_store_prompt_list(f->store, &f->arena, &query, &page, &err) != PL_OK)
        fail_msg("%s", err.message);
    return page;
}

static enum pl_status try_update(struct fixture *f, const struct pl_prompt_row *row,
                                 struct pl_error *err)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_update_prompt(batch, row);
    return pl_store_commit(f->store, batch, err);
}

static void a_prompt_comes_back_as_it_was_put(void **state)
{
    struct fixture *f = *state;
    struct pl_prompt_row like = make_prompt(f, &f->user, "Audit");
    like.description = PL_STR("Finds \"holes\" \xe2\x9c\x93");
    like.folder = PL_STR("work/audit");
    like.tags = PL_STR("[\"a\\\"b\",\"\xe4\xb8\xad\xe6\x96\x87\"]");
    like.is_pinned = true;
    like.updated_ms = 2000;
    struct pl_id id = add_prompt(f, &like);
    struct pl_prompt_row got = get_prompt(f, &id);
    assert_str(got.id, id_str(&id));
    assert_str(got.user_id, id_str(&f->user));
    assert_str(got.name, like.name);
    assert_str(got.description, like.description);
    assert_str(got.folder, like.folder);
    assert_str(got.tags, like.tags);
    assert_str(got.labels, PL_STR("{}"));
    assert_str(got.type, PL_STR("text"));
    assert_true(got.is_pinned && got.latest_version == 1 && got.revision == 1);
    assert_true(got.created_ms == 1000 && got.updated_ms == 2000);
    assert_int_equal(
        pl_store_prompt_get(f->store, &f->arena, id_str(&f->other), id_str(&id), &got, NULL),
        PL_NOT_FOUND);
    assert_int_equal(
        pl_store_prompt_get(f->store, &f->arena, id_str(&f->user), PL_STR("prompt_x"), &got, NULL),
        PL_NOT_FOUND);
    bool is_others = true;
    assert_int_equal(
        pl_store_prompt_is_others(f->store, id_str(&f->user), id_str(&id), &is_others, NULL),
        PL_OK);
    assert_false(is_others);
    assert_int_equal(
        pl_store_prompt_is_others(f->store, id_str(&f->other), id_str(&id), &is_others, NULL),
        PL_OK);
    assert_true(is_others);
}

static void a_change_must_know_the_revision_it_changes(void **state)
{
    struct fixture *f = *state;
    struct pl_prompt_row like = make_prompt(f, &f->user, "draft");
    struct pl_id id = add_prompt(f, &like);
    struct pl_prompt_row row = get_prompt(f, &id);
    row.name = PL_STR("Final");
    row.tags = PL_STR("[\"x\"]");
    row.updated_ms = 3000;
    struct pl_error err = {0};
    assert_int_equal(try_update(f, &row, &err), PL_OK);
    row.name = PL_STR("Stale");
    assert_int_equal(try_update(f, &row, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "changed in the meantime"));
    struct pl_prompt_row got = get_prompt(f, &id);
    assert_str(got.name, PL_STR("Final"));
    assert_str(got.tags, PL_STR("[\"x\"]"));
    assert_true(got.revision == 2 && got.updated_ms == 3000 && got.created_ms == 1000);
    row.revision = 2;
    row.user_id = id_str(&f->other);
    assert_int_equal(try_update(f, &row, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "no longer exists"));
    assert_str(get_prompt(f, &id).name, PL_STR("Final"));
}

static void a_prompt_that_is_gone_cannot_be_changed(void **state)
{
    struct fixture *f = *state;
    struct pl_prompt_row like = make_prompt(f, &f->user, "gone soon");
    struct pl_id id = add_prompt(f, &like);
    struct pl_prompt_row row = get_prompt(f, &id);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_delete_prompt(batch, id_str(&f->other), id_str(&id));
    commit(f, batch);
    get_prompt(f, &id);
    batch = pl_batch_create();
    pl_batch_delete_prompt(batch, id_str(&f->user), id_str(&id));
    commit(f, batch);
    struct pl_error err = {0};
    assert_int_equal(try_update(f, &row, &err), PL_CONFLICT);
    assert_int_equal(list_prompts(f, (struct pl_prompt_query){.terms = PL_STR("gone")}).total, 0);
    struct pl_prompt_version_row version;
    assert_int_equal(pl_store_prompt_version_get(f->store, &f->arena, id_str(&f->user), id_str(&id),
                                                 1, &version, NULL),
                     PL_NOT_FOUND);
}

static void versions_are_kept_and_never_written_twice(void **state)
{
    struct fixture *f = *state;
    struct pl_prompt_row like = make_prompt(f, &f->user, "many");
    struct pl_id id = add_prompt(f, &like);
    for (int64_t i = 2; i <= 5; i++) {
        struct pl_prompt_version_row version = make_version(id_str(&id), i, "{\"a\":[1, 2]}");
        version.type = PL_STR("structured");
        version.restored_from = i == 5 ? 1 : 0;
        struct pl_batch *batch = pl_batch_create();
        pl_batch_put_prompt_version(batch, id_str(&f->user), &version);
        commit(f, batch);
    }
    struct pl_prompt_version_row again = make_version(id_str(&id), 3, "other"), got;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_prompt_version(batch, id_str(&f->user), &again);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_CONFLICT);
    batch = pl_batch_create();
    again.version = 6;
    pl_batch_put_prompt_version(batch, id_str(&f->other), &again);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
    assert_int_equal(pl_store_prompt_version_get(f->store, &f->arena, id_str(&f->user), id_str(&id),
                                                 5, &got, NULL),
                     PL_OK);
    assert_str(got.prompt_id, id_str(&id));
    assert_str(got.type, PL_STR("structured"));
    assert_str(got.content, PL_STR("{\"a\":[1, 2]}"));
    assert_str(got.note, PL_STR("first"));
    assert_str(got.hash, hash);
    assert_true(got.based_on == 4 && got.restored_from == 1 && got.created_ms == 905);
    struct pl_prompt_version_page page;
    assert_int_equal(pl_store_prompt_version_list(f->store, &f->arena, id_str(&f->user),
                                                  id_str(&id), INT64_MAX, 3, &page, NULL),
                     PL_OK);
    assert_true(page.n_items == 3 && page.total == 5 && page.has_more);
    assert_int_equal(page.items[0].version, 5);
    assert_int_equal(pl_store_prompt_version_list(f->store, &f->arena, id_str(&f->user),
                                                  id_str(&id), 3, 3, &page, NULL),
                     PL_OK);
    assert_true(page.n_items == 2 && !page.has_more);
    assert_int_equal(page.items[1].version, 1);
}

static void labels_move_and_are_taken_away(void **state)
{
    struct fixture *f = *state;
    struct pl_prompt_row like = make_prompt(f, &f->user, "labelled");
    struct pl_id id = add_prompt(f, &like);
    struct pl_prompt_version_row second = make_version(id_str(&id), 2, "two");
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_prompt_version(batch, id_str(&f->user), &second);
    pl_batch_put_prompt_label(batch, id_str(&f->user), id_str(&id), PL_STR("staging"), 1);
    pl_batch_put_prompt_label(batch, id_str(&f->user), id_str(&id), PL_STR("production"), 1);
    pl_batch_put_prompt_label(batch, id_str(&f->user), id_str(&id), PL_STR("production"), 2);
    pl_batch_put_prompt_label(batch, id_str(&f->user), id_str(&id), PL_STR("Old \"one\""), 1);
    commit(f, batch);
    assert_str(get_prompt(f, &id).labels,
               PL_STR("{\"Old \\\"one\\\"\":1,\"production\":2,\"staging\":1}"));
    struct pl_prompt_query query = {.label = PL_STR("staging")};
    assert_int_equal(list_prompts(f, query).total, 1);
    batch = pl_batch_create();
    pl_batch_put_prompt_label(batch, id_str(&f->user), id_str(&id), PL_STR("staging"), 0);
    pl_batch_put_prompt_label(batch, id_str(&f->user), id_str(&id), PL_STR("nowhere"), 0);
    pl_batch_put_prompt_label(batch, id_str(&f->other), id_str(&id), PL_STR("production"), 0);
    commit(f, batch);
    assert_str(get_prompt(f, &id).labels, PL_STR("{\"Old \\\"one\\\"\":1,\"production\":2}"));
    assert_int_equal(list_prompts(f, query).total, 0);
    batch = pl_batch_create();
    pl_batch_put_prompt_label(batch, id_str(&f->user), id_str(&id), PL_STR("future"), 9);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
}

/* --- lists ----------------------------------------------------------------------------------- */

static void add_some(struct fixture *f)
{
    static const struct {
        const char *name, *folder, *tags;
        bool is_pinned;
    } prompts[] = {
        {"one", "", "[\"b\"]", false},
        {"two", "work", "[\"a\",\"b\"]", false},
        {"three", "work/audit", "[\"a\"]", true},
        {"four", "workshop", "[\"Z\"]", false},
        {"five", "work/audit/deep", "[]", false},
    };
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++) {
        struct pl_prompt_row like = make_prompt(f, &f->user, prompts[i].name);
        like.folder = str_of(prompts[i].folder);
        like.tags = str_of(prompts[i].tags);
        like.is_pinned = prompts[i].is_pinned;
        like.updated_ms = 1000 + (int64_t)i;
        add_prompt(f, &like);
    }
    struct pl_prompt_row theirs = make_prompt(f, &f->user, "one of another");
    theirs.user_id = id_str(&f->other);
    theirs.tags = PL_STR("[\"theirs\"]");
    theirs.folder = PL_STR("their");
    add_prompt(f, &theirs);
}

static void expect_names(struct fixture *f, struct pl_prompt_query query, const char *expected)
{
    char names[200] = "";
    struct pl_prompt_page page = list_prompts(f, query);
    for (size_t i = 0; i < page.n_items; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.*s", i ? " " : "",
                 PL_STR_ARG(page.items[i].name));
    assert_string_equal(names, expected);
    assert_int_equal(page.total, page.n_items);
}

static void a_list_is_filtered_and_in_order(void **state)
{
    struct fixture *f = *state;
    add_some(f);
    typedef struct pl_prompt_query query;
    expect_names(f, (query){0}, "three five four two one");
    expect_names(f, (query){.has_folder = true, .folder = PL_STR("")}, "three five four two one");
    expect_names(f, (query){.has_folder = true, .folder = PL_STR("work")}, "three five two");
    expect_names(f, (query){.has_folder = true, .folder = PL_STR("wor_")}, "");
    expect_names(f, (query){.tag = PL_STR("a")}, "three two");
    expect_names(f, (query){.tag = PL_STR("a"), .has_pinned = true}, "two");
    expect_names(f, (query){.has_pinned = true, .is_pinned = true}, "three");
    expect_names(f, (query){.terms = PL_STR("two four"), .tag = PL_STR("Z")}, "four");
}

static void a_list_is_read_in_pages(void **state)
{
    struct fixture *f = *state;
    add_some(f);
    struct pl_prompt_query query = {.limit = 2};
    size_t n = 0;
    for (bool has_more = true; has_more;) {
        struct pl_prompt_page page = list_prompts(f, query);
        assert_int_equal(page.total, 5);
        assert_true(page.n_items > 0);
        struct pl_prompt_row *last = &page.items[page.n_items - 1];
        query.has_cursor = true;
        query.cursor_is_pinned = last->is_pinned;
        query.cursor_updated_ms = last->updated_ms;
        query.cursor_id = last->id;
        n += page.n_items;
        has_more = page.has_more;
    }
    assert_int_equal(n, 5);
    struct pl_prompt_page page = list_prompts(f, (struct pl_prompt_query){.limit = 2, .offset = 4});
    assert_true(page.n_items == 1 && !page.has_more);
    assert_str(page.items[0].name, PL_STR("one"));
}

static void expect_counts(const struct pl_named_count *items, size_t n, const char *expected)
{
    char text[200] = "";
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s=%d;",
                 PL_STR_ARG(items[i].name), (int)items[i].n);
    assert_string_equal(text, expected);
}

static void all_are_walked_by_age(void **state)
{
    struct fixture *f = *state;
    char names[100] = "";
    struct pl_prompt_page page = {0};
    struct pl_str after = {0};
    add_some(f);
    do {
        assert_int_equal(
            pl_store_prompt_walk(f->store, &f->arena, id_str(&f->user), after, 2, &page, NULL),
            PL_OK);
        for (size_t i = 0; i < page.n_items; i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%.*s ",
                     PL_STR_ARG(page.items[i].name));
        after = page.items[page.n_items - 1].id;
    } while (page.has_more);
    assert_string_equal(names, "one two three four five ");
}

static bool has_directory(struct fixture *f, const char *directory, struct pl_str before_id)
{
    bool is_there = false;
    assert_int_equal(pl_store_prompt_directory(f->store, id_str(&f->user), pl_str_of(directory),
                                               before_id, &is_there, NULL),
                     PL_OK);
    return is_there;
}

static void a_directory_is_known_with_whoever_is_older(void **state)
{
    struct fixture *f = *state;
    struct pl_prompt_row like = make_prompt(f, &f->user, "Name");
    like.directory = PL_STR("work/name");
    struct pl_id older = add_prompt(f, &like), newer = add_prompt(f, &like);
    like.user_id = id_str(&f->other);
    like.directory = PL_STR("theirs");
    add_prompt(f, &like);
    assert_false(has_directory(f, "work/name", id_str(&older)));
    assert_true(has_directory(f, "work/name", id_str(&newer)));
    assert_true(has_directory(f, "work/name", PL_STR("")));
    assert_false(has_directory(f, "theirs", PL_STR("")));
    struct pl_prompt_row row = get_prompt(f, &older);
    assert_int_equal(try_update(f, &row, NULL), PL_OK);
    assert_true(has_directory(f, "work/name", id_str(&newer)));
    row.revision++;
    row.directory = PL_STR("elsewhere");
    assert_int_equal(try_update(f, &row, NULL), PL_OK);
    assert_false(has_directory(f, "work/name", id_str(&newer)));
    assert_true(has_directory(f, "elsewhere", id_str(&newer)));
}

static void folders_and_tags_are_counted(void **state)
{
    struct fixture *f = *state;
    add_some(f);
    struct pl_count_page page;
    struct pl_count_query query = {.user_id = id_str(&f->user), .limit = 5};
    assert_int_equal(pl_store_prompt_folders(f->store, &f->arena, &query, &page, NULL), PL_OK);
    expect_counts(page.items, page.n_items, "=1;work=1;work/audit=1;work/audit/deep=1;workshop=1;");
    assert_false(page.has_more);
    assert_int_equal(pl_store_prompt_tags(f->store, &f->arena, &query, &page, NULL), PL_OK);
    expect_counts(page.items, page.n_items, "Z=1;a=2;b=2;");
}

/* The root has an empty name, and a page may end with it. */
static void folders_and_tags_come_page_by_page(void **state)
{
    struct fixture *f = *state;
    add_some(f);
    struct pl_count_page page;
    struct pl_count_query query = {.user_id = id_str(&f->user), .limit = 1};
    assert_int_equal(pl_store_prompt_folders(f->store, &f->arena, &query, &page, NULL), PL_OK);
    expect_counts(page.items, page.n_items, "=1;");
    assert_true(page.has_more);
    query.after = PL_STR("");
    query.limit = 2;
    assert_int_equal(pl_store_prompt_folders(f->store, &f->arena, &query, &page, NULL), PL_OK);
    expect_counts(page.items, page.n_items, "work=1;work/audit=1;");
    assert_true(page.has_more);
    query.after = PL_STR("work/audit");
    assert_int_equal(pl_store_prompt_folders(f->store, &f->arena, &query, &page, NULL), PL_OK);
    expect_counts(page.items, page.n_items, "work/audit/deep=1;workshop=1;");
    assert_false(page.has_more);
    query.after = PL_STR("Z");
    assert_int_equal(pl_store_prompt_tags(f->store, &f->arena, &query, &page, NULL), PL_OK);
    expect_counts(page.items, page.n_items, "a=2;b=2;");
    assert_false(page.has_more);
}

/* --- search ---------------------------------------------------------------------------------- */

static struct pl_id add_text(struct fixture *f, const char *text)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    pl_terms_of_text(pl_str_of(text), &terms);
    struct pl_prompt_row like = make_prompt(f, &f->user, text);
    like.terms = pl_buf_str(&terms);
    return add_prompt(f, &like);
}

static struct pl_prompt_page ask(struct fixture *f, const char *question)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    pl_terms_of_query(pl_str_of(question), PL_TERMS_TYPING, &terms);
    return list_prompts(f, (struct pl_prompt_query){.terms = pl_buf_str(&terms)});
}

static void a_prompt_is_found_by_its_words(void **state)
{
    struct fixture *f = *state;
    struct pl_id english = add_text(f, "Review the caf\xc3\xa9 contracts of last year");
    struct pl_id chinese = add_text(f, "请审查这份采购合同");
    add_text(f, "Something else entirely");
    static const char *const questions[] = {"contract", "CAFE", "revi", "the contracts",
                                            "审查",     "合同", "采"};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct pl_prompt_page page = ask(f, questions[i]);
        if (page.total != 1 || page.n_items != 1)
            fail_msg("\"%s\" finds %d", questions[i], (int)page.total);
        assert_str(page.items[0].id, id_str(i < 4 ? &english : &chinese));
    }
    assert_int_equal(ask(f, "查采").total, 0);
    assert_int_equal(ask(f, "tract").total, 0);
    struct pl_prompt_query signs = {.terms = PL_STR("\" ' ( NEAR* : & ! \\ *")};
    assert_int_equal(list_prompts(f, signs).total, 0);
}

static void a_search_far_behind_its_end_finds_nothing(void **state)
{
    struct fixture *f = *state;
    add_text(f, "walnut");
    static const int64_t offsets[] = {1, 1000, INT32_MAX, INT64_MAX - 1, INT64_MAX};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct pl_prompt_page page =
            list_prompts(f, (struct pl_prompt_query){
                                .terms = PL_STR("walnut"), .limit = 100, .offset = offsets[i]});
        assert_true(page.n_items == 0 && !page.has_more);
    }
}

static void what_has_more_of_the_words_comes_first(void **state)
{
    struct fixture *f = *state;
    add_text(f, "alpha");
    struct pl_id both = add_text(f, "alpha beta");
    add_text(f, "alpha alpha alpha");
    struct pl_prompt_page page = ask(f, "beta alpha");
    assert_int_equal(page.total, 3);
    assert_str(page.items[0].id, id_str(&both));
    page = list_prompts(f, (struct pl_prompt_query){.terms = PL_STR("alpha"), .limit = 2});
    assert_true(page.n_items == 2 && page.has_more && page.total == 3);
    page = list_prompts(
        f, (struct pl_prompt_query){.terms = PL_STR("alpha"), .limit = 2, .offset = 2});
    assert_true(page.n_items == 1 && !page.has_more);
}

static void a_prompt_is_found_by_its_present_words_only(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_text(f, "before");
    struct pl_prompt_row row = get_prompt(f, &id);
    row.terms = PL_STR("after");
    assert_int_equal(try_update(f, &row, NULL), PL_OK);
    assert_int_equal(ask(f, "before").total, 0);
    assert_int_equal(ask(f, "after").total, 1);
    row = get_prompt(f, &id); /* its terms are not read, so they stay */
    assert_int_equal(try_update(f, &row, NULL), PL_OK);
    assert_int_equal(ask(f, "after").total, 1);
    row = get_prompt(f, &id);
    row.revision = 7;
    row.terms = PL_STR("never");
    assert_int_equal(try_update(f, &row, NULL), PL_CONFLICT);
    assert_int_equal(ask(f, "never").total, 0);
    assert_int_equal(ask(f, "after").total, 1);
}

static void what_another_has_is_not_found(void **state)
{
    struct fixture *f = *state;
    struct pl_prompt_row theirs = make_prompt(f, &f->user, "secret");
    theirs.user_id = id_str(&f->other);
    add_prompt(f, &theirs);
    assert_int_equal(ask(f, "secret").total, 0);
    assert_int_equal(ask(f, "s").total, 0);
}

static void a_text_of_any_length_is_kept(void **state)
{
    struct fixture *f = *state;
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    for (int i = 0; terms.len < 3 << 20; i++)
        pl_buf_addf(&terms, "%sw%dword", i ? " " : "", i);
    struct pl_prompt_row like = make_prompt(f, &f->user, "long");
    like.terms = pl_buf_str(&terms);
    add_prompt(f, &like);
    assert_int_equal(ask(f, "w17word ").total, 1);
}

static void a_rare_word_finds_among_many_with_the_common_ones(void **state)
{
    struct fixture *f = *state;
    struct pl_id rare = add_text(f, "common zebra");
    struct pl_batch *batch = pl_batch_create();
    for (int i = 0; i < 600; i++) {
        struct pl_id id = pl_id_take(&f->seed, "prompt_");
        struct pl_prompt_row prompt = make_prompt(f, &id, "common word");
        put_prompt(batch, &prompt);
    }
    commit(f, batch);
    struct pl_prompt_query query = {.terms = PL_STR("common zebra"), .limit = 10};
    struct pl_prompt_page page = list_prompts(f, query);
    assert_true(page.total == 601 && page.n_items == 10 && page.has_more);
    assert_str(page.items[0].id, id_str(&rare));
    for (size_t i = 1; i < page.n_items; i++)
        assert_false(pl_str_eq(page.items[i].id, id_str(&rare)));
    query.offset = 595;
    page = list_prompts(f, query);
    assert_true(page.total == 601 && page.n_items == 6 && !page.has_more);
}

/* Counts the problems as they are found. */
static void note_problem(void *ctx, bool is_problem, const char *sentence)
{
    char *findings = ctx;
    size_t n = strlen(findings);
    if (is_problem)
        snprintf(findings + n, 2000 - n, "%s\n", sentence);
}

static void expect_findings(struct fixture *f, const char *sql, const char *expected)
{
    char findings[2000] = "";
    pl_store_close(f->store);
    f->store = NULL;
    run_sql(f, sql);
    fixture_open(f);
    assert_int_equal(pl_store_check(f->store, note_problem, findings, NULL), PL_OK);
    if (!strstr(findings, expected))
        fail_msg("\"%s\" is not among: %s", expected, findings);
}

static void a_check_finds_what_lost_its_prompt(void **state)
{
    struct fixture *f = *state;
    struct pl_prompt_row like = make_prompt(f, &f->user, "lost");
    like.tags = PL_STR("[\"a\"]");
    struct pl_id id = add_prompt(f, &like);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_prompt_label(batch, id_str(&f->user), id_str(&id), PL_STR("l"), 1);
    commit(f, batch);
    char findings[2000] = "";
    assert_int_equal(pl_store_check(f->store, note_problem, findings, NULL), PL_OK);
    assert_string_equal(findings, "");
    expect_findings(f, "UPDATE prompts SET latest_version = 2",
                    "1 prompts lack their latest version.");
    expect_findings(f, "PRAGMA foreign_keys = OFF; DELETE FROM prompts",
                    "1 versions belong to no prompt.\n1 tags belong to no prompt.");
    expect_findings(f, "DELETE FROM prompt_versions", "1 labels belong to no version of a prompt.");
}

static const struct CMUnitTest tests[] = {
    ON_STORE(a_prompt_comes_back_as_it_was_put),
    ON_STORE(a_change_must_know_the_revision_it_changes),
    ON_STORE(a_prompt_that_is_gone_cannot_be_changed),
    ON_STORE(versions_are_kept_and_never_written_twice),
    ON_STORE(labels_move_and_are_taken_away),
    ON_STORE(a_list_is_filtered_and_in_order),
    ON_STORE(a_list_is_read_in_pages),
    ON_STORE(all_are_walked_by_age),
    ON_STORE(a_directory_is_known_with_whoever_is_older),
    ON_STORE(folders_and_tags_are_counted),
    ON_STORE(folders_and_tags_come_page_by_page),
    ON_STORE(a_prompt_is_found_by_its_words),
    ON_STORE(a_search_far_behind_its_end_finds_nothing),
    ON_STORE(what_has_more_of_the_words_comes_first),
    ON_STORE(a_prompt_is_found_by_its_present_words_only),
    ON_STORE(what_another_has_is_not_found),
    ON_STORE(a_text_of_any_length_is_kept),
    ON_STORE(a_rare_word_finds_among_many_with_the_common_ones),
    ON_SOME("sqlite", a_check_finds_what_lost_its_prompt),
};
const struct suite_part prompts_part = {tests, sizeof tests / sizeof *tests};
