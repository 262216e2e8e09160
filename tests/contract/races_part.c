/* The contract: deletion wins. A record that is changed while it is deleted is gone afterwards, in
 * either order, with everything that depended on it. */
#include "contract/suite.h"

#include "store/extensions.h"
#include "store/gateway.h"
#include "store/library.h"
#include "store/work.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { N_RACES = 200 };

/* One kind of record: how to make, change, delete and look for it. */
struct racing {
    struct fixture *f;
    struct pl_store *other; /* the second submitter's; the fixture's if there is only one */
    struct pl_id id, part;
    int64_t number;
    struct pl_str hash;
    uint8_t hash_bytes[32];
    char text[32];
};

struct race {
    const char *what;
    void (*make)(struct racing *r, struct pl_batch *batch);
    void (*change)(struct racing *r, struct pl_batch *batch);
    void (*drop)(struct racing *r, struct pl_batch *batch);
    bool (*is_there)(struct racing *r);
};

static struct pl_str user_of(const struct racing *r)
{
    return id_str(&r->f->user);
}

/* --- keys and their limits ------------------------------------------------------------------- */

static void make_key(struct racing *r, struct pl_batch *batch)
{
    r->id = pl_id_take(&r->f->seed, "key_");
    memcpy(r->hash_bytes, r->id.text + 4, 32);
    r->hash = (struct pl_str){(const char *)r->hash_bytes, 32};
    pl_batch_create_key(batch, &(struct pl_key_row){.id = id_str(&r->id),
                                                    .user_id = user_of(r),
                                                    .name = PL_STR("laptop"),
                                                    .hash = r->hash,
                                                    .last4 = PL_STR("wxyz")});
}

static void rename_key(struct racing *r, struct pl_batch *batch)
{
    pl_batch_change_key(batch, &(struct pl_key_patch){.user_id = user_of(r),
                                                      .id = id_str(&r->id),
                                                      .name = PL_STR("renamed"),
                                                      .expires_ms = -1});
}

static void use_key(struct racing *r, struct pl_batch *batch)
{
    pl_batch_use_key(batch, id_str(&r->id), 99);
}

static void limit_key(struct racing *r, struct pl_batch *batch)
{
    pl_batch_put_limits(batch, &(struct pl_limits){.key_id = id_str(&r->id),
                                                   .user_id = user_of(r),
                                                   .values = {[PL_LIMIT_RPM] = 3}});
}

static void rotate_key(struct racing *r, struct pl_batch *batch)
{
    struct pl_key_row row = {.id = id_str(&r->id),
                             .user_id = user_of(r),
                             .hash = {r->id.text + 4, 32},
                             .last4 = PL_STR("abcd")};
    pl_batch_rotate_key(batch, &row, 99);
}

static void drop_key(struct racing *r, struct pl_batch *batch)
{
    pl_batch_delete_key(batch, user_of(r), id_str(&r->id));
}

static bool has_key(struct racing *r)
{
    struct pl_key_row *keys = NULL;
    size_t n = 0;
    assert_int_equal(pl_store_key_list(r->f->store, &r->f->arena, user_of(r), &keys, &n, NULL),
                     PL_OK);
    for (size_t i = 0; i < n; i++)
        if (pl_str_eq(keys[i].id, id_str(&r->id)))
            return true;
    struct pl_limits *limits = NULL;
    assert_int_equal(pl_store_limits_list(r->f->store, &r->f->arena, &limits, &n, NULL), PL_OK);
    for (size_t i = 0; i < n; i++)
        if (pl_str_eq(limits[i].key_id, id_str(&r->id)))
            return true;
    return false;
}

/* --- sessions and what is theirs ------------------------------------------------------------- */

static void make_one_session(struct racing *r, struct pl_batch *batch)
{
    r->id = pl_id_take(&r->f->seed, "sess_");
    r->part = pl_id_take(&r->f->seed, "turn_");
    memcpy(r->hash_bytes, r->id.text + 5, 32);
    r->hash = (struct pl_str){(const char *)r->hash_bytes, 32};
    struct pl_session_record session = make_session(r->f, &r->id);
    put_session(batch, &session);
}

