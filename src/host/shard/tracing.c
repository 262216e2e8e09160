/* A buffer with two sides: spans are added under a lock, and the thread takes all of them at once.
 * If the collector is away, at most one batch in the thread and one full buffer wait; further spans
 * are dropped. */
#include "shard/tracing.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/file/file.h"
#include "io/system/machine.h"
#include "io/upstream/http_call.h"
#include "json/write.h"
#include "shard/shard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
    MAX_BUFFER = 4 << 20,   /* bytes of waiting spans */
    FULL_BATCH = 256 << 10, /* bytes; sent without waiting for more */
    GATHER_MS = 1000,
    SEND_MS = 10000,
    LAST_SEND_MS = 2000,
    MAX_TRIES = 4,
    RETRY_MS = 1000, /* after the first failure; doubled after each */
    MAX_HEADERS = 16,
    MAX_HEADER_FILE = 64 << 10,
};

struct pl_tracer {
    char *url; /* owned */
    char instance[PL_TRACE_DIGITS + 1];
    struct pl_buf header_text; /* owned; `headers` points into it */
    const char *headers[MAX_HEADERS + 1];
    size_t percent;
    _Atomic(int64_t) n_sent, n_dropped;
    pthread_t thread;
    pthread_mutex_t lock; /* protects the following members */
    pthread_cond_t has_news;
    struct pl_buf spans; /* owned; JSON objects with commas between them */
    size_t n_spans;
    bool is_ending;
};

/* --- sending: the thread --------------------------------------------------------------------- */

/* Called with the lock: waits for news, at most this long. */
static void wait_ms(struct pl_tracer *tracer, int64_t ms)
{
    struct timespec until = pl_clock_in_ms(ms);
    pthread_cond_timedwait(&tracer->has_news, &tracer->lock, &until);
}

static void write_text_fact(struct pl_json_out *out, const char *name, struct pl_str text)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "key");
    pl_json_out_text(out, pl_str_of(name));
    pl_json_out_key(out, "value");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "stringValue");
    pl_json_out_text(out, text);
    pl_json_out_close(out, '}');
    pl_json_out_close(out, '}');
}

static void write_batch(const struct pl_tracer *tracer, struct pl_str spans, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_buf_adds(to, "{\"resourceSpans\":[{\"resource\":{\"attributes\":");
    pl_json_out_open(&out, '[');
    write_text_fact(&out, "service.name", PL_STR("parley"));
    write_text_fact(&out, "service.version", pl_str_of(pl_server_version));
    write_text_fact(&out, "service.instance.id", pl_str_of(tracer->instance));
    pl_json_out_close(&out, ']');
    pl_buf_addf(to,
                "},\"scopeSpans\":[{\"scope\":{\"name\":\"parley\",\"version\":\"%s\"},\"spans\":[",
                pl_server_version);
    pl_buf_add(to, spans);
    pl_buf_adds(to, "]}]}]}");
}

enum sent { SENT, TRY_LATER, REFUSED };

static enum sent send_batch(struct pl_tracer *tracer, const struct pl_buf *body, int64_t timeout_ms)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    int status = 0;
    struct pl_http_call call = {
        .method = "POST",
        .url = tracer->url,
        .headers = tracer->headers,
        .body = pl_buf_str(body),
        .has_body = true,
        .max_bytes = 1 << 20,
        .timeout_ms = timeout_ms,
    };
    if (pl_http_call(&call, &status, &reply, NULL) != PL_OK)
        return TRY_LATER;
    bool is_busy = status == 429 || status == 502 || status == 503 || status == 504;
    return status / 100 == 2 ? SENT : is_busy ? TRY_LATER : REFUSED;
}

