/* Calls that libcurl carries: names, TLS, HTTP/2 and proxies. A call:
 *
 *     machine curl
 *
 *     SPARE -> QUEUED -> TAKEN -> SENT -> SPARE -> GONE
 *     QUEUED, TAKEN -> SPARE              it failed or was cancelled
 *
 * libcurl reuses a kept HTTP/1.1 connection without checking for bytes that have arrived since, and
 * we cannot see bytes that OpenSSL has already decrypted. So every connection is closed after its
 * call, unless the answer says that it is HTTP/2. Handshakes are kept short by TLS sessions, which
 * all calls of the loop share (docs/adr/0019). */
#include "io/upstream/upstream_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/move.h"
#include "io/upstream/curl_multi.h"

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

enum { MAX_HEAD = 64 << 10, N_KEPT_CONNECTIONS = 256, N_SPARE_CALLS = 64 };

enum curl_state { CURL_SPARE, CURL_QUEUED, CURL_TAKEN, CURL_SENT, CURL_GONE };

#define TO(name)    PL_TO(CURL_##name)
#define BY_UPSTREAM "the times of the upstream call"
static const struct pl_state curl_states[] = {
    [CURL_SPARE] = {"spare", TO(QUEUED) | TO(GONE), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                    .why = "nobody has it: it waits for the next call"},
    [CURL_QUEUED] = {"queued", TO(TAKEN) | TO(SPARE), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                     .why = "the end of this turn of the loop"},
    [CURL_TAKEN] = {"taken", TO(SENT) | TO(SPARE), PL_WAIT_SET, PL_CANCEL_LATER,
                    .why = BY_UPSTREAM},
    [CURL_SENT] = {"sent", TO(SPARE), PL_WAIT_SET, PL_CANCEL_LATER, .why = BY_UPSTREAM},
    [CURL_GONE] = {"gone", 0},
};
#undef TO
static const struct pl_machine curl_machine = PL_MACHINE("curl", curl_states);

struct pl_curl_calls {
    const struct pl_curl *curl;
    struct pl_curl_multi multi; /* its `look` begins and ends calls */
    CURLSH *sessions;           /* owned; TLS sessions */
    struct curl_call *first;    /* owned by their starters; newest first */
    struct curl_call *spares;   /* owned; unused calls, whose handles are expensive to create */
    size_t n_spares;
};

struct curl_call {
    struct pl_upstream_call base;
    struct pl_curl_calls *calls; /* borrowed */
    struct curl_call *prev, *next;
    CURL *easy;                 /* owned */
    struct curl_slist *headers; /* owned */
    struct pl_buf head;         /* owned; the headers of the answer */
    enum curl_state state;      /* from TAKEN on, libcurl has the handle */
    size_t n_read;              /* bytes of the body that libcurl has read */
};

static void become(struct curl_call *call, enum curl_state to)
{
    call->state = (enum curl_state)pl_move(&curl_machine, call, call->state, to);
}

static bool is_taken(const struct curl_call *call)
{
    return call->state == CURL_TAKEN || call->state == CURL_SENT;
}

static bool is_cancelled(const struct curl_call *call)
{
    return call->base.state == PL_UP_CANCELLED;
}

static struct curl_call *call_of(struct pl_upstream_call *base)
{
    return PL_CONTAINER_OF(base, struct curl_call, base);
}

/* --- the answer ------------------------------------------------------------------------------ */

static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
    struct curl_call *call = ctx;
    struct pl_str line = {bytes, size * n};
    if (is_cancelled(call))
        return 0;
    /* A new status line: the headers before it belong to "100 Continue" or to a proxy's own
     * answer. */
    if (line.len > 5 && memcmp(line.ptr, "HTTP/", 5) == 0) {
        pl_buf_clear(&call->head);
        return line.len;
    }
    bool is_last = line.len && (line.ptr[0] == '\r' || line.ptr[0] == '\n');
    if (!is_last) {
        pl_buf_add(&call->head, line);
        return call->head.status == PL_OK ? line.len : 0;
    }
    const struct pl_curl *curl = call->calls->curl;
    long status = 0, version = 0;
    curl->curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || pl_upstream_is_headed(&call->base))
        return line.len;
    curl->curl_easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version);
    if (version == CURL_HTTP_VERSION_2_0)
        curl->curl_easy_setopt(call->easy, CURLOPT_FORBID_REUSE, 0L);
    pl_upstream_tell_head(&call->base, (int)status, pl_buf_str(&call->head));
    return is_cancelled(call) ? 0 : line.len;
}

