/* "00-" 32 digits of the trace "-" 16 digits of the span "-" 2 digits of flags. Later versions may
 * append more. A trace or span of all zeros is invalid. */
#include "http/trace.h"

#include "base/text/uuid.h"
#include "http/routes/route.h"

#include <stdio.h>

enum {
    TRACE_AT = 3,
    TRACE_SIZE = 32,
    SPAN_AT = 36,
    SPAN_SIZE = 16,
    FLAGS_AT = 53,
    WHOLE_SIZE = 55
};

/* Lower-case hexadecimal digits, not all of them zero unless that is allowed. */
static bool is_hex(struct pl_str text, bool allows_zero)
{
    bool is_zero = true;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        is_zero = is_zero && c == '0';
    }
    return allows_zero || !is_zero;
}

static bool is_traceparent(struct pl_str text)
{
    if (text.len < WHOLE_SIZE || text.ptr[2] != '-' || text.ptr[35] != '-' || text.ptr[52] != '-')
        return false;
    struct pl_str version = pl_str_slice(text, 0, 2);
    if (!is_hex(version, true) || pl_str_eq(version, PL_STR("ff")))
        return false;
    bool is_first = pl_str_eq(version, PL_STR("00"));
    if (text.len > WHOLE_SIZE && (is_first || text.ptr[WHOLE_SIZE] != '-'))
        return false;
    return is_hex(pl_str_slice(text, TRACE_AT, TRACE_AT + TRACE_SIZE), false) &&
           is_hex(pl_str_slice(text, SPAN_AT, SPAN_AT + SPAN_SIZE), false) &&
           is_hex(pl_str_slice(text, FLAGS_AT, WHOLE_SIZE), true);
}

struct pl_str pl_trace_read(struct pl_str traceparent)
{
    return is_traceparent(traceparent) ? pl_str_slice(traceparent, TRACE_AT, TRACE_AT + TRACE_SIZE)
                                       : (struct pl_str){0};
}

/* The caller's flags decide whether its trace is recorded; a trace that begins here is sampled by
 * its digits. */
void pl_trace_continue(struct pl_exchange *x)
{
    struct pl_tracer *tracer = x->shard->server->tracer;
    struct pl_str given = pl_http_header_get(x->head, "traceparent"), trace, parent = {0};
    char made[TRACE_SIZE + 1];
    bool is_given = given.len && is_traceparent(given);
    if (!is_given && !tracer)
        return;
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    if (is_given) {
        trace = pl_str_slice(given, TRACE_AT, TRACE_AT + TRACE_SIZE);
        parent = pl_str_slice(given, SPAN_AT, SPAN_AT + SPAN_SIZE);
    } else {
        struct pl_id_seed more = pl_shard_seed(x->shard);
        snprintf(made, sizeof made, "%016llx%016llx", (unsigned long long)(more.random[0] | 1),
                 (unsigned long long)more.random[1]);
        trace = (struct pl_str){made, TRACE_SIZE};
    }
    /* The second digit of the flags has the lowest bits. */
    bool is_told = is_given ? strchr("13579bdf", given.ptr[FLAGS_AT + 1]) != NULL
                            : pl_tracer_samples(tracer, trace);
    pl_span_begin(&x->span, trace, parent, (struct pl_str){0}, seed.random[0], is_told && tracer);
    snprintf(x->traceparent, sizeof x->traceparent, "00-%.*s-%s-%.*s", TRACE_SIZE, trace.ptr,
             x->span.id, 2,
             is_given  ? given.ptr + FLAGS_AT
             : is_told ? "01"
                       : "00");
}

void pl_trace_end(struct pl_exchange *x)
{
    char error[16] = "";
    if (!x->span.is_told)
        return;
    struct pl_str route = pl_str_of(x->route ? x->route->path : NULL);
    struct pl_str method = pl_str_of(x->head ? pl_method_text(x->method) : "");
    if (x->status >= 500)
        snprintf(error, sizeof error, "%d", x->status);
    struct pl_span_fact facts[] = {
        {"http.request.method", method, -1},
        {"http.route", route, -1},
        {"http.response.status_code", {0}, x->status},
        {"parley.request.id", pl_str_of(x->request_id), -1},
        {"user.id", x->caller.user_id, -1},
    };
    pl_span_end(x->shard->server->tracer, &x->span,
                &(struct pl_span_about){.name = method.len ? method.ptr : "HTTP",
                                        .subject = route,
                                        .kind = PL_SPAN_SERVER,
                                        .facts = facts,
                                        .n_facts = sizeof facts / sizeof *facts,
                                        .error = pl_str_of(error)});
}

struct pl_str pl_trace_id(const struct pl_exchange *x)
{
    if (!x->traceparent[0])
        return (struct pl_str){0};
    return (struct pl_str){x->traceparent + TRACE_AT, TRACE_SIZE};
}
