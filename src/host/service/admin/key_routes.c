/* Keys, users, tickets. Every answer concerns the caller's own objects; a key of another user is
 * not found. A change takes effect when it is durable. */
#include "access/key_table.h"
#include "access/meter.h"
#include "http/exchange.h"
#include "io/clock.h"
#include "json/number.h"
#include "live/hub.h"
#include "service/admin/key_json.h"
#include "service/admin/routes.h"
#include "transaction/commit.h"

/* State of a handler until its batch is committed. */
struct making {
    struct pl_user_row user; /* of a new user; id empty: none */
    struct pl_key_row key;
    struct pl_id user_id, key_id;
    uint8_t hash[32];
    char plain[PL_KEY_SIZE + 1];
};

static struct pl_auth *auth_of(const struct pl_exchange *x)
{
    return x->shard->server->auth;
}

static struct pl_user_row row_of(const struct pl_auth_user *user)
{
    return (struct pl_user_row){pl_str_of(user->id), pl_str_of(user->name), user->is_admin,
                                user->created_ms};
}

/* --- making ---------------------------------------------------------------------------------- */

static bool prepare_key(struct pl_exchange *x, struct making *making, struct pl_id_seed *seed,
                        struct pl_str user_id, struct pl_str name)
{
    if (!pl_key_make(making->plain, making->hash))
        return false;
    making->key_id = pl_id_take(seed, "key_");
    making->key = (struct pl_key_row){
        .id = pl_str_of(making->key_id.text),
        .user_id = user_id,
        .name = name,
        .hash = {(const char *)making->hash, 32},
        .last4 = {making->plain + PL_KEY_SIZE - 4, 4},
        .created_ms = seed->unix_ms,
    };
    x->state = making;
    return true;
}

static void write_made(const struct making *making, const char *plain, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    static const struct pl_key_limits none;
    if (!making->user.id.len) {
        pl_key_write(&out, &making->key, plain, &none);
        return;
    }
    pl_json_out_open(&out, '{');
    pl_user_write(&out, &making->user);
    pl_json_out_key(&out, "key");
    pl_key_write(&out, &making->key, plain, &none);
    pl_json_out_close(&out, '}');
}

static void made(struct pl_exchange *x)
{
    struct making *making = x->state;
    enum pl_status status = PL_OK;
    if (making->user.id.len)
        status = pl_auth_add_user(auth_of(x), &making->user);
    if (status == PL_OK)
        status = pl_auth_add_key(auth_of(x), &making->key);
    if (status == PL_OK)
        write_made(making, making->plain, &x->reply);
    else
        pl_exchange_fail(x, PL_NOMEM, NULL);
    pl_exchange_finish(x);
}

/* The plaintext is in the first answer only: the answer to a repeated request, and the one that is
 * stored for it, do not have it. */
static void commit_made(struct pl_exchange *x, struct making *making)
{
    struct pl_batch *batch = pl_batch_create();
    PL_CLEANUP_BUF struct pl_buf kept;
    pl_buf_init(&kept, 0);
    write_made(making, NULL, &kept);
    x->status = 201;
    pl_exchange_keep_instead(x, pl_arena_dup(&x->arena, pl_buf_str(&kept)));
    if (!batch || kept.status != PL_OK || !pl_exchange_kept_reply(x).ptr) {
        pl_batch_destroy(batch);
        pl_exchange_fail(x, PL_NOMEM, NULL);
        pl_exchange_finish(x);
        return;
    }
    if (making->user.id.len)
        pl_batch_create_user(batch, &making->user);
    pl_batch_create_key(batch, &making->key);
    pl_exchange_commit(x, batch, made);
}

static void fail_memory(struct pl_exchange *x)
{
    pl_exchange_fail(x, PL_NOMEM, NULL);
    pl_exchange_finish(x);
}

