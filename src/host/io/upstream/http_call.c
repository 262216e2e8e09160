/* One blocking request with libcurl's easy interface: its options, headers and limits, and messages
 * for its errors. */
#include "io/upstream/http_call.h"

#include "io/upstream/curl_int.h"
#include "io/net/place.h"

#include <stdio.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

enum { MAX_BYTES = 64 << 20, TIMEOUT_MS = 60000, CONNECT_MS = 5000, MAX_LINE = 512 };

struct calling {
    const struct pl_http_call *call;
    const struct pl_curl *curl;
    CURL *easy;                 /* owned */
    struct curl_slist *headers; /* owned */
    struct pl_buf *reply;
    size_t n_bytes; /* bytes collected */
    enum pl_status status;
    bool is_stopped; /* by on_piece */
};

/* Any result but the number of bytes ends the call. */
static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx)
{
    struct calling *calling = ctx;
    const struct pl_http_call *call = calling->call;
    struct pl_str piece = {bytes, size * n};
    long status = 0;
    calling->curl->curl_easy_getinfo(calling->easy, CURLINFO_RESPONSE_CODE, &status);
    if (call->on_piece && status >= 200 && status < 300) {
        calling->is_stopped = !call->on_piece(call->ctx, piece);
        return calling->is_stopped ? 0 : piece.len;
    }
    size_t max = call->max_bytes ? (size_t)call->max_bytes : MAX_BYTES;
    calling->n_bytes += piece.len;
    if (calling->n_bytes > max)
        calling->status = PL_LIMIT;
    else
        pl_buf_add(calling->reply, piece);
    if (calling->status == PL_OK)
        calling->status = calling->reply->status;
    return calling->status == PL_OK ? piece.len : 0;
}

/* Passes more of the body to libcurl. */
static size_t on_body(char *to, size_t size, size_t n, void *ctx)
{
    const struct calling *calling = ctx;
    ptrdiff_t n_read = calling->call->read_body(calling->call->read_ctx, to, size * n);
    return n_read < 0 ? CURL_READFUNC_ABORT : (size_t)n_read;
}

/* A header line of the answer: "Name: value" and a line break. */
static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
    const struct calling *calling = ctx;
    struct pl_str value;
    if (!pl_curl_header((struct pl_str){bytes, size * n}, calling->call->header_name, &value))
        return size * n;
    if (value.len < PL_HTTP_CALL_HEADER_SIZE) {
        memcpy(calling->call->header_value, value.ptr, value.len);
        calling->call->header_value[value.len] = '\0';
    }
    return size * n;
}

/* "NAME: BEFORE VALUE"; refused if the value contains a line break, which would begin another
 * header. */
static enum pl_status add_header(struct calling *calling, const char *name, const char *before,
                                 const char *value, struct pl_error *err)
{
    char line[MAX_LINE];
    int n = snprintf(line, sizeof line, "%s: %s%s", name, before, value);
    bool is_good = n > 0 && (size_t)n < sizeof line;
    for (int i = 0; is_good && i < n; i++)
        is_good = (unsigned char)line[i] >= ' ' && line[i] != 0x7F;
    if (!is_good)
        return pl_fail(err, PL_INVALID,
                       "the value of the header %s is too long or has control characters", name);
    struct curl_slist *longer = calling->curl->curl_slist_append(calling->headers, line);
    if (!longer)
        return pl_fail(err, PL_NOMEM, "out of memory");
    calling->headers = longer;
    return PL_OK;
}

static enum pl_status add_headers(struct calling *calling, struct pl_error *err)
{
    const struct pl_http_call *call = calling->call;
    /* Without this, a long body would wait for the status 100. */
    enum pl_status status = add_header(calling, "Expect", "", "", err);
    if (status == PL_OK && (call->has_body || call->read_body))
        status = add_header(calling, "Content-Type", "",
                            call->content_type ? call->content_type : "application/json", err);
    if (status == PL_OK && call->range)
        status = add_header(calling, "Range", "bytes=", call->range, err);
    if (status == PL_OK && call->bearer)
        status = add_header(calling, "Authorization", "Bearer ", call->bearer, err);
    for (const char *const *line = call->headers; status == PL_OK && line && *line; line++) {
        struct curl_slist *longer = calling->curl->curl_slist_append(calling->headers, *line);
        if (longer)
            calling->headers = longer;
        else
            status = PL_NOMEM;
    }
    return status;
}

