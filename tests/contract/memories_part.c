/* The contract: memories, superseding, and the search. */
#include "base/text/terms.h"
#include "contract/suite.h"
#include "store/library.h"

#include <stdio.h>

static const int64_t DAY_MS = 24 * 3600 * 1000;
static const int64_t NOW_MS = 1800000000000;

static struct pl_memory_row make_memory(struct fixture *f, const struct pl_id *uid,
                                        const char *content)
{
    return (struct pl_memory_row){.uid = id_str(uid),
                                  .user_id = id_str(&f->user),
                                  .type = PL_STR("feedback"),
                                  .content = str_of(content),
                                  .created_ms = NOW_MS};
}

static void put_memory(struct pl_batch *batch, const struct pl_memory_row *memory)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    pl_terms_of_text(memory->content, &terms);
    struct pl_memory_row row = *memory;
    row.terms = pl_buf_str(&terms);
    pl_batch_create_memory(batch, &row);
}

/* Stores it and reads it back, with its number. */
static struct pl_memory_row add_memory(struct fixture *f, const struct pl_memory_row *like)
{
    struct pl_id uid = pl_id_take(&f->seed, "mem_");
    struct pl_memory_row memory = *like, got = {0};
    memory.uid = id_str(&uid);
    struct pl_batch *batch = pl_batch_create();
    put_memory(batch, &memory);
    commit(f, batch);
    struct pl_error err = {0};
    if (pl_store_memory_find(f->store, &f->arena, memory.user_id, id_str(&uid), &got, &err) !=
        PL_OK)
        fail_msg("%s", err.message);
    return got;
}

static int64_t add_text(struct fixture *f, const char *text)
{
    struct pl_memory_row like = make_memory(f, &f->user, text);
    return add_memory(f, &like).id;
}

static struct pl_memory_row get_memory(struct fixture *f, int64_t id)
{
    struct pl_memory_row memory = {0};
    struct pl_error err = {0};
    if (pl_store_memory_get(f->store, &f->arena, id_str(&f->user), id, &memory, &err) != PL_OK)
        fail_msg("%s", err.message);
    return memory;
}

static struct pl_memory_query everything(struct fixture *f)
{
    return (struct pl_memory_query){.user_id = id_str(&f->user),
                                    .is_disabled = -1,
                                    .is_superseded = -1,
                                    .created_before_ms = INT64_MAX,
                                    .now_ms = NOW_MS,
                                    .limit = 100,
                                    .before_id = INT64_MAX};
}

static struct pl_memory_page list_memories(struct fixture *f, const struct pl_memory_query *query)
{
    struct pl_memory_page page = {0};
    struct pl_error err = {0};
    if (pl_store_memory_list(f->store, &f->arena, query, &page, &err) != PL_OK)
        fail_msg("%s", err.message);
    return page;
}

static struct pl_memory_page ask(struct fixture *f, const char *question)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    pl_terms_of_query(pl_str_of(question), PL_TERMS_ASKED, &terms);
    struct pl_memory_query query = everything(f);
    query.terms = pl_buf_str(&terms);
    return list_memories(f, &query);
}