/* Called before a request is sent. If a shared connection dies without an answer, libcurl would
 * send the request again, although the server may have executed it. This prevents it. */
static int on_request(void *ctx, char *to, char *from, int to_port, int from_port)
{
    struct curl_call *call = ctx;
    (void)to, (void)from, (void)to_port, (void)from_port;
    if (call->state == CURL_SENT)
        return CURL_PREREQFUNC_ABORT;
    become(call, CURL_SENT);
    return CURL_PREREQFUNC_OK;
}

/* The body is read in pieces because it is borrowed. After a cancel it is no longer valid. */
static size_t on_room(char *to, size_t size, size_t n, void *ctx)
{
    struct curl_call *call = ctx;
    size_t room = size * n, n_put = 0, skip = call->n_read;
    if (is_cancelled(call))
        return CURL_READFUNC_ABORT;
    for (size_t i = 0; i < call->base.n_pieces && n_put < room; i++) {
        struct pl_str piece = call->base.pieces[i];
        size_t n_skipped = skip < piece.len ? skip : piece.len;
        size_t n_piece = piece.len - n_skipped;
        skip -= n_skipped;
        if (n_piece > room - n_put)
            n_piece = room - n_put;
        if (n_piece)
            memcpy(to + n_put, piece.ptr + n_skipped, n_piece);
        n_put += n_piece;
    }
    call->n_read += n_put;
    return n_put;
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct curl_call *call = ctx;
    struct pl_str piece = {bytes, size * n};
    if (is_cancelled(call))
        return 0;
    if (piece.len)
        pl_upstream_tell_body(&call->base, piece);
    return is_cancelled(call) ? 0 : piece.len;
}

/* --- life of a call -------------------------------------------------------------------------- */

static void destroy_call(struct curl_call *call)
{
    become(call, CURL_GONE);
    call->calls->curl->curl_easy_cleanup(call->easy);
    pl_buf_deinit(&call->head);
    pl_mem_free(call);
}

/* Must not be called inside libcurl. The handle is kept for the next call. */
static void stop(struct pl_upstream_call *base)
{
    struct curl_call *call = call_of(base);
    struct pl_curl_calls *calls = call->calls;
    const struct pl_curl *curl = calls->curl;
    if (is_taken(call)) {
        calls->multi.n_inside++;
        curl->curl_multi_remove_handle(calls->multi.handle, call->easy);
        calls->multi.n_inside--;
    }
    if (call->prev)
        call->prev->next = call->next;
    else
        calls->first = call->next;
    if (call->next)
        call->next->prev = call->prev;
    curl->curl_slist_free_all(call->headers);
    call->headers = NULL;
    pl_upstream_deinit(base);
    become(call, CURL_SPARE);
    if (calls->n_spares == N_SPARE_CALLS) {
        destroy_call(call);
        return;
    }
    curl->curl_easy_reset(call->easy);
    pl_buf_clear(&call->head);
    call->next = calls->spares;
    calls->spares = call;
    calls->n_spares++;
}

static void cancel(struct pl_upstream_call *base)
{
    struct pl_curl_calls *calls = call_of(base)->calls;
    if (calls->multi.n_inside)
        pl_curl_multi_look_later(&calls->multi);
    else
        stop(base);
}

