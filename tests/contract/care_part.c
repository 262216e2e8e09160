/* The contract: persistence across processes, versions, copies, damage, size. */
#include "store/migrations.h"
#include "contract/suite.h"
#include "store/sql/statements.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

static void what_was_committed_is_there_after_reopening(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_session(f);
    fixture_reopen(f);
    struct pl_session_record session;
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&id), &session, NULL),
        PL_OK);
    assert_int_equal(pl_store_schema_version(f->store), (int)pl_n_migrations);
    assert_string_equal(pl_store_kind(f->store), f->kind);
}

static enum pl_status try_open(struct fixture *f, struct pl_error *err)
{
    struct pl_store *store = NULL;
    enum pl_status status = pl_store_open(&(struct pl_store_config){.url = f->url}, &store, err);
    pl_store_close(store);
    return status;
}

static void a_newer_schema_is_refused_and_named(void **state)
{
    struct fixture *f = *state;
    pl_store_close(f->store);
    f->store = NULL;
    run_sql(f, "INSERT INTO schema_version VALUES (9001, 'future', 0, 9001)");
    struct pl_error err;
    assert_int_equal(try_open(f, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "9001"));
}

static void a_name_of_no_store_is_refused(void **state)
{
    (void)state;
    struct pl_store *store = NULL;
    struct pl_error err;
    assert_int_equal(pl_store_open(&(struct pl_store_config){.url = "mysql://x"}, &store, &err),
                     PL_USAGE);
    assert_int_equal(pl_store_open(&(struct pl_store_config){.url = "sqlite:"}, &store, &err),
                     PL_USAGE);
}

static void a_server_that_is_not_there_is_said(void **state)
{
    (void)state;
    struct pl_store *store = NULL;
    struct pl_error err;
    assert_int_equal(pl_store_open(&(struct pl_store_config){.url = "postgres:///x?host=/nowhere"},
                                   &store, &err),
                     PL_IO);
    assert_non_null(strstr(err.message, "/nowhere"));
}

static void a_server_that_may_forget_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pl_error err;
    size_t n = strlen(f->url);
    snprintf(f->url + n, sizeof f->url - n, "&options=-csynchronous_commit%%3Doff");
    assert_int_equal(try_open(f, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "synchronous_commit"));
}

static void a_second_process_is_told_who_has_the_file(void **state)
{
    struct fixture *f = *state;
    struct pl_error err;
    assert_int_equal(try_open(f, &err), PL_CONFLICT);
    assert_non_null(strstr(err.message, "another process"));
}

static void the_file_of_another_program_is_left_alone(void **state)
{
    struct fixture *f = *state;
    snprintf(f->path, sizeof f->path, "%s/other.db", f->dir);
    snprintf(f->url, sizeof f->url, "sqlite:%s", f->path);
    run_sql(f, "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
    struct pl_error err;
    assert_int_equal(try_open(f, &err), PL_CONFLICT);
    run_sql(f, "SELECT a FROM theirs");
}

static void only_the_owner_may_read_the_file(void **state)
{
    struct fixture *f = *state;
    add_session(f);
    static const char *const suffixes[] = {"", "-wal", "-lock"};
    for (size_t i = 0; i < 3; i++) {
        char path[200];
        struct stat info;
        snprintf(path, sizeof path, "%s%s", f->path, suffixes[i]);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
    }
}

/* --- size ------------------------------------------------------------------------------------ */

enum { N_GROWN = 200 };

/* Turns of n_bytes of text in ten sessions, each written three times as its text grows. */
static void add_growing_turns(struct fixture *f, const struct pl_id *sessions, struct pl_str text)
{
    struct pl_id ids[10];
    for (int64_t i = 0; i < N_GROWN; i++) {
        if (i % 10 == 0)
            for (size_t k = 0; k < 10; k++)
                ids[k] = pl_id_take(&f->seed, "turn_");
        struct pl_turn_row turn = make_turn(&sessions[i % 10], &ids[i % 10], i / 10, NULL);
        for (size_t part = 1; part <= 3; part++) {
            turn.body = pl_str_slice(text, 0, text.len * part / 3);
            struct pl_batch *batch = pl_batch_create();
            put_turn(batch, &turn);
            commit(f, batch);
        }
    }
}

/* Text that a database cannot compress. */
static void fill_with_noise(struct pl_buf *text, size_t n)
{
    uint64_t x = 88172645463325252;
    while (text->len < n) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        pl_buf_addc(text, (char)(' ' + x % 94));
    }
}

