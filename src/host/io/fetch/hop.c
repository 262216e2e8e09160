/* One request to a place that was admitted, on the loop.
 *
 * libcurl is given the addresses with the name, so that it does not resolve anything; and a socket
 * is opened only to one of them, whatever libcurl makes of the URL. There is no proxy: it would
 * resolve again, and elsewhere. Every hop has a multi handle of its own: what libcurl remembers
 * there of names and connections serves nobody else. libcurl may not be called from its own
 * callbacks, so everything else happens at the end of the turn. */
#include "io/fetch_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/curl_int.h"
#include "io/watch.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

enum { MAX_HEAD = 64 << 10, MAX_LOCATION = 8192 };

struct wire {
    struct pl_watch watch;
    struct pl_hop *hop; /* borrowed */
    struct wire *next;
};

struct pl_hop {
    const struct pl_curl *curl;
    struct pl_loop *loop;        /* borrowed */
    CURLM *multi;                /* owned */
    CURL *easy;                  /* owned */
    struct curl_slist *pins;     /* owned */
    struct wire *wires;          /* owned; sockets that are watched */
    struct pl_fetch_place place; /* the strings are those of whoever started it */
    int64_t max_bytes;
    const struct pl_hop_ops *ops;
    void *ctx;
    struct pl_timer timer;
    struct pl_turn_end look;
    size_t n_head;
    struct pl_buf location, content_type; /* owned */
    bool has_location, has_type;
    enum pl_status status; /* what a callback has to say */
    int http_status;
    bool is_enough; /* the body is of no interest */
    bool is_begun, is_over, is_late;
    bool wants_pause, is_paused;
};

/* --- sockets --------------------------------------------------------------------------------- */

static void look_later(struct pl_hop *hop)
{
    pl_loop_at_turn_end(hop->loop, &hop->look);
}

static void run_socket(struct pl_hop *hop, curl_socket_t fd, int events)
{
    int n_running = 0;
    hop->curl->curl_multi_socket_action(hop->multi, fd, events, &n_running);
    look_later(hop);
}

static void on_socket(struct pl_watch *watch, uint32_t events)
{
    struct wire *wire = PL_CONTAINER_OF(watch, struct wire, watch);
    int what = 0;
    if (events & (EPOLLIN | EPOLLHUP))
        what |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        what |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        what |= CURL_CSELECT_ERR;
    run_socket(wire->hop, watch->fd, what);
}

static void bury(struct pl_watch *watch)
{
    pl_mem_free(PL_CONTAINER_OF(watch, struct wire, watch));
}

static void end_wire(struct pl_hop *hop, curl_socket_t fd)
{
    for (struct wire **link = &hop->wires; *link; link = &(*link)->next) {
        struct wire *wire = *link;
        if (wire->watch.fd != fd)
            continue;
        *link = wire->next;
        pl_watch_end(hop->loop, &wire->watch, bury);
        return;
    }
}

static int add_wire(struct pl_hop *hop, curl_socket_t fd, uint32_t events)
{
    struct wire *wire = pl_mem_alloc(1, sizeof *wire);
    if (!wire)
        return -1;
    *wire = (struct wire){.hop = hop, .next = hop->wires};
    if (pl_watch_start(hop->loop, &wire->watch, fd, events, on_socket) != PL_OK) {
        pl_mem_free(wire);
        return -1;
    }
    hop->wires = wire;
    return 0;
}

/* What libcurl wants to know of a socket from now on. -1 fails the request. */
static int on_interest(CURL *easy, curl_socket_t fd, int what, void *ctx, void *of_socket)
{
    static const uint32_t wants[] = {
        [CURL_POLL_IN] = EPOLLIN,
        [CURL_POLL_OUT] = EPOLLOUT,
        [CURL_POLL_INOUT] = EPOLLIN | EPOLLOUT,
    };
    struct pl_hop *hop = ctx;
    (void)easy, (void)of_socket;
    if (what == CURL_POLL_REMOVE) {
        end_wire(hop, fd);
        return 0;
    }
    for (struct wire *wire = hop->wires; wire; wire = wire->next)
        if (wire->watch.fd == fd) {
            pl_watch_want(hop->loop, &wire->watch, wants[what]);
            return 0;
        }
    return add_wire(hop, fd, wants[what]);
}

