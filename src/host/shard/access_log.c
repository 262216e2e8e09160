/* JSON lines for a file, fields for journald. Values have no control characters, so a client can
 * break neither a line nor a field. */
#include "shard/access_log.h"

#include "base/mem.h"
#include "base/text/suggest.h"
#include "base/text/utc.h"
#include "io/clock.h"
#include "io/system/log_place.h"
#include "io/system/sink.h"
#include "json/text.h"
#include "shard/config.h"
#include "shard/log.h"
#include "shard/shard.h"

#include <stdio.h>

enum { ACCESS_MAX_WAITING = 4 << 20, ACCESS_END_MS = 1000 };

enum access_place { PLACE_STDERR, PLACE_FILE, PLACE_JOURNAL };

/* Each level logs answers with this status or above. */
static const struct {
    const char *name;
    int least_status;
} access_levels[] = {{"error", 500}, {"warning", 400}, {"request", 0}};

struct pl_access_log {
    enum access_place place;
    _Atomic(int) least_status;
    struct pl_log_place *file; /* the sink's; NULL for standard error */
    struct pl_sink *sink;      /* owned; NULL for standard error */
};

static int least_status(const char *level)
{
    for (size_t i = 0; i < sizeof access_levels / sizeof *access_levels; i++)
        if (strcmp(level, access_levels[i].name) == 0)
            return access_levels[i].least_status;
    return -1;
}

static const char journal_word[] = "journald";

static bool is_journal(const char *place)
{
    size_t n = sizeof journal_word - 1;
    return strncmp(place, journal_word, n) == 0 && (!place[n] || place[n] == ':');
}

enum pl_status pl_access_log_check(const struct pl_server_config *config, struct pl_error *err)
{
    const char *place = config->access_log;
    bool is_good = strcmp(place, "off") == 0 || strcmp(place, "stderr") == 0 || is_journal(place) ||
                   place[0] == '/';
    if (!is_good)
        return pl_fail(err, PL_USAGE,
                       "access_log must be off, stderr, journald or a file by its whole path such "
                       "as /var/log/parley/access.log, not \"%.100s\"",
                       place);
    if (least_status(config->access_log_level) < 0)
        return pl_fail(err, PL_USAGE,
                       "access_log_level must be error, warning or request, not \"%.100s\"",
                       config->access_log_level);
    return PL_OK;
}

/* --- its life -------------------------------------------------------------------------------- */

static void say_dropped(uint64_t n_lines, struct pl_buf *to)
{
    char time[PL_UTC_SIZE];
    pl_utc_write(time, pl_clock_unix_ms());
    pl_buf_addf(to, "{\"time\":\"%.*s\",\"level\":\"warning\",\"dropped\":%llu}\n", PL_UTC_SIZE,
                time, (unsigned long long)n_lines);
}

static void say_dropped_journal(uint64_t n_lines, struct pl_buf *to)
{
    pl_buf_addf(to,
                "MESSAGE=%llu lines of the access log were dropped%cPRIORITY=4%cSYSLOG_IDENTIFIER="
                "parley\n",
                (unsigned long long)n_lines, PL_JOURNAL_SEPARATOR, PL_JOURNAL_SEPARATOR);
}

static enum pl_status open_place(struct pl_access_log *log, const struct pl_server_config *config,
                                 struct pl_error *err)
{
    const char *place = config->access_log;
    enum pl_status status = PL_OK;
    if (log->place == PLACE_STDERR)
        return PL_OK;
    if (log->place == PLACE_JOURNAL)
        status = pl_log_place_journal(place[sizeof journal_word - 1] ? place + sizeof journal_word
                                                                     : PL_JOURNAL_SOCKET,
                                      &log->file, err);
    else
        status = pl_log_place_file(place, (int64_t)config->access_log_max_mib << 20,
                                   config->access_log_keep, &log->file, err);
    if (status != PL_OK)
        return status;
    log->sink = pl_sink_create(&(struct pl_sink_config){
        .fd = -1,
        .max_bytes = ACCESS_MAX_WAITING,
        .say_dropped = log->place == PLACE_JOURNAL ? say_dropped_journal : say_dropped,
        .write = pl_log_place_write,
        .close = pl_log_place_destroy,
        .ctx = log->file,
    });
    if (log->sink)
        return PL_OK;
    pl_log_place_destroy(log->file);
    return pl_fail(err, PL_NOMEM, "out of memory");
}