static void change_one_session(struct racing *r, struct pl_batch *batch)
{
    struct pl_session_record session = make_session(r->f, &r->id);
    session.intent = PL_STR("renamed");
    session.version++;
    change_session(batch, &session);
}

static void add_turn(struct racing *r, struct pl_batch *batch)
{
    struct pl_turn_row turn = make_turn(&r->id, &r->part, 0, "{}");
    put_turn(batch, &turn);
}

static void ask_question(struct racing *r, struct pl_batch *batch)
{
    pl_batch_put_row(batch, &(struct pl_session_row){PL_ROW_QUESTION,
                                                     .question = {.session_id = id_str(&r->id),
                                                                  .tool_call_id = PL_STR("call"),
                                                                  .turn_id = id_str(&r->part),
                                                                  .loop_id = PL_STR("root"),
                                                                  .kind = PL_STR("ask"),
                                                                  .questions = PL_STR("[]"),
                                                                  .state = PL_STR("pending")}});
}

static void queue_message(struct racing *r, struct pl_batch *batch)
{
    pl_batch_put_row(
        batch, &(struct pl_session_row){
                   PL_ROW_QUEUED,
                   .queued = {.session_id = id_str(&r->id), .position = 1, .body = PL_STR("{}")}});
}

static void share_session(struct racing *r, struct pl_batch *batch)
{
    struct pl_id id = pl_id_take(&r->f->seed, "share_");
    pl_batch_put_share(batch, &(struct pl_share_row){.id = id_str(&id),
                                                     .user_id = user_of(r),
                                                     .session_id = id_str(&r->id),
                                                     .hash = r->hash});
}

static void keep_response(struct racing *r, struct pl_batch *batch)
{
    pl_batch_keep_response(
        batch, user_of(r),
        &(struct pl_kept_response){.id = id_str(&r->part), .session_id = id_str(&r->id)});
}

static void drop_session(struct racing *r, struct pl_batch *batch)
{
    pl_batch_delete_session(batch, user_of(r), id_str(&r->id));
}

static bool has_session(struct racing *r)
{
    struct fixture *f = r->f;
    struct pl_session_record session;
    struct pl_turn_row turn;
    struct pl_question_row question;
    struct pl_share_row share;
    struct pl_open_rows rows;
    struct pl_kept_response found;
    if (pl_store_session_get(f->store, &f->arena, user_of(r), id_str(&r->id), &session, NULL) !=
        PL_NOT_FOUND)
        return true;
    if (pl_store_turn_get(f->store, &f->arena, id_str(&r->id), id_str(&r->part), &turn, NULL) !=
        PL_NOT_FOUND)
        return true;
    if (pl_store_question_get(f->store, &f->arena, id_str(&r->id), PL_STR("call"), &question,
                              NULL) != PL_NOT_FOUND)
        return true;
    if (pl_store_share_find(f->store, &f->arena, r->hash, &share, NULL) != PL_NOT_FOUND)
        return true;
    if (pl_store_response_find(f->store, &f->arena, user_of(r), id_str(&r->part), &found, NULL) !=
        PL_NOT_FOUND)
        return true;
    assert_int_equal(pl_store_open_rows(f->store, &f->arena, id_str(&r->id), &rows, NULL), PL_OK);
    return rows.n_queued || rows.n_turns || rows.n_questions;
}

/* --- prompts --------------------------------------------------------------------------------- */

static struct pl_prompt_row prompt_of(const struct racing *r)
{
    return (struct pl_prompt_row){.id = id_str(&r->id),
                                  .user_id = user_of(r),
                                  .name = PL_STR("greeting"),
                                  .description = PL_STR(""),
                                  .folder = PL_STR(""),
                                  .tags = PL_STR("[]"),
                                  .directory = PL_STR("greeting"),
                                  .terms = PL_STR("greeting"),
                                  .latest_version = 1,
                                  .revision = 1};
}

