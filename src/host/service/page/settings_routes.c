/* A user's settings of the web page: one JSON object per user; the schema of the body names its
 * members. */
#include "http/json_members.h"
#include "service/page/routes.h"
#include "store/page.h"
#include "transaction/change.h"

static bool find(struct pl_exchange *x, int64_t *ret_revision, struct pl_str *ret_value)
{
    struct pl_error err = {0};
    enum pl_status status = pl_store_user_settings_get(
        x->shard->server->store, &x->arena, x->caller.user_id, ret_revision, ret_value, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

static void tell(struct pl_exchange *x, int64_t revision, struct pl_str value)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_put_int(&out, "revision", revision);
    pl_put_raw(&out, "settings", value);
    pl_json_out_close(&out, '}');
}

static void get_work(struct pl_exchange *x)
{
    int64_t revision;
    struct pl_str value;
    if (find(x, &revision, &value) && pl_exchange_etag(x, revision))
        tell(x, revision, value);
}

static void settings_get(struct pl_exchange *x)
{
    pl_exchange_work(x, get_work, NULL);
}

static void plan_put(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    (void)ctx;
    int64_t revision;
    struct pl_str before, value = pl_body_raw(x, "settings");
    if (!find(x, &revision, &before) || !pl_exchange_if_match(x, revision))
        return;
    pl_batch_put_user_settings(batch, x->caller.user_id, revision, value);
    tell(x, revision + 1, value);
    (void)pl_exchange_etag(x, revision + 1);
}

static void settings_put(struct pl_exchange *x)
{
    pl_exchange_change(x, plan_put, NULL, NULL);
}

const struct pl_route pl_routes_settings[] = {
    {PL_METHOD_GET, "/api/settings", 0, PL_FOR_SESSIONS | PL_FOR_READ, settings_get, "settings_get",
     "Get your settings of the web page", "page", NULL, "UserSettings", 200, NULL},
    {PL_METHOD_PUT, "/api/settings", 0, PL_FOR_ALL, settings_put, "settings_put",
     "Store your settings of the web page", "page", "UserSettingsPut", "UserSettings", 200, NULL,
     .tells = "settings:updated"},
    {0},
};
