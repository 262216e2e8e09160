/* Calls that libcurl carries: names, TLS, HTTP/2 and proxies.
 *
 * libcurl takes a kept connection of HTTP/1.1 again without looking at what has come on it since,
 * and what OpenSSL has decrypted already cannot be seen from here. So every connection is closed
 * after its call, unless the answer says that it is HTTP/2. Handshakes are kept short by TLS
 * sessions, which all calls of the loop share (docs/adr/0019). */
#include "io/upstream_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "base/vec.h"
#include "io/curl_int.h"
#include "io/watch.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

enum { MAX_HEAD = 64 << 10, N_KEPT_CONNECTIONS = 256, N_SPARE_CALLS = 64 };

/* A socket libcurl has. That of a connection stays watched between two calls: libcurl takes its
 * interest back after each, and asking the kernel twice for every call would be dear. */
struct wire {
    struct pl_watch watch;
    struct pl_curl_calls *calls; /* borrowed */
    bool is_connection;          /* it tells us when it closes the socket */
    bool is_watched, is_idle;
};

struct pl_curl_calls {
    const struct pl_curl *curl;
    struct pl_loop *loop; /* borrowed */
    CURLM *multi;         /* owned */
    CURLSH *sessions;     /* owned; of TLS */
    struct pl_timer timer;
    struct pl_turn_end finish;   /* begins and ends calls, where libcurl allows it */
    PL_VEC(struct wire *) by_fd; /* owned; NULL where it has none */
    struct curl_call *first;     /* owned by those who started them; newest first */
    struct curl_call *spares;    /* owned; their handles keep what is dear to make */
    size_t n_spares;
    int n_inside; /* we are inside libcurl: it takes no calls of most functions then */
};

struct curl_call {
    struct pl_upstream_call base;
    struct pl_curl_calls *calls; /* borrowed */
    struct curl_call *prev, *next;
    CURL *easy;                 /* owned */
    struct curl_slist *headers; /* owned */
    struct pl_buf head;         /* owned; the fields of the answer */
    bool is_added;              /* libcurl has it */
    bool is_begun;              /* libcurl has begun to send it */
};

static struct curl_call *call_of(struct pl_upstream_call *base)
{
    return PL_CONTAINER_OF(base, struct curl_call, base);
}

/* --- sockets --------------------------------------------------------------------------------- */

static void look_later(struct pl_curl_calls *calls)
{
    pl_loop_at_turn_end(calls->loop, &calls->finish);
}

static void run_socket(struct pl_curl_calls *calls, curl_socket_t fd, int events)
{
    int n_running = 0;
    calls->n_inside++;
    calls->curl->curl_multi_socket_action(calls->multi, fd, events, &n_running);
    calls->n_inside--;
    look_later(calls);
}

static void on_socket(struct pl_watch *watch, uint32_t events)
{
    struct wire *wire = PL_CONTAINER_OF(watch, struct wire, watch);
    /* Something on a connection nobody uses, its end most likely: found out with the next call. */
    if (wire->is_idle) {
        pl_watch_want(wire->calls->loop, watch, 0);
        return;
    }
    int what = 0;
    if (events & (EPOLLIN | EPOLLHUP))
        what |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        what |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        what |= CURL_CSELECT_ERR;
    run_socket(wire->calls, watch->fd, what);
}

static struct wire *wire_of(struct pl_curl_calls *calls, curl_socket_t fd)
{
    return (size_t)fd < calls->by_fd.len ? calls->by_fd.ptr[fd] : NULL;
}

static struct wire *add_wire(struct pl_curl_calls *calls, curl_socket_t fd, bool is_connection)
{
    struct wire *wire = pl_mem_alloc(1, sizeof *wire);
    if (!wire)
        return NULL;
    while (calls->by_fd.len <= (size_t)fd)
        if (!pl_vec_push(&calls->by_fd, NULL)) {
            pl_mem_free(wire);
            return NULL;
        }
    *wire = (struct wire){.calls = calls, .is_connection = is_connection};
    calls->by_fd.ptr[fd] = wire;
    return wire;
}

static void bury(struct pl_watch *watch)
{
    pl_mem_free(PL_CONTAINER_OF(watch, struct wire, watch));
}

static void end_wire(struct pl_curl_calls *calls, curl_socket_t fd)
{
    struct wire *wire = wire_of(calls, fd);
    if (!wire)
        return;
    calls->by_fd.ptr[fd] = NULL;
    if (wire->is_watched)
        pl_watch_end(calls->loop, &wire->watch, bury);
    else
        pl_mem_free(wire);
}

static int watch_wire(struct pl_curl_calls *calls, struct wire *wire, curl_socket_t fd,
                      uint32_t events)
{
    wire->is_idle = false;
    if (wire->is_watched) {
        pl_watch_want(calls->loop, &wire->watch, events);
        return 0;
    }
    if (pl_watch_start(calls->loop, &wire->watch, fd, events, on_socket) != PL_OK)
        return -1;
    wire->is_watched = true;
    return 0;
}

