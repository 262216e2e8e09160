/* Calls a vendor. A call is one request, or up to three; only the last answer counts. An answer
 * that is followed by a retry is read to its end and dropped, so that the connection can be reused.
 *
 *     machine vendor
 *
 *     START -> ASKING -> PASSING -> OVER
 *     START -> QUEUED -> ASKING           the provider has its maximum of calls
 *     ASKING -> DISCARDING -> RESTING     the vendor did not process the request
 *     ASKING -> RESTING                   connection refused
 *     RESTING -> ASKING
 *     START, QUEUED, ASKING, DISCARDING, RESTING -> OVER */
#include "base/text/decimal.h"
#include "model/vendor/vendors_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/clock.h"
#include "io/move.h"
#include "wire/http1/http1.h"

#include <assert.h>
#include <stdio.h>
#include <strings.h>

enum {
    MAX_TRIES = 3,
    MAX_RETRY_AFTER_MS = 30000,
    MAX_DISCARDED = 64 << 10, /* bytes of a discarded answer */
    MAX_EXTRA_HEADERS = 24,
    MAX_OWN_HEADERS = 6,
};

static const int64_t delays_ms[MAX_TRIES - 1] = {500, 2000};

enum state {
    VENDOR_START,
    VENDOR_QUEUED, /* waits for its turn, or for the report that there is no room */
    VENDOR_ASKING,
    VENDOR_PASSING,    /* the answer counts and is passed on */
    VENDOR_DISCARDING, /* the answer does not count */
    VENDOR_RESTING,    /* before the next try */
    VENDOR_OVER,
};

