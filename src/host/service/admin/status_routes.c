/* The state of the service: liveness, capabilities, health, metrics. */
#include "agent/tools/tools.h"

#include "base/hash.h"
#include "http/exchange.h"
#include "json/text.h"
#include "json/write.h"
#include "model/vendor.h"
#include "service/admin/metrics_text.h"
#include "service/admin/routes.h"
#include "service/admin/store_size.h"
#include "store/store.h"
#include "wire/language.h"

#include <stdio.h>

enum {
    READY_MS = 5000
}; /* a job that waits longer: another server should take the next
                             requests */

static const char page[] =
    "Parley stores conversations as sessions of turns and streams them live.\n"
    "\nEverything except this page, /healthz, /readyz, /api/version and /openapi.json needs a "
    "key:\n\n    parley key create --name mine            on the server's machine: prints a key, "
    "once\n    KEY=sk-parley-v1-...\n"
    "\nThen, with the address of this page as URL:\n"
    "\n    curl -H \"Authorization: Bearer $KEY\" $URL/api/me\n"
    "    curl -H \"Authorization: Bearer $KEY\" $URL/api/models\n"
    "    curl -H \"Authorization: Bearer $KEY\" --json '{\"intent\":\"first try\"}' "
    "$URL/api/sessions\n"
    "    curl -H \"Authorization: Bearer $KEY\" --json '{\"message\":\"hello world\"}' \\\n"
    "        $URL/api/sessions/SESSION_ID/chat\n"
    "    curl -H \"Authorization: Bearer $KEY\" -N $URL/api/sessions/SESSION_ID/events\n"
    "    curl -H \"Authorization: Bearer $KEY\" $URL/api/sessions/SESSION_ID/messages\n"
    "\n/openapi.json describes all of it.\n";

/* security.md, 4: what the page of the program will need, and no more. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'";

/* A text that is the same for everybody; its tag changes with it. */
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

static void show_page(struct pl_exchange *x)
{
    x->content_type = "text/plain; charset=utf-8";
    pl_exchange_header(x, "Content-Security-Policy", "%s", page_policy);
    show_text(x, PL_STR(page));
    pl_exchange_finish(x);
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

static void show_health(struct pl_exchange *x)
{
    pl_buf_add(&x->reply, PL_STR("{\"status\":\"ok\"}"));
    pl_exchange_finish(x);
}

/* The lane whose oldest job has waited too long; NULL: none. */
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

static void show_ready(struct pl_exchange *x)
{
    const struct pl_server *server = x->shard->server;
    const char *lane = slow_lane(server);
    if (atomic_load(&server->is_storage_bad))
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "The store has failed.");
    else if (pl_store_is_away(server->store))
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "The database does not answer at the moment.");
    else if (pl_life_is_ending(&server->life))
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "The server is stopping.");
    else if (lane)
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "A job of the lane \"%s\" has waited for a thread for more than %d s.",
                            lane, READY_MS / 1000);
    else
        pl_buf_add(&x->reply, PL_STR("{\"status\":\"ready\"}"));
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

static void write_price(struct pl_json_out *out, const char *key, int64_t micro_dollars)
{
    pl_json_out_key(out, key);
    if (micro_dollars < 0)
        pl_json_out_null(out);
    else
        pl_json_out_int(out, micro_dollars);
}

/* Of one model; the price of an alias of several models depends on which one answers. */
static void write_prices(struct pl_json_out *out, const struct pl_models *models, const char *name)
{
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    struct pl_model_prices prices = {.input = -1};
    if (pl_model_targets(models, pl_str_of(name), targets) == 1)
        prices = pl_target_prices(&targets[0]);
    pl_json_out_key(out, "prices");
    if (prices.input < 0) {
        pl_json_out_null(out);
        return;
    }
    pl_json_out_open(out, '{');
    write_price(out, "input", prices.input);
    write_price(out, "output", prices.output);
    write_price(out, "cache_read", prices.cache_read);
    write_price(out, "cache_write", prices.cache_write);
    pl_json_out_key(out, "dated");
    pl_json_out_text(out, pl_str_of(prices.dated));
    pl_json_out_close(out, '}');
}

static void list_models(struct pl_exchange *x)
{
    const struct pl_model_info *model;
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; (model = pl_model_at(x->setup->models, i)); i++) {
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "name");
        pl_json_out_text(&out, pl_str_of(model->name));
        pl_json_out_key(&out, "about");
        pl_json_out_text(&out, pl_str_of(model->about));
        pl_json_out_key(&out, "context_window");
        pl_json_out_int(&out, model->context_window);
        write_prices(&out, x->setup->models, model->name);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "default_model");
    pl_json_out_text(&out, pl_str_of(x->setup->config.default_model));
    pl_json_out_close(&out, '}');
    pl_exchange_finish(x);
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
    {PL_METHOD_GET, "/", PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY, PL_FOR_ANYBODY, show_page,
     "page_get", "Show the first steps", "service", NULL, NULL, 200, NULL},
    {PL_METHOD_GET, "/healthz", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, show_health, "healthz",
     "Check that the process responds", "service", NULL, "Health", 200, NULL},
    {PL_METHOD_GET, "/readyz", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, show_ready, "readyz",
     "Check that the server accepts work", "service", NULL, "Health", 200, NULL},
    {PL_METHOD_GET, "/api/version", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, show_version, "version_get",
     "Get the version", "service", NULL, "Version", 200, NULL},
    {PL_METHOD_GET, "/openapi.json", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, show_openapi, "openapi_get",
     "Get this description", "service", NULL, "AnyObject", 200, NULL},
    {PL_METHOD_GET, "/metrics", PL_ROUTE_ANY_REPLY, PL_FOR_READ, show_metrics, "metrics_get",
     "Get metrics for Prometheus", "service", NULL, NULL, 200, NULL},
    {PL_METHOD_GET, "/api/models", 0, PL_FOR_SESSIONS | PL_FOR_READ, list_models, "model_list",
     "List the models", "service", NULL, "ModelList", 200, NULL},
    {PL_METHOD_GET, "/api/tools", 0, PL_FOR_SESSIONS | PL_FOR_READ, list_tools, "tool_list",
     "List the tools that sessions offer to models", "service", NULL, "ToolList", 200, NULL},
    {0},
};
