/* The log line of a finished request: in the server's log, or as fields in a separate access log.
 * It names the route, because parts of the path may be secrets. */
#include "http/request_log.h"

#include "base/mem.h"
#include "http/client_address.h"
#include "http/connection.h"
#include "http/exchange_int.h"
#include "http/routes/route.h"
#include "http/trace.h"
#include "shard/access_log.h"
#include "shard/log.h"

#include <stdio.h>

/* The content of a log line. The texts are borrowed from the exchange, or from a held line. */
struct line {
    const char *method;
    struct pl_str
        place; /* the route and not the path: the text in place of a brace may be a secret */
    struct pl_str address, user_id, key_id, request_id, trace_id;
    struct pl_str problem; /* our own failure, as it was reported to the client */
    struct pl_str model;
    int64_t n_input, n_output; /* tokens; only with a model */
    int64_t bytes_in, bytes_out, took_ms;
    int status;
    bool is_aborted; /* the client left before it had the whole answer */
};

struct pl_held_line {
    struct line line; /* its texts come after this struct */
    int64_t started_ms;
    char texts[];
};

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

/* `address` is memory for the client's address. */
static struct line line_of(const struct pl_exchange *x, char address[PL_CLIENT_ADDRESS_SIZE])
{
    const struct pl_exchange_own *own = (const struct pl_exchange_own *)x;
    find_client(x, address);
    return (struct line){
        .method = x->head ? pl_method_text(x->method) : "-",
        .place = place_of(x),
        .address = pl_str_of(address),
        .user_id = x->caller.user_id,
        .key_id = x->caller.key_id,
        .request_id = pl_str_of(x->request_id),
        .trace_id = pl_trace_id(x),
        .problem = x->is_problem && x->status >= 500 ? x->problem_detail : (struct pl_str){0},
        .model = x->used_model,
        .n_input = x->used_input,
        .n_output = x->used_output,
        .bytes_in = (int64_t)own->n_body,
        .bytes_out = (int64_t)own->n_sent,
        .took_ms = pl_loop_now_ms(x->shard->loop) - x->started_ms,
        .status = x->status,
        .is_aborted = own->http,
    };
}

/* --- the server's log ------------------------------------------------------------------------ */

/* Writes the client's address, the amounts, and whether the client left early. */
static void write_client(struct pl_log *log, const struct line *line, struct pl_buf *to)
{
    bool is_json = pl_log_is_json(log);
    if (line->address.len)
        pl_log_field(log, to, "address", line->address);
    if (is_json)
        pl_buf_addf(to, ",\"bytes_in\":%lld,\"bytes_out\":%lld", (long long)line->bytes_in,
                    (long long)line->bytes_out);
    if (is_json && line->model.len) {
        pl_log_field(log, to, "model", line->model);
        pl_buf_addf(to, ",\"tokens_in\":%lld,\"tokens_out\":%lld", (long long)line->n_input,
                    (long long)line->n_output);
    }
    if (line->is_aborted)
        pl_buf_adds(to, is_json ? ",\"aborted\":true" : " aborted");
}

static void write_line(struct pl_log *log, const struct line *line, struct pl_buf *to)
{
    bool is_json = pl_log_is_json(log);
    if (is_json) {
        pl_log_field(log, to, "method", pl_str_of(line->method));
        pl_log_field(log, to, "route", line->place);
        pl_buf_addf(to, ",\"status\":%d,\"ms\":%lld", line->status, (long long)line->took_ms);
    } else {
        pl_buf_addf(to, "%s %.*s %d %lld ms", line->method, PL_STR_ARG(line->place), line->status,
                    (long long)line->took_ms);
    }
    pl_log_field(log, to, is_json ? "request_id" : "request", line->request_id);
    if (line->trace_id.len)
        pl_log_field(log, to, is_json ? "trace_id" : "trace", line->trace_id);
    if (is_json && line->user_id.len)
        pl_log_field(log, to, "user_id", line->user_id);
    if (is_json && line->key_id.len)
        pl_log_field(log, to, "key_id", line->key_id);
    write_client(log, line, to);
    if (line->problem.len)
        pl_log_field(log, to, "problem", line->problem);
}

/* --- fields, for a separate access log ------------------------------------------------------- */

