/* The store when memory, the disk or the file system fails: the right error is reported, no
 * acknowledged write is lost, and the store continues if it can. */
#include "contract/fixture.h"
#include "fault/fault.h"
#include "fault/store_vfs.h"
#include "store/node/owners.h"
#include "store/extensions.h"
#include "store/library.h"
#include "store/work.h"

#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

/* --- memory ---------------------------------------------------------------------------------- */

/* SQLite allocates 75,000 times to make the schema and 2,000 times to read it: this many places are
 * tried while opening, and this many afterwards. */
enum { PLACES_IN_MEMORY = 80, PLACES_IN_A_FILE = 400 };

static struct pl_id_seed seed = {.unix_ms = 1700000000000, .random = {7, 8}};

/* Writes a session with its owner, turn, question and claim, then reads everything back. */
static enum pl_status write_and_read(struct pl_store *store, const struct pl_id *user)
{
    struct pl_id session = pl_id_take(&seed, "sess_"), turn = pl_id_take(&seed, "turn_");
    struct pl_session_record record = {.id = id_str(&session),
                                       .user_id = id_str(user),
                                       .intent = PL_STR("Walk"),
                                       .status = PL_SESSION_RUNNING,
                                       .next_entry = 1};
    struct pl_turn_row row = make_turn(&session, &turn, 0, "{\"text\":\"a long way\"}");
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return PL_NOMEM;
    put_session(batch, &record);
    put_turn(batch, &row);
    pl_batch_claim_session(batch, record.id, &(struct pl_node_id){{1}});
    pl_batch_claim_idempotency(batch, &(struct pl_idempotency_row){.user_id = id_str(user),
                                                                   .key = row.turn_id,
                                                                   .request_hash = PL_STR("h")});
    enum pl_status status = pl_store_commit(store, batch, NULL);
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_session_page page = {.total = -5};
    struct pl_session_query query = {.user_id = id_str(user),
                                     .status = PL_SESSION_STATUS_COUNT,
                                     .limit = 5,
                                     .text = PL_STR("W")};
    if (status == PL_OK)
        status = pl_store_session_list(store, &arena, &query, &page, NULL);
    if (status != PL_OK)
        assert_int_equal(page.total, -5);
    struct pl_turn_query turns = turns_of(&session);
    struct pl_turn_page turn_page = {0};
    if (status == PL_OK)
        status = pl_store_turn_list(store, &arena, &turns, &turn_page, NULL);
    if (status == PL_OK)
        assert_str(turn_page.items[0].body, row.body);
    struct pl_session_held held = {.generation = -5};
    if (status == PL_OK)
        status = pl_store_session_held(store, record.id, &held, NULL);
    assert_int_equal(held.generation, status == PL_OK ? 2 : -5);
    struct pl_open_rows rows;
    return status == PL_OK ? pl_store_open_rows(store, &arena, record.id, &rows, NULL) : status;
}

/* Writes a prompt and a memory, changes each once, and finds them by their words. */
static enum pl_status write_and_search(struct pl_store *store, const struct pl_id *user)
{
    struct pl_id id = pl_id_take(&seed, "prompt_"), uid = pl_id_take(&seed, "mem_");
    struct pl_prompt_row prompt = {.id = id_str(&id),
                                   .user_id = id_str(user),
                                   .name = PL_STR("Walk"),
                                   .tags = PL_STR("[\"a\"]"),
                                   .latest_version = 1,
                                   .revision = 1,
                                   .terms = PL_STR("walk far"),
                                   .directory = PL_STR("walk")};
    struct pl_prompt_version_row version = {.prompt_id = prompt.id,
                                            .version = 1,
                                            .type = PL_STR("text"),
                                            .content = PL_STR("Walk far"),
                                            .hash = PL_STR("h")};
    struct pl_memory_row memory = {.uid = id_str(&uid),
                                   .user_id = id_str(user),
                                   .type = PL_STR("feedback"),
                                   .content = PL_STR("Walks far"),
                                   .terms = PL_STR("walk far")};
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return PL_NOMEM;
    pl_batch_create_prompt(batch, &prompt);
    pl_batch_put_prompt_version(batch, prompt.user_id, &version);
    pl_batch_put_prompt_label(batch, prompt.user_id, prompt.id, PL_STR("production"), 1);
    pl_batch_update_prompt(batch, &prompt);
    pl_batch_create_memory(batch, &memory);
    enum pl_status status = pl_store_commit(store, batch, NULL);
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_prompt_query prompts = {
        .user_id = prompt.user_id, .terms = PL_STR("walk"), .limit = 5};
    struct pl_prompt_page prompt_page = {.total = -5};
    if (status == PL_OK)
        status = pl_store_prompt_list(store, &arena, &prompts, &prompt_page, NULL);
    if (status == PL_OK)
        assert_str(prompt_page.items[0].labels, PL_STR("{\"production\":1}"));
    else
        assert_int_equal(prompt_page.total, -5);
    bool is_there = false;
    if (status == PL_OK)
        status =
            pl_store_prompt_walk(store, &arena, prompt.user_id, PL_STR(""), 5, &prompt_page, NULL);
    if (status == PL_OK)
        status = pl_store_prompt_directory(store, prompt.user_id, prompt.directory, PL_STR(""),
                                           &is_there, NULL);
    assert_int_equal(is_there, status == PL_OK);
    struct pl_memory_query memories = {.user_id = prompt.user_id,
                                       .created_before_ms = INT64_MAX,
                                       .terms = PL_STR("far wal*"),
                                       .limit = 5};
    struct pl_memory_page memory_page = {.total = -5};
    if (status == PL_OK)
        status = pl_store_memory_list(store, &arena, &memories, &memory_page, NULL);
    assert_int_equal(memory_page.total, status == PL_OK ? 1 : -5);
    return status;
}

