#include "contract/fixture.h"
#include "io/clock.h"
#include "io/entropy.h"

#include <dirent.h>
#include <libpq-fe.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

struct pl_str id_str(const struct pl_id *id)
{
    return pl_str_of(id->text);
}

struct pl_str str_of(const char *text)
{
    return pl_str_of(text);
}

static void run_postgres(const char *url, const char *sql)
{
    PGconn *conn = PQconnectdb(url);
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
}

/* The address of another database of the server: postgres://USER@/DATABASE?host=DIRECTORY. */
static void write_url(char to[URL_MAX], const char *database)
{
    const char *url = getenv("PARLEY_TEST_POSTGRES"), *end = strstr(url, "/postgres?");
    assert_non_null(end);
    snprintf(to, URL_MAX, "%.*s/%s%s", (int)(end - url), url, database, strchr(end, '?'));
}

static void run_beside(const char *sql)
{
    run_postgres(getenv("PARLEY_TEST_POSTGRES"), sql);
}

/* Runs the migrations once. The store's own row would be the row of another server in a copy. */
static void make_template(void)
{
    char url[URL_MAX];
    struct pl_error err = {0};
    struct pl_store *store = NULL;
    write_url(url, "migrated");
    run_beside("CREATE DATABASE migrated");
    if (pl_store_open(&(struct pl_store_config){.url = url}, &store, &err) != PL_OK)
        fail_msg("the store does not open: %s", err.message);
    pl_store_close(store);
    run_postgres(url, "DELETE FROM commits");
}

/* Each test gets a database of its own. */
static void choose_database(struct fixture *fixture)
{
    static int n_databases;
    char sql[128];
    if (!n_databases)
        make_template();
    snprintf(fixture->path, sizeof fixture->path, "t%d", n_databases++);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE migrated", fixture->path);
    run_beside(sql);
    write_url(fixture->url, fixture->path);
}

/* A test may leave connections of servers that it killed. */
static void drop_database(struct fixture *fixture)
{
    char sql[128];
    snprintf(sql, sizeof sql, "DROP DATABASE %s WITH (FORCE)", fixture->path);
    run_beside(sql);
}

static void choose_file(struct fixture *fixture)
{
    const char *base = getenv("TMPDIR");
    snprintf(fixture->dir, sizeof fixture->dir, "%.90s/parley-store-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(fixture->dir));
    snprintf(fixture->path, sizeof fixture->path, "%s/store.db", fixture->dir);
    snprintf(fixture->url, sizeof fixture->url, "sqlite:%s", fixture->path);
}

static void count_fatal(void *ctx, const struct pl_error *err)
{
    (void)err;
    ((struct fixture *)ctx)->n_fatal++;
}

static struct pl_store *open_store(struct fixture *fixture)
{
    struct pl_error err = {0};
    struct pl_store *store = NULL;
    struct pl_store_config config = {.url = fixture->url,
                                     .is_server = fixture->is_server,
                                     .answer_ms = fixture->answer_ms,
                                     .on_fatal = count_fatal,
                                     .on_fenced = fixture->on_fenced,
                                     .on_rewound = fixture->on_rewound,
                                     .ctx = fixture};
    if (pl_store_open(&config, &store, &err) != PL_OK)
        fail_msg("the store does not open: %s", err.message);
    return store;
}

void fixture_open(struct fixture *fixture)
{
    fixture->store = open_store(fixture);
}

struct pl_store *fixture_join(struct fixture *fixture)
{
    return strcmp(fixture->kind, "postgres") == 0 ? open_store(fixture) : fixture->store;
}

void fixture_leave(struct fixture *fixture, struct pl_store *store)
{
    if (store != fixture->store)
        pl_store_close(store);
}

void fixture_reopen(struct fixture *fixture)
{
    pl_store_close(fixture->store);
    fixture->store = NULL;
    fixture_open(fixture);
}

void fixture_outlive(struct fixture *fixture)
{
    if (strcmp(fixture->kind, "postgres") != 0)
        return;
    run_sql(fixture, "UPDATE commits SET is_gone = 1, is_fenced = 1");
    fixture_reopen(fixture);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_false(ferror(in));
    assert_int_equal(fclose(out), 0);
    fclose(in);
}

static struct fixture *create(const char *kind, const char *copied)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->kind = kind;
    snprintf(fixture->url, sizeof fixture->url, "memory:");
    if (strcmp(kind, "sqlite") == 0)
        choose_file(fixture);
    else if (strcmp(kind, "postgres") == 0)
        choose_database(fixture);
    if (copied)
        copy_file(copied, fixture->path);
    pl_arena_init(&fixture->arena, 0);
    fixture->seed.unix_ms = pl_clock_unix_s() * 1000;
    assert_true(pl_entropy_fill(fixture->seed.random, sizeof fixture->seed.random));
    fixture->user = pl_id_take(&fixture->seed, "user_");
    fixture->other = pl_id_take(&fixture->seed, "user_");
    fixture_open(fixture);
    return fixture;
}