static void a_memory_comes_back_as_it_was_put(void **state)
{
    struct fixture *f = *state;
    struct pl_memory_row like = make_memory(f, &f->user, "Prefers short answers");
    like.skill_name = PL_STR("writing");
    like.record_type = PL_STR("memory");
    like.scope = PL_STR("project");
    like.owner = PL_STR("ada");
    like.topic = PL_STR("style");
    like.mem0_id = PL_STR("m-1");
    like.write_reason = PL_STR("said so");
    like.source_session = PL_STR("sess_1");
    like.disabled = true;
    struct pl_memory_row got = add_memory(f, &like);
    assert_true(got.id > 0);
    assert_str(got.user_id, id_str(&f->user));
    assert_str(got.type, like.type);
    assert_str(got.content, like.content);
    assert_str(got.skill_name, like.skill_name);
    assert_str(got.record_type, like.record_type);
    assert_str(got.scope, like.scope);
    assert_str(got.owner, like.owner);
    assert_str(got.topic, like.topic);
    assert_str(got.mem0_id, like.mem0_id);
    assert_str(got.write_reason, like.write_reason);
    assert_str(got.source_session, like.source_session);
    assert_true(got.disabled && got.created_ms == NOW_MS && !got.updated_ms && !got.superseded_by);
    like.scope = (struct pl_str){NULL, 0};
    assert_null(add_memory(f, &like).scope.ptr);
    struct pl_str other = id_str(&f->other);
    assert_int_equal(pl_store_memory_get(f->store, &f->arena, other, got.id, &got, NULL),
                     PL_NOT_FOUND);
    assert_int_equal(pl_store_memory_find(f->store, &f->arena, other, got.uid, &got, NULL),
                     PL_NOT_FOUND);
}

static enum pl_status try_update(struct fixture *f, const struct pl_memory_row *row,
                                 struct pl_error *err)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_update_memory(batch, row);
    return pl_store_commit(f->store, batch, err);
}

static void a_memory_is_changed_but_for_what_is_its_own(void **state)
{
    struct fixture *f = *state;
    int64_t id = add_text(f, "before");
    struct pl_batch *batch = pl_batch_create();
    pl_batch_hit_memory(batch, id_str(&f->user), id, 70);
    pl_batch_hit_memory(batch, id_str(&f->user), id, 80);
    pl_batch_hit_memory(batch, id_str(&f->other), id, 90);
    commit(f, batch);
    struct pl_memory_row row = get_memory(f, id);
    assert_true(row.hit_count == 2 && row.last_hit_ms == 80);
    row.content = PL_STR("after");
    row.terms = PL_STR("after");
    row.topic = PL_STR("new");
    row.updated_ms = 60;
    row.created_ms = row.hit_count = row.superseded_by = 1;
    assert_int_equal(try_update(f, &row, NULL), PL_OK);
    struct pl_memory_row got = get_memory(f, id);
    assert_str(got.content, PL_STR("after"));
    assert_str(got.topic, PL_STR("new"));
    assert_true(got.updated_ms == 60 && got.created_ms == NOW_MS);
    assert_true(got.hit_count == 2 && !got.superseded_by);
    assert_int_equal(ask(f, "before").total, 0);
    assert_int_equal(ask(f, "after").total, 1);
    struct pl_error err = {0};
    row.user_id = id_str(&f->other);
    assert_int_equal(try_update(f, &row, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "no longer exists"));
    row.user_id = id_str(&f->user);
    row.id = 999;
    assert_int_equal(try_update(f, &row, &err), PL_CONFLICT);
}

static void a_memory_that_was_changed_meanwhile_is_not_changed(void **state)
{
    struct fixture *f = *state;
    int64_t id = add_text(f, "contested");
    struct pl_memory_row one = get_memory(f, id), two = one;
    struct pl_error err = {0};
    assert_int_equal(one.revision, 1);
    one.topic = PL_STR("t");
    two.owner = PL_STR("o");
    one.terms = two.terms = PL_STR("contested");
    assert_int_equal(try_update(f, &one, NULL), PL_OK);
    assert_int_equal(try_update(f, &two, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "changed in the meantime"));
    /* Counting hits does not change the memory. */
    struct pl_batch *batch = pl_batch_create();
    pl_batch_hit_memory(batch, id_str(&f->user), id, 70);
    commit(f, batch);
    two = get_memory(f, id);
    assert_int_equal(two.revision, 2);
    two.owner = PL_STR("o");
    two.terms = PL_STR("contested");
    assert_int_equal(try_update(f, &two, NULL), PL_OK);
    two = get_memory(f, id);
    assert_str(two.topic, PL_STR("t"));
    assert_str(two.owner, PL_STR("o"));
    assert_int_equal(ask(f, "contested").total, 1);
}

