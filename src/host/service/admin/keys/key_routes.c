/* Keys and tickets: the caller's own, and for administrators those of every user. Other users' keys
 * are "not found". A change takes effect when it is durable.
 *
 * No key can be used to gain rights that it lacks. A restricted key creates no keys, and rotates
 * only itself. Only an administrator's key creates or rotates a key with administrator rights. Only
 * an administrator changes limits, or widens a key. */
#include "access/audit.h"
#include "access/meter/meter.h"
#include "access/sign_in.h"
#include "http/routes/route.h"
#include "io/clock.h"
#include "json/number.h"
#include "live/hub.h"
#include "service/admin/keys/key_json.h"
#include "service/admin/keys/key_making.h"
#include "service/admin/keys/limits_json.h"
#include "service/admin/listing.h"
#include "service/admin/routes.h"
#include "transaction/commit.h"

static struct pl_auth *auth_of(const struct pl_exchange *x)
{
    return x->shard->server->auth;
}

static struct pl_meter *meter_of(const struct pl_exchange *x)
{
    return x->shard->server->meter;
}

static bool forbid(struct pl_exchange *x, const char *sentence)
{
    pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL, "%s", sentence);
    return false;
}

/* --- whose ----------------------------------------------------------------------------------- */

/* /api/users/{id}/api-keys… is about that user, /api/user/api-keys… about the caller. */
static bool is_of_user(const struct pl_exchange *x)
{
    return pl_str_starts(pl_str_of(x->route->path), PL_STR("/api/users/"));
}

static struct pl_str owner_of(const struct pl_exchange *x)
{
    return is_of_user(x) ? x->args[0] : x->caller.user_id;
}

static struct pl_str key_id_of(const struct pl_exchange *x)
{
    return is_of_user(x) ? x->args[1] : x->args[0];
}

static bool find_owner(struct pl_exchange *x)
{
    struct pl_auth_user user;
    if (pl_auth_find_user(auth_of(x), owner_of(x), &user))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "There is no user with this id.");
    return false;
}

static bool find_key(struct pl_exchange *x, struct pl_key_row *ret_key)
{
    enum pl_status status =
        pl_auth_get_key(auth_of(x), &x->arena, owner_of(x), key_id_of(x), ret_key);
    if (status == PL_NOT_FOUND)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "There is no key with this id.");
    else if (status != PL_OK)
        pl_exchange_fail(x, status, NULL);
    return status == PL_OK;
}

static bool is_restricted(const struct pl_exchange *x)
{
    struct pl_limits limits;
    return x->caller.is_restricted ||
           (x->caller.key_id.len && pl_meter_limits(meter_of(x), x->caller.key_id, &limits));
}

/* --- making ---------------------------------------------------------------------------------- */

static bool may_make(struct pl_exchange *x)
{
    bool wants_limits =
        pl_body_has(x, "limits") && !pl_str_eq(pl_body_raw(x, "limits"), PL_STR("null"));
    if (!is_of_user(x) && is_restricted(x))
        return forbid(x, "This key is restricted (by a scope, models, limits or an end), so it "
                         "makes no other; use an unrestricted one.");
    if (pl_body_bool(x, "is_admin", false) && !x->caller.is_admin)
        return forbid(x, "Only an administrator may make an administrator's key.");
    if (wants_limits && !x->caller.is_admin)
        return forbid(x, "Only an administrator may set limits.");
    return true;
}

static bool prepare_made(struct pl_exchange *x, struct pl_key_making *making)
{
    struct pl_key_patch patch = {0};
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    if (!find_owner(x) || !may_make(x) || !pl_key_patch_read(x, &patch))
        return false;
    if (!pl_key_making_prepare(making, &seed, owner_of(x), pl_body_text(x, "name"))) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return false;
    }
    if (patch.scope.ptr)
        making->key.scope = patch.scope;
    making->key.models = patch.models;
    making->key.expires_ms = patch.expires_ms < 0 ? 0 : patch.expires_ms;
    making->key.is_admin = pl_body_bool(x, "is_admin", false);
    if (pl_limits_read(x, PL_LIMIT_OF_KEYS, &making->limits)) {
        making->limits.key_id = making->key.id;
        making->limits.user_id = making->key.user_id;
    }
    return true;
}

static void create_key(struct pl_exchange *x)
{
    struct pl_key_making *making = pl_key_making_begin(x);
    if (!making)
        return;
    x->status = 201;
    if (prepare_made(x, making))
        pl_key_making_commit(x, making);
    else
        pl_exchange_finish(x);
}

