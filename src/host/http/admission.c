/* Checks that need only the head of a request: its Host, route, address, user and body length. */
#include "http/exchange_int.h"

#include "base/text/uuid.h"
#include "http/connection.h"
#include "http/guard.h"
#include "http/limits/body_memory.h"

#include <strings.h>

enum {
    ARENA_BYTES = 64 << 20,
    LARGE_ARENA_BYTES = 512 << 20,
};

void pl_exchange_set_id(struct pl_exchange *x)
{
    struct pl_str given =
        x->head ? pl_http_header_get(x->head, "x-request-id") : (struct pl_str){0};
    bool is_good = given.len > 0 && given.len < sizeof x->request_id;
    for (size_t i = 0; is_good && i < given.len; i++) {
        char c = given.ptr[i];
        is_good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '-' || c == '_' || c == '.';
    }
    if (is_good) {
        memcpy(x->request_id, given.ptr, given.len);
        x->request_id[given.len] = 0;
        return;
    }
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    pl_uuid7_write(x->request_id, seed.unix_ms, seed.random);
    x->request_id[PL_UUID_SIZE] = 0;
}

/* The key of "Authorization: Bearer KEY"; {NULL, 0} without one. */
static struct pl_str bearer_of(const struct pl_http_head *head)
{
    struct pl_str value = pl_http_header_get(head, "authorization");
    struct pl_str scheme = PL_STR("bearer ");
    if (value.len <= scheme.len || strncasecmp(value.ptr, scheme.ptr, scheme.len) != 0)
        return (struct pl_str){0};
    value = pl_str_slice(value, scheme.len, value.len);
    while (value.len && value.ptr[0] == ' ')
        value = pl_str_slice(value, 1, value.len);
    return value;
}

/* Vendors' clients send their key in other headers. */
static struct pl_str key_of(const struct pl_exchange *x)
{
    static const char *const headers[] = {"x-api-key", "x-goog-api-key"};
    struct pl_str key = bearer_of(x->head);
    if (!(x->route->flags & PL_ROUTE_VENDOR_KEY))
        return key;
    for (size_t i = 0; i < sizeof headers / sizeof *headers && !key.len; i++)
        key = pl_http_header_get(x->head, headers[i]);
    return key;
}

static const char *key_wish(const struct pl_exchange *x, const char *why)
{
    if (why)
        return why;
    if (!(x->route->flags & PL_ROUTE_VENDOR_KEY))
        return "Send a key: Authorization: Bearer sk-parley-v1-…";
    if (pl_target_param(&x->target, "key").ptr)
        return "A key in a URL ends up in logs, so it is not accepted: send it in a header, "
               "x-goog-api-key, x-api-key or Authorization: Bearer.";
    return "Send a key of this server, sk-parley-v1-…, as Authorization: Bearer, x-api-key or "
           "x-goog-api-key.";
}

/* A foreign page can make a browser send the cookie, but not the token. */
static bool is_meant(const struct pl_exchange *x)
{
    bool changes = x->method != PL_METHOD_GET && x->method != PL_METHOD_HEAD;
    return !changes || !x->caller.csrf.len ||
           pl_str_eq(pl_http_header_get(x->head, "x-parley-csrf"), x->caller.csrf);
}

static bool authorize(struct pl_exchange *x)
{
    struct pl_str key = key_of(x);
    const char *why = NULL;
    struct pl_exchange_own *own = pl_exchange_own(x);
    const struct pl_guard *guard = x->shard->server->guard;
    enum pl_status status = guard->identify(x, key, &why);
    if (status == PL_NOT_FOUND && own->asking == PL_ASKING_NOT && guard->may_find(x, key)) {
        own->asking = PL_ASKING_WANTED;
        return false;
    }
    if (status == PL_NOMEM) {
        pl_exchange_fail(x, status, NULL);
        return false;
    }
    if (x->route->flags & PL_ROUTE_PUBLIC)
        return true;
    if (status != PL_OK) {
        pl_exchange_header(x, "WWW-Authenticate", "Bearer");
        pl_exchange_problem(x, PL_PROBLEM_UNAUTHORIZED, NULL, "%s", key_wish(x, why));
        return false;
    }
    if (!is_meant(x)) {
        pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL,
                            "A change by someone who is signed in needs the header X-Parley-CSRF, "
                            "with the csrf of GET /api/me.");
        return false;
    }
    if (!pl_scope_reaches(x->caller.scope, x->route->scopes)) {
        pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL,
                            "This key has the scope \"%s\", which does not reach this; use a key "
                            "with another scope.",
                            pl_scope_word(x->caller.scope));
        return false;
    }
    if ((x->route->flags & PL_ROUTE_ADMIN) && !x->caller.is_admin) {
        pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL, "Only an administrator may do this.");
        return false;
    }
    return true;
}