static void storage_stays_within_one_and_a_half_times_the_text(void **state)
{
    struct fixture *f = *state;
    static const size_t sizes[] = {2048, 2600, 3100, 4200, 6200, 9000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct pl_id sessions[10];
        for (size_t i = 0; i < 10; i++)
            sessions[i] = add_session(f);
        fixture_reopen(f);
        int64_t before = pl_store_n_bytes(f->store);
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        fill_with_noise(&text, sizes[k]);
        add_growing_turns(f, sessions, pl_buf_str(&text));
        fixture_reopen(f);
        double ratio = (double)(pl_store_n_bytes(f->store) - before) / (double)(N_GROWN * sizes[k]);
        if (ratio > 1.5)
            fail_msg("turns of %zu bytes take %.2f times their text", sizes[k], ratio);
        print_message("# turns of %zu bytes take %.2f times their text\n", sizes[k], ratio);
    }
}

static void the_size_is_known_where_there_is_one(void **state)
{
    struct fixture *f = *state;
    int64_t n = pl_store_n_bytes(f->store);
    if (strcmp(f->kind, "memory") == 0)
        assert_int_equal(n, -1);
    else
        assert_true(n > 0);
}

static int look_at_plan(void *ctx, int n, char **values, char **names)
{
    (void)n;
    (void)names;
    const char *text = ctx, *detail = values[3];
    /* A sort is allowed for a few rows in another order: changed rows only, the best matches, or
     * sums. Rows that a search found through the index are read. */
    bool may_sort = strstr(text, "last_event > ?6") || strstr(text, "asked_ms") ||
                    strstr(text, "b.score") || strstr(text, "GROUP BY");
    bool is_bounded = strstr(detail, "VIRTUAL TABLE INDEX") || strcmp(detail, "SCAN b") == 0 ||
                      strcmp(detail, "SCAN u") == 0 || strcmp(detail, "SCAN s") == 0 ||
                      strncmp(detail, "SCAN (subquery", 14) == 0;
    if ((strncmp(detail, "SCAN", 4) == 0 && !is_bounded) ||
        (strstr(detail, "TEMP B-TREE") && !may_sort))
        fail_msg("\"%s\" costs more than its answer: %s", text, detail);
    return 0;
}