struct fixture *fixture_create(const char *kind)
{
    return create(kind, NULL);
}

struct fixture *fixture_create_copy(const char *path)
{
    return create("sqlite", path);
}

static void remove_dir(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char name[600];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        unlink(name);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

void fixture_destroy(struct fixture *fixture)
{
    pl_store_close(fixture->store);
    pl_arena_deinit(&fixture->arena);
    if (*fixture->dir)
        remove_dir(fixture->dir);
    if (strcmp(fixture->kind, "postgres") == 0)
        drop_database(fixture);
    free(fixture);
}

struct pl_session_record make_session(struct fixture *fixture, const struct pl_id *id)
{
    return (struct pl_session_record){
        .id = id_str(id),
        .user_id = id_str(&fixture->user),
        .intent = PL_STR("Plan a journey"),
        .status = PL_SESSION_CREATED,
        .created_ms = 1000,
        .updated_ms = 1000,
        .version = 1,
        .epoch = 1,
    };
}

struct pl_turn_row make_turn(const struct pl_id *session, const struct pl_id *id, int64_t sequence,
                             const char *body)
{
    return (struct pl_turn_row){
        .session_id = id_str(session),
        .sequence = sequence,
        .turn_id = id_str(id),
        .loop_id = PL_STR("root"),
        .status = PL_TURN_COMPLETED,
        .last_event = sequence,
        .created_ms = 5000 + sequence,
        .body = str_of(body),
    };
}

void put_session(struct pl_batch *batch, const struct pl_session_record *session)
{
    pl_batch_put_row(batch, &(struct pl_session_row){PL_ROW_NEW_SESSION, .session = *session});
}

void change_session(struct pl_batch *batch, const struct pl_session_record *session)
{
    pl_batch_put_row(batch, &(struct pl_session_row){PL_ROW_SESSION, .session = *session});
}

void put_turn(struct pl_batch *batch, const struct pl_turn_row *turn)
{
    pl_batch_put_row(batch, &(struct pl_session_row){PL_ROW_TURN, .turn = *turn});
}

void commit(struct fixture *fixture, struct pl_batch *batch)
{
    struct pl_error err = {0};
    if (pl_store_commit(fixture->store, batch, &err) != PL_OK)
        fail_msg("a batch was not committed: %s", err.message);
}

struct pl_id add_session(struct fixture *fixture)
{
    struct pl_id id = pl_id_take(&fixture->seed, "sess_");
    struct pl_session_record session = make_session(fixture, &id);
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    commit(fixture, batch);
    return id;
}

struct pl_turn_query turns_of(const struct pl_id *session)
{
    return (struct pl_turn_query){
        .session_id = id_str(session),
        .before = INT64_MAX,
        .after = -1,
        .changed_after = -1,
        .limit = 100,
    };
}

void run_sql(struct fixture *fixture, const char *sql)
{
    if (strcmp(fixture->kind, "postgres") == 0) {
        run_postgres(fixture->url, sql);
        return;
    }
    sqlite3 *conn = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &conn), SQLITE_OK);
    if (sqlite3_exec(conn, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(conn);
}
