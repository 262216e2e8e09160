/* One hop after another: admit (fetch_rules.c), connect to what was admitted, answer or redirect.
 *
 * libcurl is given the addresses with the name, so that it does not resolve anything; and a socket
 * is opened only to one of them, whatever libcurl makes of the URL. Redirects are read here, by our
 * parser. There is no proxy: it would resolve again, and elsewhere. */
#include "io/fetch_int.h"

#include "io/clock.h"
#include "io/curl_int.h"

#include <netinet/in.h>
#include <sys/socket.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

enum { MAX_HEAD = 64 << 10, MAX_LOCATION = 8192 };

struct fetching {
    const struct pl_curl *curl;
    CURL *easy; /* owned; of one hop */
    struct pl_arena *arena;
    struct pl_fetch_place place; /* the one that is asked */
    struct pl_buf *body;
    size_t n_body_before; /* bytes that were in it */
    int64_t max_bytes, deadline_ms;
    size_t n_head;
    struct pl_str location, content_type; /* arena; of this hop; ptr NULL: none */
    enum pl_status status;                /* what a callback has to say */
    bool is_enough;                       /* the body is of no interest */
};

/* --- callbacks of libcurl -------------------------------------------------------------------- */

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct fetching *f = ctx;
    struct pl_str piece = {bytes, size * n};
    long status = 0;
    f->curl->curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status > 299) {
        f->is_enough = true;
        return 0;
    }
    if (piece.len > (size_t)f->max_bytes - (f->body->len - f->n_body_before))
        f->status = PL_LIMIT;
    else
        pl_buf_add(f->body, piece);
    if (f->status == PL_OK)
        f->status = f->body->status;
    return f->status == PL_OK ? piece.len : 0;
}

static void keep(struct fetching *f, struct pl_str value, struct pl_str *to)
{
    *to = value.len ? pl_arena_dup(f->arena, value) : PL_STR("");
    if (!to->ptr)
        f->status = PL_NOMEM;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
    struct fetching *f = ctx;
    struct pl_str line = {bytes, size * n}, value;
    f->n_head += line.len;
    if (f->n_head > MAX_HEAD)
        f->status = PL_LIMIT;
    else if (pl_curl_header(line, "Location", &value) && value.len <= MAX_LOCATION)
        keep(f, value, &f->location);
    else if (pl_curl_header(line, "Content-Type", &value))
        keep(f, value, &f->content_type);
    return f->status == PL_OK ? line.len : 0;
}

static bool is_admitted(const struct fetching *f, const struct curl_sockaddr *to)
{
    const struct sockaddr_in *v4 = (const void *)&to->addr;
    const struct sockaddr_in6 *v6 = (const void *)&to->addr;
    bool is_v6 = to->family == AF_INET6;
    if (!is_v6 && to->family != AF_INET)
        return false;
    const void *bytes = is_v6 ? (const void *)&v6->sin6_addr : &v4->sin_addr;
    in_port_t port = is_v6 ? v6->sin6_port : v4->sin_port;
    for (size_t i = 0; i < f->place.n_addresses; i++)
        if (f->place.addresses[i].is_v6 == is_v6 &&
            memcmp(f->place.addresses[i].bytes, bytes, is_v6 ? 16 : 4) == 0)
            return ntohs(port) == f->place.port;
    return false;
}

static curl_socket_t on_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
    if (purpose != CURLSOCKTYPE_IPCXN || !is_admitted(ctx, to))
        return CURL_SOCKET_BAD;
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* --- one hop --------------------------------------------------------------------------------- */

/* "host:port:address,address"; nothing for a host that is an address already. */
static void write_pin(const struct pl_fetch_place *place, struct pl_buf *to)
{
    pl_buf_add(to, place->host);
    pl_buf_addf(to, ":%d:", (int)place->port);
    for (size_t i = 0; i < place->n_addresses; i++) {
        bool is_v6 = place->addresses[i].is_v6;
        pl_buf_adds(to, i ? "," : "");
        pl_buf_adds(to, is_v6 ? "[" : "");
        pl_address_write(&place->addresses[i], to);
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

static void set_options(struct fetching *f, const char *url, int64_t left_ms)
{
    const struct pl_curl *curl = f->curl;
    CURL *easy = f->easy;
    pl_curl_set_basics(curl, easy, url, on_bytes, f);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl->curl_easy_setopt(easy, CURLOPT_HEADERDATA, f);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl->curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, f);
    curl->curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl->curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl->curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    curl->curl_easy_setopt(easy, CURLOPT_USERAGENT, "parley");
    curl->curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)f->max_bytes);
    curl->curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)left_ms);
    curl->curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)(left_ms < PL_FETCH_CONNECT_MS ? left_ms : PL_FETCH_CONNECT_MS));
}

static enum pl_status fail_slow(const struct fetching *f, struct pl_error *err)
{
    return pl_fail(err, PL_LIMIT, "%.*s is too slow", PL_STR_ARG(f->place.host));
}