static void a_deleted_memory_is_gone_and_its_number_not_given_again(void **state)
{
    struct fixture *f = *state;
    int64_t id = add_text(f, "forget me"), n = 0;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_delete_memory(batch, id_str(&f->other), id);
    commit(f, batch);
    assert_int_equal(pl_store_memory_count(f->store, id_str(&f->user), &n, NULL), PL_OK);
    assert_int_equal(n, 1);
    batch = pl_batch_create();
    pl_batch_delete_memory(batch, id_str(&f->user), id);
    commit(f, batch);
    struct pl_memory_row got;
    assert_int_equal(pl_store_memory_get(f->store, &f->arena, id_str(&f->user), id, &got, NULL),
                     PL_NOT_FOUND);
    assert_int_equal(ask(f, "forget").total, 0);
    assert_true(add_text(f, "another") > id);
    assert_int_equal(ask(f, "forget").total, 0);
}

/* --- superseding ----------------------------------------------------------------------------- */

static enum pl_status try_supersede(struct fixture *f, int64_t id, int64_t expected, int64_t by)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_supersede_memory(batch, id_str(&f->user), id, expected, by, 50);
    return pl_store_commit(f->store, batch, NULL);
}

static void superseding_is_compare_and_set(void **state)
{
    struct fixture *f = *state;
    int64_t a = add_text(f, "a"), b = add_text(f, "b"), c = add_text(f, "c");
    assert_int_equal(try_supersede(f, a, 0, b), PL_OK);
    assert_true(get_memory(f, a).superseded_by == b && get_memory(f, a).updated_ms == 50);
    assert_int_equal(try_supersede(f, a, 0, c), PL_CONFLICT);
    assert_int_equal(try_supersede(f, a, c, c), PL_CONFLICT);
    assert_int_equal(get_memory(f, a).superseded_by, b);
    assert_int_equal(try_supersede(f, a, b, c), PL_OK);
    assert_int_equal(get_memory(f, a).superseded_by, c);
    assert_int_equal(try_supersede(f, a, c, 0), PL_OK);
    assert_int_equal(get_memory(f, a).superseded_by, 0);
}

static void a_chain_never_comes_back_to_where_it_began(void **state)
{
    struct fixture *f = *state;
    int64_t a = add_text(f, "a"), b = add_text(f, "b"), c = add_text(f, "c");
    assert_int_equal(try_supersede(f, a, 0, a), PL_CONFLICT);
    assert_int_equal(try_supersede(f, a, 0, b), PL_OK);
    assert_int_equal(try_supersede(f, b, 0, a), PL_CONFLICT);
    assert_int_equal(try_supersede(f, b, 0, c), PL_OK);
    assert_int_equal(try_supersede(f, c, 0, a), PL_CONFLICT);
    assert_int_equal(get_memory(f, c).superseded_by, 0);
}

static void only_ones_own_memories_supersede_each_other(void **state)
{
    struct fixture *f = *state;
    struct pl_memory_row like = make_memory(f, &f->user, "theirs");
    like.user_id = id_str(&f->other);
    int64_t mine = add_text(f, "mine"), theirs = add_memory(f, &like).id;
    assert_int_equal(try_supersede(f, mine, 0, theirs), PL_CONFLICT);
    assert_int_equal(try_supersede(f, theirs, 0, mine), PL_CONFLICT);
    assert_int_equal(try_supersede(f, mine, 0, 999), PL_CONFLICT);
    assert_int_equal(try_supersede(f, 999, 0, mine), PL_CONFLICT);
}

