/* The table of routes: what is answered, who may ask, how large, in which shape, by whom. OpenAPI,
 * validation, metrics and the tests come from the same lines. */
#ifndef PL_SERVER_ROUTE_H
#define PL_SERVER_ROUTE_H

#include "server/exchange.h"

enum pl_route_flag {
    PL_ROUTE_PUBLIC = 1 << 0, /* no key needed */
    PL_ROUTE_ADMIN = 1 << 1,
    PL_ROUTE_LARGE = 1 << 2,      /* a body up to 32 MiB instead of 4 */
    PL_ROUTE_IDEMPOTENT = 1 << 3, /* honours Idempotency-Key */
    PL_ROUTE_RAW_BODY = 1 << 4,   /* the body is not JSON, or is looked at by the handler itself */
    PL_ROUTE_ANY_REPLY = 1 << 5,  /* the answer is no JSON (text, event stream) */
};

struct pl_route_param {
    const char *name;   /* NULL ends the list */
    const char *schema; /* JSON Schema of its value, as text */
    const char *about;
};

struct pl_route {
    enum pl_method method;
    const char *path; /* "/api/sessions/{id}/turns/{turn_id}" */
    unsigned flags;
    void (*run)(struct pl_exchange *x);
    const char *id;      /* operationId: "session_turn_get" */
    const char *summary; /* a sentence */
    const char *tag;
    const char *request;  /* name of a component schema; NULL: no body */
    const char *response; /* name of a component schema of the 2xx answer; NULL: none */
    int status;           /* of the 2xx answer */
    const struct pl_route_param *params; /* in the query; may be NULL */
};

/* One table per file of routes; each ended by a NULL path. */
extern const struct pl_route pl_routes_service[];
extern const struct pl_route pl_routes_convert[];
extern const struct pl_route pl_routes_keys[];
extern const struct pl_route pl_routes_sessions[];
extern const struct pl_route pl_routes_turns[];
extern const struct pl_route pl_routes_copies[];
extern const struct pl_route pl_routes_live[];
/* All tables, ended by NULL. */
extern const struct pl_route *const pl_route_tables[];

/* Finds the route; PL_NOT_FOUND, or PL_CONFLICT when the path is there with other methods (then
 * *ret_allow lists them: "GET, PATCH"). HEAD finds GET. */
enum pl_status pl_route_find(enum pl_method method, const struct pl_target *target,
                             const struct pl_route **ret_route, struct pl_str ret_args[],
                             char ret_allow[64]);

/* OpenAPI 3.1, made once from the tables and schemas/api.json (components). */
struct pl_str pl_openapi_text(void);

#endif
