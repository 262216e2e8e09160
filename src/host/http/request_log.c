#include "http/request_log.h"

#include "http/client_address.h"
#include "http/connection.h"
#include "http/exchange_int.h"
#include "http/route.h"
#include "http/trace.h"
#include "shard/log.h"

/* The route and not the path: the text in place of a brace may be a secret. */
static struct pl_str place_of(const struct pl_exchange *x)
{
    if (x->route)
        return pl_str_of(x->route->path);
    return x->head ? PL_STR("(no route)") : PL_STR("(no request)");
}

/* Where it came from, how much, and whether it was gone before it had the whole answer. */
static void write_client(struct pl_log *log, const struct pl_exchange *x, struct pl_buf *line)
{
    const struct pl_exchange_own *own = (const struct pl_exchange_own *)x;
    bool is_json = pl_log_is_json(log);
    if (x->conn && x->conn->conn) {
        struct pl_peer peer;
        char address[PL_CLIENT_ADDRESS_SIZE];
        pl_conn_peer(x->conn->conn, &peer);
        pl_client_address(x->head, peer.address, x->setup->config.proxies, address);
        pl_log_field(log, line, "address", pl_str_of(address));
    }
    if (is_json)
        pl_buf_addf(line, ",\"bytes_in\":%zu", own->n_body);
    if (own->http)
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

void pl_log_request(struct pl_exchange *x)
{
    struct pl_log *log = x->shard->server->log;
    enum pl_log_level level = x->status >= 500 && x->status != 503 ? PL_LOG_ERROR : PL_LOG_REQUEST;
    if (!pl_log_wants(log, level))
        return;
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    pl_log_begin(log, x->shard, level, &line);
    write_request(log, x, pl_loop_now_ms(x->shard->loop) - x->started_ms, &line);
    pl_log_end(log, x->shard, &line);
}
