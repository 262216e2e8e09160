/* What requests of several routes can wish for: instants, models, variables to fill in, and whom a
 * document is meant for; and how a wish is refused. Any thread that has the exchange. */
#ifndef PL_SERVER_WISHES_H
#define PL_SERVER_WISHES_H

#include "conv/render.h"
#include "format/lint_document.h"
#include "json/write.h"
#include "server/exchange.h"

/* Makes a problem of a member or parameter that is not as it should be; the pointer to it is made
 * by the format. */
void pl_wish_refuse(struct pl_exchange *x, const char *says, const char *pointer, ...)
    __attribute__((format(printf, 3, 4)));
/* A parameter that is the place of a turn; what it was stays where it is absent. False after making
 * a problem, as below. */
bool pl_param_sequence(struct pl_exchange *x, const char *name, int64_t *sequence);
/* The parameter "after", which may also be -1: everything is after that. */
bool pl_param_after(struct pl_exchange *x, int64_t *sequence);
/* A parameter that is an instant. False after making a problem. */
bool pl_param_time(struct pl_exchange *x, const char *name, int64_t otherwise_ms, int64_t *ret_ms);

/* A member that must name something, and does not: makes a problem of it. */
void pl_exchange_fail_name(struct pl_exchange *x, const char *member, struct pl_str name);

/* The whole name of a model, when there is one of that name and the caller may use it. Reads the
 * store: on a worker. False after making a problem. */
bool pl_wish_model(struct pl_exchange *x, struct pl_str name, const char *pointer,
                   struct pl_str *ret_model);

/* How long a document may be with its variables filled in. */
enum { PL_MAX_RENDERED = 16 << 20 };
/* How many messages, parts and tools a document that somebody sends may have: more than any model
 * reads, and what a conversion needs for them fits beside other requests. */
enum { PL_MAX_ITEMS = 100000 };

/* The members of an object (NULL: none) as variables: strings as their text, other values as their
 * JSON. Memory of the arena, or views of the document. PL_NOMEM. */
enum pl_status pl_vars_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                            const struct pl_json_node *object, struct pl_render_opts *opts);
/* Those of the member "variables". False after making a problem of a name that is none. */
bool pl_body_vars(struct pl_exchange *x, struct pl_render_opts *opts);
/* Makes a problem of variables that are missing or wrong, each with a line; false when that was not
 * the reason. */
bool pl_exchange_fail_vars(struct pl_exchange *x, enum pl_status status,
                           const struct pl_rendered *made);

/* "for": a format or a profile. False after making a problem of what is neither. */
bool pl_body_lint_target(struct pl_exchange *x, struct pl_lint_request *request);

/* Lines as an array of strings. */
void pl_lines_write(struct pl_json_out *out, struct pl_str lines);

#endif