static void a_page_costs_the_page(void **state)
{
    struct fixture *f = *state;
    static const enum pl_sql lists[] = {
        PL_SQL_SESSION_GET,
        PL_SQL_SESSION_LIST,
        PL_SQL_SESSION_COUNT,
        PL_SQL_SESSION_UNSETTLED,
        PL_SQL_TURN_OLDEST,
        PL_SQL_TURN_NEWEST,
        PL_SQL_TURN_OLDEST_OF_LOOP,
        PL_SQL_TURN_NEWEST_OF_LOOP,
        PL_SQL_TURN_OLDEST_CHANGED,
        PL_SQL_TURN_NEWEST_CHANGED,
        PL_SQL_TURN_OPEN,
        PL_SQL_TURN_GET,
        PL_SQL_TURN_LAST_COMPACTION,
        PL_SQL_CLIENT_MESSAGE_FIND,
        PL_SQL_QUESTION_PENDING,
        PL_SQL_QUESTION_GET,
        PL_SQL_QUEUED_LIST,
        PL_SQL_KEY_LIST,
        PL_SQL_SHARE_FIND,
        PL_SQL_IDEMPOTENCY_GET,
        PL_SQL_IDEMPOTENCY_EXPIRE,
        PL_SQL_TASK_GET,
        PL_SQL_TASK_LIST,
        PL_SQL_TASK_COUNT,
        PL_SQL_TASK_DUE,
        PL_SQL_TASK_NEXT,
        PL_SQL_RUN_LIST,
        PL_SQL_RUN_COUNT,
        PL_SQL_UPLOAD_SWEEP,
        PL_SQL_BLOB_GET,
        PL_SQL_BLOB_FIND,
        PL_SQL_BLOB_LIST,
        PL_SQL_BLOB_PIECE,
        PL_SQL_BLOB_DROP_LAST,
        PL_SQL_BLOB_USE_SESSION,
        PL_SQL_BLOB_USE_PROMPT,
        PL_SQL_BLOB_USE_TASK,
        PL_SQL_BLOB_RELEASE_SESSION,
        PL_SQL_BLOB_RELEASE_PROMPT,
        PL_SQL_BLOB_RELEASE_TASK,
        PL_SQL_BLOB_UNUSED,
        PL_SQL_USAGE_LIST,
        PL_SQL_USAGE_LIST_ALL,
        PL_SQL_USAGE_SPENT,
        PL_SQL_USAGE_SPENT_USER,
        PL_SQL_AUDIT_OLDEST,
        PL_SQL_AUDIT_NEWEST,
        PL_SQL_AUDIT_UNSEALED,
        PL_SQL_MODEL_RUN_GET,
        PL_SQL_MODEL_RUN_LIST,
        PL_SQL_MODEL_RUN_COUNT,
        PL_SQL_MODEL_RUN_SERIES,
        PL_SQL_MODEL_RUN_EXPIRE,
        PL_SQL_SESSION_COST,
        PL_SQL_RESPONSE_FIND,
        PL_SQL_IDENTITY_FIND,
        PL_SQL_PROMPT_GET,
        PL_SQL_PROMPT_LIST,
        PL_SQL_PROMPT_COUNT,
        PL_SQL_PROMPT_SEARCH,
        PL_SQL_PROMPT_NEWEST,
        PL_SQL_PROMPT_COUNT_FOUND,
        PL_SQL_PROMPT_TERMS,
        PL_SQL_PROMPT_FOLDERS,
        PL_SQL_PROMPT_TAGS,
        PL_SQL_PROMPT_VERSION_GET,
        PL_SQL_PROMPT_VERSION_LIST,
        PL_SQL_PROMPT_VERSION_COUNT,
        PL_SQL_MEMORY_GET,
        PL_SQL_MEMORY_FIND,
        PL_SQL_MEMORY_LIST,
        PL_SQL_MEMORY_COUNT,
        PL_SQL_MEMORY_SEARCH,
        PL_SQL_MEMORY_NEWEST,
        PL_SQL_MEMORY_COUNT_FOUND,
        PL_SQL_MEMORY_TERMS,
    };
    sqlite3 *conn = NULL;
    assert_int_equal(sqlite3_open(f->path, &conn), SQLITE_OK);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *text = pl_sql_texts[lists[i]].text;
        char sql[3000];
        snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", text);
        assert_int_equal(sqlite3_exec(conn, sql, look_at_plan, (void *)text, NULL), SQLITE_OK);
    }
    sqlite3_close(conn);
}

/* --- copies ---------------------------------------------------------------------------------- */

static enum pl_status back_up(struct fixture *f, const char *path, struct pl_error *err)
{
    FILE *file = fopen(path, "wx");
    assert_non_null(file);
    fclose(file);
    return pl_store_backup(f->store, path, err);
}

static void a_backup_is_restored_with_new_epochs(void **state)
{
    struct fixture *f = *state;
    struct pl_id early = add_session(f);
    char backup[200];
    snprintf(backup, sizeof backup, "%s/backup.db", f->dir);
    struct pl_error err;
    assert_int_equal(back_up(f, backup, &err), PL_OK);
    struct pl_id late = add_session(f);
    assert_int_equal(pl_store_restore(f->url, backup, &err), PL_CONFLICT);
    pl_store_close(f->store);
    f->store = NULL;
    if (pl_store_restore(f->url, backup, &err) != PL_OK)
        fail_msg("%s", err.message);
    fixture_open(f);
    struct pl_session_record got;
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&early), &got, NULL),
        PL_OK);
    assert_int_equal(got.epoch, 2);
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&late), &got, NULL),
        PL_NOT_FOUND);
    add_session(f);
}

static void what_is_no_sound_backup_is_refused_and_nothing_lost(void **state)
{
    struct fixture *f = *state;
    struct pl_id id = add_session(f);
    char path[160], own_path[160];
    struct pl_error err;
    snprintf(own_path, sizeof own_path, "%s", f->path);
    snprintf(path, sizeof path, "%s/backup.db", f->dir);
    assert_int_equal(back_up(f, path, &err), PL_OK);
    pl_store_close(f->store);
    f->store = NULL;
    snprintf(f->path, sizeof f->path, "%s", path);
    run_sql(f, "INSERT INTO schema_version VALUES (77, 'future', 0, 77)");
    assert_int_equal(pl_store_restore(f->url, path, &err), PL_CONFLICT);
    run_sql(f, "DELETE FROM schema_version WHERE version = 77; PRAGMA application_id = 5");
    assert_int_equal(pl_store_restore(f->url, path, &err), PL_INVALID);
    run_sql(f, "PRAGMA application_id = 1346458188");
    FILE *file = fopen(path, "r+");
    fseek(file, 1024 * 9 + 100, SEEK_SET);
    for (int i = 0; i < 4000; i++)
        fputc(0x5a, file);
    fclose(file);
    assert_int_not_equal(pl_store_restore(f->url, path, &err), PL_OK);
    snprintf(path, sizeof path, "%s/missing.db", f->dir);
    assert_int_equal(pl_store_restore(f->url, path, &err), PL_UNREADABLE);
    snprintf(f->path, sizeof f->path, "%s", own_path);
    fixture_open(f);
    struct pl_session_record got;
    assert_int_equal(
        pl_store_session_get(f->store, &f->arena, id_str(&f->user), id_str(&id), &got, NULL),
        PL_OK);
}

