#include "io/upstream.h"

#include "base/mem.h"
#include "base/table.h"
#include "base/vec.h"
#include "io/curl_int.h"
#include "io/watch.h"

#include <stdio.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

enum { CONNECT_MS = 10000, FIRST_BYTE_MS = 120000, IDLE_MS = 90000, MAX_HEAD = 64 << 10 };
enum { N_KEPT_CONNECTIONS = 256, N_SPARE_CALLS = 64, MAX_LINE = 4096 };

/* A socket libcurl has. That of a connection stays watched between two calls: libcurl takes its
 * interest back after each, and asking the kernel twice for every call would be dear. */
struct wire {
    struct pl_watch watch;
    struct pl_upstreams *upstreams; /* borrowed */
    bool is_connection;             /* it tells us when it closes the socket */
    bool is_watched, is_idle;
};

struct pl_upstreams {
    const struct pl_curl *curl;
    struct pl_loop *loop; /* borrowed */
    CURLM *multi;         /* owned */
    struct pl_timer timer;
    struct pl_turn_end finish;       /* begins and ends calls, where libcurl allows it */
    PL_VEC(struct wire *) by_fd;     /* owned; NULL where it has none */
    struct pl_upstream_call *calls;  /* owned by those who started them; newest first */
    struct pl_upstream_call *spares; /* owned; their handles keep what is dear to make */
    size_t n_spares;
    int n_inside; /* we are inside libcurl: it takes no calls of most functions then */
};

struct pl_upstream_call {
    struct pl_upstreams *upstreams; /* borrowed */
    struct pl_upstream_call *prev, *next;
    CURL *easy;                 /* owned */
    struct curl_slist *headers; /* owned */
    struct pl_buf body, head;   /* owned; what is sent, and the headers of the answer */
    struct pl_buf *body_back;   /* borrowed; NULL: nobody wants it back */
    const struct pl_upstream_ops *ops;
    void *ctx;
    struct pl_timer timer; /* to the first byte, then of silence */
    int64_t idle_ms, last_ms;
    int status;
    bool is_added; /* libcurl has it */
    bool is_headed, is_paused, is_cancelled;
};

/* --- sockets --------------------------------------------------------------------------------- */

static void look_later(struct pl_upstreams *upstreams)
{
    pl_loop_at_turn_end(upstreams->loop, &upstreams->finish);
}

static void run_socket(struct pl_upstreams *upstreams, curl_socket_t fd, int events)
{
    int n_running = 0;
    upstreams->n_inside++;
    upstreams->curl->curl_multi_socket_action(upstreams->multi, fd, events, &n_running);
    upstreams->n_inside--;
    look_later(upstreams);
}

static void on_socket(struct pl_watch *watch, uint32_t events)
{
    struct wire *wire = PL_CONTAINER_OF(watch, struct wire, watch);
    /* Something on a connection nobody uses, its end most likely: found out with the next call. */
    if (wire->is_idle) {
        pl_watch_want(wire->upstreams->loop, watch, 0);
        return;
    }
    int what = 0;
    if (events & (EPOLLIN | EPOLLHUP))
        what |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        what |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        what |= CURL_CSELECT_ERR;
    run_socket(wire->upstreams, watch->fd, what);
}

static struct wire *wire_of(struct pl_upstreams *upstreams, curl_socket_t fd)
{
    return (size_t)fd < upstreams->by_fd.len ? upstreams->by_fd.ptr[fd] : NULL;
}

static struct wire *add_wire(struct pl_upstreams *upstreams, curl_socket_t fd, bool is_connection)
{
    struct wire *wire = pl_mem_alloc(1, sizeof *wire);
    if (!wire)
        return NULL;
    while (upstreams->by_fd.len <= (size_t)fd)
        if (!pl_vec_push(&upstreams->by_fd, NULL)) {
            pl_mem_free(wire);
            return NULL;
        }
    *wire = (struct wire){.upstreams = upstreams, .is_connection = is_connection};
    upstreams->by_fd.ptr[fd] = wire;
    return wire;
}

static void bury(struct pl_watch *watch)
{
    pl_mem_free(PL_CONTAINER_OF(watch, struct wire, watch));
}

