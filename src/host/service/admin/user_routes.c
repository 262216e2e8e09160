/* Users: an administrator creates, changes and disables them; other users see only themselves. A
 * change takes effect when it is durable. */
#include "access/audit.h"
#include "access/key_table.h"
#include "access/meter/meter.h"
#include "agent/driver.h"
#include "http/json_members.h"
#include "http/routes/route.h"
#include "io/clock.h"
#include "live/hub.h"
#include "service/admin/keys/key_json.h"
#include "service/admin/keys/key_making.h"
#include "service/admin/keys/limits_json.h"
#include "service/admin/listing.h"
#include "service/admin/routes.h"
#include "service/admin/user_erase.h"
#include "service/tasks/scheduler.h"
#include "transaction/commit.h"

static struct pl_auth *auth_of(const struct pl_exchange *x)
{
    return x->shard->server->auth;
}

static struct pl_user_row row_of(const struct pl_auth_user *user)
{
    return (struct pl_user_row){pl_str_of(user->id), pl_str_of(user->name), user->is_admin,
                                user->created_ms, user->disabled_ms};
}

static void create_user(struct pl_exchange *x)
{
    struct pl_key_making *making = pl_key_making_begin(x);
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    if (!making)
        return;
    making->user_id = pl_id_take(&seed, "user_");
    making->user = (struct pl_user_row){
        .id = pl_str_of(making->user_id.text),
        .name = pl_body_text(x, "name"),
        .is_admin = pl_body_bool(x, "is_admin", false),
        .created_ms = seed.unix_ms,
    };
    x->status = 201;
    if (!pl_key_making_prepare(making, &seed, making->user.id, PL_STR("first key"))) {
        pl_exchange_fail_memory(x);
        return;
    }
    making->key.is_admin = making->user.is_admin;
    pl_key_making_commit(x, making);
}

/* --- looking --------------------------------------------------------------------------------- */

static void write_user(struct pl_exchange *x, const struct pl_auth_user *user, bool is_me)
{
    struct pl_user_row row = row_of(user);
    struct pl_json_out out = pl_json_out(&x->reply);
    struct pl_limits limits = {0};
    (void)pl_meter_limits(x->shard->server->meter, row.id, &limits);
    pl_json_out_open(&out, '{');
    pl_user_write(&out, &row);
    pl_limits_write(&out, PL_LIMIT_COUNT, &limits);
    if (is_me) {
        pl_put_text(&out, "key_id", x->caller.key_id.len ? x->caller.key_id : (struct pl_str){0});
        pl_put_text(&out, "scope", pl_str_of(pl_scope_word(x->caller.scope)));
        pl_put_bool(&out, "acts_as_admin", x->caller.is_admin);
        pl_put_text(&out, "csrf", x->caller.csrf.len ? x->caller.csrf : (struct pl_str){0});
    }
    pl_json_out_close(&out, '}');
}

/* A search by name reads the whole table; otherwise a page costs only its own items. */
struct looking {
    struct pl_listing listing;
    struct pl_str name;
};

static void list_named(void *ctx, const struct pl_auth_user *user)
{
    struct looking *looking = ctx;
    if (pl_str_eq(looking->name, pl_str_of(user->name)) && pl_listing_next(&looking->listing))
        write_user(looking->listing.x, user, false);
}

static void list_user(void *ctx, const struct pl_auth_user *user)
{
    struct pl_listing *listing = ctx;
    if (listing->n_written++)
        pl_buf_addc(&listing->x->reply, ',');
    write_user(listing->x, user, false);
}

static void list_users(struct pl_exchange *x)
{
    struct looking looking = {.listing = {.x = x}, .name = pl_target_param(&x->target, "name")};
    struct pl_listing *listing = &looking.listing;
    if (pl_exchange_counted_args(x, &listing->args)) {
        pl_exchange_list_begin(x);
        if (looking.name.ptr)
            pl_auth_each_user(auth_of(x), list_named, &looking);
        else
            listing->n_all = (int64_t)pl_auth_page_users(auth_of(x), (size_t)listing->args.offset,
                                                         listing->args.limit, list_user, listing);
        pl_listing_end(listing);
    }
    pl_exchange_finish(x);
}

static void show_me(struct pl_exchange *x)
{
    struct pl_auth_user user;
    if (pl_auth_find_user(auth_of(x), x->caller.user_id, &user))
        write_user(x, &user, true);
    else
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, NULL);
    pl_exchange_finish(x);
}

/* An administrator finds every user; others find only themselves. False after making a problem. */
static bool find_user(struct pl_exchange *x, struct pl_auth_user *ret_user)
{
    bool may_see = x->caller.is_admin || pl_str_eq(x->args[0], x->caller.user_id);
    if (may_see && pl_auth_find_user(auth_of(x), x->args[0], ret_user))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "There is no user with this id.");
    return false;
}

static void show_user(struct pl_exchange *x)
{
    struct pl_auth_user user;
    if (find_user(x, &user))
        write_user(x, &user, false);
    pl_exchange_finish(x);
}

/* --- changing -------------------------------------------------------------------------------- */

struct changing {
    struct pl_user_change change;
    struct pl_limits limits;
    int64_t spent_day, spent_month;
    uint64_t number;
};