static enum pl_status put_work(struct pl_store *store, const struct pl_task_row *task,
                               const struct pl_blob_row *blob, struct pl_str bytes)
{
    struct pl_id run = pl_id_take(&seed, "run_");
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return PL_NOMEM;
    pl_batch_create_task(batch, task);
    pl_batch_update_task(batch, task);
    pl_batch_create_run(batch, &(struct pl_task_run_row){.id = id_str(&run),
                                                         .task_id = task->id,
                                                         .status = PL_STR("running"),
                                                         .due_ms = 5});
    pl_batch_put_piece(batch, blob->id, 0, bytes, 1);
    pl_batch_create_blob(batch, blob);
    return pl_store_commit(store, batch, NULL);
}

/* Writes a task with a run, and a blob that other users have as well. */
static enum pl_status write_and_list(struct pl_store *store, const struct pl_id *user)
{
    struct pl_id task_id = pl_id_take(&seed, "task_"), blob_id = pl_id_take(&seed, "blob_");
    struct pl_str bytes = PL_STR("far away"), got = {NULL, 0};
    struct pl_task_row task = {.id = id_str(&task_id),
                               .user_id = id_str(user),
                               .title = PL_STR("Walk"),
                               .cron = PL_STR("* * * * *"),
                               .timezone = PL_STR("UTC"),
                               .overlap = PL_STR("skip"),
                               .revision = 1};
    struct pl_blob_row blob = {.id = id_str(&blob_id),
                               .user_id = id_str(user),
                               .hash = PL_STR("of far away"),
                               .n_bytes = (int64_t)bytes.len,
                               .content_type = PL_STR("text/plain")};
    enum pl_status status = put_work(store, &task, &blob, bytes);
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_task_query query = {
        .user_id = task.user_id, .is_enabled = -1, .text = PL_STR("wal"), .limit = 5};
    struct pl_task_page tasks = {.total = -5};
    if (status == PL_OK)
        status = pl_store_task_list(store, &arena, &query, &tasks, NULL);
    assert_int_equal(tasks.total, status == PL_OK ? 1 : -5);
    struct pl_task_run_query runs = {
        .task_id = task.id, .due_after_ms = -1, .due_before_ms = INT64_MAX, .limit = 5};
    struct pl_task_run_page run_page = {.total = -5};
    if (status == PL_OK)
        status = pl_store_run_list(store, &arena, &runs, &run_page, NULL);
    assert_int_equal(run_page.total, status == PL_OK ? 1 : -5);
    if (status == PL_OK)
        status = pl_store_blob_piece(store, &arena, blob.hash, 0, &got, NULL);
    if (status == PL_OK)
        assert_str(got, bytes);
    return status;
}

