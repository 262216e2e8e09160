/* Builds lines without control characters and passes them to the sink. A shard wakes the sink once,
 * at the end of an iteration of its loop. */
#include "shard/log.h"

#include "base/mem.h"
#include "base/table.h"
#include "base/text/utc.h"
#include "base/text/utf8.h"
#include "io/clock.h"
#include "io/system/sink.h"
#include "json/text.h"
#include "shard/access_log.h"
#include "shard/shard.h"

#include <assert.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MAX_WAITING = 1 << 20, /* bytes of unwritten lines */
    END_WAIT_MS = 1000,    /* until standard error has accepted the rest */
    /* Of a sentence: even with six bytes for every escaped byte it fits into a line. */
    MAX_SENTENCE = 2048,
};

struct pl_log {
    _Atomic(int) level;
    bool is_json;
    struct pl_sink *sink; /* owned */
};

static const char *const names[] = {"error", "warning", "info", "request"};

/* Whether a failed assertion is logged as JSON; set when a log is created. */
static _Atomic(bool) are_lines_json;

/* --- a line ---------------------------------------------------------------------------------- */

static bool is_control(int32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

/* Appends any text as valid UTF-8: invalid bytes become U+FFFD. In a line for people control
 * characters can neither move the cursor nor start another line. */
static void add_clean(struct pl_buf *to, struct pl_str text, bool is_json)
{
    for (size_t at = 0, from = 0; at < text.len; from = at) {
        int32_t c = pl_utf8_next(text, &at);
        if (c < 0)
            pl_buf_adds(to, "\xEF\xBF\xBD");
        else if (is_control(c) && !is_json)
            pl_buf_addf(to, "\\x%02x", (unsigned)c);
        else
            pl_buf_add(to, pl_str_slice(text, from, at));
    }
}

static void begin(bool is_json, int64_t unix_ms, enum pl_log_level level, struct pl_buf *to)
{
    char time[PL_UTC_SIZE];
    pl_utc_write(time, unix_ms);
    if (is_json)
        pl_buf_addf(to, "{\"time\":\"%.*s\",\"level\":\"%s\"", PL_UTC_SIZE, time, names[level]);
    else
        pl_buf_addf(to, "%.*s %-7s ", PL_UTC_SIZE, time, names[level]);
}

/* Adds ,"name":"text" or, for people, " name=text", or only the text if there is no name. */
static void add_field(struct pl_buf *to, bool is_json, const char *name, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf clean;
    pl_buf_init(&clean, 0);
    add_clean(&clean, pl_str_slice(text, 0, MAX_SENTENCE), is_json);
    if (clean.status != PL_OK)
        to->status = clean.status;
    if (is_json) {
        pl_buf_addf(to, ",\"%s\":", name);
        pl_json_quote(to, pl_buf_str(&clean));
    } else {
        pl_buf_addf(to, " %s=", name);
        pl_buf_add(to, pl_buf_str(&clean));
    }
}

static void end(bool is_json, struct pl_buf *to)
{
    pl_buf_adds(to, is_json ? "}\n" : "\n");
}

static void write_sentence(bool is_json, int64_t unix_ms, enum pl_log_level level,
                           const char *sentence, struct pl_buf *to)
{
    begin(is_json, unix_ms, level, to);
    if (is_json)
        add_field(to, is_json, "message", pl_str_of(sentence));
    else
        add_clean(to, pl_str_of(sentence), is_json);
    end(is_json, to);
}

/* --- dropped lines and failed assertions ----------------------------------------------------- */

static void write_dropped(bool is_json, uint64_t n_lines, struct pl_buf *to)
{
    char sentence[120];
    snprintf(sentence, sizeof sentence,
             "%llu log lines were dropped: standard error did not accept them",
             (unsigned long long)n_lines);
    write_sentence(is_json, pl_clock_unix_ms(), PL_LOG_WARNING, sentence, to);
}

static void say_dropped_json(uint64_t n_lines, struct pl_buf *to)
{
    write_dropped(true, n_lines, to);
}

static void say_dropped_text(uint64_t n_lines, struct pl_buf *to)
{
    write_dropped(false, n_lines, to);
}

/* Assertions call this instead of the C library's function (meson.build). It writes a line like the
 * others, unless it would block. */
void __wrap___assert_fail(const char *condition, const char *file, unsigned line,
                          const char *function);

void __wrap___assert_fail(const char *condition, const char *file, unsigned line,
                          const char *function)
{
    char sentence[MAX_SENTENCE];
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    snprintf(sentence, sizeof sentence, "%s:%u: %s: the assertion \"%s\" failed", file, line,
             function, condition);
    write_sentence(atomic_load(&are_lines_json), pl_clock_unix_ms(), PL_LOG_ERROR, sentence, &to);
    if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT))
        (void)!write(STDERR_FILENO, to.ptr, to.len);
    abort();
}