static bool may_rotate(struct pl_exchange *x, const struct pl_key_row *key)
{
    if (is_of_user(x) || pl_str_eq(key->id, x->caller.key_id))
        return true;
    if (is_restricted(x))
        return forbid(x, "This key is restricted, so it rotates only itself.");
    if (key->is_admin && !x->caller.is_admin)
        return forbid(x, "Only an administrator may rotate an administrator's key.");
    return true;
}

static int64_t overlap_ms(struct pl_exchange *x)
{
    const struct pl_json_node *node =
        x->body.root ? pl_json_get(&x->body, x->body.root, PL_STR("overlap_s")) : NULL;
    int64_t s = 0;
    if (node && pl_json_kind(node) == PL_JSON_NUMBER)
        (void)pl_json_number_int64(pl_json_span(&x->body, node), &s);
    return s * 1000;
}

static void rotate_key(struct pl_exchange *x)
{
    struct pl_key_making *making = pl_key_making_begin(x);
    struct pl_key_row key;
    if (!making)
        return;
    if (!find_key(x, &key) || !may_rotate(x, &key)) {
        pl_exchange_finish(x);
        return;
    }
    if (!pl_key_make(making->plain, making->hash)) {
        pl_exchange_fail_memory(x);
        return;
    }
    making->key = key;
    making->key.old_hash = key.hash;
    making->key.old_until_ms = pl_loop_unix_ms(x->shard->loop) + overlap_ms(x);
    making->key.hash = (struct pl_str){(const char *)making->hash, 32};
    making->key.last4 = (struct pl_str){making->plain + PL_KEY_SIZE - 4, 4};
    (void)pl_meter_limits(meter_of(x), key.id, &making->limits);
    making->limits.key_id = (struct pl_str){0};
    pl_key_making_commit(x, making);
}

/* --- signing in ------------------------------------------------------------------------------ */

static void return_on_worker(struct pl_exchange *x)
{
    pl_auth_return_first_code(auth_of(x));
}

/* Returns the code: there is no memory to create the key. */
static void return_code(struct pl_exchange *x)
{
    if (!pl_auth_is_shared(auth_of(x))) {
        pl_auth_return_first_code(auth_of(x));
        pl_exchange_fail_memory(x);
        return;
    }
    pl_exchange_fail(x, PL_NOMEM, NULL);
    pl_exchange_work(x, return_on_worker, NULL);
}

static void make_login(struct pl_exchange *x, struct pl_key_making *making,
                       const struct pl_caller *who, bool is_admin)
{
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    bool is_cookie = pl_body_bool(x, "cookie", false);
    if (!pl_key_making_prepare(making, &seed, who->user_id,
                               is_cookie ? PL_STR("sign-in") : PL_STR("first key"))) {
        return_code(x);
        return;
    }
    making->key.is_admin = is_admin;
    making->is_cookie = making->key.is_login = is_cookie;
    making->key.expires_ms = is_cookie ? seed.unix_ms + PL_SIGN_IN_MS : 0;
    x->caller = *who;
    x->status = 201;
    pl_key_making_commit(x, making);
}

/* Exchanges a key for a cookie; the key must have all rights of its user. */
static void login_by_key(struct pl_exchange *x, struct pl_key_making *making)
{
    struct pl_caller who = {0};
    const char *why = NULL;
    enum pl_status status = pl_auth_check_key(auth_of(x), &x->arena, pl_body_text(x, "key"), false,
                                              pl_loop_unix_ms(x->shard->loop), &who, &why);
    struct pl_limits limits;
    if (!pl_body_bool(x, "cookie", false))
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "A key is exchanged for a cookie only; send \"cookie\": true.");
    else if (status == PL_NOMEM)
        pl_exchange_fail(x, status, NULL);
    else if (status != PL_OK)
        pl_exchange_problem(x, PL_PROBLEM_UNAUTHORIZED, NULL, "%s", why);
    else if (who.is_restricted || pl_meter_limits(meter_of(x), who.key_id, &limits))
        (void)forbid(x, "This key is restricted, so nobody signs in with it.");
    if (x->is_problem)
        pl_exchange_finish(x);
    else
        make_login(x, making, &who, who.is_admin);
}