/* Writes an extension with a tool and an answer. */
static enum pl_status write_and_extend(struct pl_store *store, const struct pl_id *user)
{
    struct pl_extension_row row = {.id = PL_STR("weather"),
                                   .name = PL_STR("Weather"),
                                   .version = PL_STR("1"),
                                   .runtime = PL_STR("node"),
                                   .artifact = PL_STR("a"),
                                   .manifest = PL_STR("{}"),
                                   .manifest_hash = PL_STR("b"),
                                   .profile = PL_STR("safe"),
                                   .state = PL_STR("enabled"),
                                   .revision = 1};
    struct pl_extension_tool_row tool = {
        .name = PL_STR("report"), .seen = PL_STR("h"), .definition = PL_STR("{}")};
    struct pl_extension_answer_row answer = {
        .user_id = id_str(user), .capability = PL_STR("write"), .manifest_hash = PL_STR("b")};
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return PL_NOMEM;
    pl_batch_delete_extension(batch, row.id);
    pl_batch_create_extension(batch, &row);
    pl_batch_update_extension(batch, &row);
    pl_batch_set_extension_state(batch, row.id, PL_STR("quarantined"), PL_STR("crashed"), 1);
    pl_batch_set_extension_registered(batch, row.id, PL_STR("{}"));
    pl_batch_see_extension_tool(batch, row.id, &tool);
    pl_batch_accept_extension_tool(batch, row.id, tool.name, tool.seen);
    pl_batch_put_extension_answer(batch, row.id, &answer);
    enum pl_status status = pl_store_commit(store, batch, NULL);
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_extension_row *rows = NULL;
    struct pl_extension_tool_row *tools = NULL;
    struct pl_extension_answer_row *answers = NULL;
    size_t n = 0, n_tools = 0, n_answers = 0;
    if (status == PL_OK)
        status = pl_store_extension_list(store, &arena, &rows, &n, NULL);
    if (status == PL_OK)
        status = pl_store_extension_get(store, &arena, row.id, &row, NULL);
    if (status == PL_OK)
        status = pl_store_extension_tools(store, &arena, row.id, &tools, &n_tools, NULL);
    if (status == PL_OK)
        status = pl_store_extension_answers(store, &arena, row.id, id_str(user), &answers,
                                            &n_answers, NULL);
    if (status == PL_OK)
        assert_true(n == 1 && n_tools == 1 && n_answers == 1 && row.revision == 3);
    return status;
}

typedef enum pl_status use_fn(struct pl_store *store, const struct pl_id *user);

static enum pl_status open_use_close(const char *url, use_fn *use)
{
    struct pl_store *store = NULL;
    struct pl_id user = pl_id_take(&seed, "user_");
    enum pl_status status =
        pl_store_open(&(struct pl_store_config){.url = url, .n_readers = 1}, &store, NULL);
    pl_fault_is_prepared();
    if (status == PL_OK)
        status = use(store, &user);
    pl_store_close(store);
    return status;
}

static enum pl_status open_write_read_close(void *ctx)
{
    return open_use_close(ctx, write_and_read);
}

static enum pl_status open_write_search_close(void *ctx)
{
    return open_use_close(ctx, write_and_search);
}

static enum pl_status open_write_list_close(void *ctx)
{
    return open_use_close(ctx, write_and_list);
}

static enum pl_status open_write_extend_close(void *ctx)
{
    return open_use_close(ctx, write_and_extend);
}

static void any_allocation_may_fail_in_memory(void **state)
{
    (void)state;
    assert_int_equal(open_write_read_close("memory:"), PL_OK);
    assert_true(pl_fault_some_parts(open_write_read_close, "memory:", PL_OK, PLACES_IN_MEMORY,
                                    PLACES_IN_MEMORY) > 100);
}

static void count_problem(void *ctx, bool is_problem, const char *sentence)
{
    (void)sentence;
    *(int *)ctx += is_problem;
}

/* In a file that already has the schema. Opening it is the same in every scenario, so only one
 * scenario fails it. */
static void fail_each_allocation_in_a_file(pl_fault_fn *scenario, size_t n_opening)
{
    struct fixture *f = fixture_create("sqlite");
    pl_store_close(f->store);
    f->store = NULL;
    size_t n = pl_fault_some_parts(scenario, f->url, PL_OK, n_opening, PLACES_IN_A_FILE);
    assert_true(n > 100);
    fixture_open(f);
    int n_problems = 0;
    assert_int_equal(pl_store_check(f->store, count_problem, &n_problems, NULL), PL_OK);
    fixture_destroy(f);
    assert_int_equal(n_problems, 0);
}

static void any_allocation_may_fail_in_a_file(void **state)
{
    (void)state;
    fail_each_allocation_in_a_file(open_write_read_close, PLACES_IN_A_FILE);
}

