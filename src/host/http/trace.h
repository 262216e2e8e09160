/* W3C trace context (Level 1): the caller's trace continues in our logs and in the answer. */
#ifndef PL_HTTP_TRACE_H
#define PL_HTTP_TRACE_H

#include "http/exchange.h"

/* Fills x->traceparent if the request has a valid one: the same trace, with our own span. With a
 * tracer, a request without one starts a trace. */
void pl_trace_continue(struct pl_exchange *x);
/* The request is over: its span ends. */
void pl_trace_end(struct pl_exchange *x);
/* The 32 digits of the trace; empty without one. */
struct pl_str pl_trace_id(const struct pl_exchange *x);
/* The trace id of a traceparent, a view of it; empty if it is invalid. */
struct pl_str pl_trace_read(struct pl_str traceparent);

#endif
