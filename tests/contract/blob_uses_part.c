/* The contract: unreferenced blobs are found, and only those are deleted. */
#include "contract/suite.h"
#include "base/sha/sha256.h"
#include "store/gateway.h"
#include "store/library.h"
#include "store/page.h"
#include "store/work.h"

#include <inttypes.h>
#include <stdio.h>

#define LATE INT64_MAX

/* Adds a small blob with unique bytes; is_servers: made for a message. */
static struct pl_id add_blob(struct fixture *f, const struct pl_id *user, bool is_servers)
{
    struct pl_id id = pl_id_take(&f->seed, "blob_");
    unsigned char hash[32];
    pl_sha256(id_str(&id), hash);
    struct pl_blob_row blob = {
        .id = id_str(&id),
        .user_id = id_str(user),
        .hash = {(const char *)hash, sizeof hash},
        .n_bytes = (int64_t)strlen(id.text),
        .content_type = PL_STR("text/plain"),
        .created_ms = 4000,
        .is_servers = is_servers,
    };
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_piece(batch, blob.id, 0, id_str(&id), 4000);
    pl_batch_create_blob(batch, &blob);
    commit(f, batch);
    return id;
}

static enum pl_status get(struct fixture *f, const struct pl_id *user, const struct pl_id *id,
                          struct pl_blob_row *ret_blob)
{
    return pl_store_blob_get(f->store, &f->arena, id_str(user), id_str(id), ret_blob, NULL);
}

static int64_t unused_ms(struct fixture *f, const struct pl_id *id)
{
    struct pl_blob_row blob = {0};
    assert_int_equal(get(f, &f->user, id, &blob), PL_OK);
    return blob.unused_ms;
}

static size_t look(struct fixture *f, int64_t until_ms, size_t limit,
                   struct pl_unused_blob **ret_blobs)
{
    size_t n = 0;
    assert_int_equal(
        pl_store_blob_unused(f->store, &f->arena, until_ms, limit, ret_blobs, &n, NULL), PL_OK);
    return n;
}

/* One round: settles what is used, deletes the rest, and returns the number of deleted blobs. */
static size_t collect(struct fixture *f, int64_t until_ms)
{
    struct pl_unused_blob *blobs = NULL;
    size_t n = look(f, until_ms, 100, &blobs), n_deleted = 0;
    struct pl_batch *batch = pl_batch_create();
    for (size_t i = 0; i < n; i++) {
        if (blobs[i].is_used)
            pl_batch_settle_blob(batch, &blobs[i]);
        else
            pl_batch_collect_blob(batch, &blobs[i]);
        n_deleted += !blobs[i].is_used;
    }
    commit(f, batch);
    return n_deleted;
}

static void say(struct fixture *f, const struct pl_id *session, int64_t sequence, const char *body)
{
    struct pl_id turn = pl_id_take(&f->seed, "turn_");
    struct pl_turn_row row = make_turn(session, &turn, sequence, body);
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &row);
    commit(f, batch);
}

static void say_blob(struct fixture *f, const struct pl_id *session, int64_t sequence,
                     const struct pl_id *blob)
{
    char body[200];
    snprintf(body, sizeof body, "{\"blocks\":[{\"type\":\"media\",\"content\":{\"blob\":\"%s\"}}]}",
             blob->text);
    say(f, session, sequence, body);
}

static void delete_session(struct fixture *f, const struct pl_id *session)
{
    struct pl_batch *batch = pl_batch_create();
    pl_batch_delete_session(batch, id_str(&f->user), id_str(session));
    commit(f, batch);
}

static void a_blob_goes_with_the_last_session_that_names_it(void **state)
{
    struct fixture *f = *state;
    struct pl_id blob = add_blob(f, &f->user, false), one = add_session(f), two = add_session(f);
    struct pl_blob_row row;
    say_blob(f, &one, 0, &blob);
    say_blob(f, &two, 0, &blob);
    assert_int_equal(collect(f, LATE), 0);
    delete_session(f, &one);
    assert_true(unused_ms(f, &blob) > 0);
    assert_int_equal(collect(f, LATE), 0);
    assert_int_equal(unused_ms(f, &blob), 0);
    delete_session(f, &two);
    assert_int_equal(collect(f, unused_ms(f, &blob) - 1), 0);
    assert_int_equal(collect(f, unused_ms(f, &blob)), 1);
    assert_int_equal(get(f, &f->user, &blob, &row), PL_NOT_FOUND);
    assert_int_equal(collect(f, LATE), 0);
}

