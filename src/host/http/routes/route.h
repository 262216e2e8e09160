/* The table of routes: method, path, who may call it, limits, schemas, handler. OpenAPI,
 * validation, metrics and the tests come from the same lines. */
#ifndef PL_HTTP_ROUTE_H
#define PL_HTTP_ROUTE_H

#include "http/exchange.h"

enum pl_route_flag {
    PL_ROUTE_PUBLIC = 1 << 0, /* no key needed */
    PL_ROUTE_ADMIN = 1 << 1,
    PL_ROUTE_LARGE = 1 << 2,      /* a body up to 32 MiB instead of 4, and memory to work on it */
    PL_ROUTE_IDEMPOTENT = 1 << 3, /* honours Idempotency-Key */
    PL_ROUTE_RAW_BODY = 1 << 4,   /* the body is not JSON, or is looked at by the handler itself */
    PL_ROUTE_ANY_REPLY = 1 << 5,  /* the answer may be no JSON (text, event stream, bytes) */
    PL_ROUTE_VENDOR_KEY = 1 << 6, /* the key may come in the header a vendor's clients use */
    PL_ROUTE_STORED = 1 << 8,     /* what it brings is stored as it is: strict JSON, though large */
    PL_ROUTE_RETELLS = 1 << 7,    /* after a crash its answer is made of what is stored */
    PL_ROUTE_ANY_QUERY = 1 << 9,  /* somebody else makes its address, and may add parameters */
};

/* A few bytes can ask for very many, so every answer has an end, checked while it is written. What
 * flows out as it is made, or is read from the store piece by piece, is not gathered. */
enum {
    PL_MAX_REPLY = 64 << 20,
    PL_MAX_EXPORT = 256 << 20, /* all that a session or a library has */
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
/* Those that pl_exchange_sums_args reads. */
#define PL_PARAMS_OF_SUMS                                                                          \
    {"limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}",                             \
     "The maximum number; 1000 by default"},                                                       \
        PL_PARAM_CURSOR
#define PL_PARAMS_OF_PAGE PL_PARAM_LIMIT, PL_PARAM_OFFSET, PL_PARAM_CURSOR

/* A body that is handed on while it comes, and never gathered. Whenever a piece is there the client
 * is not read from until it was looked at (on a worker) and kept. The handler of the route runs
 * when the last piece, in body_text and perhaps empty, was looked at. */
struct pl_upload {
    size_t max_bytes;
    size_t piece_bytes; /* of all pieces but the last */
    /* The head is known: makes x->state. These may make a problem of the answer. */
    void (*begin)(struct pl_exchange *x);
    void (*look)(struct pl_exchange *x, bool is_last);
    /* Keeps body_text, which stays until pl_exchange_piece_kept is called. */
    void (*keep)(struct pl_exchange *x);
    /* The client is gone, or the answer is a problem: stored pieces are dropped. */
    void (*drop)(struct pl_exchange *x);
};

struct pl_route {
    enum pl_method method;
    const char *path; /* "/api/sessions/{id}/turns/{turn_id}" */
    unsigned flags;
    unsigned scopes; /* PL_FOR_…: the scopes of keys that may call it, besides `all` */
    void (*run)(struct pl_exchange *x);
    const char *id;      /* operationId: "session_turn_get" */
    const char *summary; /* a sentence */
    const char *tag;
    const char *request;  /* name of a component schema; NULL: no body */
    const char *response; /* name of a component schema of the 2xx answer; NULL: none */
    int status;           /* of the 2xx answer */
    const struct pl_route_param *params; /* in the query; may be NULL */
    const struct pl_upload *upload;      /* NULL: the body is gathered */
    /* Fills status, content type and reply of a problem; NULL: RFC 9457. */
    void (*say_problem)(struct pl_exchange *x, enum pl_problem problem, const char *detail);
    size_t max_body;  /* 0: by what the route takes (pl_route_max_body) */
    size_t max_reply; /* of an answer that is gathered; 0: PL_MAX_REPLY. More than that is 413 */
    /* The event that those who follow the user's lists are told once it has succeeded:
     * "prompt:updated" (live/lists.h). NULL: none. */
    const char *tells;
};

/* Paths whose clients know another shape of errors, also for what is not there: those that begin with
 * `prefix`. */
struct pl_route_family {
    const char *prefix; /* "/v1/"; NULL ends the list */
    void (*say_problem)(struct pl_exchange *x, enum pl_problem problem, const char *detail);
    /* What to say of a path that is not there; `to` has room for n bytes. */
    void (*describe_lack)(const struct pl_exchange *x, char *to, size_t n);
};
/* Before the first request; they stay. None without a call. */
void pl_families_use(const struct pl_route_family *families);
/* NULL: the path belongs to none. */
const struct pl_route_family *pl_family_of(struct pl_str path);

/* The tables that are answered from, ended by NULL; each is ended by a NULL path. Before the first
 * request; they stay. */
void pl_routes_use(const struct pl_route *const *tables);
const struct pl_route *const *pl_routes(void);

/* Finds the route; PL_NOT_FOUND, or PL_CONFLICT when the path is there with other methods (then
 * *ret_allow lists them: "GET, PATCH"). HEAD finds GET. */
enum pl_status pl_route_find(enum pl_method method, const struct pl_target *target,
                             const struct pl_route **ret_route, struct pl_str ret_args[],
                             char ret_allow[64]);

/* How long a gathered body may be: 4 KiB where the route only looks at the head, so that an empty
 * object does no harm, and nothing where the method has no body (RFC 9110 9.3.1, 9.3.5). */
size_t pl_route_max_body(const struct pl_route *route);
size_t pl_route_max_reply(const struct pl_route *route);

/* OpenAPI 3.1, made once from the tables and schemas/api.json (components). */
struct pl_str pl_openapi_text(void);

#endif
