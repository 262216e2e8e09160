/* The state of the service: liveness, capabilities, health, metrics, location of its data. */
#include "agent/tools/tools.h"

#include "base/hash.h"
#include "http/exchange.h"
#include "http/json_members.h"
#include "io/clock.h"
#include "json/text.h"
#include "json/write.h"
#include "node/node.h"
#include "service/admin/metrics_text.h"
#include "service/admin/routes.h"
#include "service/admin/store_size.h"
#include "store/store.h"
#include "wire/language.h"

#include <stdio.h>

enum {
    READY_MS = 5000,  /* a job waits longer: another server should take the next requests */
    SILENT_MS = 3000, /* the database has not answered for this long: the same */
};

/* A text that is the same for everybody; its ETag is a hash of it. */
static void show_text(struct pl_exchange *x, struct pl_str text)
{
    char *tag = pl_arena_alloc(&x->arena, 32, 1);
    if (!tag || !text.len) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return;
    }
    snprintf(tag, 32, "\"%016llx\"", (unsigned long long)pl_hash_quick(text));
    pl_exchange_static(x, text, tag);
}

static void show_version(struct pl_exchange *x)
{
    const struct pl_store *store = x->shard->server->store;
    pl_buf_add(&x->reply, PL_STR("{\"name\":\"parley\",\"version\":"));
    pl_json_quote(&x->reply, pl_str_of(pl_server_version));
    pl_buf_add(&x->reply, PL_STR(",\"api\":\"v1\",\"store\":"));
    pl_json_quote(&x->reply, pl_str_of(pl_store_kind(store)));
    pl_buf_addc(&x->reply, '}');
    pl_exchange_finish(x);
}

/* On a worker, because it asks the store and the kernel. */
static void write_data(struct pl_exchange *x)
{
    struct pl_store *store = x->shard->server->store;
    int64_t n_bytes = pl_store_n_bytes(store);
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "store", pl_str_of(pl_store_kind(store)));
    pl_put_text(&out, "directory", pl_str_of(x->setup->config.data_dir));
    pl_put_number(&out, "bytes", n_bytes > 0 ? n_bytes : 0);
    pl_json_out_close(&out, '}');
}

static void show_data(struct pl_exchange *x)
{
    pl_exchange_work_in(x, PL_WORK_FILE, write_data, NULL);
}

static void show_health(struct pl_exchange *x)
{
    pl_buf_add(&x->reply, PL_STR("{\"status\":\"ok\"}"));
    pl_exchange_finish(x);
}

/* The lane with a job that has waited too long; NULL if there is none. */
static const char *slow_lane(const struct pl_server *server)
{
    for (int i = 0; i < PL_WORK_COUNT; i++) {
        struct pl_work_state state;
        pl_workers_look(server->workers, (enum pl_work)i, &state);
        if (state.oldest_ms > READY_MS)
            return state.name;
    }
    return NULL;
}

/* A transaction takes too long, or the lease could not be renewed. */
static bool is_store_silent(const struct pl_server *server)
{
    int64_t busy_ms = pl_store_busy_since_ms(server->store);
    return pl_store_is_away(server->store) || (busy_ms && pl_clock_ms() - busy_ms > SILENT_MS) ||
           (server->node && pl_node_lease_age_ms(server->node) > SILENT_MS);
}

/* {"status":"ready"}, and the parts that are degraded. */
static void write_ready(struct pl_exchange *x)
{
    struct pl_node *node = x->shard->server->node;
    pl_buf_add(&x->reply, PL_STR("{\"status\":\"ready\""));
    if (node && pl_node_bus_state(node) != PL_BUS_UP)
        pl_buf_add(&x->reply, PL_STR(",\"degraded\":[\"bus\"]"));
    pl_buf_addc(&x->reply, '}');
}

static void show_ready(struct pl_exchange *x)
{
    const struct pl_server *server = x->shard->server;
    const char *lane = slow_lane(server);
    if (atomic_load(&server->is_storage_bad))
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "The store has failed.");
    else if (server->node && !pl_node_holds(server->node))
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "This node does not hold its lease: it cannot reach the database.");
    else if (is_store_silent(server))
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "The database does not answer at the moment.");
    else if (pl_life_is_ending(&server->life))
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "The server is stopping.");
    else if (lane)
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "A job of the lane \"%s\" has waited for a thread for more than %d s.",
                            lane, READY_MS / 1000);
    else
        write_ready(x);
    pl_exchange_finish(x);
}

static void write_metrics(struct pl_exchange *x)
{
    x->content_type = "text/plain; version=0.0.4; charset=utf-8";
    pl_metrics_write(x->shard->server, x->setup->models, &x->reply);
}

/* On a worker, because it calls the kernel. The store may be slow, so its size is the last one
 * measured. */
static void show_metrics(struct pl_exchange *x)
{
    pl_store_size_measure(x->shard->server);
    pl_exchange_work_in(x, PL_WORK_FILE, write_metrics, NULL);
}

static void list_tools(struct pl_exchange *x)
{
    struct pl_str language = pl_http_header_get(x->head, "accept-language");
    pl_tools_list(pl_language_wants_chinese(language) ? PL_CHAT_CHINESE : PL_CHAT_ENGLISH,
                  &x->reply);
    pl_exchange_finish(x);
}

static void show_openapi(struct pl_exchange *x)
{
    show_text(x, pl_openapi_text());
    pl_exchange_finish(x);
}

const struct pl_route pl_routes_service[] = {
    {PL_METHOD_GET, "/healthz", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, show_health, "healthz",
     "Check that the process responds", "service", NULL, "Health", 200, NULL},
    {PL_METHOD_GET, "/readyz", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, show_ready, "readyz",
     "Check that the server accepts work", "service", NULL, "Health", 200, NULL},
    {PL_METHOD_GET, "/api/version", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, show_version, "version_get",
     "Get the version", "service", NULL, "Version", 200, NULL},
    {PL_METHOD_GET, "/api/admin/data", PL_ROUTE_ADMIN, PL_FOR_READ, show_data, "data_get",
     "Get the place of the data and the size of the store on disk", "service", NULL, "DataPlace",
     200, NULL},
    {PL_METHOD_GET, "/openapi.json", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, show_openapi, "openapi_get",
     "Get this description", "service", NULL, "AnyObject", 200, NULL},
    {PL_METHOD_GET, "/metrics", PL_ROUTE_ANY_REPLY, PL_FOR_READ, show_metrics, "metrics_get",
     "Get metrics for Prometheus", "service", NULL, NULL, 200, NULL},
    {PL_METHOD_GET, "/api/tools", 0, PL_FOR_SESSIONS | PL_FOR_READ, list_tools, "tool_list",
     "List the tools that sessions offer to models", "service", NULL, "ToolList", 200, NULL},
    {0},
};