/* --- the log --------------------------------------------------------------------------------- */

struct pl_log *pl_log_create(int level, bool is_json)
{
    struct pl_log *log = pl_mem_alloc(1, sizeof *log);
    struct pl_sink *sink = pl_sink_create(&(struct pl_sink_config){
        .fd = STDERR_FILENO,
        .max_bytes = MAX_WAITING,
        .say_dropped = is_json ? say_dropped_json : say_dropped_text,
    });
    if (!log || !sink) {
        pl_mem_free(log);
        pl_sink_destroy(sink, 0);
        return NULL;
    }
    *log = (struct pl_log){.level = level, .is_json = is_json, .sink = sink};
    atomic_store(&are_lines_json, is_json);
    return log;
}

void pl_log_destroy(struct pl_log *log)
{
    if (!log)
        return;
    pl_sink_destroy(log->sink, END_WAIT_MS);
    pl_mem_free(log);
}

void pl_log_flush(struct pl_log *log)
{
    (void)pl_sink_flush(log->sink, END_WAIT_MS);
}

bool pl_log_wants(const struct pl_log *log, enum pl_log_level level)
{
    return log && (int)level <= atomic_load_explicit(&log->level, memory_order_relaxed);
}

void pl_log_set_level(struct pl_log *log, int level)
{
    atomic_store_explicit(&log->level, level, memory_order_relaxed);
}

uint64_t pl_log_n_dropped(struct pl_log *log)
{
    return pl_sink_n_dropped(log->sink);
}

static void wake_at_turn_end(struct pl_loop_hook *end)
{
    struct pl_shard *shard = PL_CONTAINER_OF(end, struct pl_shard, log_end);
    pl_sink_wake(shard->server->log->sink);
    pl_access_log_wake(shard->server->access_log);
}

void pl_log_wake_at_end(struct pl_shard *shard)
{
    struct pl_loop_hook *turn_end = &shard->log_end;
    turn_end->fn = wake_at_turn_end;
    pl_loop_hook_add(shard->loop, turn_end);
}

void pl_log_quote(struct pl_buf *to, struct pl_str text)
{
    PL_CLEANUP_BUF struct pl_buf clean;
    pl_buf_init(&clean, 0);
    add_clean(&clean, pl_str_slice(text, 0, MAX_SENTENCE), true);
    if (clean.status != PL_OK)
        to->status = clean.status;
    pl_json_quote(to, pl_buf_str(&clean));
}

void pl_log_clean(struct pl_buf *to, struct pl_str text)
{
    add_clean(to, pl_str_slice(text, 0, MAX_SENTENCE), false);
}

static void put(struct pl_log *log, struct pl_shard *shard, const struct pl_buf *line)
{
    if (line->status != PL_OK)
        return;
    assert(line->len <= PL_LOG_MAX_LINE);
    pl_sink_put(log->sink, pl_buf_str(line));
    if (!shard) {
        pl_sink_wake(log->sink);
    } else {
        pl_log_wake_at_end(shard);
    }
}

void pl_log_say(struct pl_log *log, struct pl_shard *shard, enum pl_log_level level,
                const char *format, ...)
{
    if (!pl_log_wants(log, level))
        return;
    PL_CLEANUP_BUF struct pl_buf line;
    char said[MAX_SENTENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    pl_buf_init(&line, 0);
    write_sentence(log->is_json, shard ? pl_loop_unix_ms(shard->loop) : pl_clock_unix_ms(), level,
                   said, &line);
    put(log, shard, &line);
}

/* --- lines with fields ----------------------------------------------------------------------- */

bool pl_log_is_json(const struct pl_log *log)
{
    return log->is_json;
}

void pl_log_begin(struct pl_log *log, struct pl_shard *shard, enum pl_log_level level,
                  struct pl_buf *line)
{
    begin(log->is_json, pl_loop_unix_ms(shard->loop), level, line);
}

void pl_log_field(struct pl_log *log, struct pl_buf *line, const char *name, struct pl_str text)
{
    add_field(line, log->is_json, name, text);
}

void pl_log_end(struct pl_log *log, struct pl_shard *shard, struct pl_buf *line)
{
    end(log->is_json, line);
    put(log, shard, line);
}