static bool is_admitted(const struct pl_fetch_place *place, const struct curl_sockaddr *to)
{
    const struct sockaddr_in *v4 = (const void *)&to->addr;
    const struct sockaddr_in6 *v6 = (const void *)&to->addr;
    bool is_v6 = to->family == AF_INET6;
    if (!is_v6 && to->family != AF_INET)
        return false;
    const void *bytes = is_v6 ? (const void *)&v6->sin6_addr : &v4->sin_addr;
    in_port_t port = is_v6 ? v6->sin6_port : v4->sin_port;
    for (size_t i = 0; i < place->addresses.n; i++)
        if (place->addresses.list[i].is_v6 == is_v6 &&
            memcmp(place->addresses.list[i].bytes, bytes, is_v6 ? 16 : 4) == 0)
            return ntohs(port) == place->port;
    return false;
}

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
    const struct pl_hop *hop = ctx;
    if (purpose != CURLSOCKTYPE_IPCXN || !is_admitted(&hop->place, to))
        return CURL_SOCKET_BAD;
    return socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
}

static int close_socket(void *ctx, curl_socket_t fd)
{
    end_wire(ctx, fd);
    return close(fd);
}

static void on_time(struct pl_timer *timer)
{
    run_socket(PL_CONTAINER_OF(timer, struct pl_hop, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int on_wanted_time(CURLM *multi, long delay_ms, void *ctx)
{
    struct pl_hop *hop = ctx;
    (void)multi;
    if (delay_ms < 0)
        pl_timer_stop(hop->loop, &hop->timer);
    else
        pl_timer_start(hop->loop, &hop->timer, delay_ms, on_time);
    return 0;
}

/* --- the answer ------------------------------------------------------------------------------ */

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct pl_hop *hop = ctx;
    struct pl_str piece = {bytes, size * n};
    long status = 0;
    hop->curl->curl_easy_getinfo(hop->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status > 299) {
        hop->is_enough = true;
        return 0;
    }
    if (!hop->ops->on_bytes(hop->ctx, piece))
        hop->status = PL_LIMIT;
    return hop->status == PL_OK ? piece.len : 0;
}

static void keep(struct pl_hop *hop, struct pl_str value, struct pl_buf *to, bool *has)
{
    pl_buf_clear(to);
    pl_buf_add(to, value);
    *has = true;
    if (to->status != PL_OK)
        hop->status = PL_NOMEM;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
    struct pl_hop *hop = ctx;
    struct pl_str line = {bytes, size * n}, value;
    hop->n_head += line.len;
    if (hop->n_head > MAX_HEAD)
        hop->status = PL_LIMIT;
    else if (pl_curl_header(line, "Location", &value) && value.len <= MAX_LOCATION)
        keep(hop, value, &hop->location, &hop->has_location);
    else if (pl_curl_header(line, "Content-Type", &value))
        keep(hop, value, &hop->content_type, &hop->has_type);
    return hop->status == PL_OK ? line.len : 0;
}

static enum pl_status fail(const struct pl_hop *hop, CURLcode code, struct pl_error *err)
{
    struct pl_str host = pl_str_slice(hop->place.host, 0, 200);
    if (hop->status == PL_LIMIT || code == CURLE_FILESIZE_EXCEEDED)
        return pl_fail(err, PL_LIMIT,
                       "the answer of %.*s is too large; at most %lld bytes are fetched",
                       PL_STR_ARG(host), (long long)hop->max_bytes);
    if (hop->status != PL_OK || code == CURLE_OUT_OF_MEMORY)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (hop->is_late)
        return pl_fail(err, PL_LIMIT, "%.*s is too slow", PL_STR_ARG(host));
    bool is_nobody = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
    return pl_fail(err, is_nobody ? PL_NOT_FOUND : PL_IO, "%.*s %s: %s", PL_STR_ARG(host),
                   is_nobody ? "does not answer" : "did not answer to the end",
                   hop->curl->curl_easy_strerror(code));
}

static void settle(struct pl_hop *hop, CURLcode code)
{
    struct pl_error err = {0};
    long status = 0;
    enum pl_status result = PL_OK;
    hop->curl->curl_easy_getinfo(hop->easy, CURLINFO_RESPONSE_CODE, &status);
    hop->http_status = (int)status;
    hop->is_late = hop->status == PL_OK && code == CURLE_OPERATION_TIMEDOUT;
    if (hop->status != PL_OK || (code != CURLE_OK && !hop->is_enough))
        result = fail(hop, code, &err);
    hop->is_over = true;
    hop->ops->on_end(hop->ctx, result, &err);
}

/* Begins it, pauses it, ends it. The hop may be gone when this returns. */
static void on_turn_end(struct pl_turn_end *end)
{
    struct pl_hop *hop = PL_CONTAINER_OF(end, struct pl_hop, look);
    if (hop->is_over)
        return;
    if (!hop->is_begun) {
        hop->is_begun = true;
        if (hop->curl->curl_multi_add_handle(hop->multi, hop->easy) != CURLM_OK) {
            settle(hop, CURLE_OUT_OF_MEMORY);
            return;
        }
        run_socket(hop, CURL_SOCKET_TIMEOUT, 0);
    }
    CURLMsg *message;
    int n_left = 0;
    while ((message = hop->curl->curl_multi_info_read(hop->multi, &n_left)))
        if (message->msg == CURLMSG_DONE) {
            settle(hop, message->data.result);
            return;
        }
    if (hop->wants_pause == hop->is_paused)
        return;
    hop->is_paused = hop->wants_pause;
    hop->curl->curl_easy_pause(hop->easy, hop->is_paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
    look_later(hop);
}

/* --- starting -------------------------------------------------------------------------------- */

/* "host:port:address,address" */
static void write_pin(const struct pl_fetch_place *place, struct pl_buf *to)
{
    pl_buf_add(to, place->host);
    pl_buf_addf(to, ":%d:", (int)place->port);
    for (size_t i = 0; i < place->addresses.n; i++) {
        bool is_v6 = place->addresses.list[i].is_v6;
        pl_buf_adds(to, i ? "," : "");
        pl_buf_adds(to, is_v6 ? "[" : "");
        pl_address_write(&place->addresses.list[i], to);
        pl_buf_adds(to, is_v6 ? "]" : "");
    }
    pl_buf_addc(to, '\0');
}

/* The URL as it was admitted, without what is for the reader only. */
static void write_target(const struct pl_fetch_place *place, struct pl_buf *to)
{
    struct pl_url url = place->url;
    url.host = place->host;
    url.fragment = (struct pl_str){0};
    pl_url_write(&url, to);
    pl_buf_addc(to, '\0');
}

static void set_options(struct pl_hop *hop, const char *url, int64_t left_ms)
{
    const struct pl_curl *curl = hop->curl;
    CURL *easy = hop->easy;
    pl_curl_set_basics(curl, easy, url, on_bytes, hop);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERDATA, hop);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, hop);
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, hop);
    curl->curl_easy_setopt(easy, CURLOPT_RESOLVE, hop->pins);
    curl->curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl->curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl->curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl->curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    curl->curl_easy_setopt(easy, CURLOPT_USERAGENT, "parley");
    curl->curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)hop->max_bytes);
    curl->curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
    curl->curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)(left_ms < PL_FETCH_CONNECT_MS ? left_ms : PL_FETCH_CONNECT_MS));
    curl->curl_multi_setopt(hop->multi, CURLMOPT_SOCKETFUNCTION, on_interest);
    curl->curl_multi_setopt(hop->multi, CURLMOPT_SOCKETDATA, hop);
    curl->curl_multi_setopt(hop->multi, CURLMOPT_TIMERFUNCTION, on_wanted_time);
    curl->curl_multi_setopt(hop->multi, CURLMOPT_TIMERDATA, hop);
}