static enum pl_status fail_curl(const struct fetching *f, CURLcode code, struct pl_error *err)
{
    struct pl_str host = pl_str_slice(f->place.host, 0, 200);
    if (f->status == PL_LIMIT || code == CURLE_FILESIZE_EXCEEDED)
        return pl_fail(err, PL_LIMIT,
                       "the answer of %.*s is too large; at most %lld bytes are fetched",
                       PL_STR_ARG(host), (long long)f->max_bytes);
    if (f->status != PL_OK || code == CURLE_OUT_OF_MEMORY)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (code == CURLE_OPERATION_TIMEDOUT)
        return fail_slow(f, err);
    bool is_nobody = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
    return pl_fail(err, is_nobody ? PL_NOT_FOUND : PL_IO, "%.*s %s: %s", PL_STR_ARG(host),
                   is_nobody ? "does not answer" : "did not answer to the end",
                   f->curl->curl_easy_strerror(code));
}

/* *ret_status is the HTTP status when something answered. */
static enum pl_status run_hop(struct fetching *f, const char *url, struct curl_slist *pins,
                              int *ret_status, struct pl_error *err)
{
    int64_t left_ms = f->deadline_ms - pl_clock_ms();
    if (left_ms <= 0)
        return fail_slow(f, err);
    f->easy = f->curl->curl_easy_init();
    if (!f->easy)
        return pl_fail(err, PL_NOMEM, "out of memory");
    set_options(f, url, left_ms);
    f->curl->curl_easy_setopt(f->easy, CURLOPT_RESOLVE, pins);
    CURLcode code = f->curl->curl_easy_perform(f->easy);
    long status = 0;
    f->curl->curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
    enum pl_status result = PL_OK;
    if (f->status != PL_OK || (code != CURLE_OK && !f->is_enough))
        result = fail_curl(f, code, err);
    else
        *ret_status = (int)status;
    f->curl->curl_easy_cleanup(f->easy);
    return result;
}

static enum pl_status go(struct fetching *f, int *ret_status, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf url, pin;
    pl_buf_init(&url, 0);
    pl_buf_init(&pin, 0);
    write_target(&f->place, &url);
    write_pin(&f->place, &pin);
    if (url.status != PL_OK || pin.status != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory");
    struct curl_slist *pins = NULL;
    if (f->place.url.host_kind == PL_URL_HOST_DOMAIN) {
        pins = f->curl->curl_slist_append(NULL, pin.ptr);
        if (!pins)
            return pl_fail(err, PL_NOMEM, "out of memory");
    }
    f->n_head = 0;
    f->is_enough = false;
    f->location = f->content_type = (struct pl_str){0};
    enum pl_status status = run_hop(f, url.ptr, pins, ret_status, err);
    f->curl->curl_slist_free_all(pins);
    return status;
}

/* --- all of them ----------------------------------------------------------------------------- */

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static enum pl_status finish(const struct fetching *f, int http_status,
                             struct pl_fetched *ret_fetched, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf url;
    if (http_status < 200 || http_status > 299)
        return pl_fail(err, PL_IO, "%.*s answered with status %d", PL_STR_ARG(f->place.host),
                       http_status);
    pl_buf_init(&url, 0);
    pl_url_write(&f->place.url, &url);
    struct pl_str last = pl_arena_dup(f->arena, pl_buf_str(&url));
    if (url.status != PL_OK || !last.ptr)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *ret_fetched = (struct pl_fetched){
        .status = http_status, .content_type = f->content_type, .url = last, .body = f->body};
    return PL_OK;
}

static enum pl_status follow(struct fetching *f, struct pl_str url,
                             const struct pl_fetch_rules *rules, struct pl_fetched *ret_fetched,
                             struct pl_error *err)
{
    for (int n_hops = 0; n_hops <= PL_FETCH_MAX_REDIRECTS; n_hops++) {
        int http_status = 0;
        struct pl_url before = f->place.url;
        enum pl_status status =
            pl_fetch_admit(f->arena, url, n_hops ? &before : NULL, rules, &f->place, err);
        if (status == PL_OK)
            status = go(f, &http_status, err);
        if (status != PL_OK)
            return status;
        if (!is_redirect(http_status) || !f->location.ptr)
            return finish(f, http_status, ret_fetched, err);
        url = f->location;
    }
    return pl_fail(err, PL_LIMIT, "%.*s redirects more than %d times", PL_STR_ARG(f->place.host),
                   PL_FETCH_MAX_REDIRECTS);
}

enum pl_status pl_fetch(struct pl_arena *arena, struct pl_str url,
                        const struct pl_fetch_rules *rules, struct pl_buf *body,
                        struct pl_fetched *ret_fetched, struct pl_error *err)
{
    struct fetching f = {
        .arena = arena,
        .body = body,
        .n_body_before = body->len,
        .max_bytes = rules->max_bytes ? rules->max_bytes : PL_FETCH_MAX_BYTES,
        .deadline_ms = pl_clock_ms() + (rules->total_ms ? rules->total_ms : PL_FETCH_TOTAL_MS),
    };
    enum pl_status status = pl_curl_load(&f.curl, err);
    if (status == PL_OK)
        status = follow(&f, url, rules, ret_fetched, err);
    if (status != PL_OK)
        body->len = f.n_body_before;
    return status;
}