static struct pl_prompt_version_row version_of(const struct racing *r, int64_t version)
{
    return (struct pl_prompt_version_row){.prompt_id = id_str(&r->id),
                                          .version = version,
                                          .type = PL_STR("text"),
                                          .content = PL_STR("Hello"),
                                          .note = PL_STR(""),
                                          .hash = r->hash};
}

static void make_prompt(struct racing *r, struct pl_batch *batch)
{
    r->id = pl_id_take(&r->f->seed, "prompt_");
    memcpy(r->hash_bytes, r->id.text + 7, 32);
    r->hash = (struct pl_str){(const char *)r->hash_bytes, 32};
    struct pl_prompt_row prompt = prompt_of(r);
    struct pl_prompt_version_row version = version_of(r, 1);
    pl_batch_create_prompt(batch, &prompt);
    pl_batch_put_prompt_version(batch, user_of(r), &version);
}

static void change_prompt(struct racing *r, struct pl_batch *batch)
{
    struct pl_prompt_row prompt = prompt_of(r);
    prompt.name = PL_STR("renamed");
    pl_batch_update_prompt(batch, &prompt);
}

static void add_version(struct racing *r, struct pl_batch *batch)
{
    struct pl_prompt_version_row version = version_of(r, 2);
    pl_batch_put_prompt_version(batch, user_of(r), &version);
}

static void label_prompt(struct racing *r, struct pl_batch *batch)
{
    pl_batch_put_prompt_label(batch, user_of(r), id_str(&r->id), PL_STR("production"), 1);
}

static void drop_prompt(struct racing *r, struct pl_batch *batch)
{
    pl_batch_delete_prompt(batch, user_of(r), id_str(&r->id));
}

static bool has_prompt(struct racing *r)
{
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row version;
    return pl_store_prompt_get(r->f->store, &r->f->arena, user_of(r), id_str(&r->id), &prompt,
                               NULL) != PL_NOT_FOUND ||
           pl_store_prompt_version_get(r->f->store, &r->f->arena, user_of(r), id_str(&r->id), 1,
                                       &version, NULL) != PL_NOT_FOUND;
}

/* --- memories -------------------------------------------------------------------------------- */

static struct pl_memory_row memory_of(const struct racing *r)
{
    return (struct pl_memory_row){.id = r->number,
                                  .uid = id_str(&r->id),
                                  .user_id = user_of(r),
                                  .type = PL_STR("fact"),
                                  .content = PL_STR("likes tea"),
                                  .terms = PL_STR("likes tea"),
                                  .revision = 1};
}

static void make_memory(struct racing *r, struct pl_batch *batch)
{
    r->id = pl_id_take(&r->f->seed, "mem_");
    struct pl_memory_row memory = memory_of(r);
    pl_batch_create_memory(batch, &memory);
}

static int64_t number_of(struct racing *r)
{
    struct pl_memory_row memory;
    if (!r->number && pl_store_memory_find(r->f->store, &r->f->arena, user_of(r), id_str(&r->id),
                                           &memory, NULL) == PL_OK)
        r->number = memory.id;
    return r->number;
}

static void change_memory(struct racing *r, struct pl_batch *batch)
{
    struct pl_memory_row memory = memory_of(r);
    pl_batch_update_memory(batch, &memory);
}

static void hit_memory(struct racing *r, struct pl_batch *batch)
{
    pl_batch_hit_memory(batch, user_of(r), r->number, 7);
}

static void drop_memory(struct racing *r, struct pl_batch *batch)
{
    pl_batch_delete_memory(batch, user_of(r), r->number);
}

static bool has_memory(struct racing *r)
{
    struct pl_memory_row memory;
    return pl_store_memory_find(r->f->store, &r->f->arena, user_of(r), id_str(&r->id), &memory,
                                NULL) != PL_NOT_FOUND;
}

/* --- tasks ----------------------------------------------------------------------------------- */

static struct pl_task_row task_of(const struct racing *r)
{
    return (struct pl_task_row){.id = id_str(&r->id),
                                .user_id = user_of(r),
                                .title = PL_STR("daily"),
                                .prompt = PL_STR("Say hello"),
                                .cron = PL_STR("0 9 * * *"),
                                .timezone = PL_STR("UTC"),
                                .overlap = PL_STR("skip"),
                                .enabled = true,
                                .next_ms = 1000,
                                .revision = 1};
}