static void end_wire(struct pl_upstreams *upstreams, curl_socket_t fd)
{
    struct wire *wire = wire_of(upstreams, fd);
    if (!wire)
        return;
    upstreams->by_fd.ptr[fd] = NULL;
    if (wire->is_watched)
        pl_watch_end(upstreams->loop, &wire->watch, bury);
    else
        pl_mem_free(wire);
}

static int watch_wire(struct pl_upstreams *upstreams, struct wire *wire, curl_socket_t fd,
                      uint32_t events)
{
    wire->is_idle = false;
    if (wire->is_watched) {
        pl_watch_want(upstreams->loop, &wire->watch, events);
        return 0;
    }
    if (pl_watch_start(upstreams->loop, &wire->watch, fd, events, on_socket) != PL_OK)
        return -1;
    wire->is_watched = true;
    return 0;
}

/* What libcurl wants to know of a socket from now on. -1 fails the calls on it. */
static int on_interest(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    struct pl_upstreams *upstreams = ctx;
    struct wire *wire = wire_of(upstreams, fd);
    (void)easy;
    (void)of_socket;
    if (what == CURL_POLL_REMOVE) {
        if (wire && wire->is_connection)
            wire->is_idle = true;
        else
            end_wire(upstreams, fd);
        return 0;
    }
    if (!wire)
        wire = add_wire(upstreams, fd, false);
    if (!wire)
        return -1;
    static const uint32_t wants[] = {
        [CURL_POLL_IN] = EPOLLIN,
        [CURL_POLL_OUT] = EPOLLOUT,
        [CURL_POLL_INOUT] = EPOLLIN | EPOLLOUT,
    };
    return watch_wire(upstreams, wire, fd, wants[what]);
}

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct pl_upstreams *upstreams = ctx;
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    if (!add_wire(upstreams, fd, true)) {
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
    run_socket(PL_CONTAINER_OF(timer, struct pl_upstreams, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int on_wanted_time(CURLM *multi, long delay_ms, void *ctx)
{
    struct pl_upstreams *upstreams = ctx;
    (void)multi;
    if (delay_ms < 0)
        pl_timer_stop(upstreams->loop, &upstreams->timer);
    else
        pl_timer_start(upstreams->loop, &upstreams->timer, delay_ms, on_time);
    return 0;
}

/* --- the answer ------------------------------------------------------------------------------ */

static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
    struct pl_upstream_call *call = ctx;
    struct pl_str line = {bytes, size * n};
    if (call->is_cancelled)
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
    long status = 0;
    call->upstreams->curl->curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || call->is_headed)
        return line.len;
    call->status = (int)status;
    call->is_headed = true;
    call->last_ms = pl_loop_now_ms(call->upstreams->loop);
    call->ops->on_head(call->ctx, call->status);
    return call->is_cancelled ? 0 : line.len;
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct pl_upstream_call *call = ctx;
    struct pl_str piece = {bytes, size * n};
    if (call->is_cancelled)
        return 0;
    call->last_ms = pl_loop_now_ms(call->upstreams->loop);
    if (piece.len)
        call->ops->on_body(call->ctx, piece);
    return call->is_cancelled ? 0 : piece.len;
}

struct pl_str pl_upstream_headers(const struct pl_upstream_call *call)
{
    return pl_buf_str(&call->head);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct pl_str pl_upstream_header(const struct pl_upstream_call *call, const char *name)
{
    struct pl_str rest = pl_buf_str(&call->head);
    size_t n_name = strlen(name);
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct pl_str line = {rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
        rest = pl_str_slice(rest, line.len + (end != NULL), rest.len);
        if (line.len <= n_name || line.ptr[n_name] != ':' ||
            strncasecmp(line.ptr, name, n_name) != 0)
            continue;
        struct pl_str value = pl_str_slice(line, n_name + 1, line.len);
        while (value.len && is_blank(value.ptr[0]))
            value = pl_str_slice(value, 1, value.len);
        while (value.len && is_blank(value.ptr[value.len - 1]))
            value.len--;
        return value;
    }
    return (struct pl_str){NULL, 0};
}

/* --- life of a call -------------------------------------------------------------------------- */

static void destroy_call(struct pl_upstream_call *call)
{
    call->upstreams->curl->curl_easy_cleanup(call->easy);
    pl_buf_deinit(&call->body);
    pl_buf_deinit(&call->head);
    pl_mem_free(call);
}

/* Not inside libcurl. Its handle is kept for the next one. */
static void end_call(struct pl_upstream_call *call)
{
    struct pl_upstreams *upstreams = call->upstreams;
    const struct pl_curl *curl = upstreams->curl;
    pl_timer_stop(upstreams->loop, &call->timer);
    if (call->is_added) {
        upstreams->n_inside++;
        curl->curl_multi_remove_handle(upstreams->multi, call->easy);
        upstreams->n_inside--;
    }
    if (call->prev)
        call->prev->next = call->next;
    else
        upstreams->calls = call->next;
    if (call->next)
        call->next->prev = call->prev;
    curl->curl_slist_free_all(call->headers);
    call->headers = NULL;
    if (call->body_back && !call->is_cancelled) {
        pl_buf_deinit(call->body_back);
        *call->body_back = call->body;
        pl_buf_init(&call->body, 0);
    }
    call->body_back = NULL;
    if (upstreams->n_spares == N_SPARE_CALLS) {
        destroy_call(call);
        return;
    }
    curl->curl_easy_reset(call->easy);
    pl_buf_deinit(&call->body);
    pl_buf_init(&call->body, 0);
    pl_buf_clear(&call->head);
    call->next = upstreams->spares;
    upstreams->spares = call;
    upstreams->n_spares++;
}

static void fail_call(struct pl_upstream_call *call, enum pl_upstream_failure why,
                      const char *sentence)
{
    const struct pl_upstream_ops *ops = call->ops;
    void *ctx = call->ctx;
    end_call(call);
    ops->on_failed(ctx, why, sentence);
}

static void on_silence(struct pl_timer *timer)
{
    struct pl_upstream_call *call = PL_CONTAINER_OF(timer, struct pl_upstream_call, timer);
    struct pl_loop *loop = call->upstreams->loop;
    int64_t left_ms = call->idle_ms - (pl_loop_now_ms(loop) - call->last_ms);
    if (call->is_paused)
        left_ms = call->idle_ms;
    if (call->is_headed && left_ms > 0)
        pl_timer_start(loop, timer, left_ms, on_silence);
    else
        fail_call(call, PL_UPSTREAM_TIMEOUT,
                  call->is_headed ? "The model's server fell silent in mid-answer."
                                  : "The model's server did not begin to answer in time.");
}

static const struct {
    CURLcode code;
    enum pl_upstream_failure why;
    const char *sentence;
} failures[] = {
    {CURLE_COULDNT_RESOLVE_HOST, PL_UPSTREAM_REFUSED, "The name of the model's server is unknown."},
    {CURLE_COULDNT_RESOLVE_PROXY, PL_UPSTREAM_REFUSED, "The name of the proxy is unknown."},
    {CURLE_COULDNT_CONNECT, PL_UPSTREAM_REFUSED, "The model's server does not accept connections."},
    {CURLE_SSL_CONNECT_ERROR, PL_UPSTREAM_REFUSED, "TLS with the model's server failed."},
    {CURLE_PEER_FAILED_VERIFICATION, PL_UPSTREAM_REFUSED,
     "The certificate of the model's server is not trusted."},
    {CURLE_SSL_CACERT_BADFILE, PL_UPSTREAM_REFUSED, "The file of certificates cannot be read."},
    {CURLE_OPERATION_TIMEDOUT, PL_UPSTREAM_TIMEOUT,
     "No connection to the model's server was made in time."},
    {CURLE_OUT_OF_MEMORY, PL_UPSTREAM_MEMORY, "Out of memory while asking the model's server."},
    {CURLE_OK, PL_UPSTREAM_BROKEN, "The connection to the model's server broke off."},
};

static void settle(struct pl_upstream_call *call, CURLcode result)
{
    if (call->is_cancelled) {
        end_call(call);
        return;
    }
    if (result == CURLE_OK && call->is_headed) {
        const struct pl_upstream_ops *ops = call->ops;
        void *ctx = call->ctx;
        end_call(call);
        ops->on_end(ctx);
        return;
    }
    size_t i = 0;
    while (failures[i].code != CURLE_OK && failures[i].code != result)
        i++;
    bool is_short = call->head.status == PL_NOMEM;
    fail_call(call, is_short ? PL_UPSTREAM_MEMORY : failures[i].why, failures[i].sentence);
}

static void begin_calls(struct pl_upstreams *upstreams)
{
    bool has_begun = false;
    for (struct pl_upstream_call *call = upstreams->calls, *next; call; call = next) {
        next = call->next;
        if (call->is_added)
            continue;
        if (call->is_cancelled) {
            end_call(call);
            continue;
        }
        call->is_added = true;
        upstreams->n_inside++;
        CURLMcode code = upstreams->curl->curl_multi_add_handle(upstreams->multi, call->easy);
        upstreams->n_inside--;
        if (code != CURLM_OK) {
            call->is_added = false;
            fail_call(call, PL_UPSTREAM_MEMORY, "Out of memory while asking the model's server.");
            next = upstreams->calls;
            continue;
        }
        has_begun = true;
    }
    if (has_begun)
        run_socket(upstreams, CURL_SOCKET_TIMEOUT, 0);
}

static void on_turn_end(struct pl_turn_end *end)
{
    struct pl_upstreams *upstreams = PL_CONTAINER_OF(end, struct pl_upstreams, finish);
    begin_calls(upstreams);
    CURLMsg *message;
    int n_left = 0;
    while ((message = upstreams->curl->curl_multi_info_read(upstreams->multi, &n_left))) {
        struct pl_upstream_call *call = NULL;
        CURLcode result = message->data.result;
        upstreams->curl->curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        settle(call, result);
    }
    /* One that was cancelled while libcurl had the word. */
    for (struct pl_upstream_call *call = upstreams->calls, *next; call; call = next) {
        next = call->next;
        if (call->is_cancelled)
            end_call(call);
    }
}

/* --- starting -------------------------------------------------------------------------------- */

enum pl_status pl_upstreams_create(struct pl_loop *loop, struct pl_upstreams **ret_upstreams,
                                   struct pl_error *err)
{
    const struct pl_curl *curl;
    enum pl_status status = pl_curl_load(&curl, err);
    if (status != PL_OK)
        return status;
    struct pl_upstreams *upstreams = pl_mem_alloc(1, sizeof *upstreams);
    CURLM *multi = upstreams ? curl->curl_multi_init() : NULL;
    if (!multi) {
        pl_mem_free(upstreams);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    *upstreams = (struct pl_upstreams){.curl = curl, .loop = loop, .multi = multi};
    upstreams->finish.fn = on_turn_end;
    curl->curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl->curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, upstreams);
    curl->curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_wanted_time);
    curl->curl_multi_setopt(multi, CURLMOPT_TIMERDATA, upstreams);
    curl->curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)N_KEPT_CONNECTIONS);
    *ret_upstreams = upstreams;
    return PL_OK;
}