static void take_code(struct pl_exchange *x)
{
    if (!pl_auth_take_first_code(auth_of(x), pl_body_text(x, "code"), pl_clock_unix_ms()))
        pl_exchange_problem(x, PL_PROBLEM_UNAUTHORIZED, NULL,
                            "This code is wrong, used, or expired (after an hour, or when an "
                            "administrator has a key); on the server's machine \"parley key create "
                            "--admin --name NAME\" creates a key.");
}

static void login_by_code(struct pl_exchange *x)
{
    struct pl_key_making *making = x->state;
    struct pl_caller admin;
    if (x->is_problem)
        pl_exchange_finish(x);
    else if (pl_auth_local_caller(auth_of(x), &x->arena, &admin) == PL_OK)
        make_login(x, making, &admin, true);
    else
        return_code(x);
}

/* A code stored as a row is taken by a worker. */
static void login(struct pl_exchange *x)
{
    struct pl_key_making *making = pl_key_making_begin(x);
    if (!making)
        return;
    if (pl_body_has(x, "key") && !pl_body_has(x, "code")) {
        login_by_key(x, making);
        return;
    }
    if (pl_auth_is_shared(auth_of(x))) {
        pl_exchange_work(x, take_code, login_by_code);
        return;
    }
    take_code(x);
    login_by_code(x);
}

/* --- looking --------------------------------------------------------------------------------- */

static void list_key(void *ctx, const struct pl_auth_key *key)
{
    struct pl_listing *listing = ctx;
    if (!pl_listing_next(listing))
        return;
    struct pl_key_row row = pl_auth_key_row(key);
    struct pl_json_out out = pl_json_out(&listing->x->reply);
    struct pl_limits limits = {0};
    (void)pl_meter_limits(meter_of(listing->x), row.id, &limits);
    pl_key_write(&out, &row, NULL, &limits);
}

static void list_keys(struct pl_exchange *x)
{
    struct pl_listing listing = {.x = x};
    if (find_owner(x) && pl_exchange_counted_args(x, &listing.args)) {
        pl_exchange_list_begin(x);
        pl_auth_each_key(auth_of(x), owner_of(x), list_key, &listing);
        pl_listing_end(&listing);
    }
    pl_exchange_finish(x);
}

/* --- changing -------------------------------------------------------------------------------- */

/* A change of a key under way: the changes, and what the key has spent so far. */
struct changing {
    struct pl_exchange *x;
    struct pl_key_patch patch;
    struct pl_limits limits;
    int64_t spent_day, spent_month;
    uint64_t number;
};

static enum pl_status set_limits(void *ctx)
{
    const struct changing *changing = ctx;
    return pl_meter_set_limits(meter_of(changing->x), &changing->limits, changing->spent_day,
                               changing->spent_month, changing->number);
}

static void updated(struct pl_exchange *x)
{
    struct changing *changing = x->state;
    struct pl_limits limits = {0};
    struct pl_key_row row;
    struct pl_key_change change = {
        .number = changing->number,
        .patch = changing->patch,
        .set_limits = pl_body_has(x, "limits") ? set_limits : NULL,
        .ctx = changing,
    };
    enum pl_status status = pl_auth_change_key(auth_of(x), owner_of(x), key_id_of(x), &change);
    if (status == PL_NOMEM) {
        pl_exchange_fail_memory(x);
        return;
    }
    if (find_key(x, &row)) {
        struct pl_json_out out = pl_json_out(&x->reply);
        (void)pl_meter_limits(meter_of(x), row.id, &limits);
        pl_key_write(&out, &row, NULL, &limits);
    }
    pl_exchange_finish(x);
}