static void what_its_owner_put_there_and_nothing_used_stays(void **state)
{
    struct fixture *f = *state;
    struct pl_id mine = add_blob(f, &f->user, false), servers = add_blob(f, &f->user, true);
    struct pl_blob_row row;
    assert_int_equal(unused_ms(f, &mine), 0);
    assert_int_equal(unused_ms(f, &servers), 4000);
    assert_int_equal(collect(f, 3999), 0);
    assert_int_equal(collect(f, 4000), 1);
    assert_int_equal(get(f, &f->user, &mine, &row), PL_OK);
    assert_int_equal(get(f, &f->user, &servers, &row), PL_NOT_FOUND);
}

static void the_same_bytes_once_more_begin_anew(void **state)
{
    struct fixture *f = *state;
    struct pl_id old = add_blob(f, &f->user, true), id = pl_id_take(&f->seed, "blob_");
    struct pl_blob_row again;
    assert_int_equal(get(f, &f->user, &old, &again), PL_OK);
    again.id = id_str(&id);
    again.created_ms = 9000;
    again.is_servers = true;
    struct pl_batch *batch = pl_batch_create();
    pl_batch_put_piece(batch, again.id, 0, id_str(&old), 9000);
    pl_batch_create_blob(batch, &again);
    commit(f, batch);
    assert_int_equal(unused_ms(f, &old), 9000);
    batch = pl_batch_create();
    pl_batch_touch_blob(batch, id_str(&old), 9500);
    commit(f, batch);
    assert_int_equal(unused_ms(f, &old), 9500);
    /* Its owner uploads it: it stays. */
    id = pl_id_take(&f->seed, "blob_");
    again.id = id_str(&id);
    again.is_servers = false;
    batch = pl_batch_create();
    pl_batch_put_piece(batch, again.id, 0, id_str(&old), 9000);
    pl_batch_create_blob(batch, &again);
    commit(f, batch);
    assert_int_equal(unused_ms(f, &old), 0);
    batch = pl_batch_create();
    pl_batch_touch_blob(batch, id_str(&old), 9600);
    commit(f, batch);
    assert_int_equal(unused_ms(f, &old), 0);
}

/* Every text that may name a blob, and the deletion of its record. */
static void every_owner_holds_what_it_names(void **state)
{
    struct fixture *f = *state;
    enum { SETTINGS, QUEUED, QUESTION, RESPONSE, PROMPT, DRAFT, TASK, NEW_TASK, N };
    struct pl_id blobs[N], session = add_session(f), prompt_id = pl_id_take(&f->seed, "prompt_"),
                           task_id = pl_id_take(&f->seed, "task_"),
                           turn = pl_id_take(&f->seed, "turn_");
    char texts[N][100];
    for (size_t i = 0; i < N; i++) {
        blobs[i] = add_blob(f, &f->user, true);
        snprintf(texts[i], sizeof texts[i], "{\"see\":\"/api/blobs/%s\"}", blobs[i].text);
    }
    struct pl_session_record record = make_session(f, &session);
    record.settings = str_of(texts[SETTINGS]);
    struct pl_session_row rows[] = {
        {.kind = PL_ROW_SETTINGS, .session = record},
        {.kind = PL_ROW_QUEUED,
         .queued = {.session_id = id_str(&session), .body = str_of(texts[QUEUED])}},
        {.kind = PL_ROW_QUESTION,
         .question = {.session_id = id_str(&session),
                      .tool_call_id = PL_STR("call_1"),
                      .turn_id = id_str(&turn),
                      .loop_id = PL_STR("root"),
                      .kind = PL_STR("confirm"),
                      .state = PL_STR("answered"),
                      .questions = PL_STR("[]"),
                      .answer = str_of(texts[QUESTION])}},
    };
    struct pl_batch *batch = pl_batch_create();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        pl_batch_put_row(batch, &rows[i]);
    pl_batch_keep_response(batch, id_str(&f->user),
                           &(struct pl_kept_response){.id = PL_STR("resp_1"),
                                                      .session_id = id_str(&session),
                                                      .body = str_of(texts[RESPONSE])});
    pl_batch_create_prompt(batch, &(struct pl_prompt_row){.id = id_str(&prompt_id),
                                                          .user_id = id_str(&f->user),
                                                          .name = PL_STR("p"),
                                                          .latest_version = 1});
    pl_batch_put_prompt_version(
        batch, id_str(&f->user),
        &(struct pl_prompt_version_row){.prompt_id = id_str(&prompt_id),
                                        .version = 1,
                                        .type = PL_STR("text"),
                                        .content = str_of(texts[PROMPT]),
                                        .hash = PL_STR("0123456789abcdef0123456789abcdef")});
    pl_batch_put_draft(
        batch, id_str(&f->user), id_str(&prompt_id),
        &(struct pl_draft_row){.type = PL_STR("text"), .content = str_of(texts[DRAFT])});
    struct pl_task_row task = {.id = id_str(&task_id),
                               .user_id = id_str(&f->user),
                               .title = PL_STR("t"),
                               .prompt = str_of(texts[TASK]),
                               .cron = PL_STR("0 8 * * *"),
                               .timezone = PL_STR("UTC"),
                               .overlap = PL_STR("skip"),
                               .revision = 1};
    pl_batch_create_task(batch, &task);
    task.prompt = str_of(texts[NEW_TASK]);
    pl_batch_update_task(batch, &task);
    commit(f, batch);
    assert_int_equal(collect(f, LATE), 0);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(unused_ms(f, &blobs[i]), 0);

    delete_session(f, &session);
    assert_int_equal(collect(f, LATE), PROMPT);
    batch = pl_batch_create();
    pl_batch_delete_prompt(batch, id_str(&f->user), id_str(&prompt_id));
    commit(f, batch);
    assert_int_equal(collect(f, LATE), TASK - PROMPT);
    batch = pl_batch_create();
    pl_batch_delete_task(batch, id_str(&f->user), id_str(&task_id));
    commit(f, batch);
    assert_int_equal(collect(f, LATE), N - TASK);
}

