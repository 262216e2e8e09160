/* "00-" 32 digits of the trace "-" 16 digits of the span "-" 2 digits of flags. A later version may
 * say more after that; a trace or span of zeros is none. */
#include "http/trace.h"

#include "base/text/uuid.h"

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

void pl_trace_continue(struct pl_exchange *x)
{
    struct pl_str given = pl_http_header_get(x->head, "traceparent");
    if (!given.len || !is_traceparent(given))
        return;
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    snprintf(x->traceparent, sizeof x->traceparent, "00-%.*s-%016llx-%.*s", TRACE_SIZE,
             given.ptr + TRACE_AT, (unsigned long long)(seed.random[0] | 1), 2,
             given.ptr + FLAGS_AT);
}

struct pl_str pl_trace_id(const struct pl_exchange *x)
{
    if (!x->traceparent[0])
        return (struct pl_str){0};
    return (struct pl_str){x->traceparent + TRACE_AT, TRACE_SIZE};
}
