/* One request to an admitted place, on the loop.
 *
 *     machine hop
 *
 *     START -> GOING -> PAUSED -> GOING
 *     START, GOING, PAUSED -> OVER
 *
 * libcurl gets the addresses with the name, so that it does not resolve anything; and a socket is
 * opened only to one of these addresses, however libcurl reads the URL. No proxy is used: it would
 * resolve the name again. Every hop has its own multi handle, so that hops do not share libcurl's
 * caches of names and connections. libcurl may not be called from its own callbacks, so the other
 * steps happen at the end of the turn. */
#include "io/fetch/fetch_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/move.h"
#include "io/upstream/curl_multi.h"

#include <netinet/in.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

enum { MAX_HEAD = 64 << 10, MAX_LOCATION = 8192 };

enum state { HOP_START, HOP_GOING, HOP_PAUSED, HOP_OVER };

#define TO(name) PL_TO(HOP_##name)
static const struct pl_state states[] = {
    [HOP_START] = {"start", TO(GOING) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                   .why = "the end of this turn of the loop"},
    [HOP_GOING] = {"going", TO(PAUSED) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                   .why = "left_ms, by libcurl, and the fetch's own deadline"},
    [HOP_PAUSED] = {"paused", TO(GOING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                    .why = "left_ms, by libcurl, and the fetch's own deadline"},
    [HOP_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("hop", states);

struct pl_hop {
    const struct pl_curl *curl;
    struct pl_curl_multi multi;  /* its `look` begins, pauses and ends the hop */
    CURL *easy;                  /* owned */
    struct curl_slist *pins;     /* owned */
    struct pl_fetch_place place; /* its strings belong to the starter */
    int64_t max_bytes;
    const struct pl_fetch_how *how; /* borrowed; may be NULL */
    struct curl_slist *headers;     /* owned */
    struct pl_buf heads;            /* owned; header lines, with takes_any */
    const struct pl_hop_ops *ops;
    void *ctx;
    size_t n_head;
    struct pl_buf location, content_type; /* owned */
    bool has_location, has_type;
    enum pl_status status; /* the result of a callback */
    int http_status;
    enum state state;
    bool is_enough; /* the body is not needed */
    bool is_late;
    bool wants_pause; /* libcurl is told at the end of the turn */
};

static void become(struct pl_hop *hop, enum state to)
{
    hop->state = (enum state)pl_move(&machine, hop, hop->state, to);
}

/* --- sockets --------------------------------------------------------------------------------- */

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
    struct pl_hop *hop = ctx;
    if (purpose != CURLSOCKTYPE_IPCXN || !is_admitted(&hop->place, to))
        return CURL_SOCKET_BAD;
    return pl_curl_multi_open(&hop->multi, purpose, to);
}

/* --- the answer ------------------------------------------------------------------------------ */

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct pl_hop *hop = ctx;
    struct pl_str piece = {bytes, size * n};
    long status = 0;
    hop->curl->curl_easy_getinfo(hop->easy, CURLINFO_RESPONSE_CODE, &status);
    hop->http_status = (int)status;
    if ((status < 200 || status > 299) && !(hop->how && hop->how->takes_any)) {
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
    if (pl_str_begins(line, "HTTP/"))
        pl_buf_clear(&hop->heads);
    else if (hop->how && hop->how->takes_any)
        pl_buf_add(&hop->heads, line);
    return hop->status == PL_OK ? line.len : 0;
}

static enum pl_status fail(const struct pl_hop *hop, CURLcode code, struct pl_error *err)
{
    struct pl_str host = pl_str_slice(hop->place.host, 0, 200);
    if (hop->status == PL_LIMIT || code == CURLE_FILESIZE_EXCEEDED)
        return pl_fail(err, PL_LIMIT, "the answer of %.*s is too large; the maximum is %lld bytes",
                       PL_STR_ARG(host), (long long)hop->max_bytes);
    if (hop->status != PL_OK || code == CURLE_OUT_OF_MEMORY)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (hop->is_late)
        return pl_fail(err, PL_LIMIT, "%.*s is too slow", PL_STR_ARG(host));
    bool is_nobody = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
    return pl_fail(err, is_nobody ? PL_NOT_FOUND : PL_IO, "%.*s %s: %s", PL_STR_ARG(host),
                   is_nobody ? "does not answer" : "did not complete its answer",
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
    become(hop, HOP_OVER);
    hop->ops->on_end(hop->ctx, result, &err);
}

/* Begins, pauses or ends the hop. The hop may be gone when this returns. */
static void on_turn_end(struct pl_loop_hook *end)
{
    struct pl_hop *hop = PL_CONTAINER_OF(end, struct pl_hop, multi.look);
    if (hop->state == HOP_OVER)
        return;
    if (hop->state == HOP_START) {
        become(hop, HOP_GOING);
        if (hop->curl->curl_multi_add_handle(hop->multi.handle, hop->easy) != CURLM_OK) {
            settle(hop, CURLE_OUT_OF_MEMORY);
            return;
        }
        pl_curl_multi_run(&hop->multi);
    }
    CURLMsg *message;
    int n_left = 0;
    while ((message = hop->curl->curl_multi_info_read(hop->multi.handle, &n_left)))
        if (message->msg == CURLMSG_DONE) {
            settle(hop, message->data.result);
            return;
        }
    if (hop->wants_pause == (hop->state == HOP_PAUSED))
        return;
    become(hop, hop->wants_pause ? HOP_PAUSED : HOP_GOING);
    hop->curl->curl_easy_pause(hop->easy, hop->wants_pause ? CURLPAUSE_RECV : CURLPAUSE_CONT);
    pl_curl_multi_look_later(&hop->multi);
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

/* The admitted URL, without its fragment. */
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
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, pl_curl_multi_close);
    curl->curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &hop->multi);
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
}

/* Sets the method, body and headers; headers go only to the first host. */
static bool set_how(struct pl_hop *hop, bool is_first)
{
    const struct pl_curl *curl = hop->curl;
    const struct pl_fetch_how *how = hop->how;
    bool is_head = how->method && strcmp(how->method, "HEAD") == 0;
    for (size_t i = 0; is_first && how->headers && how->headers[i]; i++) {
        struct curl_slist *list = curl->curl_slist_append(hop->headers, how->headers[i]);
        if (!list)
            return false;
        hop->headers = list;
    }
    if (hop->headers)
        curl->curl_easy_setopt(hop->easy, CURLOPT_HTTPHEADER, hop->headers);
    if (how->body.len) {
        curl->curl_easy_setopt(hop->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)how->body.len);
        curl->curl_easy_setopt(hop->easy, CURLOPT_COPYPOSTFIELDS, how->body.ptr);
    }
    if (is_head)
        curl->curl_easy_setopt(hop->easy, CURLOPT_NOBODY, 1L);
    else if (how->method)
        curl->curl_easy_setopt(hop->easy, CURLOPT_CUSTOMREQUEST, how->method);
    return true;
}