static void commit_update(struct pl_exchange *x)
{
    struct changing *changing = x->state;
    struct pl_key_row key;
    if (x->is_problem || !find_key(x, &key)) {
        pl_exchange_finish(x);
        return;
    }
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_batch_change_key(batch, &changing->patch);
    pl_audit_add(x, batch, "key.change", key_id_of(x), x->body_text);
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
    enum pl_status status = pl_store_usage_spent(store, owner_of(x), key_id_of(x),
                                                 pl_meter_day(now_ms), &changing->spent_day, &err);
    if (status == PL_OK)
        status = pl_store_usage_spent(store, owner_of(x), key_id_of(x),
                                      pl_meter_month_start(now_ms), &changing->spent_month, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
}

/* The owner may change the name; the other members widen or narrow the key. */
static bool may_update(struct pl_exchange *x)
{
    static const char *const members[] = {"scope", "models", "expires_at", "limits"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (pl_body_has(x, members[i]) && !x->caller.is_admin)
            return forbid(x, "Only an administrator may change the scope, the models, the end or "
                             "the limits of a key.");
    return true;
}

static void update_key(struct pl_exchange *x)
{
    struct pl_key_row key;
    struct changing *changing = pl_exchange_room(x, sizeof *changing);
    if (!changing)
        return;
    changing->x = x;
    x->state = changing;
    if (!find_key(x, &key) || !may_update(x) || !pl_key_patch_read(x, &changing->patch)) {
        pl_exchange_finish(x);
        return;
    }
    changing->patch.user_id = owner_of(x);
    changing->patch.id = key_id_of(x);
    changing->patch.name = pl_body_text(x, "name");
    if (!pl_body_has(x, "limits")) {
        commit_update(x);
        return;
    }
    (void)pl_limits_read(x, PL_LIMIT_OF_KEYS, &changing->limits);
    changing->limits.key_id = key_id_of(x);
    changing->limits.user_id = owner_of(x);
    pl_exchange_work(x, read_spent, commit_update);
}

/* The key becomes invalid, and its open connections are closed. */
static void revoke(struct pl_exchange *x, struct pl_str user_id, struct pl_str key_id)
{
    pl_auth_remove_key(auth_of(x), user_id, key_id);
    pl_meter_forget(meter_of(x), key_id);
    pl_hub_close_key_everywhere(x->shard->server, key_id);
}

static void deleted(struct pl_exchange *x)
{
    revoke(x, owner_of(x), key_id_of(x));
    x->status = 204;
    pl_exchange_finish(x);
}

static void delete_key(struct pl_exchange *x)
{
    struct pl_key_row key;
    if (!find_key(x, &key)) {
        pl_exchange_finish(x);
        return;
    }
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_batch_delete_key(batch, owner_of(x), key_id_of(x));
    pl_audit_add(x, batch, "key.revoke", key_id_of(x), (struct pl_str){0});
    pl_exchange_commit(x, batch, deleted);
}

static void signed_out(struct pl_exchange *x)
{
    revoke(x, x->caller.user_id, x->caller.key_id);
    pl_sign_in_set(x, (struct pl_str){0});
    x->status = 204;
    pl_exchange_finish(x);
}

static void logout(struct pl_exchange *x)
{
    if (!x->caller.csrf.len) {
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "This request was not signed in by a cookie; DELETE revokes a key.");
        pl_exchange_finish(x);
        return;
    }
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_batch_delete_key(batch, x->caller.user_id, x->caller.key_id);
    pl_audit_add(x, batch, "sign_out", x->caller.key_id, (struct pl_str){0});
    pl_exchange_commit(x, batch, signed_out);
}

/* The keys of a user, collected first: the table is locked while it is iterated. */
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
    if (!find_owner(x)) {
        pl_exchange_finish(x);
        return;
    }
    struct gathering *gathering = pl_arena_zalloc(&x->arena, 1, sizeof *gathering);
    struct pl_batch *batch = gathering ? pl_batch_create() : NULL;
    if (!batch) {
        pl_exchange_fail_memory(x);
        return;
    }
    gathering->arena = &x->arena;
    pl_auth_each_key(auth_of(x), x->args[0], gather, gathering);
    for (const struct gathered *one = gathering->first; one; one = one->next)
        pl_batch_delete_key(batch, x->args[0], one->id);
    pl_audit_add(x, batch, "key.revoke_all", x->args[0], (struct pl_str){0});
    x->state = gathering;
    if (gathering->has_failed) {
        pl_batch_destroy(batch);
        pl_exchange_fail_memory(x);
        return;
    }
    pl_exchange_commit(x, batch, deleted_all);
}

static void make_ticket(struct pl_exchange *x)
{
    char ticket[PL_TICKET_SIZE + 1];
    enum pl_status status = pl_auth_ticket_make(auth_of(x), &x->caller, pl_clock_ms(), ticket);
    if (status == PL_LIMIT) {
        pl_exchange_header(x, "Retry-After", "30");
        pl_exchange_problem(x, PL_PROBLEM_RATE_LIMITED, NULL,
                            "All tickets are in use; each is free again after 30 seconds.");
    } else if (status != PL_OK) {
        pl_exchange_fail(x, status, NULL);
    } else {
        x->status = 201;
        pl_buf_addf(&x->reply, "{\"ticket\":\"%s\",\"expires_in\":30}", ticket);
    }
}