static void tell_access(struct pl_shard *shard, const struct line *line)
{
    enum { MAX_FIELDS = 16 };
    struct pl_access_field fields[MAX_FIELDS];
    char message[200];
    size_t n = 0;
    const struct {
        const char *name;
        struct pl_str text;
    } texts[] = {
        {"method", pl_str_of(line->method)},
        {"route", line->place},
        {"address", line->address},
        {"user_id", line->user_id},
        {"key_id", line->key_id},
        {"request_id", line->request_id},
        {"trace_id", line->trace_id},
        {"model", line->model},
        {"problem", line->problem},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text.len)
            fields[n++] = (struct pl_access_field){texts[i].name, texts[i].text, 0};
    fields[n++] = (struct pl_access_field){"status", {0}, line->status};
    fields[n++] = (struct pl_access_field){"ms", {0}, line->took_ms};
    fields[n++] = (struct pl_access_field){"bytes_in", {0}, line->bytes_in};
    fields[n++] = (struct pl_access_field){"bytes_out", {0}, line->bytes_out};
    if (line->model.len) {
        fields[n++] = (struct pl_access_field){"tokens_in", {0}, line->n_input};
        fields[n++] = (struct pl_access_field){"tokens_out", {0}, line->n_output};
    }
    if (line->is_aborted)
        fields[n++] = (struct pl_access_field){"aborted", {0}, 1, .is_flag = true};
    snprintf(message, sizeof message, "%s %.*s %d %lld ms", line->method, PL_STR_ARG(line->place),
             line->status, (long long)line->took_ms);
    pl_access_log_put(shard->server->access_log, shard, line->status, message, fields, n);
}

/* --- choosing the log ------------------------------------------------------------------------ */

/* Writes to the separate access log, if there is one; our own failures go to the server's log as
 * well. */
static void tell(struct pl_shard *shard, const struct line *line)
{
    struct pl_log *log = shard->server->log;
    struct pl_access_log *access = shard->server->access_log;
    enum pl_log_level level =
        line->status >= 500 && line->status != 503 ? PL_LOG_ERROR : PL_LOG_REQUEST;
    bool is_told = pl_access_log_wants(access, line->status);
    bool is_here = access ? pl_access_log_is_stderr(access) && is_told : pl_log_wants(log, level);
    if (is_told && !pl_access_log_is_stderr(access))
        tell_access(shard, line);
    if (!is_here && (level != PL_LOG_ERROR || !pl_log_wants(log, level)))
        return;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_log_begin(log, shard, level, &text);
    write_line(log, line, &text);
    pl_log_end(log, shard, &text);
}

void pl_log_request(struct pl_exchange *x)
{
    char address[PL_CLIENT_ADDRESS_SIZE];
    if (pl_exchange_own(x)->is_line_held)
        return;
    struct line line = line_of(x, address);
    tell(x->shard, &line);
}

/* Whether a comma-separated list has the name. */
static bool has_name(struct pl_str list, struct pl_str name)
{
    while (list.len) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t n = comma ? (size_t)(comma - list.ptr) : list.len;
        if (pl_str_eq(pl_str_slice(list, 0, n), name))
            return true;
        list = pl_str_slice(list, n + 1, list.len);
    }
    return false;
}

void pl_log_add_model(struct pl_buf *list, struct pl_str model)
{
    if (!model.len || has_name(pl_buf_str(list), model))
        return;
    if (list->len)
        pl_buf_addc(list, ',');
    pl_buf_add(list, model);
}

/* --- a line that is written later ------------------------------------------------------------ */

struct pl_held_line *pl_log_hold(struct pl_exchange *x)
{
    char address[PL_CLIENT_ADDRESS_SIZE];
    struct line line = line_of(x, address);
    struct pl_str *texts[] = {&line.address, &line.user_id, &line.key_id, &line.request_id,
                              &line.trace_id};
    size_t n_bytes = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        n_bytes += texts[i]->len;
    struct pl_held_line *held = pl_mem_alloc(1, sizeof *held + n_bytes);
    if (!held)
        return NULL;
    char *at = held->texts;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]->len)
            memcpy(at, texts[i]->ptr, texts[i]->len);
        texts[i]->ptr = at;
        at += texts[i]->len;
    }
    line.problem = line.model = (struct pl_str){0};
    line.is_aborted = false;
    held->line = line;
    held->started_ms = x->started_ms;
    pl_exchange_own(x)->is_line_held = true;
    return held;
}

void pl_log_held(struct pl_held_line *held, struct pl_shard *shard, const struct pl_held_end *end)
{
    if (!held)
        return;
    held->line.model = end->model;
    held->line.n_input = end->n_input;
    held->line.n_output = end->n_output;
    held->line.bytes_out = end->bytes_out;
    held->line.is_aborted = end->is_aborted;
    held->line.took_ms = pl_loop_now_ms(shard->loop) - held->started_ms;
    tell(shard, &held->line);
    pl_mem_free(held);
}