static void changed(struct pl_exchange *x)
{
    struct changing *changing = x->state;
    struct pl_server *server = x->shard->server;
    struct pl_auth_user user;
    (void)pl_auth_change_user(auth_of(x), &changing->change, changing->number);
    if (pl_body_has(x, "limits") &&
        pl_meter_set_limits(server->meter, &changing->limits, changing->spent_day,
                            changing->spent_month, changing->number) != PL_OK) {
        pl_exchange_fail_memory(x);
        return;
    }
    if (changing->change.disabled_ms > 0) {
        pl_hub_close_user_everywhere(server, x->args[0]);
        pl_drivers_stop_user_everywhere(server, x->args[0]);
    }
    if (changing->change.disabled_ms == 0)
        pl_scheduler_wake(server);
    if (find_user(x, &user))
        write_user(x, &user, false);
    pl_exchange_finish(x);
}

static void commit_update(struct pl_exchange *x)
{
    struct changing *changing = x->state;
    if (x->is_problem) {
        pl_exchange_finish(x);
        return;
    }
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_batch_change_user(batch, &changing->change);
    pl_audit_add(x, batch, "user.change", x->args[0], x->body_text);
    if (batch && pl_body_has(x, "limits"))
        pl_batch_put_limits(batch, &changing->limits);
    changing->number = pl_auth_begin_change(auth_of(x));
    pl_exchange_commit(x, batch, changed);
    pl_auth_end_change(auth_of(x));
}

static void read_spent(struct pl_exchange *x)
{
    struct changing *changing = x->state;
    struct pl_store *store = x->shard->server->store;
    struct pl_str none = PL_STR("");
    struct pl_error err = {0};
    int64_t now_ms = pl_clock_unix_ms();
    enum pl_status status = pl_store_usage_spent(store, x->args[0], none, pl_meter_day(now_ms),
                                                 &changing->spent_day, &err);
    if (status == PL_OK)
        status = pl_store_usage_spent(store, x->args[0], none, pl_meter_month_start(now_ms),
                                      &changing->spent_month, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void update_user(struct pl_exchange *x)
{
    struct pl_auth_user user;
    struct changing *changing = pl_exchange_room(x, sizeof *changing);
    if (!changing)
        return;
    x->state = changing;
    if (!find_user(x, &user)) {
        pl_exchange_finish(x);
        return;
    }
    bool is_disabled = pl_body_bool(x, "is_disabled", user.disabled_ms != 0);
    changing->change = (struct pl_user_change){
        .id = x->args[0],
        .name = pl_body_text(x, "name"),
        .is_admin = pl_body_has(x, "is_admin") ? pl_body_bool(x, "is_admin", false) : -1,
        .disabled_ms = -1,
    };
    if (is_disabled != (user.disabled_ms != 0) || pl_body_has(x, "is_disabled"))
        changing->change.disabled_ms = !is_disabled       ? 0
                                       : user.disabled_ms ? user.disabled_ms
                                                          : pl_loop_unix_ms(x->shard->loop);
    if (pl_body_has(x, "limits")) {
        (void)pl_limits_read(x, PL_LIMIT_COUNT, &changing->limits);
        changing->limits.user_id = x->args[0];
        pl_exchange_work(x, read_spent, commit_update);
        return;
    }
    commit_update(x);
}

/* --- erasing --------------------------------------------------------------------------------- */

static void erase_user(struct pl_exchange *x)
{
    struct pl_auth_user user;
    if (find_user(x, &user))
        pl_user_erase(x, x->args[0]);
    else
        pl_exchange_finish(x);
}

static const struct pl_route_param list_params[] = {
    {"name", "{\"type\":\"string\"}", "Only users with exactly this name"},
    PL_PARAMS_OF_PAGE,
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_users[] = {
    {PL_METHOD_GET, "/api/me", 0, PL_FOR_SESSIONS | PL_FOR_READ, show_me, "me_get",
     "Get the current user, and what the key may do", "users", NULL, "Me", 200, NULL},
    {PL_METHOD_POST, "/api/users", PL_ROUTE_ADMIN | PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, create_user,
     "user_create", "Create a user, with a first key", "users", "UserCreate", "UserCreated", 201,
     NULL},
    {PL_METHOD_GET, "/api/users", PL_ROUTE_ADMIN, PL_FOR_READ, list_users, "user_list",
     "List the users", "users", NULL, "UserList", 200, list_params},
    {PL_METHOD_GET, "/api/users/{id}", 0, PL_FOR_READ, show_user, "user_get",
     "Get a user: an administrator any, others themselves", "users", NULL, "User", 200, NULL},
    {PL_METHOD_PATCH, "/api/users/{id}", PL_ROUTE_ADMIN, PL_FOR_ALL, update_user, "user_update",
     "Rename, disable or enable a user, change the role or the limits", "users", "UserUpdate",
     "User", 200, NULL},
    {PL_METHOD_DELETE, "/api/users/{id}", 0, PL_FOR_ALL, erase_user, "user_erase",
     "Erase a user and everything of the user: an administrator any, others themselves", "users",
     NULL, NULL, 204, NULL},
    {0},
};