/* A ticket stored as a row is made by a worker. */
static void ask_ticket(struct pl_exchange *x)
{
    if (pl_auth_is_shared(auth_of(x))) {
        pl_exchange_work(x, make_ticket, NULL);
        return;
    }
    make_ticket(x);
    pl_exchange_finish(x);
}

/* The code and little else: this body is read before any key is checked. */
enum { MAX_LOGIN_BODY = 4 << 10 };

static const struct pl_route_param page_params[] = {
    {"limit", "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":20}",
     "The maximum number"},
    {"offset", "{\"type\":\"integer\",\"minimum\":0,\"default\":0}", "How many to skip"},
    PL_PARAM_CURSOR,
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_keys[] = {
    {PL_METHOD_POST, "/api/login", PL_ROUTE_PUBLIC, PL_FOR_ANYBODY, login, "login",
     "Exchange the one-time code of the first start for a key, or a code or a key for a cookie",
     "keys", "LoginRequest", "ApiKey", 201, NULL, .max_body = MAX_LOGIN_BODY},
    {PL_METHOD_POST, "/api/logout", 0, PL_FOR_ANYBODY, logout, "logout",
     "End the sign-in of this cookie", "keys", NULL, NULL, 204, NULL},
    {PL_METHOD_POST, "/api/user/api-keys", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, create_key,
     "api_key_create", "Create a key; only this answer contains the key itself", "keys",
     "ApiKeyCreate", "ApiKey", 201, NULL},
    {PL_METHOD_GET, "/api/user/api-keys", 0, PL_FOR_READ, list_keys, "api_key_list",
     "List your keys", "keys", NULL, "ApiKeyList", 200, page_params},
    {PL_METHOD_PATCH, "/api/user/api-keys/{id}", 0, PL_FOR_ALL, update_key, "api_key_update",
     "Rename a key; administrators also change what it may do", "keys", "ApiKeyUpdate", "ApiKey",
     200, NULL},
    {PL_METHOD_DELETE, "/api/user/api-keys/{id}", 0, PL_FOR_ALL, delete_key, "api_key_delete",
     "Revoke a key and close its sockets", "keys", NULL, NULL, 204, NULL},
    {PL_METHOD_POST, "/api/user/api-keys/{id}/rotate", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, rotate_key,
     "api_key_rotate", "Replace the secret of a key; the old one stays valid for a while", "keys",
     "ApiKeyRotate", "ApiKey", 200, NULL},
    {PL_METHOD_POST, "/api/ws-tickets", 0, PL_FOR_SESSIONS | PL_FOR_READ, ask_ticket,
     "ws_ticket_create", "Create a ticket that opens one socket within 30 seconds", "keys", NULL,
     "WsTicket", 201, NULL},
    {PL_METHOD_POST, "/api/users/{id}/api-keys", PL_ROUTE_ADMIN | PL_ROUTE_IDEMPOTENT, PL_FOR_ALL,
     create_key, "user_api_key_create", "Create a key of a user", "keys", "ApiKeyCreate", "ApiKey",
     201, NULL},
    {PL_METHOD_GET, "/api/users/{id}/api-keys", PL_ROUTE_ADMIN, PL_FOR_READ, list_keys,
     "user_api_key_list", "List the keys of a user", "keys", NULL, "ApiKeyList", 200, page_params},
    {PL_METHOD_DELETE, "/api/users/{id}/api-keys", PL_ROUTE_ADMIN, PL_FOR_ALL, delete_user_keys,
     "user_api_keys_delete", "Revoke every key of a user", "keys", NULL, NULL, 204, NULL},
    {PL_METHOD_PATCH, "/api/users/{id}/api-keys/{key_id}", PL_ROUTE_ADMIN, PL_FOR_ALL, update_key,
     "user_api_key_update", "Change a key of a user", "keys", "ApiKeyUpdate", "ApiKey", 200, NULL},
    {PL_METHOD_DELETE, "/api/users/{id}/api-keys/{key_id}", PL_ROUTE_ADMIN, PL_FOR_ALL, delete_key,
     "user_api_key_delete", "Revoke a key of a user and close its sockets", "keys", NULL, NULL, 204,
     NULL},
    {PL_METHOD_POST, "/api/users/{id}/api-keys/{key_id}/rotate",
     PL_ROUTE_ADMIN | PL_ROUTE_IDEMPOTENT, PL_FOR_ALL, rotate_key, "user_api_key_rotate",
     "Replace the secret of a user's key", "keys", "ApiKeyRotate", "ApiKey", 200, NULL},
    {0},
};
