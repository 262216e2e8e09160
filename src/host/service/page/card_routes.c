/* Cards: HTML made by a tool, each at its own address and under its own policy. A card runs in a
 * frame without an origin and reaches neither the page nor the network. Its name is a secret of
 * its conversation. */
#include "service/page/routes.h"
#include "store/page.h"

static const char policy[] = "sandbox allow-scripts; default-src 'none'; script-src "
                             "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: "
                             "blob:; media-src data: blob:; font-src data:; form-action 'none'; "
                             "base-uri 'none'; frame-ancestors 'self'";

static bool is_name(struct pl_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!((name.ptr[i] >= '0' && name.ptr[i] <= '9') ||
              (name.ptr[i] >= 'a' && name.ptr[i] <= 'f')))
            return false;
    return name.len == 64;
}

static void show_work(struct pl_exchange *x)
{
    struct pl_str html = {0};
    struct pl_error err = {0};
    enum pl_status status =
        is_name(x->args[0])
            ? pl_store_card_get(x->shard->server->store, &x->arena, x->args[0], &html, &err)
            : PL_NOT_FOUND;
    if (status == PL_NOT_FOUND) {
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "There is no such card.");
        return;
    }
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    x->content_type = "text/html; charset=utf-8";
    pl_exchange_header(x, "Content-Security-Policy", "%s", policy);
    pl_exchange_header(x, "Cache-Control", "private, max-age=31536000, immutable");
    pl_buf_add(&x->reply, html);
}

static void card_get(struct pl_exchange *x)
{
    pl_exchange_work(x, show_work, NULL);
}

const struct pl_route pl_routes_cards[] = {
    {PL_METHOD_GET, "/cards/{hash}", PL_ROUTE_PUBLIC | PL_ROUTE_ANY_REPLY, PL_FOR_ANYBODY, card_get,
     "card_get", "Show a card of a tool, in a frame", "page", NULL, NULL, 200, NULL},
    {0},
};
