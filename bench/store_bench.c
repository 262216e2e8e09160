/* Durable appends: how many batches per second the store acknowledges to 64 sessions at once, and
 * how long each waits. For comparison: the speed of the disk, and a plain SQLite loop that inserts
 * one small row per commit. A single session shows the cost of the same rows one by one. Each
 * figure is measured in a process of its own, so that none is affected by another.
 *
 * usage: store-bench DIRECTORY [SECONDS] [STORE-URL]
 * The files are created in DIRECTORY, on the disk to be measured. Prints one JSON line per
 * figure. */
#include "base/table.h"
#include "base/text/uuid.h"
#include "base/vec.h"
#include "store/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_SESSIONS = 64, N_TEXT = 400, PATH_SIZE = 400 };

static const char *const suffixes[] = {"", "-wal", "-shm", "-lock"};

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Processor time of all threads: the cost without the disk. */
static int64_t cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (int64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

struct span {
    int64_t ns, cpu_ns;
};

static struct span span_begin(void)
{
    return (struct span){now_ns(), cpu_ns()};
}

static void print_rate(const char *impl, int64_t n, struct span since)
{
    double seconds = (double)(now_ns() - since.ns) / 1e9;
    printf("{\"name\":\"durable-append\",\"impl\":\"%s\",\"per_second\":%.0f,"
           "\"cpu_us_per_op\":%.2f,\"ops\":%lld}\n",
           impl, (double)n / seconds, (double)(cpu_ns() - since.cpu_ns) / 1e3 / (double)(n ? n : 1),
           (long long)n);
}

static void remove_files(const char *path)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[PATH_SIZE + 8];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

/* --- the disk, and plain SQLite -------------------------------------------------------------- */

static bool measure_fsync(const char *dir, int64_t n_ns)
{
    char path[PATH_SIZE], block[4096] = {0};
    snprintf(path, sizeof path, "%s/store-bench.fsync", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    struct span since = span_begin();
    int64_t n = 0;
    bool is_good = true;
    for (; is_good && now_ns() - since.ns < n_ns; n++)
        is_good = pwrite(fd, block, sizeof block, n * (off_t)sizeof block) == sizeof block &&
                  fdatasync(fd) == 0;
    print_rate("fsync", n, since);
    close(fd);
    unlink(path);
    return is_good;
}

static bool measure_plain(const char *dir, int64_t n_ns)
{
    char path[PATH_SIZE], text[N_TEXT + 1];
    snprintf(path, sizeof path, "%s/store-bench.plain", dir);
    memset(text, 'x', N_TEXT);
    remove_files(path);
    sqlite3 *conn = NULL;
    sqlite3_stmt *insert = NULL;
    bool is_good = sqlite3_open(path, &conn) == SQLITE_OK &&
                   sqlite3_exec(conn,
                                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                "CREATE TABLE turns (id INTEGER PRIMARY KEY, session, body TEXT)",
                                NULL, NULL, NULL) == SQLITE_OK &&
                   sqlite3_prepare_v2(conn, "INSERT INTO turns (session, body) VALUES (?1, ?2)", -1,
                                      &insert, NULL) == SQLITE_OK;
    struct span since = span_begin();
    int64_t n = 0;
    for (; is_good && now_ns() - since.ns < n_ns; n++) {
        sqlite3_bind_int64(insert, 1, n % N_SESSIONS);
        sqlite3_bind_text(insert, 2, text, N_TEXT, SQLITE_STATIC);
        is_good = sqlite3_step(insert) == SQLITE_DONE;
        sqlite3_reset(insert);
    }
    print_rate("sqlite-plain", n, since);
    sqlite3_finalize(insert);
    sqlite3_close(conn);
    remove_files(path);
    return is_good;
}

/* --- ours ------------------------------------------------------------------------------------ */

struct bench {
    struct pl_store *store;
    struct pl_loop *loop;
    struct pl_letter start;
    struct pl_id_seed seed;
    struct pl_id user;
    size_t n_sessions;
    int64_t end_ns;
    size_t n_waiting; /* batches in flight */
    bool has_failed;
    PL_VEC(int64_t) waits; /* ns of every acknowledgement */
    char text[N_TEXT];
};

/* A session that appends a turn, waits, and appends the next one. */
struct appender {
    struct bench *bench;
    struct pl_id session;
    int64_t sequence, sent_ns;
};

static void append(struct appender *appender);

static void note_done(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct appender *appender = ctx;
    struct bench *bench = appender->bench;
    int64_t now = now_ns();
    bench->n_waiting--;
    if (status != PL_OK)
        fprintf(stderr, "store-bench: %s\n", err->message);
    if (status != PL_OK || !pl_vec_push(&bench->waits, now - appender->sent_ns))
        bench->has_failed = true;
    if (now < bench->end_ns && !bench->has_failed)
        append(appender);
    else if (bench->n_waiting == 0)
        pl_loop_stop(bench->loop);
}

/* The rows that the server writes at the end of a turn: the turn and its session. */
static void append(struct appender *appender)
{
    struct bench *bench = appender->bench;
    struct pl_id id = pl_id_take(&bench->seed, "turn_");
    struct pl_session_row session = {appender->sequence ? PL_ROW_SESSION : PL_ROW_NEW_SESSION,
                                     .session = {.id = pl_str_of(appender->session.text),
                                                 .user_id = pl_str_of(bench->user.text),
                                                 .intent = PL_STR("Bench"),
                                                 .status = PL_SESSION_RUNNING,
                                                 .updated_ms = appender->sequence,
                                                 .next_entry = appender->sequence + 1}};
    struct pl_session_row turn = {PL_ROW_TURN,
                                  .turn = {.session_id = pl_str_of(appender->session.text),
                                           .sequence = appender->sequence++,
                                           .turn_id = pl_str_of(id.text),
                                           .loop_id = PL_STR("root"),
                                           .status = PL_TURN_COMPLETED,
                                           .body = {bench->text, N_TEXT}}};
    struct pl_batch *batch = pl_batch_create();
    if (!batch) {
        bench->has_failed = true;
        return;
    }
    pl_batch_put_row(batch, &session);
    pl_batch_put_row(batch, &turn);
    appender->sent_ns = now_ns();
    bench->n_waiting++;
    pl_store_submit(bench->store, bench->loop, batch, note_done, appender);
}

static void start_all(struct pl_letter *letter)
{
    static struct appender appenders[N_SESSIONS];
    struct bench *bench = PL_CONTAINER_OF(letter, struct bench, start);
    for (size_t i = 0; i < bench->n_sessions; i++) {
        appenders[i] = (struct appender){bench, pl_id_take(&bench->seed, "sess_"), 0, 0};
        append(&appenders[i]);
    }
}

static int compare_waits(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print_waits(struct bench *bench, const char *impl)
{
    size_t n = bench->waits.len;
    if (n == 0)
        return;
    qsort(bench->waits.ptr, n, sizeof *bench->waits.ptr, compare_waits);
    printf("{\"name\":\"durable-append-wait\",\"impl\":\"%s\",\"p50_ms\":%.2f,\"p99_ms\":%.2f,"
           "\"max_ms\":%.2f,\"ops\":%zu}\n",
           impl, (double)bench->waits.ptr[n / 2] / 1e6,
           (double)bench->waits.ptr[n * 99 / 100] / 1e6, (double)bench->waits.ptr[n - 1] / 1e6, n);
}

static bool measure_sessions(const char *url, size_t n_sessions, const char *impl, int64_t n_ns)
{
    struct bench bench = {
        .n_sessions = n_sessions,
        .start.open = start_all,
        .seed = {.unix_ms = (int64_t)time(NULL) * 1000, .random = {(uint64_t)now_ns(), 1}}};
    struct pl_error err = {0};
    memset(bench.text, 'x', N_TEXT);
    bench.user = pl_id_take(&bench.seed, "user_");
    if (pl_store_open(&(struct pl_store_config){.url = url}, &bench.store, &err) != PL_OK ||
        pl_loop_create(&bench.loop, &err) != PL_OK) {
        fprintf(stderr, "store-bench: %s\n", err.message);
        pl_store_close(bench.store);
        return false;
    }
    struct span since = span_begin();
    bench.end_ns = since.ns + n_ns;
    pl_loop_post(bench.loop, &bench.start);
    pl_loop_run(bench.loop);
    print_rate(impl, (int64_t)bench.waits.len, since);
    print_waits(&bench, impl);
    pl_loop_destroy(bench.loop);
    pl_store_close(bench.store);
    pl_vec_deinit(&bench.waits);
    return !bench.has_failed;
}

static bool measure_store(const char *url, int64_t n_ns)
{
    return measure_sessions(url, N_SESSIONS, "parley", n_ns);
}

static bool measure_single(const char *url, int64_t n_ns)
{
    return measure_sessions(url, 1, "parley-single", n_ns);
}

static bool run_apart(bool (*measure)(const char *where, int64_t n_ns), const char *where,
                      int64_t n_ns)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit(measure(where, n_ns) ? 0 : 4);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: store-bench DIRECTORY [SECONDS] [STORE-URL]\n");
        return 2;
    }
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 2;
    int64_t n_ns = (int64_t)(seconds * 1e9);
    char path[PATH_SIZE], url[PATH_SIZE + 8];
    snprintf(path, sizeof path, "%.300s/store-bench.db", argv[1]);
    snprintf(url, sizeof url, "sqlite:%s", path);
    const char *store = argc > 3 ? argv[3] : url;
    remove_files(path);
    bool is_good = run_apart(measure_fsync, argv[1], n_ns) &&
                   run_apart(measure_plain, argv[1], n_ns) &&
                   run_apart(measure_single, store, n_ns) && run_apart(measure_store, store, n_ns);
    remove_files(path);
    return is_good ? 0 : 4;
}
