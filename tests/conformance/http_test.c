/* The requests of llhttp's own tests. Requests that its strict mode accepts are accepted, and all
 * others are refused, including those that only a lenient mode accepts; exceptions are listed below
 * with the reason.
 *
 * The vectors lack the empty line at their end, so CR LF is appended to those that end in one. */
#include "base/text/base64.h"
#include "conformance/corpora.h"
#include "wire/http1/http1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELD = 4096 };

/* REFUSED; COMPLETE: all messages ended (or an upgraded one did); WITHIN a message. */
enum outcome { REFUSED, COMPLETE, WITHIN };
static const char *const outcome_names[] = {"refused", "complete", "within a message"};

static const struct {
    const char *name; /* spelled as in JSON */
    enum outcome ours;
    const char *reason;
} exceptions[] = {
    {"No HTTP version", REFUSED, "HTTP/0.9 is not spoken here"},
    {"SOURCE request with ICE", REFUSED, "only HTTP is spoken here"},
    {"OPTIONS request with RTSP", REFUSED, "only HTTP is spoken here"},
    {"ANNOUNCE request with RTSP", REFUSED, "only HTTP is spoken here"},
    {"QUERY request", REFUSED, "llhttp 8 does not know the method"},
    {"CRLF between requests, explicit `close`", REFUSED, "nothing follows the last request"},
    {"CRLF between requests, explicit `close` followed by tab", REFUSED,
     "nothing follows the last request"},
    {"Tabs in `Content-Length` (surrounding)", REFUSED, "llhttp 8 takes no tab behind a length"},
    {"Content-Length reset when no body is received", WITHIN,
     "the vector is read without its body; a server waits for it"},
    {"Should parse multiple events", WITHIN, "the vector lacks the last byte of its last body"},
    {"POST with `chunked` as last transfer-encoding", REFUSED, "no other encoding is decoded"},
    {"POST with `chunked` as last transfer-encoding (multiple headers)", REFUSED,
     "no other encoding is decoded"},
};

static enum outcome outcome_of(struct pl_str bytes)
{
    struct pl_http1 *http = pl_http1_create();
    enum pl_http1_event event = PL_HTTP1_END;
    enum pl_status status;
    bool is_upgraded = false;
    pl_http1_feed(http, bytes);
    while ((status = pl_http1_next(http, &event, NULL)) == PL_OK && event != PL_HTTP1_MORE) {
        const struct pl_http_head *head = pl_http1_head(http);
        bool is_connect = head->method == PL_METHOD_OTHER &&
                          memchr(head->target.ptr, '/', head->target.len) == NULL &&
                          memchr(head->target.ptr, ':', head->target.len) != NULL;
        is_upgraded = event == PL_HTTP1_END && (head->is_upgrade || is_connect);
        if (is_upgraded)
            break;
    }
    bool is_idle = pl_http1_is_idle(http);
    pl_http1_destroy(http);
    return status != PL_OK ? REFUSED : is_upgraded || is_idle ? COMPLETE : WITHIN;
}

/* The text after "key" in the case at `at`, up to the end of the line, without a comma. */
static void read_field(const char *at, const char *key, char ret_text[MAX_FIELD])
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *start = strstr(at, quoted);
    size_t n = 0;
    if (start) {
        start += strlen(quoted);
        n = strcspn(start, "\n");
        n -= n && start[n - 1] == ',';
        if (n >= 2 && *start == '"') {
            start++;
            n -= 2;
        }
    }
    snprintf(ret_text, MAX_FIELD, "%.*s", (int)n, n ? start : "");
}

static bool is_used[sizeof exceptions / sizeof *exceptions];

static const char *reason_for(const char *name, enum outcome *expected)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].name, name) == 0) {
            *expected = exceptions[i].ours;
            is_used[i] = true;
            return exceptions[i].reason;
        }
    return NULL;
}

static void test_case(const char *at)
{
    char name[MAX_FIELD], type[MAX_FIELD], raw[MAX_FIELD], error[MAX_FIELD], is_complete[MAX_FIELD];
    char is_lenient[MAX_FIELD];
    read_field(at, "name", name);
    read_field(at, "type", type);
    read_field(at, "raw_b64", raw);
    read_field(at, "strict_error", error);
    read_field(at, "complete", is_complete);
    read_field(at, "lenient", is_lenient);
    if (strncmp(type, "request", 7) != 0)
        return;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    bool is_read = pl_base64_decode(&bytes, pl_str_of(raw)) == PL_OK;
    if (bytes.len && bytes.ptr[bytes.len - 1] == '\n')
        pl_buf_adds(&bytes, "\r\n");
    bool is_good = strcmp(error, "null") == 0 || strncmp(error, "Pause on CONNECT", 16) == 0;
    enum outcome expected = strcmp(is_lenient, "true") == 0 || !is_good ? REFUSED
                            : strcmp(is_complete, "true") == 0          ? COMPLETE
                                                                        : WITHIN;
    enum outcome published = expected;
    const char *reason = reason_for(name, &expected);
    enum outcome found = outcome_of(pl_buf_str(&bytes));
    tap_point(is_read && found == expected, "%s: %s", name, outcome_names[expected]);
    if (found != expected)
        tap_note("found: %s; llhttp: %s", outcome_names[found], error);
    if (reason)
        tap_note("differs from the published answer: %s", reason);
    if (reason && published == expected)
        tap_point(false, "%s is listed as an exception and is none", name);
}

int main(void)
{
    char *path = corpora_find("http/llhttp_vectors.json");
    if (!path)
        return tap_skip_all("no http/llhttp_vectors.json: set PARLEY_CORPORA to the corpora");
    size_t len;
    char *json = corpora_read(path, &len);
    for (const char *at = json; (at = strstr(at, "\"file\": ")); at++)
        test_case(at);
    for (size_t i = 0; i < sizeof is_used / sizeof *is_used; i++)
        tap_point(is_used[i], "the exception \"%s\" has a vector", exceptions[i].name);
    free(json);
    free(path);
    return tap_end();
}