static void any_allocation_may_fail_in_a_search(void **state)
{
    (void)state;
    fail_each_allocation_in_a_file(open_write_search_close, 0);
}

static void any_allocation_may_fail_with_tasks_and_blobs(void **state)
{
    (void)state;
    fail_each_allocation_in_a_file(open_write_list_close, 0);
}

static void any_allocation_may_fail_with_extensions(void **state)
{
    (void)state;
    fail_each_allocation_in_a_file(open_write_extend_close, 0);
}

/* --- the disk -------------------------------------------------------------------------------- */

enum { N_TURNS = 5 };

/* Turns, one after the other, and which of them were acknowledged. */
struct attempt {
    struct pl_id session;
    struct pl_id turns[N_TURNS];
    enum pl_status statuses[N_TURNS];
};

static void try_turns(struct fixture *f, struct attempt *attempt)
{
    for (int64_t i = 0; i < N_TURNS; i++) {
        attempt->turns[i] = pl_id_take(&f->seed, "turn_");
        struct pl_turn_row turn = make_turn(&attempt->session, &attempt->turns[i], i, "{\"a\":1}");
        struct pl_batch *batch = pl_batch_create();
        put_turn(batch, &turn);
        attempt->statuses[i] = pl_store_commit(f->store, batch, NULL);
    }
}

/* After the disk has recovered: every acknowledged turn exists. Others may exist only if the store
 * had to stop without knowing the outcome. */
static void expect_acknowledged(struct fixture *f, const struct attempt *attempt)
{
    for (size_t i = 0; i < N_TURNS; i++) {
        struct pl_turn_row turn;
        enum pl_status status = pl_store_turn_get(f->store, &f->arena, id_str(&attempt->session),
                                                  id_str(&attempt->turns[i]), &turn, NULL);
        if (attempt->statuses[i] == PL_OK)
            assert_int_equal(status, PL_OK);
        else if (!f->n_fatal)
            assert_int_equal(status, PL_NOT_FOUND);
    }
}

struct disk_case {
    enum vfs_call call;
    enum vfs_file file;
    int code;
    enum pl_status status; /* of the batch that fails */
    bool is_fatal;         /* the store stops */
};

static void expect_case(const struct fixture *f, const struct disk_case *disk, int n,
                        const struct attempt *attempt)
{
    bool has_failed = false;
    for (size_t i = 0; i < N_TURNS; i++) {
        if (attempt->statuses[i] != PL_OK && !has_failed && attempt->statuses[i] != disk->status)
            fail_msg("call %d, code %d: the batch ended in %s", n, disk->code,
                     pl_status_info(attempt->statuses[i])->name);
        if (has_failed && disk->is_fatal && attempt->statuses[i] == PL_OK)
            fail_msg("call %d, code %d: acknowledged after the store stopped", n, disk->code);
        has_failed = has_failed || attempt->statuses[i] != PL_OK;
    }
    if (has_failed)
        assert_int_equal(f->n_fatal, disk->is_fatal);
}

/* The Nth call fails, N = 1, 2, 3 … until it is not reached; once, and permanently. */
static void fail_each(const struct disk_case *disk)
{
    bool was_reached = true;
    struct fixture *empty = fixture_create("sqlite");
    pl_store_close(empty->store);
    empty->store = NULL;
    for (int n = 1; was_reached; n++) {
        for (int and_after = 0; and_after < 2; and_after++) {
            struct fixture *f = fixture_create_copy(empty->path);
            struct attempt attempt = {.session = add_session(f)};
            vfs_set(&(struct vfs_plan){disk->call, disk->file, n, and_after, disk->code});
            try_turns(f, &attempt);
            was_reached = vfs_n_failed() > 0;
            expect_case(f, disk, n, &attempt);
            pl_store_close(f->store);
            vfs_set(NULL);
            f->store = NULL;
            fixture_open(f);
            expect_acknowledged(f, &attempt);
            fixture_destroy(f);
        }
    }
    fixture_destroy(empty);
}

static void a_full_disk_refuses_and_goes_on(void **state)
{
    (void)state;
    fail_each(&(struct disk_case){VFS_WRITE, VFS_LOG, SQLITE_FULL, PL_LIMIT, false});
}

static void a_failed_write_at_commit_stops_the_store(void **state)
{
    (void)state;
    fail_each(&(struct disk_case){VFS_WRITE, VFS_LOG, SQLITE_IOERR_WRITE, PL_IO, true});
}