static bool prepare(struct pl_hop *hop, int64_t left_ms)
{
    PL_CLEANUP_BUF struct pl_buf url, pin;
    pl_buf_init(&url, 0);
    pl_buf_init(&pin, 0);
    write_target(&hop->place, &url);
    write_pin(&hop->place, &pin);
    if (url.status != PL_OK || pin.status != PL_OK)
        return false;
    if (hop->place.url.host_kind == PL_URL_HOST_DOMAIN) {
        hop->pins = hop->curl->curl_slist_append(NULL, pin.ptr);
        if (!hop->pins)
            return false;
    }
    hop->multi = hop->curl->curl_multi_init();
    hop->easy = hop->curl->curl_easy_init();
    if (!hop->multi || !hop->easy)
        return false;
    set_options(hop, url.ptr, left_ms);
    return true;
}

enum pl_status pl_hop_start(struct pl_loop *loop, const struct pl_fetch_place *place,
                            int64_t max_bytes, int64_t left_ms, const struct pl_hop_ops *ops,
                            void *ctx, struct pl_hop **ret_hop, struct pl_error *err)
{
    const struct pl_curl *curl;
    enum pl_status status = pl_curl_load(&curl, err);
    if (status != PL_OK)
        return status;
    struct pl_hop *hop = pl_mem_alloc(1, sizeof *hop);
    if (!hop)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *hop = (struct pl_hop){.curl = curl,
                           .loop = loop,
                           .place = *place,
                           .max_bytes = max_bytes,
                           .ops = ops,
                           .ctx = ctx,
                           .look = {.fn = on_turn_end}};
    pl_buf_init(&hop->location, 0);
    pl_buf_init(&hop->content_type, 0);
    if (!prepare(hop, left_ms)) {
        pl_hop_destroy(hop);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    look_later(hop);
    *ret_hop = hop;
    return PL_OK;
}

void pl_hop_destroy(struct pl_hop *hop)
{
    if (!hop)
        return;
    if (hop->is_begun)
        hop->curl->curl_multi_remove_handle(hop->multi, hop->easy);
    if (hop->easy)
        hop->curl->curl_easy_cleanup(hop->easy);
    if (hop->multi)
        hop->curl->curl_multi_cleanup(hop->multi);
    hop->curl->curl_slist_free_all(hop->pins);
    while (hop->wires)
        end_wire(hop, hop->wires->watch.fd);
    pl_timer_stop(hop->loop, &hop->timer);
    pl_loop_forget_turn_end(hop->loop, &hop->look);
    pl_buf_deinit(&hop->location);
    pl_buf_deinit(&hop->content_type);
    pl_mem_free(hop);
}

void pl_hop_pause(struct pl_hop *hop, bool is_paused)
{
    hop->wants_pause = is_paused;
    look_later(hop);
}

int pl_hop_status(const struct pl_hop *hop)
{
    return hop->http_status;
}

bool pl_hop_is_late(const struct pl_hop *hop)
{
    return hop->is_late;
}

static struct pl_str text_of(const struct pl_buf *text, bool has)
{
    struct pl_str none = {0};
    return !has ? none : text->len ? pl_buf_str(text) : PL_STR("");
}

struct pl_str pl_hop_location(const struct pl_hop *hop)
{
    return text_of(&hop->location, hop->has_location);
}

struct pl_str pl_hop_content_type(const struct pl_hop *hop)
{
    return text_of(&hop->content_type, hop->has_type);
}