static void create_key(struct pl_exchange *x)
{
    struct making *making = pl_arena_zalloc(&x->arena, 1, sizeof *making);
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    if (making && prepare_key(x, making, &seed, x->caller.user_id, pl_body_text(x, "name")))
        commit_made(x, making);
    else
        fail_memory(x);
}

static void create_user(struct pl_exchange *x)
{
    struct making *making = pl_arena_zalloc(&x->arena, 1, sizeof *making);
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    if (!making) {
        fail_memory(x);
        return;
    }
    making->user_id = pl_id_take(&seed, "user_");
    making->user = (struct pl_user_row){
        .id = pl_str_of(making->user_id.text),
        .name = pl_body_text(x, "name"),
        .is_admin = pl_body_bool(x, "is_admin", false),
        .created_ms = seed.unix_ms,
    };
    if (prepare_key(x, making, &seed, making->user.id, PL_STR("first key")))
        commit_made(x, making);
    else
        fail_memory(x);
}

static void login(struct pl_exchange *x)
{
    struct making *making = pl_arena_zalloc(&x->arena, 1, sizeof *making);
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    struct pl_caller admin;
    if (!making) {
        fail_memory(x);
        return;
    }
    if (!pl_auth_take_first_code(auth_of(x), pl_body_text(x, "code"), seed.unix_ms)) {
        pl_exchange_problem(x, PL_PROBLEM_UNAUTHORIZED, NULL,
                            "This code is wrong, used, or expired (after an hour, or when an "
                            "administrator has a key); on the server's machine \"parley key create "
                            "--name NAME\" creates a key.");
        pl_exchange_finish(x);
        return;
    }
    if (pl_auth_local_caller(auth_of(x), &x->arena, &admin) == PL_OK &&
        prepare_key(x, making, &seed, admin.user_id, PL_STR("first key"))) {
        commit_made(x, making);
    } else {
        pl_auth_return_first_code(auth_of(x));
        fail_memory(x);
    }
}

/* --- looking --------------------------------------------------------------------------------- */

struct listing {
    struct pl_exchange *x;
    struct pl_page_args args;
    int64_t n_all, n_written;
};

static bool is_on_page(struct listing *listing)
{
    int64_t place = listing->n_all++;
    bool is_on = place >= listing->args.offset && listing->n_written < (int64_t)listing->args.limit;
    if (is_on && listing->n_written++)
        pl_buf_addc(&listing->x->reply, ',');
    return is_on;
}

static void list_key(void *ctx, const struct pl_auth_key *key)
{
    struct listing *listing = ctx;
    if (!is_on_page(listing))
        return;
    struct pl_key_row row = pl_auth_key_row(key);
    struct pl_json_out out = pl_json_out(&listing->x->reply);
    struct pl_key_limits limits = {0};
    (void)pl_meter_limits(listing->x->shard->server->meter, row.id, &limits);
    pl_key_write(&out, &row, NULL, &limits);
}

static void list_user(void *ctx, const struct pl_auth_user *user)
{
    struct listing *listing = ctx;
    if (!is_on_page(listing))
        return;
    struct pl_user_row row = row_of(user);
    struct pl_json_out out = pl_json_out(&listing->x->reply);
    pl_json_out_open(&out, '{');
    pl_user_write(&out, &row);
    pl_json_out_close(&out, '}');
}

static void end_listing(const struct listing *listing)
{
    const struct pl_page_args *args = &listing->args;
    struct pl_list_walk walk = {
        .n = (size_t)listing->n_written,
        .has_more = listing->n_all - listing->n_written > args->offset,
    };
    pl_exchange_counted_end(listing->x, args, listing->n_all, &walk);
}

static void list_keys(struct pl_exchange *x)
{
    struct listing listing = {.x = x};
    if (pl_exchange_counted_args(x, &listing.args)) {
        pl_exchange_list_begin(x);
        pl_auth_each_key(auth_of(x), x->caller.user_id, list_key, &listing);
        end_listing(&listing);
    }
    pl_exchange_finish(x);
}