static void copies_are_refused_where_others_make_them(void **state)
{
    struct fixture *f = *state;
    struct pl_error err;
    if (strcmp(f->kind, "postgres") != 0) {
        assert_int_equal(pl_store_restore("memory:", "x", &err), PL_INVALID);
        return;
    }
    assert_int_equal(pl_store_backup(f->store, "/nowhere/x", &err), PL_INVALID);
    assert_non_null(strstr(err.message, "pg_dump"));
    assert_int_equal(pl_store_restore(f->url, "/nowhere/x", &err), PL_INVALID);
}

/* --- damage ---------------------------------------------------------------------------------- */

struct findings {
    int n_problems, n_notes;
    char last[200];
};

static void note_finding(void *ctx, bool is_problem, const char *sentence)
{
    struct findings *findings = ctx;
    findings->n_problems += is_problem;
    findings->n_notes += !is_problem;
    if (is_problem)
        snprintf(findings->last, sizeof findings->last, "%s", sentence);
}

static void a_check_finds_what_was_damaged(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    struct findings findings = {0};
    assert_int_equal(pl_store_check(f->store, note_finding, &findings, NULL), PL_OK);
    assert_int_equal(findings.n_problems, 0);
    assert_int_equal(findings.n_notes, 1);
    struct pl_turn_row turn = make_turn(&session, &id, 3, "{}");
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &turn);
    commit(f, batch);
    assert_int_equal(pl_store_check(f->store, note_finding, &findings, NULL), PL_OK);
    assert_int_equal(findings.n_problems, 1);
    assert_string_equal(findings.last, "1 turns are after the end of their session.");
}

static void a_check_finds_rows_of_nobody(void **state)
{
    struct fixture *f = *state;
    struct pl_id session = add_session(f), id = pl_id_take(&f->seed, "turn_");
    struct pl_turn_row turn = make_turn(&session, &id, 0, "{}");
    struct pl_batch *batch = pl_batch_create();
    put_turn(batch, &turn);
    commit(f, batch);
    pl_store_close(f->store);
    f->store = NULL;
    run_sql(f, "PRAGMA foreign_keys = OFF; DELETE FROM sessions");
    fixture_open(f);
    struct findings findings = {0};
    assert_int_equal(pl_store_check(f->store, note_finding, &findings, NULL), PL_OK);
    assert_int_equal(findings.n_problems, 2);
}

static const struct CMUnitTest tests[] = {
    ON_SOME("sqlite postgres", what_was_committed_is_there_after_reopening),
    ON_SOME("sqlite postgres", a_newer_schema_is_refused_and_named),
    ON_STORE(a_name_of_no_store_is_refused),
    ON_SOME("postgres", a_server_that_is_not_there_is_said),
    ON_SOME("postgres", a_server_that_may_forget_is_refused),
    ON_SOME("sqlite", a_second_process_is_told_who_has_the_file),
    ON_SOME("sqlite", the_file_of_another_program_is_left_alone),
    ON_SOME("sqlite", only_the_owner_may_read_the_file),
    ON_SOME("sqlite", storage_stays_within_one_and_a_half_times_the_text),
    ON_STORE(the_size_is_known_where_there_is_one),
    ON_SOME("sqlite", a_page_costs_the_page),
    ON_SOME("sqlite", a_backup_is_restored_with_new_epochs),
    ON_SOME("sqlite", what_is_no_sound_backup_is_refused_and_nothing_lost),
    ON_STORE(copies_are_refused_where_others_make_them),
    ON_STORE(a_check_finds_what_was_damaged),
    ON_SOME("sqlite", a_check_finds_rows_of_nobody),
};
const struct suite_part care_part = {tests, sizeof tests / sizeof *tests};
