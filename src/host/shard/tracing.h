/* Spans for OpenTelemetry: what was done, for how long, and as part of what. Off unless an address
 * is configured (otlp_endpoint). A span that ends becomes JSON in a bounded buffer; a thread sends
 * the buffer to a collector, with OTLP over HTTP. Ending a span never waits for the collector: a
 * span that finds no room is dropped and counted. Spans contain names and numbers, and no text of
 * conversations. */
#ifndef PL_SHARD_TRACING_H
#define PL_SHARD_TRACING_H

#include "base/status.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct pl_tracer; /* owned by the server; thread-safe; NULL if off */

struct pl_tracer_config {
    const char *endpoint;     /* "http://127.0.0.1:4318"; "/v1/traces" is added if missing */
    const char *headers_file; /* one "Name: value" per line, secrets; mode 0600; may be NULL */
    size_t percent;           /* of the traces that begin here */
};

enum { PL_TRACE_DIGITS = 32, PL_SPAN_DIGITS = 16 };

/* Copies the configuration and reads the headers file. No message contains a header value. */
enum pl_status pl_tracer_create(const struct pl_tracer_config *config,
                                struct pl_tracer **ret_tracer, struct pl_error *err);
/* Sends the remaining spans, for two seconds at most. Accepts NULL. */
void pl_tracer_destroy(struct pl_tracer *tracer);

struct pl_tracer_numbers {
    int64_t n_sent, n_dropped; /* spans */
};
struct pl_tracer_numbers pl_tracer_look(struct pl_tracer *tracer); /* NULL: all 0 */

/* True if a trace that begins here is sampled; always the same answer for a trace. False without a
 * tracer. */
bool pl_tracer_samples(const struct pl_tracer *tracer, struct pl_str trace_id);

/* A started span; a plain value, in the caller's memory. All zeros means no span. */
struct pl_span {
    char trace_id[PL_TRACE_DIGITS + 1];
    char id[PL_SPAN_DIGITS + 1];
    char parent[PL_SPAN_DIGITS + 1]; /* "" for a root */
    int64_t start_us;                /* unix */
    bool is_told;                    /* it is sent to the collector at its end */
};

/* Ids are digits; an empty `id` is generated from `random`. */
void pl_span_begin(struct pl_span *span, struct pl_str trace_id, struct pl_str parent,
                   struct pl_str id, uint64_t random, bool is_told);
/* Begins a child span; it is not sent if its parent is not. */
void pl_span_begin_part(struct pl_span *span, const struct pl_span *whole, struct pl_str id,
                        uint64_t random);

enum pl_span_kind { PL_SPAN_INTERNAL = 1, PL_SPAN_SERVER = 2, PL_SPAN_CLIENT = 3 };

/* A fact with an empty text and no number is left out. */
struct pl_span_fact {
    const char *name; /* from the semantic conventions */
    struct pl_str text;
    int64_t number; /* used if there is no text; negative for none */
};

struct pl_span_about {
    const char *name;
    struct pl_str subject; /* after the name, as in "chat MODEL"; may be empty */
    enum pl_span_kind kind;
    const struct pl_span_fact *facts;
    size_t n_facts;
    struct pl_str error; /* error.type; empty on success */
};

/* Only the first end counts. Thread-safe. */
void pl_span_end(struct pl_tracer *tracer, struct pl_span *span, const struct pl_span_about *about);

#endif