static void what_a_deleted_one_superseded_goes_to_its_successor(void **state)
{
    struct fixture *f = *state;
    int64_t a = add_text(f, "a"), b = add_text(f, "b"), c = add_text(f, "c");
    assert_int_equal(try_supersede(f, a, 0, b), PL_OK);
    assert_int_equal(try_supersede(f, b, 0, c), PL_OK);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_delete_memory(batch, id_str(&f->user), b);
    commit(f, batch);
    assert_int_equal(get_memory(f, a).superseded_by, c);
    batch = pl_batch_create();
    pl_batch_delete_memory(batch, id_str(&f->user), c);
    commit(f, batch);
    assert_int_equal(get_memory(f, a).superseded_by, 0);
}

/* --- lists ----------------------------------------------------------------------------------- */

static void a_list_is_filtered_newest_first(void **state)
{
    struct fixture *f = *state;
    struct pl_memory_row like = make_memory(f, &f->user, "one");
    like.skill_name = PL_STR("s");
    like.created_ms = 10;
    int64_t one = add_memory(f, &like).id;
    like = make_memory(f, &f->user, "two");
    like.type = PL_STR("experience");
    like.topic = PL_STR("t");
    like.source_session = PL_STR("sess_2");
    like.created_ms = 20;
    int64_t two = add_memory(f, &like).id;
    like = make_memory(f, &f->user, "three");
    like.disabled = true;
    like.scope = like.owner = like.mem0_id = like.record_type = PL_STR("x");
    like.created_ms = 30;
    int64_t three = add_memory(f, &like).id;
    like.user_id = id_str(&f->other);
    add_memory(f, &like);
    assert_int_equal(try_supersede(f, one, 0, two), PL_OK);
    const struct {
        struct pl_memory_query query;
        int64_t ids[3];
    } cases[] = {
        {{.is_disabled = -1, .is_superseded = -1}, {three, two, one}},
        {{.is_disabled = 0, .is_superseded = 0}, {two}},
        {{.is_disabled = 1, .is_superseded = -1}, {three}},
        {{.is_disabled = -1, .is_superseded = 1}, {one}},
        {{.is_disabled = -1, .is_superseded = -1, .type = PL_STR("feedback")}, {three, one}},
        {{.is_disabled = -1, .is_superseded = -1, .skill_name = PL_STR("s")}, {one}},
        {{.is_disabled = -1, .is_superseded = -1, .topic = PL_STR("t")}, {two}},
        {{.is_disabled = -1, .is_superseded = -1, .source_session = PL_STR("sess_2")}, {two}},
        {{.is_disabled = -1, .is_superseded = -1, .scope = PL_STR("x")}, {three}},
        {{.is_disabled = -1, .is_superseded = -1, .owner = PL_STR("x")}, {three}},
        {{.is_disabled = -1, .is_superseded = -1, .mem0_id = PL_STR("x")}, {three}},
        {{.is_disabled = -1, .is_superseded = -1, .record_type = PL_STR("x")}, {three}},
        {{.is_disabled = -1, .is_superseded = -1, .created_after_ms = 10}, {three, two}},
        {{.is_disabled = -1, .is_superseded = -1, .created_before_ms = 20}, {one}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pl_memory_query query = cases[i].query;
        query.user_id = id_str(&f->user);
        query.limit = 10;
        query.before_id = INT64_MAX;
        query.created_before_ms = query.created_before_ms ? query.created_before_ms : INT64_MAX;
        struct pl_memory_page page = list_memories(f, &query);
        assert_int_equal(page.total, page.n_items);
        for (size_t k = 0; k < 3; k++)
            if (cases[i].ids[k] != (k < page.n_items ? page.items[k].id : 0))
                fail_msg("case %zu: place %zu holds another memory", i, k);
    }
}

static void a_list_is_read_in_pages(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++)
        add_text(f, "same words");
    struct pl_memory_query query = everything(f);
    query.limit = 2;
    size_t n = 0;
    for (bool has_more = true; has_more; n += 2) {
        struct pl_memory_page page = list_memories(f, &query);
        assert_true(page.total == 5 && page.n_items == (n == 4 ? 1 : 2));
        query.before_id = page.items[page.n_items - 1].id;
        has_more = page.has_more;
    }
    assert_int_equal(n, 6);
    query.before_id = INT64_MAX;
    query.terms = PL_STR("word");
    for (query.offset = 0; query.offset < 6; query.offset += 2) {
        struct pl_memory_page page = list_memories(f, &query);
        assert_true(page.total == 5 && page.n_items == (query.offset == 4 ? 1 : 2));
        assert_int_equal(page.has_more, query.offset < 4);
    }
}