static void make_task(struct racing *r, struct pl_batch *batch)
{
    r->id = pl_id_take(&r->f->seed, "task_");
    r->part = pl_id_take(&r->f->seed, "run_");
    struct pl_task_row task = task_of(r);
    pl_batch_create_task(batch, &task);
}

static void change_task(struct racing *r, struct pl_batch *batch)
{
    struct pl_task_row task = task_of(r);
    task.title = PL_STR("renamed");
    pl_batch_update_task(batch, &task);
}

static void advance_task(struct racing *r, struct pl_batch *batch)
{
    pl_batch_advance_task(batch, id_str(&r->id), 1, 1000, 2000);
}

static void run_task(struct racing *r, struct pl_batch *batch)
{
    pl_batch_create_run(batch, &(struct pl_task_run_row){.id = id_str(&r->part),
                                                         .task_id = id_str(&r->id),
                                                         .status = PL_STR("running"),
                                                         .due_ms = 1000});
}

static void drop_task(struct racing *r, struct pl_batch *batch)
{
    pl_batch_delete_task(batch, user_of(r), id_str(&r->id));
}

static bool has_task(struct racing *r)
{
    struct pl_task_row task;
    struct pl_task_run_page page = {0};
    struct pl_task_run_query query = {
        .task_id = id_str(&r->id), .due_after_ms = -1, .due_before_ms = INT64_MAX, .limit = 10};
    assert_int_equal(pl_store_run_list(r->f->store, &r->f->arena, &query, &page, NULL), PL_OK);
    return page.n_items || pl_store_task_get(r->f->store, &r->f->arena, user_of(r), id_str(&r->id),
                                             &task, NULL) != PL_NOT_FOUND;
}

/* --- blobs ----------------------------------------------------------------------------------- */

static void make_blob(struct racing *r, struct pl_batch *batch)
{
    r->id = pl_id_take(&r->f->seed, "blob_");
    memcpy(r->hash_bytes, r->id.text + 5, 32);
    r->hash = (struct pl_str){(const char *)r->hash_bytes, 32};
    pl_batch_put_piece(batch, id_str(&r->id), 0, PL_STR("bytes"), 1);
    pl_batch_create_blob(batch, &(struct pl_blob_row){.id = id_str(&r->id),
                                                      .user_id = user_of(r),
                                                      .hash = r->hash,
                                                      .n_bytes = 5,
                                                      .content_type = PL_STR("text/plain")});
}

/* A late piece belongs to no blob. */
static void add_piece(struct racing *r, struct pl_batch *batch)
{
    pl_batch_put_piece(batch, id_str(&r->id), 1, PL_STR("more"), 1);
}

static void drop_blob(struct racing *r, struct pl_batch *batch)
{
    pl_batch_delete_blob(batch, user_of(r), id_str(&r->id));
}

static bool has_blob(struct racing *r)
{
    struct pl_blob_row blob;
    struct pl_str bytes;
    return pl_store_blob_get(r->f->store, &r->f->arena, user_of(r), id_str(&r->id), &blob, NULL) !=
               PL_NOT_FOUND ||
           pl_store_blob_piece(r->f->store, &r->f->arena, r->hash, 0, &bytes, NULL) != PL_NOT_FOUND;
}

/* --- the races ------------------------------------------------------------------------------- */

/* --- extensions ------------------------------------------------------------------------------ */

static struct pl_str name_extension(struct racing *r)
{
    return pl_str_slice(id_str(&r->id), 5, id_str(&r->id).len);
}

static void make_extension(struct racing *r, struct pl_batch *batch)
{
    r->id = pl_id_take(&r->f->seed, "user_");
    pl_batch_create_extension(batch, &(struct pl_extension_row){.id = name_extension(r),
                                                                .name = PL_STR("x"),
                                                                .version = PL_STR("1"),
                                                                .runtime = PL_STR("node"),
                                                                .artifact = PL_STR("a"),
                                                                .manifest = PL_STR("{}"),
                                                                .manifest_hash = PL_STR("b"),
                                                                .profile = PL_STR("safe"),
                                                                .state = PL_STR("enabled"),
                                                                .revision = 1});
}