static void list_users(struct pl_exchange *x)
{
    struct listing listing = {.x = x};
    if (pl_exchange_counted_args(x, &listing.args)) {
        pl_exchange_list_begin(x);
        pl_auth_each_user(auth_of(x), list_user, &listing);
        end_listing(&listing);
    }
    pl_exchange_finish(x);
}

static void show_me(struct pl_exchange *x)
{
    struct pl_auth_user user;
    if (!pl_auth_find_user(auth_of(x), x->caller.user_id, &user)) {
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, NULL);
    } else {
        struct pl_user_row row = row_of(&user);
        struct pl_json_out out = pl_json_out(&x->reply);
        pl_json_out_open(&out, '{');
        pl_user_write(&out, &row);
        pl_json_out_key(&out, "key_id");
        if (x->caller.key_id.len)
            pl_json_out_text(&out, x->caller.key_id);
        else
            pl_json_out_null(&out);
        pl_json_out_close(&out, '}');
    }
    pl_exchange_finish(x);
}

/* --- changing -------------------------------------------------------------------------------- */

static bool find_key(struct pl_exchange *x, struct pl_auth_key *ret_key)
{
    if (pl_auth_has_key(auth_of(x), x->caller.user_id, x->args[0], ret_key))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "There is no key with this id.");
    pl_exchange_finish(x);
    return false;
}

/* A change of a key on its way: what of it changes, and what it has spent so far. */
struct changing {
    struct pl_exchange *x;
    struct pl_key_limits limits;
    int64_t spent_day, spent_month;
    uint64_t number;
};

static int64_t limit_of(struct pl_exchange *x, const char *name, double unit)
{
    const struct pl_json_node *limits = pl_json_get(&x->body, x->body.root, PL_STR("limits"));
    const struct pl_json_node *node = pl_json_get(&x->body, limits, pl_str_of(name));
    if (!node || pl_json_kind(node) != PL_JSON_NUMBER)
        return 0;
    return (int64_t)(pl_json_number_double(pl_json_span(&x->body, node)) * unit + 0.5);
}

static enum pl_status set_limits(void *ctx)
{
    const struct changing *changing = ctx;
    return pl_meter_set_limits(changing->x->shard->server->meter, &changing->limits,
                               changing->spent_day, changing->spent_month);
}

static void updated(struct pl_exchange *x)
{
    struct changing *changing = x->state;
    struct pl_key_limits limits = {0};
    struct pl_auth_key key;
    struct pl_key_change change = {
        .number = changing->number,
        .name = pl_body_text(x, "name"),
        .set_limits = pl_body_has(x, "limits") ? set_limits : NULL,
        .ctx = changing,
    };
    if (pl_auth_change_key(auth_of(x), x->caller.user_id, x->args[0], &change) == PL_NOMEM) {
        fail_memory(x);
        return;
    }
    if (!find_key(x, &key))
        return;
    struct pl_key_row row = pl_auth_key_row(&key);
    struct pl_json_out out = pl_json_out(&x->reply);
    (void)pl_meter_limits(x->shard->server->meter, row.id, &limits);
    pl_key_write(&out, &row, NULL, &limits);
    pl_exchange_finish(x);
}

static void commit_update(struct pl_exchange *x)
{
    struct changing *changing = x->state;
    struct pl_auth_key key;
    if (x->is_problem) {
        pl_exchange_finish(x);
        return;
    }
    if (!find_key(x, &key))
        return;
    struct pl_batch *batch = pl_batch_create();
    if (batch && pl_body_has(x, "name"))
        pl_batch_rename_key(batch, x->caller.user_id, x->args[0], pl_body_text(x, "name"));
    if (batch && pl_body_has(x, "limits"))
        pl_batch_put_limits(batch, &changing->limits);
    changing->number = pl_auth_begin_change(auth_of(x));
    pl_exchange_commit(x, batch, updated);
    pl_auth_end_change(auth_of(x));
}

