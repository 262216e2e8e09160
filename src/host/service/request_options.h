/* Request options that several routes share: instants, models, variables to fill in, the target of
 * a document; and how a wrong option is refused. Any thread that has the exchange. */
#ifndef PL_SERVICE_REQUEST_OPTIONS_H
#define PL_SERVICE_REQUEST_OPTIONS_H

#include "prompt/render.h"
#include "document/lint.h"
#include "http/exchange.h"
#include "json/write.h"

/* Makes a problem of an invalid member or parameter; the format makes the pointer to it. */
void pl_option_refuse(struct pl_exchange *x, const char *says, const char *pointer, ...)
    __attribute__((format(printf, 3, 4)));
/* A parameter that is the position of a turn; unchanged if it is absent. False after making a
 * problem, as below. */
bool pl_param_sequence(struct pl_exchange *x, const char *name, int64_t *sequence);
/* The parameter "after", which may also be -1: everything is after that. */
bool pl_param_after(struct pl_exchange *x, int64_t *sequence);
/* A parameter that is an instant. False after making a problem. */
bool pl_param_time(struct pl_exchange *x, const char *name, int64_t otherwise_ms, int64_t *ret_ms);

/* Makes a problem of a member that must name something, and does not. */
void pl_exchange_fail_name(struct pl_exchange *x, const char *member, struct pl_str name);

/* The full name of a model, if it exists and the caller may use it. Reads the store: on a worker.
 * False after making a problem. */
bool pl_option_model(struct pl_exchange *x, struct pl_str name, const char *pointer,
                     struct pl_str *ret_model);

/* How long a document may be with its variables filled in. */
enum { PL_MAX_RENDERED = 16 << 20 };
/* The limit of messages, parts and tools in a document that a client sends: more than any model
 * reads, and few enough that their conversion fits into memory beside other requests. */
enum { PL_MAX_ITEMS = 100000 };

/* The members of an object (NULL: none) as variables: strings as their text, other values as their
 * JSON. Memory of the arena, or views of the document. PL_NOMEM. */
enum pl_status pl_vars_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                            const struct pl_json_node *object, struct pl_render_opts *opts);
/* Those of the member "variables". False after making a problem of an invalid name. */
bool pl_body_vars(struct pl_exchange *x, struct pl_render_opts *opts);
/* Makes a problem of missing or wrong variables, with a line for each; false if that was not the
 * reason. */
bool pl_exchange_fail_vars(struct pl_exchange *x, enum pl_status status,
                           const struct pl_rendered *made);

/* "for": a format or a profile. False after making a problem of anything else. */
bool pl_body_lint_target(struct pl_exchange *x, struct pl_lint_request *request);

/* Lines as an array of strings. */
void pl_lines_write(struct pl_json_out *out, struct pl_str lines);

#endif