static void a_failed_fsync_stops_the_store(void **state)
{
    (void)state;
    fail_each(&(struct disk_case){VFS_SYNC, VFS_LOG, SQLITE_IOERR_FSYNC, PL_IO, true});
}

/* Everything from opening on, with any call of any kind failing: no crash, no false
 * acknowledgement. */
static void opening_survives_any_failure(void **state)
{
    (void)state;
    static const struct disk_case cases[] = {
        {VFS_OPEN, VFS_ANY, SQLITE_CANTOPEN, PL_IO, false},
        {VFS_READ, VFS_ANY, SQLITE_IOERR_READ, PL_IO, false},
        {VFS_WRITE, VFS_ANY, SQLITE_IOERR_WRITE, PL_IO, false},
        {VFS_WRITE, VFS_ANY, SQLITE_FULL, PL_LIMIT, false},
        {VFS_SYNC, VFS_ANY, SQLITE_IOERR_FSYNC, PL_IO, false},
    };
    struct fixture *f = fixture_create("sqlite");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool was_reached = true;
        for (int n = 1; was_reached && n < 60; n++) {
            pl_store_close(f->store);
            f->store = NULL;
            vfs_set(&(struct vfs_plan){cases[i].call, VFS_ANY, n, false, cases[i].code});
            struct pl_error err = {0};
            enum pl_status status =
                pl_store_open(&(struct pl_store_config){.url = f->url}, &f->store, &err);
            was_reached = vfs_n_failed() > 0;
            vfs_set(NULL);
            if (status != PL_OK && status != cases[i].status)
                fail_msg("opening ended in %s: %s", pl_status_info(status)->name, err.message);
            if (status != PL_OK)
                assert_true(strlen(err.message) > 0);
        }
    }
    if (!f->store)
        fixture_open(f);
    add_session(f);
    fixture_destroy(f);
}

static void reads_go_on_while_the_disk_is_full(void **state)
{
    (void)state;
    struct fixture *f = fixture_create("sqlite");
    struct attempt attempt = {.session = add_session(f)};
    vfs_set(&(struct vfs_plan){VFS_WRITE, VFS_ANY, 1, true, SQLITE_FULL});
    try_turns(f, &attempt);
    for (size_t i = 0; i < N_TURNS; i++)
        assert_int_equal(attempt.statuses[i], PL_LIMIT);
    struct pl_session_record session;
    assert_int_equal(pl_store_session_get(f->store, &f->arena, id_str(&f->user),
                                          id_str(&attempt.session), &session, NULL),
                     PL_OK);
    vfs_set(NULL);
    add_session(f);
    assert_int_equal(f->n_fatal, 0);
    fixture_destroy(f);
}

/* --- groups ---------------------------------------------------------------------------------- */

enum { N_THREADS = 24 };

struct one_turn {
    struct fixture *f;
    struct pl_id session, turn;
    int64_t sequence;
    enum pl_status status;
};

static void *commit_one(void *arg)
{
    struct one_turn *one = arg;
    struct pl_turn_row turn = make_turn(&one->session, &one->turn, one->sequence, "{}");
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return NULL;
    put_turn(batch, &turn);
    one->status = pl_store_commit(one->f->store, batch, NULL);
    return NULL;
}

/* Many batches at once on a disk that accepts some writes and then none for a while: each one is
 * stored if and only if it was acknowledged. */
static void a_group_on_a_full_disk_fails_or_not_one_by_one(void **state)
{
    (void)state;
    for (int n = 1; n < 40; n += 6) {
        struct fixture *f = fixture_create("sqlite");
        struct pl_id session = add_session(f);
        struct one_turn ones[N_THREADS];
        pthread_t threads[N_THREADS];
        vfs_set(&(struct vfs_plan){VFS_WRITE, VFS_LOG, n, true, SQLITE_FULL});
        for (int64_t i = 0; i < N_THREADS; i++) {
            ones[i] = (struct one_turn){f, session, pl_id_take(&f->seed, "turn_"), i, PL_INTERNAL};
            assert_int_equal(pthread_create(&threads[i], NULL, commit_one, &ones[i]), 0);
        }
        for (size_t i = 0; i < N_THREADS; i++)
            pthread_join(threads[i], NULL);
        vfs_set(NULL);
        for (size_t i = 0; i < N_THREADS; i++) {
            struct pl_turn_row turn;
            assert_true(ones[i].status == PL_OK || ones[i].status == PL_LIMIT);
            assert_int_equal(pl_store_turn_get(f->store, &f->arena, id_str(&session),
                                               id_str(&ones[i].turn), &turn, NULL),
                             ones[i].status == PL_OK ? PL_OK : PL_NOT_FOUND);
        }
        assert_int_equal(f->n_fatal, 0);
        fixture_destroy(f);
    }
}