static bool prepare(struct pl_hop *hop, int64_t left_ms, bool is_first)
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
    hop->easy = hop->curl->curl_easy_init();
    if (!hop->easy)
        return false;
    set_options(hop, url.ptr, left_ms);
    return !hop->how || set_how(hop, is_first);
}

enum pl_status pl_hop_start(struct pl_loop *loop, const struct pl_fetch_place *place,
                            int64_t max_bytes, int64_t left_ms, const struct pl_fetch_how *how,
                            bool is_first, const struct pl_hop_ops *ops, void *ctx,
                            struct pl_hop **ret_hop, struct pl_error *err)
{
    struct pl_hop *hop = pl_mem_alloc(1, sizeof *hop);
    if (!hop)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *hop = (struct pl_hop){
        .place = *place, .max_bytes = max_bytes, .how = how, .ops = ops, .ctx = ctx};
    enum pl_status status = pl_curl_multi_init(&hop->multi, loop, on_turn_end, err);
    if (status != PL_OK) {
        pl_mem_free(hop);
        return status;
    }
    hop->curl = hop->multi.curl;
    pl_buf_init(&hop->location, 0);
    pl_buf_init(&hop->content_type, 0);
    pl_buf_init(&hop->heads, MAX_HEAD);
    if (!prepare(hop, left_ms, is_first)) {
        pl_hop_destroy(hop);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    pl_curl_multi_look_later(&hop->multi);
    *ret_hop = hop;
    return PL_OK;
}

void pl_hop_destroy(struct pl_hop *hop)
{
    if (!hop)
        return;
    if (hop->state != HOP_START)
        hop->curl->curl_multi_remove_handle(hop->multi.handle, hop->easy);
    if (hop->state != HOP_OVER)
        become(hop, HOP_OVER);
    if (hop->easy)
        hop->curl->curl_easy_cleanup(hop->easy);
    pl_curl_multi_deinit(&hop->multi);
    hop->curl->curl_slist_free_all(hop->pins);
    hop->curl->curl_slist_free_all(hop->headers);
    pl_buf_deinit(&hop->heads);
    pl_buf_deinit(&hop->location);
    pl_buf_deinit(&hop->content_type);
    pl_mem_free(hop);
}

void pl_hop_pause(struct pl_hop *hop, bool is_paused)
{
    hop->wants_pause = is_paused;
    pl_curl_multi_look_later(&hop->multi);
}

int pl_hop_status(const struct pl_hop *hop)
{
    return hop->http_status;
}

struct pl_str pl_hop_headers(const struct pl_hop *hop)
{
    return pl_buf_str(&hop->heads);
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