static void set_pause(struct pl_upstream_call *base, bool is_paused)
{
    struct curl_call *call = call_of(base);
    struct pl_curl_calls *calls = call->calls;
    if (!is_taken(call))
        return;
    /* Resuming may at once deliver bytes that libcurl already has. */
    calls->multi.n_inside++;
    calls->curl->curl_easy_pause(call->easy, is_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
    calls->multi.n_inside--;
    pl_curl_multi_look_later(&calls->multi);
}

static const struct pl_road road = {stop, cancel, set_pause};

static const struct {
    CURLcode code;
    enum pl_upstream_failure why;
    const char *sentence;
} failures[] = {
    {CURLE_COULDNT_RESOLVE_HOST, PL_UPSTREAM_REFUSED, "The name of the model's server is unknown."},
    {CURLE_COULDNT_RESOLVE_PROXY, PL_UPSTREAM_REFUSED, "The name of the proxy is unknown."},
    {CURLE_COULDNT_CONNECT, PL_UPSTREAM_REFUSED, PL_UPSTREAM_SAY_REFUSED},
    {CURLE_SSL_CONNECT_ERROR, PL_UPSTREAM_REFUSED, "TLS with the model's server failed."},
    {CURLE_PEER_FAILED_VERIFICATION, PL_UPSTREAM_FORBIDDEN,
     "The certificate of the model's server is not trusted."},
    {CURLE_SSL_CACERT_BADFILE, PL_UPSTREAM_FORBIDDEN, "The certificate file cannot be read."},
    {CURLE_OPERATION_TIMEDOUT, PL_UPSTREAM_TIMEOUT, PL_UPSTREAM_SAY_LATE},
    {CURLE_OUT_OF_MEMORY, PL_UPSTREAM_MEMORY, PL_UPSTREAM_SAY_MEMORY},
    {CURLE_OK, PL_UPSTREAM_BROKEN, PL_UPSTREAM_SAY_BROKEN},
};

/* Whether a proxy has refused to connect. */
static bool is_turned_away(const struct curl_call *call)
{
    long status = 0;
    call->calls->curl->curl_easy_getinfo(call->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 300;
}

static void settle(struct curl_call *call, CURLcode result)
{
    if (is_cancelled(call)) {
        stop(&call->base);
        return;
    }
    if (result == CURLE_OK && pl_upstream_is_headed(&call->base)) {
        pl_upstream_tell_end(&call->base);
        return;
    }
    if (is_turned_away(call)) {
        pl_upstream_tell_failure(&call->base, PL_UPSTREAM_FORBIDDEN,
                                 "The proxy does not connect to the model's server.");
        return;
    }
    size_t i = 0;
    while (failures[i].code != CURLE_OK && failures[i].code != result)
        i++;
    bool is_short = call->head.status == PL_NOMEM;
    pl_upstream_tell_failure(&call->base, is_short ? PL_UPSTREAM_MEMORY : failures[i].why,
                             failures[i].sentence);
}

static void begin_calls(struct pl_curl_calls *calls)
{
    bool has_begun = false;
    for (struct curl_call *call = calls->first, *next; call; call = next) {
        next = call->next;
        if (call->state != CURL_QUEUED)
            continue;
        if (is_cancelled(call)) {
            stop(&call->base);
            continue;
        }
        calls->multi.n_inside++;
        CURLMcode code = calls->curl->curl_multi_add_handle(calls->multi.handle, call->easy);
        calls->multi.n_inside--;
        if (code != CURLM_OK) {
            pl_upstream_tell_failure(&call->base, PL_UPSTREAM_MEMORY, PL_UPSTREAM_SAY_MEMORY);
            next = calls->first;
            continue;
        }
        become(call, CURL_TAKEN);
        has_begun = true;
    }
    if (has_begun)
        pl_curl_multi_run(&calls->multi);
}

static void on_turn_end(struct pl_loop_hook *end)
{
    struct pl_curl_calls *calls = PL_CONTAINER_OF(end, struct pl_curl_calls, multi.look);
    begin_calls(calls);
    CURLMsg *message;
    int n_left = 0;
    while ((message = calls->curl->curl_multi_info_read(calls->multi.handle, &n_left))) {
        struct curl_call *call = NULL;
        CURLcode result = message->data.result;
        calls->curl->curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        settle(call, result);
    }
    /* Stop calls that were cancelled inside libcurl. */
    for (struct curl_call *call = calls->first, *next; call; call = next) {
        next = call->next;
        if (is_cancelled(call))
            stop(&call->base);
    }
}

/* --- starting -------------------------------------------------------------------------------- */

static enum pl_status create_calls(struct pl_loop *loop, struct pl_curl_calls **ret_calls,
                                   struct pl_error *err)
{
    struct pl_curl_calls *calls = pl_mem_alloc(1, sizeof *calls);
    if (!calls)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *calls = (struct pl_curl_calls){0};
    enum pl_status status = pl_curl_multi_init(&calls->multi, loop, on_turn_end, err);
    if (status == PL_OK) {
        calls->curl = calls->multi.curl;
        calls->sessions = calls->curl->curl_share_init();
        if (!calls->sessions)
            status = pl_fail(err, PL_NOMEM, "out of memory");
    }
    if (status != PL_OK) {
        pl_curl_multi_deinit(&calls->multi);
        pl_mem_free(calls);
        return status;
    }
    calls->curl->curl_share_setopt(calls->sessions, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    calls->curl->curl_multi_setopt(calls->multi.handle, CURLMOPT_MAXCONNECTS,
                                   (long)N_KEPT_CONNECTIONS);
    *ret_calls = calls;
    return PL_OK;
}

void pl_curl_destroy(struct pl_upstreams *upstreams)
{
    struct pl_curl_calls *calls = PL_TAKE(upstreams->curl);
    if (!calls)
        return;
    while (calls->first) {
        if (!is_cancelled(calls->first))
            pl_upstream_is_cancelled(&calls->first->base);
        stop(&calls->first->base);
    }
    while (calls->spares) {
        struct curl_call *call = calls->spares;
        calls->spares = call->next;
        destroy_call(call);
    }
    pl_curl_multi_deinit(&calls->multi);
    calls->curl->curl_share_cleanup(calls->sessions);
    pl_mem_free(calls);
}

static struct curl_call *take_call(struct pl_curl_calls *calls)
{
    struct curl_call *call = calls->spares;
    if (call) {
        calls->spares = call->next;
        calls->n_spares--;
        return call;
    }
    call = pl_mem_alloc(1, sizeof *call);
    CURL *easy = call ? calls->curl->curl_easy_init() : NULL;
    if (!easy) {
        pl_mem_free(call);
        return NULL;
    }
    *call = (struct curl_call){.calls = calls, .easy = easy};
    pl_buf_init(&call->head, MAX_HEAD);
    return call;
}

static bool add_header(struct curl_call *call, const char *line)
{
    struct curl_slist *longer = call->calls->curl->curl_slist_append(call->headers, line);
    if (longer)
        call->headers = longer;
    return longer != NULL;
}

static void set_options(struct curl_call *call, const struct pl_upstream_request *request)
{
    const struct pl_curl *curl = call->calls->curl;
    CURL *easy = call->easy;
    pl_curl_set_basics(curl, easy, request->url, on_bytes, call);
    curl->curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl->curl_easy_setopt(easy, CURLOPT_SHARE, call->calls->sessions);
    curl->curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl->curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_request);
    curl->curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
    /* Prefer to wait for a connection in progress and share it. */
    curl->curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl->curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
    curl->curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)call->base.connect_ms);
    curl->curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, pl_curl_multi_open);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &call->calls->multi);
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, pl_curl_multi_close);
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &call->calls->multi);
    if (request->ca_file)
        curl->curl_easy_setopt(easy, CURLOPT_CAINFO, request->ca_file);
    if (request->body || request->n_pieces) {
        curl->curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl->curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->base.n_body);
        curl->curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_room);
        curl->curl_easy_setopt(easy, CURLOPT_READDATA, call);
    }
    curl->curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