/* Called with the lock, which is released while sending. */
static void pass_on(struct pl_tracer *tracer)
{
    struct pl_buf spans = tracer->spans, body;
    size_t n = tracer->n_spans;
    enum sent sent = TRY_LATER;
    pl_buf_init(&tracer->spans, MAX_BUFFER);
    tracer->n_spans = 0;
    pl_buf_init(&body, 0);
    write_batch(tracer, pl_buf_str(&spans), &body);
    pl_buf_deinit(&spans);
    for (int i = 0; i < MAX_TRIES && sent == TRY_LATER && body.status == PL_OK; i++) {
        bool is_last = tracer->is_ending;
        if (i && !is_last)
            wait_ms(tracer, RETRY_MS << (i - 1));
        pthread_mutex_unlock(&tracer->lock);
        sent = send_batch(tracer, &body, is_last ? LAST_SEND_MS : SEND_MS);
        pthread_mutex_lock(&tracer->lock);
        if (is_last)
            break;
    }
    pl_buf_deinit(&body);
    atomic_fetch_add(sent == SENT ? &tracer->n_sent : &tracer->n_dropped, (int64_t)n);
}

static void *run(void *ctx)
{
    struct pl_tracer *tracer = ctx;
    pthread_mutex_lock(&tracer->lock);
    while (!tracer->is_ending || tracer->n_spans) {
        if (!tracer->n_spans) {
            pthread_cond_wait(&tracer->has_news, &tracer->lock);
            continue;
        }
        if (!tracer->is_ending && tracer->spans.len < FULL_BATCH)
            wait_ms(tracer, GATHER_MS);
        if (tracer->n_spans)
            pass_on(tracer);
    }
    pthread_mutex_unlock(&tracer->lock);
    return NULL;
}

/* --- life ------------------------------------------------------------------------------------ */

static enum pl_status keep_url(struct pl_tracer *tracer, const char *endpoint)
{
    static const char path[] = "/v1/traces";
    struct pl_str base = pl_str_of(endpoint);
    while (base.len && base.ptr[base.len - 1] == '/')
        base.len--;
    size_t n_path = sizeof path - 1;
    bool has_path = base.len > n_path && memcmp(base.ptr + base.len - n_path, path, n_path) == 0;
    size_t size = base.len + n_path + 1;
    tracer->url = pl_mem_alloc(size, 1);
    if (!tracer->url)
        return PL_NOMEM;
    snprintf(tracer->url, size, "%.*s%s", PL_STR_ARG(base), has_path ? "" : path);
    return PL_OK;
}

static bool is_header(const char *line)
{
    size_t n = strcspn(line, ": \t");
    if (!n || strncmp(line + n, ": ", 2) != 0 || !line[n + 2])
        return false;
    for (const char *at = line; *at; at++)
        if (*at < ' ' || *at >= 0x7F)
            return false;
    return true;
}

/* Each line becomes a string of its own; empty lines and comments are skipped. */
static enum pl_status take_lines(struct pl_tracer *tracer, const char *path, struct pl_error *err)
{
    size_t n = 0, number = 1;
    char *text = tracer->header_text.ptr;
    for (char *line = text, *end; line < text + tracer->header_text.len; line = end + 1, number++) {
        end = line + strcspn(line, "\n");
        bool ends_in_return = end > line && end[-1] == '\r';
        *end = '\0';
        if (ends_in_return)
            end[-1] = '\0';
        if (!*line || *line == '#')
            continue;
        if (n == MAX_HEADERS || !is_header(line))
            return pl_fail(err, PL_INVALID,
                           "%s, line %zu: there must be a header, \"Name: value\", and at most %d "
                           "of them",
                           path, number, MAX_HEADERS);
        tracer->headers[n++] = line;
    }
    return PL_OK;
}

static enum pl_status keep_headers(struct pl_tracer *tracer, const char *path, struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    if (!path)
        return PL_OK;
    struct pl_path_info info = pl_path_look(path);
    if (info.is_there && !info.is_private)
        return pl_fail(err, PL_INVALID,
                       "other users can read the headers in %s; protect them with \"chmod 600\"",
                       path);
    enum pl_status status = pl_file_read(path, MAX_HEADER_FILE, NULL, &file, err);
    if (status != PL_OK)
        return status;
    pl_buf_add(&tracer->header_text, file.bytes);
    pl_buf_addc(&tracer->header_text, '\0');
    return tracer->header_text.status == PL_OK ? take_lines(tracer, path, err)
                                               : pl_fail(err, PL_NOMEM, "out of memory");
}