void pl_upstreams_destroy(struct pl_upstreams *upstreams)
{
    if (!upstreams)
        return;
    while (upstreams->calls) {
        upstreams->calls->is_cancelled = true;
        end_call(upstreams->calls);
    }
    while (upstreams->spares) {
        struct pl_upstream_call *call = upstreams->spares;
        upstreams->spares = call->next;
        destroy_call(call);
    }
    upstreams->curl->curl_multi_cleanup(upstreams->multi);
    pl_timer_stop(upstreams->loop, &upstreams->timer);
    pl_loop_forget_turn_end(upstreams->loop, &upstreams->finish);
    for (size_t fd = 0; fd < upstreams->by_fd.len; fd++)
        end_wire(upstreams, (curl_socket_t)fd);
    pl_vec_deinit(&upstreams->by_fd);
    pl_mem_free(upstreams);
}

struct pl_loop *pl_upstreams_loop(const struct pl_upstreams *upstreams)
{
    return upstreams->loop;
}

static struct pl_upstream_call *take_call(struct pl_upstreams *upstreams)
{
    struct pl_upstream_call *call = upstreams->spares;
    if (call) {
        upstreams->spares = call->next;
        upstreams->n_spares--;
        return call;
    }
    call = pl_mem_alloc(1, sizeof *call);
    CURL *easy = call ? upstreams->curl->curl_easy_init() : NULL;
    if (!easy) {
        pl_mem_free(call);
        return NULL;
    }
    *call = (struct pl_upstream_call){.upstreams = upstreams, .easy = easy};
    pl_buf_init(&call->body, 0);
    pl_buf_init(&call->head, MAX_HEAD);
    return call;
}

