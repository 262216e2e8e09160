/* Request options that several routes share: instants, models, template variables, the target of
 * a document; and the refusal of an invalid option. Any thread that has the exchange. */
#ifndef PL_SERVICE_REQUEST_OPTIONS_H
#define PL_SERVICE_REQUEST_OPTIONS_H

#include "prompt/render.h"
#include "document/lint.h"
#include "http/exchange.h"
#include "json/write.h"

/* Makes a problem of an invalid member or parameter. `pointer` is the format string of its JSON
 * pointer. */
void pl_option_refuse(struct pl_exchange *x, const char *says, const char *pointer, ...)
    __attribute__((format(printf, 3, 4)));
/* A parameter that is the position of a turn; unchanged if absent. False after making a problem. */
bool pl_param_sequence(struct pl_exchange *x, const char *name, int64_t *sequence);
/* The parameter "after"; -1 is allowed too: everything is after it. */
bool pl_param_after(struct pl_exchange *x, int64_t *sequence);
/* A parameter that is an instant; `otherwise_ms` if absent. False after making a problem. */
bool pl_param_time(struct pl_exchange *x, const char *name, int64_t otherwise_ms, int64_t *ret_ms);

/* Makes a problem of a member that names something unknown. */
void pl_exchange_fail_name(struct pl_exchange *x, const char *member, struct pl_str name);

/* The full name of a model, if it exists and the caller may use it. Reads the store: on a
 * worker. False after making a problem. */
bool pl_option_model(struct pl_exchange *x, struct pl_str name, const char *pointer,
                     struct pl_str *ret_model);

/* Limit of a document with its variables filled in, in bytes. */
enum { PL_MAX_RENDERED = 16 << 20 };
/* Limit of messages, parts and tools in a client's document: more than any model reads, and few
 * enough that their conversion fits into memory beside other requests. */
enum { PL_MAX_ITEMS = 100000 };

/* Reads the members of an object (may be NULL) as variables: strings as their text, other values
 * as their JSON. The memory is the arena's or the document's. PL_NOMEM. */
enum pl_status pl_vars_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                            const struct pl_json_node *object, struct pl_render_opts *opts);
/* Reads the member "variables". False after making a problem of an invalid name. */
bool pl_body_vars(struct pl_exchange *x, struct pl_render_opts *opts);
/* Makes a problem of missing or wrong variables, with one entry for each; false if the failure
 * has another reason. */
bool pl_exchange_fail_vars(struct pl_exchange *x, enum pl_status status,
                           const struct pl_rendered *made);

/* The member "for": a format, a profile or a model. False after making a problem of anything
 * else. */
bool pl_body_lint_target(struct pl_exchange *x, struct pl_lint_request *request);

/* Writes lines as an array of strings. */
void pl_lines_write(struct pl_json_out *out, struct pl_str lines);

#endif
