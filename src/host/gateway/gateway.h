/* The gateway: clients of any vendor reach any model. This is its state on a shard, and the
 * functions of its routes. docs/internals/gateway.md. */
#ifndef PL_GATEWAY_GATEWAY_H
#define PL_GATEWAY_GATEWAY_H

#include "format/format.h"
#include "http/exchange.h"
#include "http/routes/route.h"
#include "stream/stream.h"

struct pl_gateway; /* owned; one per shard */

enum pl_status pl_gateway_create(struct pl_gateway **ret_gateway);
void pl_gateway_destroy(struct pl_gateway *gateway); /* accepts NULL */

/* A client's dialect. */
struct pl_speech {
    const char *name; /* "anthropic": the name of its format and of its dialect */
    const struct pl_format *format;
    const struct pl_dialect *dialect;
    /* The body of an error; code may be NULL. */
    void (*write_error)(struct pl_exchange *x, int status, const char *code, struct pl_str message);
    /* Makes an error in the shape that the route's clients know. */
    void (*say_problem)(struct pl_exchange *x, enum pl_problem problem, const char *detail);
};

extern const struct pl_speech pl_speech_openai_chat, pl_speech_openai_responses,
    pl_speech_anthropic, pl_speech_gemini;

/* Makes the answer an error in the client's shape; does not finish. */
void pl_speech_fail(const struct pl_speech *speech, struct pl_exchange *x, int status,
                    const char *code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The handler of a route: calls the model named in the body, or `model` if it is in the path. */
struct pl_gateway_options {
    const struct pl_speech *speech;
    struct pl_str model; /* empty: in the body */
    bool is_model_in_path, is_stream_in_path;
    bool is_array;     /* Gemini: stream as one JSON array */
    bool is_embedding; /* a call for embeddings */
};
void pl_gateway_run(struct pl_exchange *x, const struct pl_gateway_options *options);

/* Makes an error for a path that several vendors have, or that does not exist, in the shape of the
 * client's vendor. */
void pl_gateway_problem(struct pl_exchange *x, enum pl_problem problem, const char *detail);
/* The model in the braces of the path, with its slashes; empty when out of memory. */
struct pl_str pl_gateway_model_in_path(struct pl_exchange *x);

#endif
