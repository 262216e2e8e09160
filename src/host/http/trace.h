/* W3C trace context (Level 1): the caller's trace continues in our logs and in the answer. */
#ifndef PL_HTTP_TRACE_H
#define PL_HTTP_TRACE_H

#include "http/exchange.h"

/* Fills x->traceparent when the request has a valid one: the same trace, a span of our own. With a
 * tracer, a request without one begins a trace. */
void pl_trace_continue(struct pl_exchange *x);
/* The request is over: its span ends. */
void pl_trace_end(struct pl_exchange *x);
/* The 32 digits of the trace; empty without one. */
struct pl_str pl_trace_id(const struct pl_exchange *x);
/* Those of a traceparent, a view of it; empty where it is not one. */
struct pl_str pl_trace_read(struct pl_str traceparent);

#endif