/* What libcurl wants to know of a socket from now on. -1 fails the calls on it. */
static int on_interest(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    struct pl_curl_calls *calls = ctx;
    struct wire *wire = wire_of(calls, fd);
    (void)easy;
    (void)of_socket;
    if (what == CURL_POLL_REMOVE) {
        if (wire && wire->is_connection)
            wire->is_idle = true;
        else
            end_wire(calls, fd);
        return 0;
    }
    if (!wire)
        wire = add_wire(calls, fd, false);
    if (!wire)
        return -1;
    static const uint32_t wants[] = {
        [CURL_POLL_IN] = EPOLLIN,
        [CURL_POLL_OUT] = EPOLLOUT,
        [CURL_POLL_INOUT] = EPOLLIN | EPOLLOUT,
    };
    return watch_wire(calls, wire, fd, wants[what]);
}

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct pl_curl_calls *calls = ctx;
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    if (!add_wire(calls, fd, true)) {
        close(fd);
        return CURL_SOCKET_BAD;
    }
    return fd;
}

static int close_socket(void *ctx, curl_socket_t fd)
{
    end_wire(ctx, fd);
    return close(fd);
}

static void on_time(struct pl_timer *timer)
{
    run_socket(PL_CONTAINER_OF(timer, struct pl_curl_calls, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int on_wanted_time(CURLM *multi, long delay_ms, void *ctx)
{
    struct pl_curl_calls *calls = ctx;
    (void)multi;
    if (delay_ms < 0)
        pl_timer_stop(calls->loop, &calls->timer);
    else
        pl_timer_start(calls->loop, &calls->timer, delay_ms, on_time);
    return 0;
}

/* --- the answer ------------------------------------------------------------------------------ */

static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
    struct curl_call *call = ctx;
    struct pl_str line = {bytes, size * n};
    if (call->base.is_cancelled)
        return 0;
    /* A status line begins anew: what came before was "100 Continue", or a proxy's own answer. */
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
    if (status < 200 || call->base.is_headed)
        return line.len;
    curl->curl_easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version);
    if (version == CURL_HTTP_VERSION_2_0)
        curl->curl_easy_setopt(call->easy, CURLOPT_FORBID_REUSE, 0L);
    pl_upstream_tell_head(&call->base, (int)status, pl_buf_str(&call->head));
    return call->base.is_cancelled ? 0 : line.len;
}

/* Before a request is sent. libcurl sends it again by itself when a connection that was shared dies
 * without an answer, though the other side may have carried it out. */
static int on_request(void *ctx, char *to, char *from, int to_port, int from_port)
{
    struct curl_call *call = ctx;
    (void)to, (void)from, (void)to_port, (void)from_port;
    if (call->is_begun)
        return CURL_PREREQFUNC_ABORT;
    call->is_begun = true;
    return CURL_PREREQFUNC_OK;
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct curl_call *call = ctx;
    struct pl_str piece = {bytes, size * n};
    if (call->base.is_cancelled)
        return 0;
    if (piece.len)
        pl_upstream_tell_body(&call->base, piece);
    return call->base.is_cancelled ? 0 : piece.len;
}

/* --- life of a call -------------------------------------------------------------------------- */

static void destroy_call(struct curl_call *call)
{
    call->calls->curl->curl_easy_cleanup(call->easy);
    pl_buf_deinit(&call->head);
    pl_mem_free(call);
}

/* Not inside libcurl. Its handle is kept for the next one. */
static void stop(struct pl_upstream_call *base)
{
    struct curl_call *call = call_of(base);
    struct pl_curl_calls *calls = call->calls;
    const struct pl_curl *curl = calls->curl;
    if (call->is_added) {
        calls->n_inside++;
        curl->curl_multi_remove_handle(calls->multi, call->easy);
        calls->n_inside--;
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
    if (calls->n_inside)
        look_later(calls);
    else
        stop(base);
}

static void set_pause(struct pl_upstream_call *base, bool is_paused)
{
    struct curl_call *call = call_of(base);
    struct pl_curl_calls *calls = call->calls;
    if (!call->is_added)
        return;
    /* Going on may bring at once what libcurl has already. */
    calls->n_inside++;
    calls->curl->curl_easy_pause(call->easy, is_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
    calls->n_inside--;
    look_later(calls);
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
    {CURLE_SSL_CACERT_BADFILE, PL_UPSTREAM_FORBIDDEN, "The file of certificates cannot be read."},
    {CURLE_OPERATION_TIMEDOUT, PL_UPSTREAM_TIMEOUT, PL_UPSTREAM_SAY_LATE},
    {CURLE_OUT_OF_MEMORY, PL_UPSTREAM_MEMORY, PL_UPSTREAM_SAY_MEMORY},
    {CURLE_OK, PL_UPSTREAM_BROKEN, PL_UPSTREAM_SAY_BROKEN},
};

/* What a proxy answered instead of making way. */
static bool is_turned_away(const struct curl_call *call)
{
    long status = 0;
    call->calls->curl->curl_easy_getinfo(call->easy, CURLINFO_HTTP_CONNECTCODE, &status);
    return status >= 300;
}

static void settle(struct curl_call *call, CURLcode result)
{
    if (call->base.is_cancelled) {
        stop(&call->base);
        return;
    }
    if (result == CURLE_OK && call->base.is_headed) {
        pl_upstream_tell_end(&call->base);
        return;
    }
    if (is_turned_away(call)) {
        pl_upstream_tell_failure(&call->base, PL_UPSTREAM_FORBIDDEN,
                                 "The proxy makes no way to the model's server.");
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
        if (call->is_added)
            continue;
        if (call->base.is_cancelled) {
            stop(&call->base);
            continue;
        }
        call->is_added = true;
        calls->n_inside++;
        CURLMcode code = calls->curl->curl_multi_add_handle(calls->multi, call->easy);
        calls->n_inside--;
        if (code != CURLM_OK) {
            call->is_added = false;
            pl_upstream_tell_failure(&call->base, PL_UPSTREAM_MEMORY, PL_UPSTREAM_SAY_MEMORY);
            next = calls->first;
            continue;
        }
        has_begun = true;
    }
    if (has_begun)
        run_socket(calls, CURL_SOCKET_TIMEOUT, 0);
}

static void on_turn_end(struct pl_turn_end *end)
{
    struct pl_curl_calls *calls = PL_CONTAINER_OF(end, struct pl_curl_calls, finish);
    begin_calls(calls);
    CURLMsg *message;
    int n_left = 0;
    while ((message = calls->curl->curl_multi_info_read(calls->multi, &n_left))) {
        struct curl_call *call = NULL;
        CURLcode result = message->data.result;
        calls->curl->curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        settle(call, result);
    }
    /* One that was cancelled while libcurl had the word. */
    for (struct curl_call *call = calls->first, *next; call; call = next) {
        next = call->next;
        if (call->base.is_cancelled)
            stop(&call->base);
    }
}

/* --- starting -------------------------------------------------------------------------------- */

static enum pl_status create_calls(struct pl_loop *loop, struct pl_curl_calls **ret_calls,
                                   struct pl_error *err)
{
    const struct pl_curl *curl;
    enum pl_status status = pl_curl_load(&curl, err);
    if (status != PL_OK)
        return status;
    struct pl_curl_calls *calls = pl_mem_alloc(1, sizeof *calls);
    CURLM *multi = calls ? curl->curl_multi_init() : NULL;
    CURLSH *sessions = multi ? curl->curl_share_init() : NULL;
    if (!sessions) {
        if (multi)
            curl->curl_multi_cleanup(multi);
        pl_mem_free(calls);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    *calls =
        (struct pl_curl_calls){.curl = curl, .loop = loop, .multi = multi, .sessions = sessions};
    curl->curl_share_setopt(sessions, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    calls->finish.fn = on_turn_end;
    curl->curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl->curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, calls);
    curl->curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_wanted_time);
    curl->curl_multi_setopt(multi, CURLMOPT_TIMERDATA, calls);
    curl->curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)N_KEPT_CONNECTIONS);
    *ret_calls = calls;
    return PL_OK;
}

void pl_curl_destroy(struct pl_upstreams *upstreams)
{
    struct pl_curl_calls *calls = PL_TAKE(upstreams->curl);
    if (!calls)
        return;
    while (calls->first) {
        calls->first->base.is_cancelled = true;
        stop(&calls->first->base);
    }
    while (calls->spares) {
        struct curl_call *call = calls->spares;
        calls->spares = call->next;
        destroy_call(call);
    }
    calls->curl->curl_multi_cleanup(calls->multi);
    calls->curl->curl_share_cleanup(calls->sessions);
    pl_timer_stop(calls->loop, &calls->timer);
    pl_loop_forget_turn_end(calls->loop, &calls->finish);
    for (size_t fd = 0; fd < calls->by_fd.len; fd++)
        end_wire(calls, (curl_socket_t)fd);
    pl_vec_deinit(&calls->by_fd);
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
    /* Rather share a connection that is being made than make another. */
    curl->curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    curl->curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
    curl->curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)call->base.connect_ms);
    curl->curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call->calls);
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, call->calls);
    if (request->ca_file)
        curl->curl_easy_setopt(easy, CURLOPT_CAINFO, request->ca_file);
    if (request->body) {
        struct pl_str body = pl_buf_str(&call->base.body);
        curl->curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
        curl->curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.ptr ? body.ptr : "");
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
    call->is_added = call->is_begun = false;
    call->prev = NULL;
    call->next = calls->first;
    if (call->next)
        call->next->prev = call;
    calls->first = call;
    /* Without the first, a long body would wait for the answer "100"; HTTP/2 has no second. */
    bool has_all = add_header(call, "Expect:") && add_header(call, "Connection: close");
    for (size_t i = 0; has_all && request->headers && request->headers[i]; i++)
        has_all = add_header(call, request->headers[i]);
    if (!has_all) {
        stop(&call->base);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    set_options(call, request);
    /* libcurl itself sees to the time of connecting. */
    pl_upstream_is_connected(&call->base);
    look_later(calls);
    *ret_call = &call->base;
    return PL_OK;
}