static void set_times(const struct calling *calling)
{
    const struct pl_curl *curl = calling->curl;
    int64_t timeout_ms = calling->call->timeout_ms ? calling->call->timeout_ms : TIMEOUT_MS;
    curl->curl_easy_setopt(calling->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    if (calling->call->on_piece || calling->call->read_body) {
        curl->curl_easy_setopt(calling->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl->curl_easy_setopt(calling->easy, CURLOPT_LOW_SPEED_TIME,
                               (long)((timeout_ms + 999) / 1000));
    } else {
        curl->curl_easy_setopt(calling->easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    }
}

static void set_body(struct calling *calling)
{
    const struct pl_curl *curl = calling->curl;
    const struct pl_http_call *call = calling->call;
    if (call->read_body) {
        curl->curl_easy_setopt(calling->easy, CURLOPT_POST, 1L);
        curl->curl_easy_setopt(calling->easy, CURLOPT_READFUNCTION, on_body);
        curl->curl_easy_setopt(calling->easy, CURLOPT_READDATA, calling);
        curl->curl_easy_setopt(calling->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                               (curl_off_t)call->n_body);
    } else if (call->has_body) {
        curl->curl_easy_setopt(calling->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                               (curl_off_t)call->body.len);
        curl->curl_easy_setopt(calling->easy, CURLOPT_POSTFIELDS,
                               call->body.len ? call->body.ptr : "");
    }
}

static bool is_here(const struct pl_http_call *call)
{
    struct pl_place place;
    struct pl_str path;
    return call->unix_path || (pl_place_find(call->url, &place, &path) && pl_place_is_here(&place));
}

static void set_options(struct calling *calling)
{
    const struct pl_curl *curl = calling->curl;
    const struct pl_http_call *call = calling->call;
    CURL *easy = calling->easy;
    pl_curl_set_basics(curl, easy, call->url, on_bytes, calling);
    curl->curl_easy_setopt(easy, CURLOPT_HTTPHEADER, calling->headers);
    set_times(calling);
    if (call->header_name) {
        call->header_value[0] = '\0';
        curl->curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
        curl->curl_easy_setopt(easy, CURLOPT_HEADERDATA, calling);
    }
    if (call->unix_path)
        curl->curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, call->unix_path);
    if (is_here(call))
        curl->curl_easy_setopt(easy, CURLOPT_PROXY, "");
    set_body(calling);
    curl->curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
}

static enum pl_status perform(struct calling *calling, int *ret_status, struct pl_error *err)
{
    const struct pl_curl *curl = calling->curl;
    const struct pl_http_call *call = calling->call;
    const char *where = call->unix_path ? call->unix_path : call->url;
    CURLcode code = curl->curl_easy_perform(calling->easy);
    long status = 0;
    curl->curl_easy_getinfo(calling->easy, CURLINFO_RESPONSE_CODE, &status);
    if (calling->status == PL_LIMIT)
        return pl_fail(err, PL_LIMIT, "the answer of %.200s is too large", where);
    if (calling->status != PL_OK || code == CURLE_OUT_OF_MEMORY)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (code == CURLE_OK || calling->is_stopped) {
        *ret_status = (int)status;
        return PL_OK;
    }
    if (code == CURLE_ABORTED_BY_CALLBACK)
        return pl_fail(err, PL_IO, "the body to send could not be read completely");
    bool is_nobody = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
    return pl_fail(err, is_nobody ? PL_NOT_FOUND : PL_IO, "%.200s %s: %s", where,
                   is_nobody ? "does not answer" : "did not complete its answer",
                   curl->curl_easy_strerror(code));
}

enum pl_status pl_http_call(const struct pl_http_call *call, int *ret_status, struct pl_buf *reply,
                            struct pl_error *err)
{
    struct calling calling = {.call = call, .reply = reply};
    enum pl_status status = pl_curl_load(&calling.curl, err);
    if (status != PL_OK)
        return status;
    status = add_headers(&calling, err);
    calling.easy = status == PL_OK ? calling.curl->curl_easy_init() : NULL;
    if (calling.easy) {
        set_options(&calling);
        status = perform(&calling, ret_status, err);
        calling.curl->curl_easy_cleanup(calling.easy);
    } else if (status == PL_OK) {
        status = pl_fail(err, PL_NOMEM, "out of memory");
    }
    calling.curl->curl_slist_free_all(calling.headers);
    return status;
}