/* The thread blocks signals: they are for the loops. */
static bool start_thread(struct pl_tracer *tracer)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&tracer->thread, NULL, run, tracer) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static void release(struct pl_tracer *tracer)
{
    pthread_cond_destroy(&tracer->has_news);
    pthread_mutex_destroy(&tracer->lock);
    pl_buf_deinit(&tracer->spans);
    pl_buf_deinit(&tracer->header_text);
    pl_mem_free(tracer->url);
    pl_mem_free(tracer);
}

static void write_hex(char *to, uint64_t word)
{
    snprintf(to, PL_SPAN_DIGITS + 1, "%016llx", (unsigned long long)word);
}

enum pl_status pl_tracer_create(const struct pl_tracer_config *config,
                                struct pl_tracer **ret_tracer, struct pl_error *err)
{
    struct pl_tracer *tracer = pl_mem_alloc(1, sizeof *tracer);
    pthread_condattr_t attr;
    if (!tracer)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *tracer = (struct pl_tracer){.percent = config->percent};
    pl_buf_init(&tracer->spans, MAX_BUFFER);
    pl_buf_init(&tracer->header_text, 0);
    pthread_mutex_init(&tracer->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&tracer->has_news, &attr);
    pthread_condattr_destroy(&attr);
    struct pl_id_seed seed = pl_seed_draw();
    write_hex(tracer->instance, seed.random[0]);
    write_hex(tracer->instance + PL_SPAN_DIGITS, seed.random[1]);
    enum pl_status status = keep_headers(tracer, config->headers_file, err);
    if (status == PL_OK && keep_url(tracer, config->endpoint) != PL_OK)
        status = pl_fail(err, PL_NOMEM, "out of memory");
    if (status == PL_OK && !start_thread(tracer))
        status = pl_fail(err, PL_IO, "the thread that sends spans cannot be started");
    if (status == PL_OK)
        *ret_tracer = tracer;
    else
        release(tracer);
    return status;
}

void pl_tracer_destroy(struct pl_tracer *tracer)
{
    if (!tracer)
        return;
    pthread_mutex_lock(&tracer->lock);
    tracer->is_ending = true;
    pthread_cond_broadcast(&tracer->has_news);
    pthread_mutex_unlock(&tracer->lock);
    pthread_join(tracer->thread, NULL);
    release(tracer);
}

struct pl_tracer_numbers pl_tracer_look(struct pl_tracer *tracer)
{
    if (!tracer)
        return (struct pl_tracer_numbers){0};
    return (struct pl_tracer_numbers){atomic_load(&tracer->n_sent),
                                      atomic_load(&tracer->n_dropped)};
}

/* --- spans ----------------------------------------------------------------------------------- */

/* Decides by the last digits, which are random (W3C trace context, level 2). */
bool pl_tracer_samples(const struct pl_tracer *tracer, struct pl_str trace_id)
{
    uint32_t word = 0;
    if (!tracer || trace_id.len != PL_TRACE_DIGITS)
        return false;
    for (size_t i = PL_TRACE_DIGITS - 6; i < PL_TRACE_DIGITS; i++) {
        char c = trace_id.ptr[i];
        word = word << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return (uint64_t)word * 100 < (uint64_t)tracer->percent << 24;
}

static void copy_digits(char *to, struct pl_str from, size_t most)
{
    size_t n = from.len == most ? most : 0;
    if (n)
        memcpy(to, from.ptr, n);
    to[n] = '\0';
}

void pl_span_begin(struct pl_span *span, struct pl_str trace_id, struct pl_str parent,
                   struct pl_str id, uint64_t random, bool is_told)
{
    *span = (struct pl_span){.is_told = is_told && trace_id.len == PL_TRACE_DIGITS};
    copy_digits(span->trace_id, trace_id, PL_TRACE_DIGITS);
    copy_digits(span->parent, parent, PL_SPAN_DIGITS);
    copy_digits(span->id, id, PL_SPAN_DIGITS);
    if (!span->id[0])
        write_hex(span->id, random | 1);
    if (span->is_told)
        span->start_us = pl_clock_unix_us();
}

void pl_span_begin_part(struct pl_span *span, const struct pl_span *whole, struct pl_str id,
                        uint64_t random)
{
    pl_span_begin(span, pl_str_of(whole->trace_id), pl_str_of(whole->id), id, random,
                  whole->is_told);
}

static void write_number_fact(struct pl_json_out *out, const char *name, int64_t number)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)number);
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "key");
    pl_json_out_text(out, pl_str_of(name));
    pl_json_out_key(out, "value");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "intValue"); /* protobuf's JSON writes 64-bit numbers as strings */
    pl_json_out_text(out, (struct pl_str){digits, (size_t)n});
    pl_json_out_close(out, '}');
    pl_json_out_close(out, '}');
}

