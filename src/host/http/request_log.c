/* The line of a request, when it is over: in the log of the server, or as fields in an access log of its
 * own. It has the route and not the path, whose parts may be secrets. */
#include "http/request_log.h"

#include "http/client_address.h"
#include "http/connection.h"
#include "http/exchange_int.h"
#include "http/route.h"
#include "http/trace.h"
#include "shard/access_log.h"
#include "shard/log.h"

#include <stdio.h>

/* The route and not the path: the text in place of a brace may be a secret. */
static struct pl_str place_of(const struct pl_exchange *x)
{
    if (x->route)
        return pl_str_of(x->route->path);
    return x->head ? PL_STR("(no route)") : PL_STR("(no request)");
}

void pl_log_client(const struct pl_exchange *x, char to[PL_CLIENT_ADDRESS_SIZE])
{
    to[0] = 0;
    if (x->conn)
        pl_client_address(x->head, x->conn->peer, x->setup->config.proxies, to);
}

static void find_client(const struct pl_exchange *x, char to[PL_CLIENT_ADDRESS_SIZE])
{
    const struct pl_exchange_own *own = (const struct pl_exchange_own *)x;
    if (own->address[0])
        memcpy(to, own->address, PL_CLIENT_ADDRESS_SIZE);
    else
        pl_log_client(x, to);
}

static bool is_aborted(const struct pl_exchange *x)
{
    return ((const struct pl_exchange_own *)x)->http;
}

/* Where it came from, how much, and whether it was gone before it had the whole answer. */
static void write_client(struct pl_log *log, const struct pl_exchange *x, struct pl_buf *line)
{
    const struct pl_exchange_own *own = (const struct pl_exchange_own *)x;
    bool is_json = pl_log_is_json(log);
    char address[PL_CLIENT_ADDRESS_SIZE];
    find_client(x, address);
    if (address[0])
        pl_log_field(log, line, "address", pl_str_of(address));
    if (is_json)
        pl_buf_addf(line, ",\"bytes_in\":%zu,\"bytes_out\":%llu", own->n_body,
                    (unsigned long long)own->n_sent);
    if (is_json && x->used_model.len) {
        pl_log_field(log, line, "model", x->used_model);
        pl_buf_addf(line, ",\"tokens_in\":%lld,\"tokens_out\":%lld", (long long)x->used_input,
                    (long long)x->used_output);
    }
    if (is_aborted(x))
        pl_buf_adds(line, is_json ? ",\"aborted\":true" : " aborted");
}

static void write_request(struct pl_log *log, const struct pl_exchange *x, int64_t took_ms,
                          struct pl_buf *line)
{
    bool is_json = pl_log_is_json(log);
    struct pl_str trace = pl_trace_id(x), place = place_of(x);
    const char *method = x->head ? pl_method_text(x->method) : "-";
    if (is_json) {
        pl_log_field(log, line, "method", pl_str_of(method));
        pl_log_field(log, line, "route", place);
        pl_buf_addf(line, ",\"status\":%d,\"ms\":%lld", x->status, (long long)took_ms);
    } else {
        pl_buf_addf(line, "%s %.*s %d %lld ms", method, PL_STR_ARG(place), x->status,
                    (long long)took_ms);
    }
    pl_log_field(log, line, is_json ? "request_id" : "request", pl_str_of(x->request_id));
    if (trace.len)
        pl_log_field(log, line, is_json ? "trace_id" : "trace", trace);
    if (is_json && x->caller.user_id.len)
        pl_log_field(log, line, "user_id", x->caller.user_id);
    if (is_json && x->caller.key_id.len)
        pl_log_field(log, line, "key_id", x->caller.key_id);
    write_client(log, x, line);
    /* The failure as it was reported to the client. */
    if (x->is_problem && x->status >= 500 && x->problem_detail.len)
        pl_log_field(log, line, "problem", x->problem_detail);
}

/* The same as fields, for an access log of its own. */
static void tell_access(struct pl_exchange *x, int64_t took_ms)
{
    enum { MAX_FIELDS = 16 };
    const struct pl_exchange_own *own = pl_exchange_own(x);
    struct pl_access_field fields[MAX_FIELDS];
    struct pl_str place = place_of(x), trace = pl_trace_id(x);
    const char *method = x->head ? pl_method_text(x->method) : "-";
    char address[PL_CLIENT_ADDRESS_SIZE], message[200];
    size_t n = 0;
    find_client(x, address);
    const struct {
        const char *name;
        struct pl_str text;
    } texts[] = {
        {"method", pl_str_of(method)},
        {"route", place},
        {"address", pl_str_of(address)},
        {"user_id", x->caller.user_id},
        {"key_id", x->caller.key_id},
        {"request_id", pl_str_of(x->request_id)},
        {"trace_id", trace},
        {"model", x->used_model},
        {"problem", x->status >= 500 ? x->problem_detail : (struct pl_str){0}},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text.len)
            fields[n++] = (struct pl_access_field){texts[i].name, texts[i].text, 0};
    fields[n++] = (struct pl_access_field){"status", {0}, x->status};
    fields[n++] = (struct pl_access_field){"ms", {0}, took_ms};
    fields[n++] = (struct pl_access_field){"bytes_in", {0}, (int64_t)own->n_body};
    fields[n++] = (struct pl_access_field){"bytes_out", {0}, (int64_t)own->n_sent};
    if (x->used_model.len) {
        fields[n++] = (struct pl_access_field){"tokens_in", {0}, x->used_input};
        fields[n++] = (struct pl_access_field){"tokens_out", {0}, x->used_output};
    }
    if (is_aborted(x))
        fields[n++] = (struct pl_access_field){"aborted", {0}, 1};
    snprintf(message, sizeof message, "%s %.*s %d %lld ms", method, PL_STR_ARG(place), x->status,
             (long long)took_ms);
    pl_access_log_put(x->shard->server->access_log, x->shard, x->status, message, fields, n);
}

/* To the access log, if there is one of its own; a failure of ours to the server's log as well. */
void pl_log_request(struct pl_exchange *x)
{
    struct pl_log *log = x->shard->server->log;
    struct pl_access_log *access = x->shard->server->access_log;
    int64_t took_ms = pl_loop_now_ms(x->shard->loop) - x->started_ms;
    enum pl_log_level level = x->status >= 500 && x->status != 503 ? PL_LOG_ERROR : PL_LOG_REQUEST;
    bool is_told = pl_access_log_wants(access, x->status);
    bool is_here = access ? pl_access_log_is_stderr(access) && is_told : pl_log_wants(log, level);
    if (is_told && !pl_access_log_is_stderr(access))
        tell_access(x, took_ms);
    if (!is_here && (level != PL_LOG_ERROR || !pl_log_wants(log, level)))
        return;
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    pl_log_begin(log, x->shard, level, &line);
    write_request(log, x, took_ms, &line);
    pl_log_end(log, x->shard, &line);
}