/* --- the checkpoint, and a lock -------------------------------------------------------------- */

/* The turn itself is durable and acknowledged; copying the log to the database fails. */
static void a_checkpoint_whose_fsync_fails_stops_the_store(void **state)
{
    (void)state;
    struct fixture *f = fixture_create("sqlite");
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_fill(&text, 'x', 9 << 20);
    struct pl_turn_row turn = make_turn(&session, &id, 0, NULL);
    turn.body = pl_buf_str(&text);
    vfs_set(&(struct vfs_plan){VFS_SYNC, VFS_MAIN, 1, true, SQLITE_IOERR_FSYNC});
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &turn);
    commit(f, batch);
    batch = pl_batch_create();
    put_turn(batch, &turn);
    assert_int_equal(pl_store_commit(f->store, batch, NULL), PL_IO);
    assert_int_equal(f->n_fatal, 1);
    pl_store_close(f->store);
    vfs_set(NULL);
    f->store = NULL;
    fixture_open(f);
    assert_int_equal(
        pl_store_turn_get(f->store, &f->arena, id_str(&session), id_str(&id), &turn, NULL), PL_OK);
    fixture_destroy(f);
}

static void a_checkpoint_on_a_full_disk_is_made_later(void **state)
{
    (void)state;
    struct fixture *f = fixture_create("sqlite");
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_fill(&text, 'x', 9 << 20);
    struct pl_turn_row turn = make_turn(&session, &id, 0, NULL);
    turn.body = pl_buf_str(&text);
    vfs_set(&(struct vfs_plan){VFS_WRITE, VFS_MAIN, 1, true, SQLITE_FULL});
    for (int i = 0; i < 3; i++) {
        struct pl_batch *batch = pl_batch_create();
        put_turn(batch, &turn);
        commit(f, batch);
    }
    vfs_set(NULL);
    assert_int_equal(f->n_fatal, 0);
    fixture_reopen(f);
    assert_int_equal(
        pl_store_turn_get(f->store, &f->arena, id_str(&session), id_str(&id), &turn, NULL), PL_OK);
    fixture_destroy(f);
}

static void a_store_locked_by_another_program_is_waited_for_and_then_refused(void **state)
{
    (void)state;
    struct fixture *f = fixture_create("sqlite");
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id);
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    struct pl_error err;
    assert_int_equal(pl_store_commit(f->store, batch, &err), PL_IO);
    assert_non_null(strstr(err.message, "locked"));
    sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(other);
    add_session(f);
    assert_int_equal(f->n_fatal, 0);
    fixture_destroy(f);
}

static int use_faulty_disk(void **state)
{
    (void)state;
    /* On a file system where fsync is free, if there is one: hundreds of stores are made here, and
     * the failures are simulated. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    /* SQLite accepts the store's allocator only before any other call. */
    if (open_write_read_close("memory:") != PL_OK)
        return -1;
    vfs_install();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail_in_memory),
        cmocka_unit_test(any_allocation_may_fail_in_a_file),
        cmocka_unit_test(any_allocation_may_fail_in_a_search),
        cmocka_unit_test(any_allocation_may_fail_with_tasks_and_blobs),
        cmocka_unit_test(any_allocation_may_fail_with_extensions),
        cmocka_unit_test(a_full_disk_refuses_and_goes_on),
        cmocka_unit_test(a_failed_write_at_commit_stops_the_store),
        cmocka_unit_test(a_failed_fsync_stops_the_store),
        cmocka_unit_test(opening_survives_any_failure),
        cmocka_unit_test(reads_go_on_while_the_disk_is_full),
        cmocka_unit_test(a_group_on_a_full_disk_fails_or_not_one_by_one),
        cmocka_unit_test(a_checkpoint_whose_fsync_fails_stops_the_store),
        cmocka_unit_test(a_checkpoint_on_a_full_disk_is_made_later),
        cmocka_unit_test(a_store_locked_by_another_program_is_waited_for_and_then_refused),
    };
    return cmocka_run_group_tests(tests, use_faulty_disk, NULL);
}