static void another_users_words_hold_nothing(void **state)
{
    struct fixture *f = *state;
    struct pl_id blob = add_blob(f, &f->other, true), session = add_session(f);
    struct pl_blob_row row;
    say_blob(f, &session, 0, &blob);
    assert_int_equal(collect(f, LATE), 1);
    assert_int_equal(get(f, &f->other, &blob, &row), PL_NOT_FOUND);
}

static void what_only_looks_like_an_id_is_text(void **state)
{
    struct fixture *f = *state;
    struct pl_id blob = add_blob(f, &f->user, true), session = add_session(f);
    char body[400], capitals[PL_ID_MAX];
    for (size_t i = 0; i < sizeof capitals; i++)
        capitals[i] = (char)(i > 4 && blob.text[i] >= 'a' ? blob.text[i] - 32 : blob.text[i]);
    snprintf(body, sizeof body,
             "blob_ blob_blob_ %s %.30s blob_zzzzzzzz-0000-7000-8000-00000000000g", capitals,
             blob.text);
    say(f, &session, 0, body);
    say(f, &session, 1, "blob_0");
    assert_int_equal(collect(f, LATE), 1);
    blob = add_blob(f, &f->user, true);
    snprintf(body, sizeof body, "blob_blob_%s%s", blob.text, blob.text);
    say(f, &session, 2, body);
    assert_int_equal(collect(f, LATE), 0);
}

/* Between the check and the deletion another request refers to it, names it or deletes it. */
static void what_is_used_meanwhile_is_not_deleted(void **state)
{
    struct fixture *f = *state;
    struct pl_id blob = add_blob(f, &f->user, true), session = add_session(f);
    struct pl_unused_blob *blobs = NULL;
    struct pl_blob_row row;
    for (int way = 0; way < 3; way++) {
        assert_int_equal(look(f, LATE, 10, &blobs), 1);
        struct pl_batch *batch = pl_batch_create();
        if (way == 0)
            pl_batch_touch_blob(batch, id_str(&blob), 5000);
        else if (way == 2)
            pl_batch_delete_blob(batch, id_str(&f->user), id_str(&blob));
        commit(f, batch);
        if (way == 1)
            say_blob(f, &session, 0, &blob);
        batch = pl_batch_create();
        pl_batch_collect_blob(batch, &blobs[0]);
        assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_NOT_FOUND);
        assert_int_equal(get(f, &f->user, &blob, &row), way == 2 ? PL_NOT_FOUND : PL_OK);
    }
}

static void the_oldest_come_first_and_no_more_than_asked_for(void **state)
{
    struct fixture *f = *state;
    struct pl_id ids[5];
    struct pl_unused_blob *blobs = NULL;
    for (size_t i = 0; i < 5; i++) {
        ids[i] = add_blob(f, &f->user, true);
        struct pl_batch *batch = pl_batch_create();
        pl_batch_touch_blob(batch, id_str(&ids[i]), 9000 - (int64_t)i);
        commit(f, batch);
    }
    assert_int_equal(look(f, LATE, 3, &blobs), 3);
    for (size_t i = 0; i < 3; i++)
        assert_str(blobs[i].id, id_str(&ids[4 - i]));
    assert_int_equal(blobs[0].n_bytes, (int64_t)strlen(ids[0].text));
    assert_str(blobs[0].user_id, id_str(&f->user));
}

