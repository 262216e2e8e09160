#include "server/log.h"

#include "base/mem.h"
#include "base/table.h"
#include "base/utc.h"
#include "json/text.h"
#include "json/write.h"
#include "server/exchange_int.h"
#include "server/shard_int.h"
#include "server/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* What is not written yet is bounded: when nobody reads standard error, lines are lost and counted
 * rather than the server stopped. */
enum { MAX_WAITING = 4 << 20 };

struct pl_log {
    int level;
    bool is_json;
    pthread_mutex_t lock;
    struct pl_buf lines; /* not yet written; under the lock */
    uint64_t n_lost;
};

static const char *const names[] = {"error", "warning", "info", "request"};

struct pl_log *pl_log_create(int level, bool is_json)
{
    struct pl_log *log = pl_mem_alloc(1, sizeof *log);
    if (!log)
        return NULL;
    *log = (struct pl_log){.level = level, .is_json = is_json};
    pthread_mutex_init(&log->lock, NULL);
    pl_buf_init(&log->lines, 0);
    return log;
}

static void write_all(struct pl_str bytes)
{
    while (bytes.len) {
        ssize_t n = write(STDERR_FILENO, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        bytes = pl_str_slice(bytes, (size_t)n, bytes.len);
    }
}

void pl_log_flush(struct pl_log *log)
{
    pthread_mutex_lock(&log->lock);
    write_all(pl_buf_str(&log->lines));
    pl_buf_clear(&log->lines);
    pthread_mutex_unlock(&log->lock);
}

void pl_log_destroy(struct pl_log *log)
{
    if (!log)
        return;
    pl_log_flush(log);
    pthread_mutex_destroy(&log->lock);
    pl_buf_deinit(&log->lines);
    pl_mem_free(log);
}

bool pl_log_wants(const struct pl_log *log, enum pl_log_level level)
{
    return log && (int)level <= log->level;
}

static void flush_at_turn_end(struct pl_turn_end *end)
{
    struct pl_shard_own *shard = PL_CONTAINER_OF(end, struct pl_shard_own, log_end);
    pl_log_flush(shard->shard.server->log);
}

/* Adds a line, cut at its limit, and has it written. */
static void put(struct pl_log *log, struct pl_shard *shard, struct pl_str line)
{
    bool is_cut = line.len > PL_LOG_MAX_LINE - 1;
    struct pl_str end = log->is_json ? PL_STR("…\"}\n") : PL_STR("…\n");
    pthread_mutex_lock(&log->lock);
    if (log->lines.len > MAX_WAITING) {
        log->n_lost++;
    } else if (is_cut) {
        size_t n = PL_LOG_MAX_LINE - end.len;
        /* Never inside a character, nor behind half an escape. */
        while (n > 0 && ((line.ptr[n] & 0xC0) == 0x80 || line.ptr[n - 1] == '\\'))
            n--;
        pl_buf_add(&log->lines, pl_str_slice(line, 0, n));
        pl_buf_add(&log->lines, end);
    } else {
        pl_buf_add(&log->lines, line);
        pl_buf_addc(&log->lines, '\n');
    }
    pthread_mutex_unlock(&log->lock);
    if (!shard) {
        pl_log_flush(log);
    } else {
        struct pl_turn_end *turn_end = &pl_shard_own(shard)->log_end;
        turn_end->fn = flush_at_turn_end;
        pl_loop_at_turn_end(shard->loop, turn_end);
    }
}

static int64_t unix_ms(const struct pl_shard *shard)
{
    struct timespec now;
    if (shard)
        return pl_loop_unix_ms(shard->loop);
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Text from outside: control characters cannot move the cursor nor begin a line. */
static void add_safe(struct pl_buf *to, struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c == 0x7F)
            pl_buf_addf(to, "\\x%02x", c);
        else
            pl_buf_addc(to, text.ptr[i]);
    }
}

static void begin(const struct pl_log *log, const struct pl_shard *shard, enum pl_log_level level,
                  struct pl_buf *to)
{
    char time[PL_UTC_SIZE];
    pl_utc_write(time, unix_ms(shard));
    if (log->is_json)
        pl_buf_addf(to, "{\"time\":\"%.*s\",\"level\":\"%s\"", PL_UTC_SIZE, time, names[level]);
    else
        pl_buf_addf(to, "%.*s %-7s ", PL_UTC_SIZE, time, names[level]);
}

void pl_log_say(struct pl_log *log, struct pl_shard *shard, enum pl_log_level level,
                const char *format, ...)
{
    if (!pl_log_wants(log, level))
        return;
    PL_CLEANUP_BUF struct pl_buf line;
    char said[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    pl_buf_init(&line, 0);
    begin(log, shard, level, &line);
    if (log->is_json) {
        pl_buf_adds(&line, ",\"message\":");
        pl_json_quote(&line, pl_str_of(said));
        pl_buf_addc(&line, '}');
    } else {
        add_safe(&line, pl_str_of(said));
    }
    if (line.status == PL_OK)
        put(log, shard, pl_buf_str(&line));
}

/* The route and not the path: what stands in the place of a brace may be a secret. */
static struct pl_str place_of(const struct pl_exchange *x)
{
    if (x->route)
        return pl_str_of(x->route->path);
    return x->head ? PL_STR("(no route)") : PL_STR("(no request)");
}

static void write_request(const struct pl_log *log, const struct pl_exchange *x, int64_t took_ms,
                          struct pl_buf *line)
{
    struct pl_str trace = pl_trace_id(x), place = place_of(x);
    const char *method = x->head ? pl_method_text(x->method) : "-";
    if (log->is_json) {
        pl_buf_addf(line,
                    ",\"method\":\"%s\",\"route\":\"%.*s\",\"status\":%d,\"ms\":%lld,"
                    "\"request_id\":\"%s\"",
                    method, PL_STR_ARG(place), x->status, (long long)took_ms, x->request_id);
        if (trace.len)
            pl_buf_addf(line, ",\"trace_id\":\"%.*s\"", PL_STR_ARG(trace));
        if (x->caller.user_id.len)
            pl_buf_addf(line, ",\"user_id\":\"%.*s\"", PL_STR_ARG(x->caller.user_id));
        if (x->is_problem && x->status >= 500) {
            pl_buf_adds(line, ",\"problem\":");
            pl_buf_add(line, pl_buf_str(&x->reply));
        }
        pl_buf_addc(line, '}');
        return;
    }
    pl_buf_addf(line, "%s %.*s %d %lld ms request=%s", method, PL_STR_ARG(place), x->status,
                (long long)took_ms, x->request_id);
    if (trace.len)
        pl_buf_addf(line, " trace=%.*s", PL_STR_ARG(trace));
    /* What the client was told of a failure here is what there is to know about it. */
    if (x->is_problem && x->status >= 500) {
        pl_buf_addc(line, ' ');
        add_safe(line, pl_buf_str(&x->reply));
    }
}

void pl_log_request(struct pl_exchange *x)
{
    struct pl_log *log = x->shard->server->log;
    enum pl_log_level level = x->status >= 500 && x->status != 503 ? PL_LOG_ERROR : PL_LOG_REQUEST;
    if (!pl_log_wants(log, level))
        return;
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    begin(log, x->shard, level, &line);
    write_request(log, x, pl_loop_now_ms(x->shard->loop) - x->started_ms, &line);
    if (line.status == PL_OK)
        put(log, x->shard, pl_buf_str(&line));
}
