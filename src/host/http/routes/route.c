/* Routes by path: a tree of segments, made once from the tables, in arrays of fixed size.
 *
 *     api -- sessions -- {} -- chat
 *                    \-- import
 *
 * A literal segment is tried before a brace. If the rest of the path then fails, the brace is not
 * tried again, because no table needs that. */
#include "http/routes/route.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum {
    MAX_NODES = 512,
    MAX_IGNORED_BODY = 4 << 10,
    MAX_JSON_BODY = 4 << 20,
    MAX_LARGE_BODY = 32 << 20,
};

struct node {
    struct pl_str segment; /* from the table's path; empty: a brace */
    uint16_t first, next;  /* child, sibling; 0: none */
    const struct pl_route *routes[PL_METHOD_OTHER];
};

static struct node nodes[MAX_NODES];
static uint16_t n_nodes = 1; /* node 0 is the root */
static pthread_once_t made = PTHREAD_ONCE_INIT;

static const struct pl_route *const *tables;

void pl_routes_use(const struct pl_route *const *given)
{
    tables = given;
}

const struct pl_route *const *pl_routes(void)
{
    return tables;
}

static const struct pl_route_family *families;

void pl_families_use(const struct pl_route_family *given)
{
    families = given;
}

const struct pl_route_family *pl_family_of(struct pl_str path)
{
    for (const struct pl_route_family *family = families; family && family->prefix; family++)
        if (pl_str_starts(path, pl_str_of(family->prefix)))
            return family;
    return NULL;
}

static uint16_t child_of(uint16_t parent, struct pl_str segment)
{
    for (uint16_t at = nodes[parent].first; at; at = nodes[at].next)
        if (pl_str_eq(nodes[at].segment, segment))
            return at;
    return 0;
}

static uint16_t add_child(uint16_t parent, struct pl_str segment)
{
    uint16_t at = child_of(parent, segment);
    if (at)
        return at;
    assert(n_nodes < MAX_NODES);
    at = n_nodes++;
    nodes[at].segment = segment;
    nodes[at].next = nodes[parent].first;
    nodes[parent].first = at;
    return at;
}

static void add_route(const struct pl_route *route)
{
    uint16_t at = 0;
    for (const char *from = route->path; *from == '/' && from[1];) {
        const char *end = strchr(from + 1, '/');
        struct pl_str segment = {from + 1, end ? (size_t)(end - from - 1) : strlen(from + 1)};
        if (segment.ptr[0] == '{')
            segment = (struct pl_str){0};
        at = add_child(at, segment);
        from = end ? end : from + 1 + segment.len;
        if (!end)
            break;
    }
    assert(!nodes[at].routes[route->method]);
    nodes[at].routes[route->method] = route;
}

static void make(void)
{
    for (size_t i = 0; tables[i]; i++)
        for (const struct pl_route *route = tables[i]; route->path; route++)
            add_route(route);
}

size_t pl_route_max_body(const struct pl_route *route)
{
    bool has_none = route->method == PL_METHOD_GET || route->method == PL_METHOD_DELETE;
    if (route->upload)
        return route->upload->max_bytes;
    if (route->max_body)
        return route->max_body;
    if (route->request || (route->flags & PL_ROUTE_RAW_BODY))
        return route->flags & PL_ROUTE_LARGE ? MAX_LARGE_BODY : MAX_JSON_BODY;
    return has_none ? 0 : MAX_IGNORED_BODY;
}

size_t pl_route_max_reply(const struct pl_route *route)
{
    return route->max_reply ? route->max_reply : PL_MAX_REPLY;
}

static void write_allowed(const struct node *node, char ret_allow[64])
{
    size_t len = 0;
    ret_allow[0] = 0;
    for (int i = 0; i < PL_METHOD_OTHER; i++) {
        bool is_head = i == PL_METHOD_HEAD && node->routes[PL_METHOD_GET];
        if (!node->routes[i] && !is_head && i != PL_METHOD_OPTIONS)
            continue;
        int n = snprintf(ret_allow + len, 64 - len, "%s%s", len ? ", " : "",
                         pl_method_text((enum pl_method)i));
        len += n > 0 ? (size_t)n : 0;
    }
}

enum pl_status pl_route_find(enum pl_method method, const struct pl_target *target,
                             const struct pl_route **ret_route, struct pl_str ret_args[],
                             char ret_allow[64])
{
    uint16_t at = 0;
    size_t n_args = 0;
    bool is_any = false; /* the first segment matched a brace, as any would: 404, never 405 */
    pthread_once(&made, make);
    for (size_t i = 0; i < target->n_segments; i++) {
        struct pl_str segment = target->segments[i];
        uint16_t next = segment.len ? child_of(at, segment) : 0;
        if (!next && segment.len && n_args < PL_ROUTE_MAX_ARGS) {
            next = child_of(at, (struct pl_str){0});
            ret_args[n_args++] = segment;
            is_any = is_any || i == 0;
        }
        if (!next)
            return PL_NOT_FOUND;
        at = next;
    }
    enum pl_method wanted = method == PL_METHOD_HEAD ? PL_METHOD_GET : method;
    const struct pl_route *route = wanted < PL_METHOD_OTHER ? nodes[at].routes[wanted] : NULL;
    if (route) {
        *ret_route = route;
        return PL_OK;
    }
    write_allowed(&nodes[at], ret_allow);
    return is_any || strcmp(ret_allow, "OPTIONS") == 0 ? PL_NOT_FOUND : PL_CONFLICT;
}