enum pl_status pl_curl_start(struct pl_upstreams *upstreams,
                             const struct pl_upstream_request *request,
                             const struct pl_upstream_ops *ops, void *ctx,
                             struct pl_upstream_call **ret_call, struct pl_error *err)
{
    enum pl_status status =
        upstreams->curl ? PL_OK : create_calls(upstreams->loop, &upstreams->curl, err);
    if (status != PL_OK)
        return status;
    struct pl_curl_calls *calls = upstreams->curl;
    struct curl_call *call = take_call(calls);
    if (!call)
        return pl_fail(err, PL_NOMEM, "out of memory");
    pl_upstream_init(&call->base, upstreams, &road, request, ops, ctx);
    become(call, CURL_QUEUED);
    call->n_read = 0;
    call->prev = NULL;
    call->next = calls->first;
    if (call->next)
        call->next->prev = call;
    calls->first = call;
    /* Without "Expect:", a long body would wait for the status 100. HTTP/2 has no Connection
     * header. */
    bool has_all = add_header(call, "Expect:") && add_header(call, "Connection: close");
    for (size_t i = 0; has_all && request->headers && request->headers[i]; i++)
        has_all = add_header(call, request->headers[i]);
    if (!has_all) {
        stop(&call->base);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    set_options(call, request);
    /* libcurl has its own connect timeout. */
    pl_upstream_is_connected(&call->base);
    pl_curl_multi_look_later(&calls->multi);
    *ret_call = &call->base;
    return PL_OK;
}