/* --- search ---------------------------------------------------------------------------------- */

static void expect_first(struct fixture *f, const char *question, int64_t id, int64_t total)
{
    struct pl_memory_page page = ask(f, question);
    if (page.total != total || (total && page.items[0].id != id))
        fail_msg("\"%s\" finds %d, first %d", question, (int)page.total,
                 page.n_items ? (int)page.items[0].id : 0);
}

static void a_memory_is_found_by_its_words(void **state)
{
    struct fixture *f = *state;
    int64_t english = add_text(f, "The staging server's ponies run on Debian");
    int64_t chinese = add_text(f, "用户喜欢简短的回答");
    int64_t both = add_text(f, "Deploy 到生产环境 needs a ticket");
    expect_first(f, "pony", english, 1);
    expect_first(f, "which Servers are for staging?", english, 1);
    expect_first(f, "回答", chinese, 1);
    expect_first(f, "简短", chinese, 1);
    expect_first(f, "生产", both, 1);
    expect_first(f, "deploy", both, 1);
    expect_first(f, "答回", 0, 0);
    expect_first(f, "of the", english, 1);
    expect_first(f, "windows", 0, 0);
}

static void more_of_the_question_comes_before_less(void **state)
{
    struct fixture *f = *state;
    add_text(f, "alpha alpha alpha alpha");
    int64_t three = add_text(f, "gamma and beta and alpha, with a lot of other words around them");
    int64_t two = add_text(f, "beta alpha");
    add_text(f, "beta");
    for (int i = 0; i < 20; i++)
        add_text(f, "nothing of that kind");
    struct pl_memory_page page = ask(f, "alpha beta gamma");
    assert_int_equal(page.total, 4);
    assert_int_equal(page.items[0].id, three);
    assert_int_equal(page.items[1].id, two);
    assert_true(page.items[0].score > page.items[1].score &&
                page.items[1].score > page.items[2].score);
    assert_true(page.items[0].score <= 1 && page.items[3].score > 0);
}

static void what_is_old_counts_less_but_never_less_than_half(void **state)
{
    struct fixture *f = *state;
    struct pl_memory_row like = make_memory(f, &f->user, "the key is under the mat");
    int64_t new = add_memory(f, &like).id;
    like.created_ms = NOW_MS - 90 * DAY_MS;
    int64_t old = add_memory(f, &like).id;
    like.created_ms = NOW_MS - 9000 * DAY_MS;
    int64_t ancient = add_memory(f, &like).id;
    struct pl_memory_page page = ask(f, "key mat");
    assert_int_equal(page.n_items, 3);
    assert_true(page.items[0].id == new &&page.items[1].id == old &&page.items[2].id == ancient);
    double best = page.items[0].score;
    assert_true(page.items[1].score > 0.749 * best && page.items[1].score < 0.751 * best);
    assert_true(page.items[2].score >= 0.5 * best && page.items[2].score < 0.501 * best);
}