enum pl_status pl_access_log_create(const struct pl_server_config *config,
                                    struct pl_access_log **ret_log, struct pl_error *err)
{
    const char *place = config->access_log;
    if (!place || strcmp(place, "off") == 0)
        return PL_OK;
    struct pl_access_log *log = pl_mem_alloc(1, sizeof *log);
    if (!log)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *log = (struct pl_access_log){.place = strcmp(place, "stderr") == 0 ? PLACE_STDERR
                                           : is_journal(place)          ? PLACE_JOURNAL
                                                                        : PLACE_FILE,
                                  .least_status = least_status(config->access_log_level)};
    enum pl_status status = open_place(log, config, err);
    if (status == PL_OK)
        *ret_log = log;
    else
        pl_mem_free(log);
    return status;
}

void pl_access_log_destroy(struct pl_access_log *log)
{
    if (!log)
        return;
    pl_sink_destroy(log->sink, ACCESS_END_MS);
    pl_mem_free(log);
}

void pl_access_log_reload(struct pl_access_log *log, const struct pl_server_config *config)
{
    if (!log)
        return;
    atomic_store(&log->least_status, least_status(config->access_log_level));
    if (log->file)
        pl_log_place_reopen(log->file);
}

uint64_t pl_access_log_n_dropped(struct pl_access_log *log)
{
    return log && log->sink ? pl_sink_n_dropped(log->sink) : 0;
}

/* --- a line ---------------------------------------------------------------------------------- */

bool pl_access_log_wants(const struct pl_access_log *log, int status)
{
    return log && status >= atomic_load_explicit(&log->least_status, memory_order_relaxed);
}

bool pl_access_log_is_stderr(const struct pl_access_log *log)
{
    return log && log->place == PLACE_STDERR;
}

static const char *level_of(int status)
{
    return status >= 500 ? "error" : status >= 400 ? "warning" : "request";
}

static void put_json(struct pl_shard *shard, int status, const struct pl_access_field *fields,
                     size_t n_fields, struct pl_buf *to)
{
    char time[PL_UTC_SIZE];
    pl_utc_write(time, pl_loop_unix_ms(shard->loop));
    pl_buf_addf(to, "{\"time\":\"%.*s\",\"level\":\"%s\"", PL_UTC_SIZE, time, level_of(status));
    for (size_t i = 0; i < n_fields; i++) {
        pl_buf_addf(to, ",\"%s\":", fields[i].name);
        if (fields[i].text.ptr)
            pl_log_quote(to, fields[i].text);
        else if (fields[i].is_flag)
            pl_buf_adds(to, fields[i].number ? "true" : "false");
        else
            pl_buf_addf(to, "%lld", (long long)fields[i].number);
    }
    pl_buf_adds(to, "}\n");
}

static void put_journal(int status, const char *message, const struct pl_access_field *fields,
                        size_t n_fields, struct pl_buf *to)
{
    pl_buf_addf(to, "MESSAGE=%s%cPRIORITY=%d%cSYSLOG_IDENTIFIER=parley", message,
                PL_JOURNAL_SEPARATOR,
                status >= 500   ? 3
                : status >= 400 ? 4
                                : 6,
                PL_JOURNAL_SEPARATOR);
    for (size_t i = 0; i < n_fields; i++) {
        pl_buf_addf(to, "%cPARLEY_", PL_JOURNAL_SEPARATOR);
        for (const char *c = fields[i].name; *c; c++)
            pl_buf_addc(to, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
        pl_buf_addc(to, '=');
        if (fields[i].text.ptr)
            pl_log_clean(to, fields[i].text);
        else
            pl_buf_addf(to, "%lld", (long long)fields[i].number);
    }
    pl_buf_addc(to, '\n');
}

void pl_access_log_put(struct pl_access_log *log, struct pl_shard *shard, int status,
                       const char *message, const struct pl_access_field *fields, size_t n_fields)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    if (log->place == PLACE_JOURNAL)
        put_journal(status, message, fields, n_fields, &line);
    else
        put_json(shard, status, fields, n_fields, &line);
    if (line.status != PL_OK)
        return;
    pl_sink_put(log->sink, pl_buf_str(&line));
    pl_log_wake_at_end(shard);
}

void pl_access_log_wake(struct pl_access_log *log)
{
    if (log && log->sink)
        pl_sink_wake(log->sink);
}