static void quarantine_extension(struct racing *r, struct pl_batch *batch)
{
    pl_batch_set_extension_state(batch, name_extension(r), PL_STR("quarantined"), PL_STR("why"), 1);
}

static void see_tool(struct racing *r, struct pl_batch *batch)
{
    pl_batch_see_extension_tool(batch, name_extension(r),
                                &(struct pl_extension_tool_row){.name = PL_STR("t"),
                                                                .seen = PL_STR("h"),
                                                                .definition = PL_STR("{}")});
}

static void keep_answer(struct racing *r, struct pl_batch *batch)
{
    pl_batch_put_extension_answer(batch, name_extension(r),
                                  &(struct pl_extension_answer_row){.user_id = user_of(r),
                                                                    .capability = PL_STR("exec"),
                                                                    .manifest_hash = PL_STR("b")});
}

static void drop_extension(struct racing *r, struct pl_batch *batch)
{
    pl_batch_delete_extension(batch, name_extension(r));
}

static bool has_extension(struct racing *r)
{
    struct pl_extension_row row;
    return pl_store_extension_get(r->f->store, &r->f->arena, name_extension(r), &row, NULL) ==
           PL_OK;
}

static const struct race races[] = {
    {"a key is renamed", make_key, rename_key, drop_key, has_key},
    {"a key is rotated", make_key, rotate_key, drop_key, has_key},
    {"a key is used", make_key, use_key, drop_key, has_key},
    {"a key is limited", make_key, limit_key, drop_key, has_key},
    {"a session is changed", make_one_session, change_one_session, drop_session, has_session},
    {"a turn is written", make_one_session, add_turn, drop_session, has_session},
    {"a question is asked", make_one_session, ask_question, drop_session, has_session},
    {"a message is queued", make_one_session, queue_message, drop_session, has_session},
    {"a session is shared", make_one_session, share_session, drop_session, has_session},
    {"a response is kept", make_one_session, keep_response, drop_session, has_session},
    {"a prompt is changed", make_prompt, change_prompt, drop_prompt, has_prompt},
    {"a version is added", make_prompt, add_version, drop_prompt, has_prompt},
    {"a label is moved", make_prompt, label_prompt, drop_prompt, has_prompt},
    {"a memory is changed", make_memory, change_memory, drop_memory, has_memory},
    {"a memory is hit", make_memory, hit_memory, drop_memory, has_memory},
    {"a task is changed", make_task, change_task, drop_task, has_task},
    {"a task goes on", make_task, advance_task, drop_task, has_task},
    {"a task runs", make_task, run_task, drop_task, has_task},
    {"a piece comes late", make_blob, add_piece, drop_blob, has_blob},
    {"an extension is quarantined", make_extension, quarantine_extension, drop_extension,
     has_extension},
    {"a tool is seen", make_extension, see_tool, drop_extension, has_extension},
    {"an answer is kept", make_extension, keep_answer, drop_extension, has_extension},
};

struct runner {
    pthread_barrier_t *start;
    struct pl_store *store;
    struct pl_batch *batch;
    enum pl_status status;
    struct pl_error err;
};

static void *run_one(void *arg)
{
    struct runner *runner = arg;
    pthread_barrier_wait(runner->start);
    runner->status = pl_store_commit(runner->store, runner->batch, &runner->err);
    return NULL;
}

static void run_both(struct runner *a, struct runner *b)
{
    pthread_barrier_t start;
    pthread_t thread;
    assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
    a->start = b->start = &start;
    assert_int_equal(pthread_create(&thread, NULL, run_one, a), 0);
    run_one(b);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&start);
}

static bool is_refusal(enum pl_status status)
{
    return status == PL_NOT_FOUND || status == PL_CONFLICT;
}