static void a_blob_from_before_this_was_counted_stays(void **state)
{
    struct fixture *f = *state;
    struct pl_id blob = add_blob(f, &f->user, false), session = add_session(f);
    pl_store_close(f->store);
    f->store = NULL;
    run_sql(f, "UPDATE blobs SET unused_ms = -1");
    fixture_open(f);
    say_blob(f, &session, 0, &blob);
    delete_session(f, &session);
    assert_int_equal(collect(f, LATE), 0);
    assert_int_equal(unused_ms(f, &blob), -1);
}

static void count_problem(void *ctx, bool is_problem, const char *sentence)
{
    if (is_problem)
        print_message("# %s\n", sentence);
    *(int *)ctx += is_problem;
}

static void an_erased_user_takes_all_of_it_along(void **state)
{
    struct fixture *f = *state;
    struct pl_id blob = add_blob(f, &f->user, false), session = add_session(f);
    int n_problems = 0;
    say_blob(f, &session, 0, &blob);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_user(batch, &(struct pl_user_row){.id = id_str(&f->other),
                                                      .name = PL_STR("admin"),
                                                      .is_admin = true,
                                                      .created_ms = 1});
    pl_batch_create_user(
        batch,
        &(struct pl_user_row){.id = id_str(&f->user), .name = PL_STR("gone"), .created_ms = 1});
    pl_batch_erase_user(batch, id_str(&f->user));
    commit(f, batch);
    assert_int_equal(collect(f, LATE), 0);
    assert_int_equal(pl_store_check(f->store, count_problem, &n_problems, NULL), PL_OK);
    assert_int_equal(n_problems, 0);
}

/* Deleted but restorable: the blob stays until the deletion is final. */
static void a_deleted_session_holds_its_blobs_until_it_is_gone_for_good(void **state)
{
    struct fixture *f = *state;
    enum { DROPPED, EMPTIED, EXPIRED, ENDS };
    for (int how = DROPPED; how < ENDS; how++) {
        struct pl_id blob = add_blob(f, &f->user, false), session = add_session(f);
        struct pl_blob_row row;
        say_blob(f, &session, 0, &blob);
        struct pl_batch *batch = pl_batch_create();
        pl_batch_bury(batch, PL_DELETED_SESSION, id_str(&f->user), id_str(&session), 5000);
        commit(f, batch);
        assert_int_equal(collect(f, LATE), 0);
        assert_int_equal(get(f, &f->user, &blob, &row), PL_OK);
        batch = pl_batch_create();
        if (how == DROPPED)
            pl_batch_drop_deleted(batch, PL_DELETED_SESSION, id_str(&f->user), id_str(&session));
        else if (how == EMPTIED)
            pl_batch_empty_deleted(batch, id_str(&f->user));
        else
            pl_batch_expire_deleted(batch, 5001);
        commit(f, batch);
        assert_int_equal(collect(f, LATE), 1);
        assert_int_equal(get(f, &f->user, &blob, &row), PL_NOT_FOUND);
    }
}

static void a_session_that_comes_back_has_its_blobs(void **state)
{
    struct fixture *f = *state;
    struct pl_id blob = add_blob(f, &f->user, false), session = add_session(f);
    say_blob(f, &session, 0, &blob);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_bury(batch, PL_DELETED_SESSION, id_str(&f->user), id_str(&session), 5000);
    pl_batch_raise(batch, PL_DELETED_SESSION, id_str(&f->user), id_str(&session));
    pl_batch_empty_deleted(batch, id_str(&f->user));
    commit(f, batch);
    assert_int_equal(collect(f, LATE), 0);
    assert_int_equal(unused_ms(f, &blob), 0);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(a_deleted_session_holds_its_blobs_until_it_is_gone_for_good),
    ON_STORE(a_session_that_comes_back_has_its_blobs),
    ON_STORE(a_blob_goes_with_the_last_session_that_names_it),
    ON_STORE(what_its_owner_put_there_and_nothing_used_stays),
    ON_STORE(the_same_bytes_once_more_begin_anew),
    ON_STORE(every_owner_holds_what_it_names),
    ON_STORE(another_users_words_hold_nothing),
    ON_STORE(what_only_looks_like_an_id_is_text),
    ON_STORE(what_is_used_meanwhile_is_not_deleted),
    ON_STORE(the_oldest_come_first_and_no_more_than_asked_for),
    ON_SOME("sqlite postgres", a_blob_from_before_this_was_counted_stays),
    ON_STORE(an_erased_user_takes_all_of_it_along),
};
const struct suite_part blob_uses_part = {tests, sizeof tests / sizeof *tests};