/* A line break in a value would begin another header. */
static enum pl_status add_header(struct pl_upstream_call *call, const char *line,
                                 struct pl_error *err)
{
    size_t n = strlen(line);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7F || n > MAX_LINE)
            return pl_fail(err, PL_INVALID,
                           "a header for the model's server is too long or has control characters");
    struct curl_slist *longer = call->upstreams->curl->curl_slist_append(call->headers, line);
    if (!longer)
        return pl_fail(err, PL_NOMEM, "out of memory");
    call->headers = longer;
    return PL_OK;
}

static void set_options(struct pl_upstream_call *call, const struct pl_upstream_request *request)
{
    const struct pl_curl *curl = call->upstreams->curl;
    CURL *easy = call->easy;
    int64_t connect_ms = request->connect_ms ? request->connect_ms : CONNECT_MS;
    curl->curl_easy_setopt(easy, CURLOPT_URL, request->url);
    curl->curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl->curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
    curl->curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    curl->curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl->curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl->curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl->curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call->upstreams);
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, call->upstreams);
    if (request->ca_file)
        curl->curl_easy_setopt(easy, CURLOPT_CAINFO, request->ca_file);
    if (request->body) {
        struct pl_buf none;
        pl_buf_init(&none, 0);
        pl_buf_deinit(&call->body);
        call->body = *request->body;
        *request->body = none;
        call->body_back = request->body_back;
        curl->curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        curl->curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body.ptr ? call->body.ptr : "");
    }
    curl->curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
}