static void write_facts(struct pl_json_out *out, const struct pl_span_about *about)
{
    pl_json_out_key(out, "attributes");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < about->n_facts; i++) {
        const struct pl_span_fact *fact = &about->facts[i];
        if (fact->text.len)
            write_text_fact(out, fact->name, pl_str_slice(fact->text, 0, 256));
        else if (!fact->text.ptr && fact->number >= 0)
            write_number_fact(out, fact->name, fact->number);
    }
    if (about->error.len)
        write_text_fact(out, "error.type", pl_str_slice(about->error, 0, 100));
    pl_json_out_close(out, ']');
}

static void write_nanoseconds(struct pl_json_out *out, const char *key, int64_t us)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%lld000", (long long)us);
    pl_json_out_key(out, key);
    pl_json_out_text(out, (struct pl_str){digits, (size_t)n});
}

static void write_span(struct pl_buf *to, const struct pl_span *span,
                       const struct pl_span_about *about)
{
    struct pl_json_out out = pl_json_out(to);
    char name[200];
    int n = snprintf(name, sizeof name, "%s%s%.*s", about->name, about->subject.len ? " " : "",
                     PL_STR_ARG(pl_str_slice(about->subject, 0, 120)));
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "traceId");
    pl_json_out_text(&out, pl_str_of(span->trace_id));
    pl_json_out_key(&out, "spanId");
    pl_json_out_text(&out, pl_str_of(span->id));
    if (span->parent[0]) {
        pl_json_out_key(&out, "parentSpanId");
        pl_json_out_text(&out, pl_str_of(span->parent));
    }
    pl_json_out_key(&out, "name");
    pl_json_out_text(&out,
                     (struct pl_str){name, (size_t)n < sizeof name ? (size_t)n : sizeof name - 1});
    pl_json_out_key(&out, "kind");
    pl_json_out_int(&out, about->kind);
    write_nanoseconds(&out, "startTimeUnixNano", span->start_us);
    write_nanoseconds(&out, "endTimeUnixNano", pl_clock_unix_us());
    write_facts(&out, about);
    pl_json_out_key(&out, "status");
    pl_json_out_raw(&out, about->error.len ? PL_STR("{\"code\":2}") : PL_STR("{}"));
    pl_json_out_close(&out, '}');
}

void pl_span_end(struct pl_tracer *tracer, struct pl_span *span, const struct pl_span_about *about)
{
    if (!tracer || !span->is_told)
        return;
    span->is_told = false;
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    write_span(&json, span, about);
    pthread_mutex_lock(&tracer->lock);
    bool has_room = json.status == PL_OK && tracer->spans.len + json.len + 1 <= MAX_BUFFER &&
                    !tracer->is_ending;
    size_t before = tracer->spans.len;
    if (has_room) {
        if (before)
            pl_buf_addc(&tracer->spans, ',');
        pl_buf_add(&tracer->spans, pl_buf_str(&json));
    }
    bool is_in = has_room && tracer->spans.status == PL_OK;
    if (has_room && !is_in) { /* drop only this span: memory may be available later */
        tracer->spans.status = PL_OK;
        tracer->spans.len = before;
    }
    tracer->n_spans += is_in;
    if (is_in && (!before || tracer->spans.len >= FULL_BATCH))
        pthread_cond_signal(&tracer->has_news);
    pthread_mutex_unlock(&tracer->lock);
    if (!is_in)
        atomic_fetch_add(&tracer->n_dropped, 1);
}