static void a_search_is_filtered(void **state)
{
    struct fixture *f = *state;
    struct pl_memory_row like = make_memory(f, &f->user, "colour");
    int64_t plain = add_memory(f, &like).id;
    like.disabled = true;
    add_memory(f, &like);
    like.disabled = false;
    int64_t superseded = add_memory(f, &like).id;
    like.user_id = id_str(&f->other);
    add_memory(f, &like);
    assert_int_equal(try_supersede(f, superseded, 0, plain), PL_OK);
    struct pl_memory_query query = everything(f);
    query.terms = PL_STR("colour");
    assert_int_equal(list_memories(f, &query).total, 3);
    query.is_disabled = query.is_superseded = 0;
    struct pl_memory_page page = list_memories(f, &query);
    assert_true(page.total == 1 && page.n_items == 1);
    assert_int_equal(page.items[0].id, plain);
    query.terms = PL_STR("colo*");
    assert_int_equal(list_memories(f, &query).total, 1);
}

static void a_rare_word_finds_among_many_with_the_common_ones(void **state)
{
    struct fixture *f = *state;
    int64_t rare = add_text(f, "the common zebra"), rarest = add_text(f, "an okapi");
    struct pl_batch *batch = pl_batch_create();
    for (int i = 0; i < 600; i++) {
        struct pl_id uid = pl_id_take(&f->seed, "mem_");
        struct pl_memory_row memory = make_memory(f, &uid, "a common word");
        put_memory(batch, &memory);
    }
    commit(f, batch);
    struct pl_memory_page page = ask(f, "okapi common zebra");
    assert_int_equal(page.total, 602);
    assert_true(page.n_items == 100 && page.has_more);
    assert_int_equal(page.items[0].id, rare);
    size_t n_rarest = 0;
    for (size_t i = 1; i < page.n_items; i++) {
        assert_true(page.items[i].id != rare && page.items[i].score <= page.items[i - 1].score);
        n_rarest += page.items[i].id == rarest;
    }
    assert_int_equal(n_rarest, 1);
    assert_int_equal(ask(f, "common").total, 601);
    assert_int_equal(ask(f, "okapi").total, 1);
}

/* If the words are too common for the index, later pages look at more rows than the first; better
 * matches are among those. */
static void a_search_shows_each_row_once_on_its_pages(void **state)
{
    enum { N_BETTER = 520, N_NEWER = 300, N_ALL = N_BETTER + N_NEWER };
    struct fixture *f = *state;
    struct pl_batch *batch = pl_batch_create();
    for (int i = 0; i < N_ALL; i++) {
        struct pl_id uid = pl_id_take(&f->seed, "mem_");
        struct pl_memory_row like =
            make_memory(f, &uid, i < N_BETTER ? "walnut hazel" : "walnut alone");
        put_memory(batch, &like);
    }
    commit(f, batch);
    struct pl_memory_query query = everything(f);
    query.terms = PL_STR("walnut hazel");
    int64_t seen[N_ALL];
    size_t n = 0;
    for (bool has_more = true; has_more; query.offset = (int64_t)n) {
        struct pl_memory_page page = list_memories(f, &query);
        assert_true(page.n_items > 0 && n + page.n_items <= N_ALL);
        for (size_t i = 0; i < page.n_items; i++, n++) {
            seen[n] = page.items[i].id;
            for (size_t k = 0; k < n; k++)
                assert_int_not_equal(seen[k], seen[n]);
        }
        has_more = page.has_more;
    }
    assert_int_equal(n, N_ALL);
}

/* With any offset: no rows are found, and no sum overflows. */
static void a_search_far_behind_its_end_finds_nothing(void **state)
{
    struct fixture *f = *state;
    add_text(f, "walnut");
    struct pl_memory_query query = everything(f);
    query.terms = PL_STR("walnut");
    for (int64_t offset = 1; offset > 0; offset = offset > INT64_MAX / 8 ? 0 : offset * 8) {
        query.offset = offset;
        assert_int_equal(list_memories(f, &query).n_items, 0);
    }
    query.offset = INT64_MAX;
    struct pl_memory_page page = list_memories(f, &query);
    assert_true(page.n_items == 0 && !page.has_more);
}