#define TO(name)    PL_TO(VENDOR_##name)
#define BY_UPSTREAM "the times of the upstream call"
static const struct pl_state states[] = {
    [VENDOR_START] = {"start", TO(QUEUED) | TO(ASKING) | TO(OVER)},
    [VENDOR_QUEUED] = {"queued", TO(ASKING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                       .why = "queue_ms of the provider"},
    [VENDOR_ASKING] = {"asking", TO(PASSING) | TO(DISCARDING) | TO(RESTING) | TO(OVER), PL_WAIT_SET,
                       PL_CANCEL_ENDS, .why = BY_UPSTREAM},
    [VENDOR_PASSING] = {"passing", TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS, .why = BY_UPSTREAM},
    [VENDOR_DISCARDING] = {"discarding", TO(RESTING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                           .why = BY_UPSTREAM},
    [VENDOR_RESTING] = {"resting", TO(ASKING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                        .why = "Retry-After up to 30 s, or 0.5 and 2 s: the next try"},
    [VENDOR_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("vendor", states);

struct pl_vendor_call {
    enum state state;
    struct pl_upstreams *upstreams; /* borrowed */
    const struct pl_vendor *vendor; /* borrowed from the configuration */
    struct pl_arena arena;          /* url and headers */
    const char *url;
    struct pl_str owner; /* arena */
    const char *headers[MAX_OWN_HEADERS + PL_VENDOR_MAX_HEADERS + MAX_EXTRA_HEADERS + 1];
    struct pl_buf body;                       /* owned; empty while a request holds it */
    struct pl_str pieces[PL_UPSTREAM_PIECES]; /* borrowed; in place of `body` */
    size_t n_pieces;
    const struct pl_vendor_ops *ops;
    void *ctx;
    struct pl_upstream_call *upstream; /* owned; in ASKING, PASSING and DISCARDING */
    struct pl_timer timer;             /* to the next try */
    size_t n_tries, max_tries;
    struct pl_gate_wait *wait;      /* in QUEUED */
    bool is_in;                     /* holds a place at the gate */
    struct pl_cooldown *load;       /* borrowed; counts it as running */
    struct pl_cooldown *cooldown;   /* borrowed from the configuration */
    enum pl_cooldown_pass pass;     /* NONE once it was released */
    int64_t delay_ms;               /* in DISCARDING: delay of the next try */
    size_t n_discarded;             /* bytes */
    int64_t started_ms;             /* by the clock of the loop */
    bool has_body;                  /* a part of the answer was passed on */
    struct pl_model_counts *counts; /* of its model, for /metrics; NULL if not counted */
};

static void become(struct pl_vendor_call *call, enum state to)
{
    call->state = (enum state)pl_move(&machine, call, call->state, to);
}

/* --- what each dialect wants ----------------------------------------------------------------- */

static const struct dialect {
    const char *name;
    const char *path, *stream_path; /* after the base URL; %s is the model */
    const char *key_header;         /* before the key */
    const char *version;            /* a header; may be NULL */
} dialects[] = {
    {"anthropic", "/messages", "/messages", "x-api-key: ", "anthropic-version: 2023-06-01"},
    {"openai-chat", "/chat/completions", "/chat/completions", "Authorization: Bearer ", NULL},
    {"openai-responses", "/responses", "/responses", "Authorization: Bearer ", NULL},
    {"gemini", "/models/%s:generateContent", "/models/%s:streamGenerateContent?alt=sse",
     "x-goog-api-key: ", NULL},
};

/* Paths of embedding requests, by shape. Ollama's own API is beside the OpenAI-compatible one that
 * its address names. */
static const struct embed_path {
    const char *path, *not_in_base;
} embed_paths[PL_EMBED_SHAPES] = {
    [PL_EMBED_OPENAI] = {"/embeddings", NULL},
    [PL_EMBED_OLLAMA] = {"/api/embed", "/v1"},
    [PL_EMBED_GEMINI] = {"/models/%s:batchEmbedContents", NULL},
};

static const struct dialect *dialect_of(const struct pl_vendor *vendor)
{
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        if (strcmp(dialects[i].name, vendor->dialect) == 0)
            return &dialects[i];
    return NULL;
}

/* Adds a path segment (RFC 3986 3.3); reserved characters are escaped. */
static void add_segment(struct pl_buf *url, struct pl_str model)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    if (pl_str_starts(model, PL_STR("models/")))
        model = pl_str_slice(model, 7, model.len);
    for (size_t i = 0; i < model.len; i++) {
        if (memchr(plain, model.ptr[i], sizeof plain - 1))
            pl_buf_addc(url, model.ptr[i]);
        else
            pl_buf_addf(url, "%%%02X", (unsigned char)model.ptr[i]);
    }
}

static const char *keep(struct pl_vendor_call *call, const struct pl_buf *text)
{
    return text->status == PL_OK ? pl_arena_dup(&call->arena, pl_buf_str(text)).ptr : NULL;
}

static struct pl_str base_of(const struct pl_vendor *vendor, const char *without)
{
    struct pl_str base = pl_str_of(vendor->base_url), end = pl_str_of(without);
    if (end.len && base.len > end.len &&
        pl_str_eq(pl_str_slice(base, base.len - end.len, base.len), end))
        base.len -= end.len;
    return base;
}

static enum pl_status make_url(struct pl_vendor_call *call, const struct dialect *dialect,
                               const struct pl_vendor_request *request)
{
    PL_CLEANUP_BUF struct pl_buf url;
    pl_buf_init(&url, 0);
    struct embed_path embed = {0};
    if (request->is_embedding)
        embed = embed_paths[call->vendor->embeds];
    struct pl_str path = pl_str_of(request->is_embedding ? embed.path
                                   : request->is_stream  ? dialect->stream_path
                                                         : dialect->path);
    struct pl_str model = request->target->model;
    pl_buf_add(&url, base_of(call->vendor, embed.not_in_base));
    const char *hole = strstr(path.ptr, "%s");
    size_t n = hole ? (size_t)(hole - path.ptr) : path.len;
    pl_buf_add(&url, pl_str_slice(path, 0, n));
    if (hole)
        add_segment(&url, model);
    pl_buf_add(&url, pl_str_slice(path, n + 2, path.len));
    pl_buf_addc(&url, '\0');
    call->url = keep(call, &url);
    return call->url ? PL_OK : PL_NOMEM;
}

static bool is_same_header(const char *a, const char *b)
{
    size_t n = strcspn(a, ":");
    return n == strcspn(b, ":") && strncasecmp(a, b, n) == 0;
}

static bool has_header(const char *const *headers, const char *line)
{
    for (; headers && *headers; headers++)
        if (is_same_header(*headers, line))
            return true;
    return false;
}

static const char *key_line(struct pl_vendor_call *call, const struct dialect *dialect)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    pl_buf_adds(&line, dialect->key_header);
    pl_buf_adds(&line, call->vendor->key);
    pl_buf_addc(&line, '\0');
    return keep(call, &line);
}

/* The key always comes from the configuration. Other headers of the client take precedence over
 * ours. */
static enum pl_status make_headers(struct pl_vendor_call *call, const struct dialect *dialect,
                                   bool is_stream, const char *const *extra)
{
    size_t n = 0;
    const char *own[] = {
        "Content-Type: application/json",
        is_stream ? "Accept: text/event-stream" : "Accept: application/json",
        "User-Agent: parley",
        dialect->version,
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i] && !has_header(extra, own[i]) && !has_header(call->vendor->headers, own[i]))
            call->headers[n++] = own[i];
    if (call->vendor->key) {
        const char *line = key_line(call, dialect);
        if (!line)
            return PL_NOMEM;
        call->headers[n++] = line;
    }
    /* These live as long as the configuration, which the caller holds. */
    for (const char *const *line = call->vendor->headers; line && *line; line++)
        if (!has_header(extra, *line))
            call->headers[n++] = *line;
    for (size_t i = 0; extra && extra[i]; i++) {
        if (is_same_header(extra[i], dialect->key_header))
            continue;
        if (i == MAX_EXTRA_HEADERS)
            return PL_LIMIT;
        struct pl_str line =
            pl_arena_dup(&call->arena, (struct pl_str){extra[i], strlen(extra[i]) + 1});
        if (!line.ptr)
            return PL_NOMEM;
        call->headers[n++] = line.ptr;
    }
    return PL_OK;
}

/* --- trying again ---------------------------------------------------------------------------- */

static void tell_news(struct pl_vendor_call *call, enum pl_cooldown_news news, int64_t retry_ms)
{
    if (call->pass == PL_PASS_NONE)
        return;
    pl_cooldown_leave(call->cooldown, call->pass, news, retry_ms, pl_clock_ms());
    call->pass = PL_PASS_NONE;
}

static void destroy(struct pl_vendor_call *call)
{
    become(call, VENDOR_OVER);
    pl_gate_cancel(PL_TAKE(call->wait));
    if (call->is_in)
        pl_gate_leave(call->vendor->gate);
    if (call->load)
        atomic_fetch_sub_explicit(&call->load->n_running, 1, memory_order_relaxed);
    tell_news(call, PL_NEWS_NONE, -1);
    pl_timer_stop(pl_upstreams_loop(call->upstreams), &call->timer);
    pl_upstream_cancel(PL_TAKE(call->upstream));
    pl_buf_deinit(&call->body);
    pl_arena_deinit(&call->arena);
    pl_mem_free(call);
}

static void fail(struct pl_vendor_call *call, enum pl_vendor_failure why, const char *sentence)
{
    const struct pl_vendor_ops *ops = call->ops;
    void *ctx = call->ctx;
    if (why != PL_VENDOR_FULL && why != PL_VENDOR_LATE) { /* a request was sent */
        PL_VENDOR_COUNT(call->vendor->stats, n_errors);
        PL_MODEL_COUNT(call->counts, n_errors, 1);
    }
    destroy(call);
    ops->on_failed(ctx, why, sentence);
}

static enum pl_status begin(struct pl_vendor_call *call, struct pl_error *err);

static void on_time(struct pl_timer *timer)
{
    struct pl_vendor_call *call = PL_CONTAINER_OF(timer, struct pl_vendor_call, timer);
    struct pl_error err = {0};
    if (begin(call, &err) != PL_OK)
        fail(call, PL_VENDOR_MEMORY, "Out of memory while calling the model's server.");
}

static void try_later(struct pl_vendor_call *call, int64_t delay_ms)
{
    become(call, VENDOR_RESTING);
    PL_VENDOR_COUNT(call->vendor->stats, n_retries);
    PL_MODEL_COUNT(call->counts, n_retries, 1);
    pl_timer_start(pl_upstreams_loop(call->upstreams), &call->timer, delay_ms, on_time);
}

/* Error statuses of a busy vendor. */
static const struct answer_kind {
    int status;
    bool is_untouched; /* the request was not processed: it may be sent again */
} busy_answers[] = {
    {408, true}, {425, true}, {429, true}, {502, false}, {503, true}, {504, false}, {529, true},
};

static const struct answer_kind *busy_answer(int status)
{
    for (size_t i = 0; i < sizeof busy_answers / sizeof *busy_answers; i++)
        if (busy_answers[i].status == status)
            return &busy_answers[i];
    return NULL;
}

static bool read_ms(struct pl_str text, int64_t unit_ms, int64_t *ret_ms)
{
    int64_t n;
    return pl_decimal_read(text, &n) && !__builtin_mul_overflow(n, unit_ms, ret_ms);
}

/* The delay that the vendor asks for; -1 if there is none or it is unreadable. */
static int64_t told_delay(const struct pl_vendor_call *call)
{
    int64_t ms, date_ms, now_ms = pl_loop_unix_ms(pl_upstreams_loop(call->upstreams));
    struct pl_str after = pl_upstream_header(call->upstream, "retry-after");
    if (read_ms(pl_upstream_header(call->upstream, "retry-after-ms"), 1, &ms) ||
        read_ms(after, 1000, &ms))
        return ms;
    int64_t date_s;
    if (!after.len || !pl_http_date_read(after, &date_s) ||
        __builtin_mul_overflow(date_s, 1000, &date_ms))
        return -1;
    return date_ms > now_ms ? date_ms - now_ms : 0;
}

static int64_t age_ms(const struct pl_vendor_call *call)
{
    return pl_loop_now_ms(pl_upstreams_loop(call->upstreams)) - call->started_ms;
}

/* --- the answer ------------------------------------------------------------------------------ */

static void on_head(void *ctx, int status)
{
    struct pl_vendor_call *call = ctx;
    const struct answer_kind *busy = busy_answer(status);
    int64_t told_ms = busy ? told_delay(call) : -1;
    if (busy && busy->is_untouched && call->n_tries < call->max_tries &&
        told_ms <= MAX_RETRY_AFTER_MS) {
        call->delay_ms = told_ms >= 0 ? told_ms : delays_ms[call->n_tries - 1];
        become(call, VENDOR_DISCARDING);
        call->n_discarded = 0;
        return;
    }
    become(call, VENDOR_PASSING);
    tell_news(call, busy ? PL_NEWS_BUSY : PL_NEWS_FINE, told_ms);
    if (status >= 400) {
        PL_VENDOR_COUNT(call->vendor->stats, n_errors);
        PL_MODEL_COUNT(call->counts, n_errors, 1);
    }
    call->ops->on_head(call->ctx, status, pl_upstream_header(call->upstream, "content-type"),
                       pl_upstream_header(call->upstream, "retry-after"));
}

static void on_body(void *ctx, struct pl_str piece)
{
    struct pl_vendor_call *call = ctx;
    if (call->state == VENDOR_PASSING) {
        if (!call->has_body && call->vendor->stats)
            pl_vendor_times_note(&call->vendor->stats->first, age_ms(call));
        if (!call->has_body && call->counts)
            pl_vendor_times_note(&call->counts->first, age_ms(call));
        call->has_body = true;
        call->ops->on_body(call->ctx, piece);
        return;
    }
    call->n_discarded += piece.len;
    if (call->n_discarded > MAX_DISCARDED)
        fail(call, PL_VENDOR_BROKEN, "The model's server sends an endless error.");
}

static void on_end(void *ctx)
{
    struct pl_vendor_call *call = ctx;
    call->upstream = NULL;
    if (call->state == VENDOR_DISCARDING) {
        try_later(call, call->delay_ms);
        return;
    }
    const struct pl_vendor_ops *ops = call->ops;
    void *whose = call->ctx;
    if (call->vendor->stats)
        pl_vendor_times_note(&call->vendor->stats->whole, age_ms(call));
    if (call->counts)
        pl_vendor_times_note(&call->counts->whole, age_ms(call));
    destroy(call);
    ops->on_end(whose);
}

static void on_failed(void *ctx, enum pl_upstream_failure why, const char *sentence)
{
    static const struct {
        enum pl_vendor_failure failure;
        enum pl_cooldown_news news;
    } meanings[] = {
        [PL_UPSTREAM_REFUSED] = {PL_VENDOR_REFUSED, PL_NEWS_BUSY},
        [PL_UPSTREAM_FORBIDDEN] = {PL_VENDOR_REFUSED, PL_NEWS_BUSY},
        [PL_UPSTREAM_TIMEOUT] = {PL_VENDOR_TIMEOUT, PL_NEWS_BUSY},
        [PL_UPSTREAM_BROKEN] = {PL_VENDOR_BROKEN, PL_NEWS_NONE},
        [PL_UPSTREAM_MEMORY] = {PL_VENDOR_MEMORY, PL_NEWS_NONE},
    };
    struct pl_vendor_call *call = ctx;
    call->upstream = NULL;
    if (call->state == VENDOR_DISCARDING) {
        try_later(call, call->delay_ms);
    } else if (call->state == VENDOR_ASKING && why == PL_UPSTREAM_REFUSED &&
               call->n_tries < call->max_tries) {
        try_later(call, delays_ms[call->n_tries - 1]);
    } else {
        tell_news(call, meanings[why].news, -1);
        fail(call, meanings[why].failure, sentence);
    }
}

static void on_sent(void *ctx)
{
    struct pl_vendor_call *call = ctx;
    if (call->ops->on_sent)
        call->ops->on_sent(call->ctx);
}

static const struct pl_upstream_ops upstream_ops = {on_head, on_body, on_end, on_failed, on_sent};

/* --- starting -------------------------------------------------------------------------------- */

static enum pl_status begin(struct pl_vendor_call *call, struct pl_error *err)
{
    struct pl_upstream_request request = {
        .method = "POST",
        .url = call->url,
        .headers = call->headers,
        .body = call->n_pieces ? NULL : &call->body,
        .body_back = call->max_tries > 1 ? &call->body : NULL,
        .pieces = call->pieces,
        .n_pieces = call->n_pieces,
        .owner = call->owner,
        .ca_file = call->vendor->ca_file,
        .connect_ms = call->vendor->connect_ms,
        .first_byte_ms = call->vendor->first_byte_ms,
        .idle_ms = call->vendor->idle_ms,
    };
    become(call, VENDOR_ASKING);
    call->n_tries++;
    return pl_upstream_start(call->upstreams, &request, &upstream_ops, call, &call->upstream, err);
}

struct pl_model_counts *pl_target_counts(const struct pl_model_target *target)
{
    char name[320];
    if (!target->vendor || !target->vendor->home)
        return NULL;
    pl_target_name(target, name, sizeof name);
    return pl_model_counts_find(target->vendor->home, pl_str_of(name));
}

/* Its turn has come, or it waited too long. */
static void on_turn(void *ctx, bool is_in)
{
    struct pl_vendor_call *call = ctx;
    struct pl_error err = {0};
    call->wait = NULL;
    call->is_in = is_in;
    if (!is_in) {
        fail(call, PL_VENDOR_LATE,
             "It has too many calls of this server; this one waited in vain.");
        return;
    }
    call->started_ms = pl_loop_now_ms(pl_upstreams_loop(call->upstreams));
    if (begin(call, &err) != PL_OK)
        fail(call, PL_VENDOR_MEMORY, "Out of memory while calling the model's server.");
}

static void on_full(struct pl_timer *timer)
{
    struct pl_vendor_call *call = PL_CONTAINER_OF(timer, struct pl_vendor_call, timer);
    fail(call, PL_VENDOR_FULL, "It has too many calls of this server, and too many wait for it.");
}

static enum pl_status begin_in_turn(struct pl_vendor_call *call, struct pl_error *err)
{
    struct pl_loop *loop = pl_upstreams_loop(call->upstreams);
    enum pl_gate_answer answer =
        call->vendor->gate ? pl_gate_enter(call->vendor->gate, loop, on_turn, call, &call->wait)
                           : PL_GATE_IN;
    call->is_in = call->vendor->gate && answer == PL_GATE_IN;
    if (answer == PL_GATE_IN)
        return begin(call, err);
    become(call, VENDOR_QUEUED);
    if (answer == PL_GATE_FULL) /* no callback before start returns */
        pl_timer_start(loop, &call->timer, 0, on_full);
    return PL_OK;
}

enum pl_status pl_vendor_start(struct pl_upstreams *upstreams,
                               const struct pl_vendor_request *request,
                               const struct pl_vendor_ops *ops, void *ctx,
                               struct pl_vendor_call **ret_call, struct pl_error *err)
{
    const struct pl_model_target *target = request->target;
    struct pl_vendor_call *call = pl_mem_alloc(1, sizeof *call);
    if (!call) {
        if (request->pass != PL_PASS_NONE)
            pl_cooldown_leave(target->cooldown, request->pass, PL_NEWS_NONE, -1, pl_clock_ms());
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    *call = (struct pl_vendor_call){
        .upstreams = upstreams,
        .vendor = target->vendor,
        .ops = ops,
        .ctx = ctx,
        .n_pieces = request->n_pieces,
        .max_tries = request->is_patient ? MAX_TRIES : 1,
        .cooldown = target->cooldown,
        .pass = request->pass,
    };
    pl_buf_init(&call->body, 0);
    if (request->body) {
        call->body = *request->body;
        pl_buf_init(request->body, 0);
    }
    assert(request->n_pieces <= PL_UPSTREAM_PIECES && !(request->n_pieces && request->is_patient));
    for (size_t i = 0; i < request->n_pieces; i++)
        call->pieces[i] = request->pieces[i];
    pl_arena_init(&call->arena, 0);
    call->owner = pl_arena_dup(&call->arena, request->owner);
    const struct dialect *dialect = dialect_of(target->vendor);
    enum pl_status status = request->owner.len && !call->owner.ptr ? PL_NOMEM : PL_OK;
    if (status == PL_OK)
        status = make_url(call, dialect, request);
    if (status == PL_OK)
        status = make_headers(call, dialect, request->is_stream, request->extra_headers);
    if (status == PL_NOMEM)
        (void)pl_fail(err, status, "out of memory");
    if (status == PL_LIMIT)
        (void)pl_fail(err, status, "there are more than %d headers for the vendor",
                      MAX_EXTRA_HEADERS);
    call->started_ms = pl_loop_now_ms(pl_upstreams_loop(upstreams));
    call->load = target->load;
    if (call->load)
        atomic_fetch_add_explicit(&call->load->n_running, 1, memory_order_relaxed);
    if (status == PL_OK)
        status = begin_in_turn(call, err);
    if (status != PL_OK) {
        destroy(call);
        return status;
    }
    PL_VENDOR_COUNT(target->vendor->stats, n_calls);
    call->counts = pl_target_counts(target);
    PL_MODEL_COUNT(call->counts, n_calls, 1);
    *ret_call = call;
    return PL_OK;
}

bool pl_vendor_is_sent(const struct pl_vendor_call *call)
{
    return call->upstream && pl_upstream_is_sent(call->upstream);
}

void pl_vendor_cancel(struct pl_vendor_call *call)
{
    if (call)
        destroy(call);
}

void pl_vendor_pause(struct pl_vendor_call *call)
{
    if (call->state == VENDOR_PASSING)
        pl_upstream_pause(call->upstream);
}

void pl_vendor_resume(struct pl_vendor_call *call)
{
    if (call->state == VENDOR_PASSING)
        pl_upstream_resume(call->upstream);
}

enum pl_status pl_vendor_upstreams(struct pl_loop *loop, struct pl_upstreams **place,
                                   struct pl_error *err)
{
    return *place ? PL_OK : pl_upstreams_create(loop, place, err);
}