enum pl_status pl_upstream_start(struct pl_upstreams *upstreams,
                                 const struct pl_upstream_request *request,
                                 const struct pl_upstream_ops *ops, void *ctx,
                                 struct pl_upstream_call **ret_call, struct pl_error *err)
{
    if (strncmp(request->url, "http://", 7) != 0 && strncmp(request->url, "https://", 8) != 0)
        return pl_fail(err, PL_INVALID,
                       "the address of a model's server begins with http:// or "
                       "https://");
    struct pl_upstream_call *call = take_call(upstreams);
    if (!call)
        return pl_fail(err, PL_NOMEM, "out of memory");
    call->ops = ops;
    call->ctx = ctx;
    call->idle_ms = request->idle_ms ? request->idle_ms : IDLE_MS;
    call->status = 0;
    call->is_added = call->is_headed = call->is_paused = call->is_cancelled = false;
    call->prev = NULL;
    call->next = upstreams->calls;
    if (call->next)
        call->next->prev = call;
    upstreams->calls = call;
    /* Without it, a long body would wait for the answer "100". */
    enum pl_status status = add_header(call, "Expect:", err);
    for (size_t i = 0; status == PL_OK && request->headers && request->headers[i]; i++)
        status = add_header(call, request->headers[i], err);
    if (status != PL_OK) {
        end_call(call);
        return status;
    }
    set_options(call, request);
    pl_timer_start(upstreams->loop, &call->timer,
                   request->first_byte_ms ? request->first_byte_ms : FIRST_BYTE_MS, on_silence);
    look_later(upstreams);
    *ret_call = call;
    return PL_OK;
}

void pl_upstream_cancel(struct pl_upstream_call *call)
{
    if (!call)
        return;
    call->is_cancelled = true;
    if (call->upstreams->n_inside)
        look_later(call->upstreams);
    else
        end_call(call);
}

static void set_pause(struct pl_upstream_call *call, bool is_paused)
{
    struct pl_upstreams *upstreams = call->upstreams;
    if (call->is_paused == is_paused || call->is_cancelled)
        return;
    call->is_paused = is_paused;
    call->last_ms = pl_loop_now_ms(upstreams->loop);
    if (!call->is_added)
        return;
    /* Going on may bring at once what libcurl has already. */
    upstreams->n_inside++;
    upstreams->curl->curl_easy_pause(call->easy, is_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
    upstreams->n_inside--;
    look_later(upstreams);
}

void pl_upstream_pause(struct pl_upstream_call *call)
{
    set_pause(call, true);
}

void pl_upstream_resume(struct pl_upstream_call *call)
{
    set_pause(call, false);
}