static void race_once(struct racing *r, const struct race *race)
{
    struct pl_batch *batch = pl_batch_create();
    race->make(r, batch);
    commit(r->f, batch);
    number_of(r);
    if (!race->is_there(r))
        fail_msg("%s: what was made is not there", race->what);
    struct runner change = {.store = r->other, .batch = pl_batch_create()};
    struct runner drop = {.store = r->f->store, .batch = pl_batch_create()};
    race->change(r, change.batch);
    race->drop(r, drop.batch);
    run_both(&change, &drop);
    if (drop.status != PL_OK)
        fail_msg("%s: not deleted: %s", race->what, drop.err.message);
    if (change.status != PL_OK && !is_refusal(change.status))
        fail_msg("%s: %s", race->what, change.err.message);
    if (race->is_there(r))
        fail_msg("%s: what was deleted is there again", race->what);
    /* Once more, long afterwards. */
    batch = pl_batch_create();
    race->change(r, batch);
    enum pl_status status = pl_store_commit(r->other, batch, NULL);
    assert_true(status == PL_OK || is_refusal(status));
    if (race->is_there(r))
        fail_msg("%s: what was deleted came back", race->what);
}

static void what_is_deleted_while_it_is_changed_is_gone(void **state)
{
    struct fixture *f = *state;
    struct pl_store *other = fixture_join(f);
    struct pl_batch *batch = pl_batch_create();
    pl_batch_create_user(batch, &(struct pl_user_row){.id = id_str(&f->user), .name = PL_STR("a")});
    commit(f, batch);
    for (size_t i = 0; i < sizeof races / sizeof *races; i++)
        for (int k = 0; k < N_RACES; k++) {
            struct racing r = {.f = f, .other = other};
            pl_arena_deinit(&f->arena);
            pl_arena_init(&f->arena, 0);
            race_once(&r, &races[i]);
        }
    fixture_leave(f, other);
}

/* The change reports that there is nothing to change, so it is not acknowledged. */
static void a_change_of_what_was_deleted_is_refused(void **state)
{
    struct fixture *f = *state;
    static const size_t silent[] = {2, 14, 16}; /* times and counters, which are not acknowledged */
    for (size_t i = 0, k = 0; i < sizeof races / sizeof *races; i++) {
        struct racing r = {.f = f, .other = f->store};
        struct pl_batch *batch = pl_batch_create();
        races[i].make(&r, batch);
        commit(f, batch);
        number_of(&r);
        batch = pl_batch_create();
        races[i].drop(&r, batch);
        commit(f, batch);
        batch = pl_batch_create();
        races[i].change(&r, batch);
        enum pl_status status = pl_store_commit(f->store, batch, NULL);
        bool is_silent = k < sizeof silent / sizeof *silent && silent[k] == i;
        k += is_silent;
        if (is_silent ? status != PL_OK : !is_refusal(status))
            fail_msg("%s: %s", races[i].what, pl_status_info(status)->text);
    }
}

static void what_is_there_is_not_made_again(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_session(f), key = pl_id_take(&f->seed, "key_");
    struct pl_session_record session = make_session(f, &id);
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_CONFLICT);
    struct pl_str hash = PL_STR("0123456789abcdef0123456789abcdef");
    struct pl_key_row row = {.id = id_str(&key),
                             .user_id = id_str(&f->user),
                             .name = PL_STR("a"),
                             .hash = hash,
                             .last4 = PL_STR("wxyz")};
    struct pl_user_row user = {.id = id_str(&f->user), .name = PL_STR("a")};
    batch = pl_batch_create();
    pl_batch_create_user(batch, &user);
    pl_batch_create_key(batch, &row);
    commit(f, batch);
    batch = pl_batch_create();
    pl_batch_create_key(batch, &row);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_CONFLICT);
    batch = pl_batch_create();
    pl_batch_create_user(batch, &user);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_CONFLICT);
}

static const struct CMUnitTest tests[] = {
    ON_STORE(what_is_deleted_while_it_is_changed_is_gone),
    ON_STORE(a_change_of_what_was_deleted_is_refused),
    ON_STORE(what_is_there_is_not_made_again),
};
const struct suite_part races_part = {tests, sizeof tests / sizeof *tests};