static bool find_route(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    struct pl_error err = {0};
    enum pl_status status = pl_target_parse(&x->arena, x->head->target, &x->target, &err);
    if (status != PL_OK) {
        pl_exchange_problem(x,
                            status == PL_NOMEM ? PL_PROBLEM_OVERLOADED : PL_PROBLEM_INVALID_REQUEST,
                            NULL, "The target of the request: %s.", err.message);
        return false;
    }
    status = pl_route_find(x->method, &x->target, &x->route, x->args, own->allow);
    if (status == PL_OK)
        return true;
    if (status == PL_NOT_FOUND) {
        char lack[400] = "There is nothing at this path; /openapi.json lists all paths.";
        const struct pl_route_family *family = pl_family_of(x->target.path);
        if (family)
            family->describe_lack(x, lack, sizeof lack);
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "%s", lack);
        return false;
    }
    pl_exchange_header(x, "Allow", "%s", own->allow);
    if (x->method == PL_METHOD_OPTIONS)
        x->status = 204;
    else
        pl_exchange_problem(x, PL_PROBLEM_METHOD_NOT_ALLOWED, NULL, "This path supports only %s.",
                            own->allow);
    return false;
}

static bool check_capacity(struct pl_exchange *x)
{
    struct pl_server *server = x->shard->server;
    bool changes = x->method != PL_METHOD_GET && x->method != PL_METHOD_HEAD;
    if (x->conn->refusal == PL_HTTP_FULL)
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "There are too many connections; try again in a moment.");
    else if (x->conn->refusal == PL_HTTP_ADDRESS_FULL)
        pl_exchange_problem(x, PL_PROBLEM_RATE_LIMITED, NULL,
                            "Your address has too many connections; close some of them.");
    else if (changes && pl_life_is_closing(&server->life))
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "The server is stopping; try again in a moment.");
    return !x->is_problem;
}

static bool check_length(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    uint64_t n_body = x->head->content_length;
    size_t n_most = pl_body_memory_most(x->shard);
    own->max_body = pl_route_max_body(x->route);
    if (!x->route->upload && own->max_body > n_most)
        own->max_body = n_most;
    x->reply.max = pl_route_max_reply(x->route);
    x->arena.max_bytes = x->route->flags & PL_ROUTE_LARGE ? LARGE_ARENA_BYTES : ARENA_BYTES;
    if (n_body > own->max_body)
        pl_exchange_problem(x, PL_PROBLEM_PAYLOAD_TOO_LARGE, NULL,
                            "The body must have at most %zu bytes, but has %llu.", own->max_body,
                            (unsigned long long)n_body);
    else if (n_body)
        pl_exchange_ask_body_memory(own, (size_t)n_body);
    return !x->is_problem;
}

static void apply_cors(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    struct pl_str origin = pl_http_header_get(x->head, "origin");
    if (!origin.len || !x->shard->server->guard->is_cors(x, origin))
        return;
    own->has_cors = true;
    pl_exchange_header(x, "Access-Control-Allow-Origin", "%.*s", PL_STR_ARG(origin));
    pl_exchange_header(x, "Vary", "Origin");
    if (x->method == PL_METHOD_OPTIONS) {
        pl_exchange_header(x, "Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE");
        pl_exchange_header(x, "Access-Control-Allow-Headers",
                           "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
                           "X-Request-Id, traceparent, x-api-key, x-goog-api-key, "
                           "anthropic-version, anthropic-beta, Parley-Record");
        pl_exchange_header(x, "Access-Control-Max-Age", "600");
    } else {
        pl_exchange_header(
            x, "Access-Control-Expose-Headers",
            "ETag, X-Request-Id, X-Parley-Node, X-Parley-Owner, X-Stream-Position, X-Total-Count, "
            "X-Has-More, X-Next-Cursor, "
            "Idempotency-Replayed, Parley-Model, "
            "Parley-Loss, Parley-Session, Retry-After");
    }
}

/* A header that decides something may appear only once: a proxy may read another copy than we. */
static bool check_single(struct pl_exchange *x)
{
    static const char *const names[] = {
        "Authorization", "Content-Encoding", "Content-Type",   "Idempotency-Key",
        "Last-Event-ID", "X-Api-Key",        "X-Goog-Api-Key",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pl_http_header_count(x->head, names[i]) > 1) {
            pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                                "The request has the header %s more than once; send it once.",
                                names[i]);
            return false;
        }
    return true;
}

/* Bodies are parsed as they arrive. A compressed one could unpack to any size. */
static bool check_encoding(struct pl_exchange *x)
{
    struct pl_str encoding = pl_http_header_get(x->head, "content-encoding");
    if (!encoding.len || pl_http_name_is(encoding, "identity"))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_UNSUPPORTED_TYPE, NULL,
                        "Compressed bodies are not accepted; send the body without "
                        "Content-Encoding.");
    return false;
}

bool pl_exchange_admit_caller(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    return authorize(x) && pl_exchange_check_query(x) && check_encoding(x) && check_length(own);
}

bool pl_exchange_admit(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    const struct pl_guard *guard = x->shard->server->guard;
    if (!guard->check_host(x))
        return false;
    apply_cors(own);
    return find_route(own) && check_capacity(x) && guard->check_origin(x) && check_single(x) &&
           pl_exchange_admit_caller(own);
}