static enum pl_status try_create(struct fixture *f, struct pl_str user_id, int n,
                                 struct pl_error *err)
{
    struct pl_batch *batch = pl_batch_create();
    for (int i = 0; i < n; i++) {
        struct pl_id uid = pl_id_take(&f->seed, "mem_");
        struct pl_memory_row memory = make_memory(f, &uid, "one of many");
        memory.user_id = user_id;
        put_memory(batch, &memory);
    }
    return pl_store_commit(f->store, batch, err);
}

static void nobody_has_more_than_the_limit(void **state)
{
    struct fixture *f = *state;
    struct pl_str user = id_str(&f->user);
    for (int i = 1000; i < PL_MEMORY_MAX_PER_USER; i += 1000)
        assert_int_equal(try_create(f, user, 1000, NULL), PL_OK);
    struct pl_error err = {0};
    assert_int_equal(try_create(f, user, 999, NULL), PL_OK);
    assert_int_equal(try_create(f, user, 2, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "as many memories as"));
    assert_int_equal(try_create(f, user, 1, NULL), PL_OK);
    assert_int_equal(try_create(f, user, 1, NULL), PL_CONFLICT);
    int64_t n = 0;
    assert_int_equal(pl_store_memory_count(f->store, id_str(&f->user), &n, NULL), PL_OK);
    assert_int_equal(n, PL_MEMORY_MAX_PER_USER);
    assert_int_equal(try_create(f, id_str(&f->other), 1, NULL), PL_OK);
    struct pl_memory_page page = ask(f, "many");
    assert_true(page.total == 1000 && page.n_items == 100 && page.has_more);
}

static void count_problem(void *ctx, bool is_problem, const char *sentence)
{
    (void)sentence;
    *(int *)ctx += is_problem;
}

static void a_check_finds_a_successor_that_is_not_there(void **state)
{
    struct fixture *f = *state;
    int64_t a = add_text(f, "a"), b = add_text(f, "b");
    assert_int_equal(try_supersede(f, a, 0, b), PL_OK);
    int n_problems = 0;
    assert_int_equal(pl_store_check(f->store, count_problem, &n_problems, NULL), PL_OK);
    assert_int_equal(n_problems, 0);
    pl_store_close(f->store);
    f->store = NULL;
    run_sql(f, "DELETE FROM memories WHERE superseded_by = 0");
    fixture_open(f);
    assert_int_equal(pl_store_check(f->store, count_problem, &n_problems, NULL), PL_OK);
    assert_int_equal(n_problems, 1);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(a_memory_comes_back_as_it_was_put),
    ON_STORE(a_memory_is_changed_but_for_what_is_its_own),
    ON_STORE(a_memory_that_was_changed_meanwhile_is_not_changed),
    ON_STORE(a_deleted_memory_is_gone_and_its_number_not_given_again),
    ON_STORE(superseding_is_compare_and_set),
    ON_STORE(a_chain_never_comes_back_to_where_it_began),
    ON_STORE(only_ones_own_memories_supersede_each_other),
    ON_STORE(what_a_deleted_one_superseded_goes_to_its_successor),
    ON_STORE(a_list_is_filtered_newest_first),
    ON_STORE(a_list_is_read_in_pages),
    ON_STORE(a_memory_is_found_by_its_words),
    ON_STORE(more_of_the_question_comes_before_less),
    ON_STORE(what_is_old_counts_less_but_never_less_than_half),
    ON_STORE(a_search_is_filtered),
    ON_STORE(a_rare_word_finds_among_many_with_the_common_ones),
    ON_STORE(a_search_shows_each_row_once_on_its_pages),
    ON_STORE(a_search_far_behind_its_end_finds_nothing),
    ON_STORE(nobody_has_more_than_the_limit),
    ON_SOME("sqlite postgres", a_check_finds_a_successor_that_is_not_there),
};
const struct suite_part memories_part = {tests, sizeof tests / sizeof *tests};
