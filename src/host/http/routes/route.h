/* The table of routes: method, path, access, limits, schemas, handler. OpenAPI, validation, metrics
 * and the tests use the same lines. */
#ifndef PL_HTTP_ROUTE_H
#define PL_HTTP_ROUTE_H

#include "http/exchange.h"

enum pl_route_flag {
    PL_ROUTE_PUBLIC = 1 << 0, /* no key needed */
    PL_ROUTE_ADMIN = 1 << 1,
    PL_ROUTE_LARGE = 1 << 2,      /* a body up to 32 MiB instead of 4, and memory to process it */
    PL_ROUTE_IDEMPOTENT = 1 << 3, /* honours Idempotency-Key */
    PL_ROUTE_RAW_BODY = 1 << 4,   /* the body is not JSON, or the handler parses it itself */
    PL_ROUTE_ANY_REPLY = 1 << 5,  /* the answer need not be JSON (text, event stream, bytes) */
    PL_ROUTE_VENDOR_KEY = 1 << 6, /* the key may come in a header that a vendor's clients use */
    PL_ROUTE_STORED = 1 << 8,     /* its body is stored as it is: strict JSON, though large */
    PL_ROUTE_RETELLS = 1 << 7,    /* after a crash its answer can be made again from the store */
    PL_ROUTE_ANY_QUERY = 1 << 9,  /* others make its address and may add parameters */
};

/* A short request can ask for a huge answer, so every answer has a size limit, checked while it is
 * written. Answers that are sent while they are made or read are not gathered, so it does not apply
 * to them. */
enum {
    PL_MAX_REPLY = 64 << 20,
    PL_MAX_EXPORT = 256 << 20, /* for everything in a session or a library */
};

struct pl_route_param {
    const char *name;   /* NULL ends the list */
    const char *schema; /* JSON Schema of its value, as text */
    const char *about;
};

/* The parameters that pl_exchange_page_args reads. */
#define PL_PARAM_LIMIT                                                                             \
    {                                                                                              \
        "limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}",                           \
            "The maximum number; 20 by default"                                                    \
    }
#define PL_PARAM_OFFSET                                                                            \
    {                                                                                              \
        "offset", "{\"type\":\"integer\",\"minimum\":0}", "How many to skip"                       \
    }
#define PL_PARAM_CURSOR                                                                            \
    {                                                                                              \
        "cursor", "{\"type\":\"string\"}", "next_cursor of the previous page"                      \
    }
/* The parameters that pl_exchange_sums_args reads. */
#define PL_PARAMS_OF_SUMS                                                                          \
    {"limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}",                             \
     "The maximum number; 1000 by default"},                                                       \
        PL_PARAM_CURSOR
#define PL_PARAMS_OF_PAGE PL_PARAM_LIMIT, PL_PARAM_OFFSET, PL_PARAM_CURSOR

/* A body that is processed while it arrives, and never gathered. When a piece is complete, the
 * client is not read from until the piece was checked (on a worker) and stored. The handler of the
 * route runs after the last piece, which is in body_text and may be empty, was checked. */
struct pl_upload {
    size_t max_bytes;
    size_t piece_bytes; /* of every piece but the last */
    /* The head is known: creates x->state. These functions may make a problem. */
    void (*begin)(struct pl_exchange *x);
    void (*look)(struct pl_exchange *x, bool is_last);
    /* Stores body_text, which stays valid until pl_exchange_piece_kept is called. */
    void (*keep)(struct pl_exchange *x);
    /* The client is gone, or the answer is a problem: drops the stored pieces. */
    void (*drop)(struct pl_exchange *x);
};

struct pl_route {
    enum pl_method method;
    const char *path; /* "/api/sessions/{id}/turns/{turn_id}" */
    unsigned flags;
    unsigned scopes; /* PL_FOR_…: scopes of keys that may call it, besides `all` */
    void (*run)(struct pl_exchange *x);
    const char *id;      /* operationId: "session_turn_get" */
    const char *summary; /* a sentence */
    const char *tag;
    const char *request;  /* name of a component schema; NULL: no body */
    const char *response; /* name of the component schema of the 2xx answer; NULL: none */
    int status;           /* of the 2xx answer */
    const struct pl_route_param *params; /* in the query; may be NULL */
    const struct pl_upload *upload;      /* NULL: the body is gathered */
    /* Writes status, content type and reply of a problem; NULL: RFC 9457. */
    void (*say_problem)(struct pl_exchange *x, enum pl_problem problem, const char *detail);
    size_t max_body;  /* 0: the default (pl_route_max_body) */
    size_t max_reply; /* of an answer that is gathered; 0: PL_MAX_REPLY. A longer one becomes 413 */
    /* The event sent to the listeners of the user's lists after success: "prompt:updated"
     * (live/lists.h). NULL: none. */
    const char *tells;
};

/* Paths that begin with `prefix` report errors in another shape, even for unknown paths. */
struct pl_route_family {
    const char *prefix; /* "/v1/"; NULL ends the list */
    void (*say_problem)(struct pl_exchange *x, enum pl_problem problem, const char *detail);
    /* Describes a path that does not exist; `to` has room for n bytes. */
    void (*describe_lack)(const struct pl_exchange *x, char *to, size_t n);
};
/* Call before the first request; the table must stay valid. Optional. */
void pl_families_use(const struct pl_route_family *families);
/* NULL: the path has no family. */
const struct pl_route_family *pl_family_of(struct pl_str path);

/* Sets the tables of routes, ended by NULL; each table is ended by a NULL path. Call before the
 * first request; they must stay valid. */
void pl_routes_use(const struct pl_route *const *tables);
const struct pl_route *const *pl_routes(void);

/* Finds the route; PL_NOT_FOUND, or PL_CONFLICT if the path exists with other methods (*ret_allow
 * then lists them: "GET, PATCH"). HEAD finds GET. */
enum pl_status pl_route_find(enum pl_method method, const struct pl_target *target,
                             const struct pl_route **ret_route, struct pl_str ret_args[],
                             char ret_allow[64]);

/* The longest gathered body: 4 KiB if the route uses only the head, so that an empty object does no
 * harm, and 0 if the method has no body (RFC 9110 9.3.1, 9.3.5). */
size_t pl_route_max_body(const struct pl_route *route);
size_t pl_route_max_reply(const struct pl_route *route);

/* OpenAPI 3.1, made once from the tables and schemas/api.json (components). */
struct pl_str pl_openapi_text(void);

#endif