static void read_spent(struct pl_exchange *x)
{
    struct changing *changing = x->state;
    struct pl_store *store = x->shard->server->store;
    struct pl_error err = {0};
    int64_t now_ms = pl_clock_unix_ms();
    enum pl_status status = pl_store_usage_spent(store, x->caller.user_id, x->args[0],
                                                 pl_meter_day(now_ms), &changing->spent_day, &err);
    if (status == PL_OK)
        status = pl_store_usage_spent(store, x->caller.user_id, x->args[0],
                                      pl_meter_month_start(now_ms), &changing->spent_month, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

static void update_key(struct pl_exchange *x)
{
    struct pl_auth_key key;
    if (!find_key(x, &key))
        return;
    struct changing *changing = pl_exchange_room(x, sizeof *changing);
    if (!changing)
        return;
    changing->x = x;
    x->state = changing;
    if (!pl_body_has(x, "limits")) {
        commit_update(x);
        return;
    }
    changing->limits = (struct pl_key_limits){
        .key_id = x->args[0],
        .user_id = x->caller.user_id,
        .rpm = limit_of(x, "rpm", 1),
        .tpm = limit_of(x, "tpm", 1),
        .budget_day_micro = limit_of(x, "budget_usd_day", 1e6),
        .budget_month_micro = limit_of(x, "budget_usd_month", 1e6),
    };
    pl_exchange_work(x, read_spent, commit_update);
}

/* The key no longer opens anything, and its open connections are closed. */
static void revoke(struct pl_exchange *x, struct pl_str user_id, struct pl_str key_id)
{
    pl_auth_remove_key(auth_of(x), user_id, key_id);
    pl_meter_forget(x->shard->server->meter, key_id);
    pl_hub_close_key_everywhere(x->shard->server, key_id);
}

static void deleted(struct pl_exchange *x)
{
    revoke(x, x->caller.user_id, x->args[0]);
    x->status = 204;
    pl_exchange_finish(x);
}

static void delete_key(struct pl_exchange *x)
{
    struct pl_auth_key key;
    if (!find_key(x, &key))
        return;
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_batch_delete_key(batch, x->caller.user_id, x->args[0]);
    pl_exchange_commit(x, batch, deleted);
}

/* Keys of a user, gathered first: the table is locked while it is walked. */
struct gathering {
    struct pl_arena *arena;
    struct gathered {
        struct gathered *next;
        struct pl_str id;
    } * first;
    bool has_failed;
};

static void gather(void *ctx, const struct pl_auth_key *key)
{
    struct gathering *gathering = ctx;
    struct gathered *one = pl_arena_zalloc(gathering->arena, 1, sizeof *one);
    if (one)
        one->id = pl_arena_dup(gathering->arena, pl_str_of(key->id));
    if (!one || !one->id.ptr) {
        gathering->has_failed = true;
        return;
    }
    one->next = gathering->first;
    gathering->first = one;
}

static void deleted_all(struct pl_exchange *x)
{
    struct gathering *gathering = x->state;
    for (const struct gathered *one = gathering->first; one; one = one->next)
        revoke(x, x->args[0], one->id);
    x->status = 204;
    pl_exchange_finish(x);
}

static void delete_user_keys(struct pl_exchange *x)
{
    struct pl_auth_user user;
    if (!pl_auth_find_user(auth_of(x), x->args[0], &user)) {
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "There is no user with this id.");
        pl_exchange_finish(x);
        return;
    }
    struct gathering *gathering = pl_arena_zalloc(&x->arena, 1, sizeof *gathering);
    struct pl_batch *batch = gathering ? pl_batch_create() : NULL;
    if (!batch) {
        fail_memory(x);
        return;
    }
    gathering->arena = &x->arena;
    pl_auth_each_key(auth_of(x), x->args[0], gather, gathering);
    for (const struct gathered *one = gathering->first; one; one = one->next)
        pl_batch_delete_key(batch, x->args[0], one->id);
    x->state = gathering;
    if (gathering->has_failed) {
        pl_batch_destroy(batch);
        fail_memory(x);
        return;
    }
    pl_exchange_commit(x, batch, deleted_all);
}

static void make_ticket(struct pl_exchange *x)
{
    char ticket[PL_TICKET_SIZE + 1];
    enum pl_status status =
        pl_auth_ticket_make(auth_of(x), &x->caller, pl_loop_now_ms(x->shard->loop), ticket);
    if (status == PL_LIMIT) {
        pl_exchange_header(x, "Retry-After", "30");
        pl_exchange_problem(x, PL_PROBLEM_RATE_LIMITED, NULL,
                            "All tickets are in use; each is free again after 30 seconds.");
        pl_exchange_finish(x);
        return;
    }
    if (status != PL_OK) {
        fail_memory(x);
        return;
    }
    x->status = 201;
    pl_buf_addf(&x->reply, "{\"ticket\":\"%s\",\"expires_in\":30}", ticket);
    pl_exchange_finish(x);
}

/* The code and little else: this is collected before a key was checked. */
enum { MAX_LOGIN_BODY = 4 << 10 };

static const struct pl_route_param page_params[] = {
    {"limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":20}",
     "The maximum number"},
    {"offset", "{\"type\":\"integer\",\"minimum\":0,\"default\":0}", "How many to skip"},
    PL_PARAM_CURSOR,
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_keys[] = {
    {PL_METHOD_POST, "/api/login", PL_ROUTE_PUBLIC, login, "login",
     "Exchange the one-time code of the first start for a key", "keys", "LoginRequest", "ApiKey",
     201, NULL, .max_body = MAX_LOGIN_BODY},
    {PL_METHOD_GET, "/api/me", 0, show_me, "me_get", "Get the current user", "keys", NULL, "Me",
     200, NULL},
    {PL_METHOD_POST, "/api/user/api-keys", PL_ROUTE_IDEMPOTENT, create_key, "api_key_create",
     "Create a key; only this answer contains the key itself", "keys", "ApiKeyCreate", "ApiKey",
     201, NULL},
    {PL_METHOD_GET, "/api/user/api-keys", 0, list_keys, "api_key_list", "List your keys", "keys",
     NULL, "ApiKeyList", 200, page_params},
    {PL_METHOD_PATCH, "/api/user/api-keys/{id}", 0, update_key, "api_key_update",
     "Rename a key, or limit its use of the gateway", "keys", "ApiKeyUpdate", "ApiKey", 200, NULL},
    {PL_METHOD_DELETE, "/api/user/api-keys/{id}", 0, delete_key, "api_key_delete",
     "Revoke a key and close its sockets", "keys", NULL, NULL, 204, NULL},
    {PL_METHOD_POST, "/api/ws-tickets", 0, make_ticket, "ws_ticket_create",
     "Create a ticket that opens one socket within 30 seconds", "keys", NULL, "WsTicket", 201,
     NULL},
    {PL_METHOD_POST, "/api/users", PL_ROUTE_ADMIN | PL_ROUTE_IDEMPOTENT, create_user, "user_create",
     "Create a user, with a first key", "keys", "UserCreate", "UserCreated", 201, NULL},
    {PL_METHOD_GET, "/api/users", PL_ROUTE_ADMIN, list_users, "user_list", "List the users", "keys",
     NULL, "UserList", 200, page_params},
    {PL_METHOD_DELETE, "/api/users/{id}/api-keys", PL_ROUTE_ADMIN, delete_user_keys,
     "user_api_keys_delete", "Revoke every key of a user", "keys", NULL, NULL, 204, NULL},
    {0},
};
