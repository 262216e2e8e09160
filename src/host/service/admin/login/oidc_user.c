/* Maps the claims of a person to a user. Issuer and subject identify a person. A name only names
 * a new user, unless the operator wants to link existing users of that name. Groups decide at
 * each sign-in who may sign in and who is an administrator. */
#include "service/admin/login/oidc_user.h"

#include "access/audit.h"
#include "access/key_table.h"
#include "access/oidc/id_token.h"
#include "access/sign_in.h"
#include "http/json_members.h"
#include "io/clock.h"
#include "json/text.h"
#include "service/admin/keys/key_making.h"
#include "shard/log.h"
#include "transaction/commit.h"

static struct pl_auth *auth_of(const struct pl_exchange *x)
{
    return x->shard->server->auth;
}

/* --- who it is ------------------------------------------------------------------------------- */

struct by_name {
    struct pl_str name;
    size_t n;
    char id[PL_ID_MAX];
};

static void look_at_name(void *ctx, const struct pl_auth_user *user)
{
    struct by_name *by = ctx;
    if (!pl_str_eq(pl_str_of(user->name), by->name))
        return;
    by->n++;
    memcpy(by->id, user->id, sizeof by->id);
}

/* Anybody may have written an address that the provider has not verified. */
static bool is_name_sure(const struct pl_oidc_flow *flow)
{
    const struct pl_json_doc *claims = &flow->claims;
    return strcmp(flow->config->name_claim, "email") != 0 ||
           pl_json_member(claims, claims->root, "email_verified", PL_JSON_TRUE);
}

/* The only user of this name, if that user has no identity yet. */
static enum pl_status find_by_name(struct pl_oidc_flow *flow)
{
    struct pl_exchange *x = flow->x;
    const struct pl_json_node *node = pl_id_claim(&flow->claims, flow->config->name_claim);
    struct by_name by = {.name = flow->name};
    int64_t n_identities = 0;
    if (!flow->config->links_existing || !is_name_sure(flow) || !pl_json_is(node, PL_JSON_STRING) ||
        !pl_json_text_is(&flow->claims, node, flow->name))
        return PL_OK;
    pl_auth_each_user(auth_of(x), look_at_name, &by);
    if (by.n != 1)
        return PL_OK;
    enum pl_status status =
        pl_store_identity_count(x->shard->server->store, pl_str_of(flow->config->issuer),
                                pl_str_of(by.id), &n_identities, &flow->err);
    if (status != PL_OK || n_identities)
        return status;
    flow->is_linked = true;
    flow->user_id = pl_arena_dup(&x->arena, pl_str_of(by.id));
    return flow->user_id.ptr ? PL_OK : PL_NOMEM;
}

static enum pl_status check_token(struct pl_oidc_flow *flow)
{
    struct pl_exchange *x = flow->x;
    const struct pl_id_token_rules rules = {
        .keys = flow->keys,
        .issuer = pl_str_of(flow->config->issuer),
        .client_id = pl_str_of(flow->config->client_id),
        .nonce = pl_str_of(flow->attempt.nonce),
        .now_ms = pl_clock_unix_ms(),
        .leeway_ms = flow->config->leeway_ms,
    };
    enum pl_status status =
        pl_id_token_check(&x->arena, flow->id_token, &rules, &flow->claims, &flow->err);
    if (status == PL_OK)
        status = pl_member_text(&x->arena, &flow->claims, flow->claims.root, "sub", &flow->subject);
    if (status == PL_OK)
        status = pl_id_claim_name(&x->arena, &flow->claims, flow->config->name_claim, &flow->name);
    return status;
}

void pl_oidc_user_find(struct pl_oidc_flow *flow)
{
    struct pl_exchange *x = flow->x;
    flow->found = check_token(flow);
    if (flow->found != PL_OK)
        return;
    enum pl_status status =
        pl_store_identity_find(x->shard->server->store, &x->arena, pl_str_of(flow->config->issuer),
                               flow->subject, &flow->user_id, &flow->err);
    if (status == PL_NOT_FOUND)
        status = find_by_name(flow);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &flow->err);
}

/* --- what it may ----------------------------------------------------------------------------- */

bool pl_oidc_user_needs_info(const struct pl_oidc_flow *flow)
{
    const struct pl_oidc_config *config = flow->config;
    bool wants_groups = config->allowed_groups || config->admin_groups;
    bool lacks_name = !flow->user_id.len && !pl_id_claim(&flow->claims, config->name_claim);
    bool lacks_groups = wants_groups && !pl_id_claim(&flow->claims, config->groups_claim);
    return (lacks_groups || lacks_name) && flow->provider.userinfo_endpoint &&
           flow->access_token.len;
}

static bool is_in(const struct pl_oidc_flow *flow, const char *const *groups)
{
    const char *claim = flow->config->groups_claim;
    return pl_id_claim_has(&flow->claims, claim, groups) ||
           (flow->info.root && pl_id_claim_has(&flow->info, claim, groups));
}

/* The userinfo must be about the same person. It supplies the name if the token has none. */
static bool take_info(struct pl_oidc_flow *flow)
{
    struct pl_str subject = {0};
    struct pl_arena *arena = &flow->x->arena;
    if (!flow->info.root)
        return true;
    if (pl_member_text(arena, &flow->info, flow->info.root, "sub", &subject) != PL_OK ||
        (!pl_id_claim(&flow->claims, flow->config->name_claim) &&
         pl_id_claim_name(arena, &flow->info, flow->config->name_claim, &flow->name) != PL_OK)) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_OVERLOADED, "There is not enough memory.");
        return false;
    }
    if (pl_str_eq(subject, flow->subject))
        return true;
    pl_oidc_flow_refuse(flow, PL_PROBLEM_UNAUTHORIZED,
                        "The OpenID provider's userinfo is about somebody else (its sub).");
    return false;
}

struct counting {
    struct pl_str except;
    size_t n;
};

static void count_admin(void *ctx, const struct pl_auth_user *user)
{
    struct counting *counting = ctx;
    counting->n +=
        user->is_admin && !user->disabled_ms && !pl_str_eq(pl_str_of(user->id), counting->except);
}

/* Whether the person becomes or stays an administrator; the last administrator always stays one. */
static bool role_of(struct pl_oidc_flow *flow, const struct pl_auth_user *user)
{
    struct pl_exchange *x = flow->x;
    struct counting others = {.except = flow->user_id};
    bool was_admin = user && user->is_admin;
    if (!flow->config->admin_groups)
        return was_admin;
    bool is_admin = is_in(flow, flow->config->admin_groups);
    if (is_admin || !was_admin)
        return is_admin;
    pl_auth_each_user(auth_of(x), count_admin, &others);
    if (others.n)
        return false;
    pl_log_say(x->shard->server->log, x->shard, PL_LOG_WARNING,
               "%s is in no group of oidc.admin_groups but stays an administrator, being the last",
               user->id);
    return true;
}

/* --- signing in ------------------------------------------------------------------------------ */

struct signing {
    struct pl_key_making making;
    struct pl_user_change change; /* id empty: the role stays */
    uint64_t number;
    struct pl_str return_to;
};

static void signed_in(struct pl_exchange *x)
{
    struct signing *signing = x->state;
    struct pl_key_making *making = &signing->making;
    enum pl_status status = PL_OK;
    if (making->user.id.len)
        status = pl_auth_add_user(auth_of(x), &making->user);
    if (status == PL_OK && signing->change.id.len)
        status = pl_auth_change_user(auth_of(x), &signing->change, signing->number);
    if (status == PL_OK)
        status = pl_auth_add_key(auth_of(x), &making->key);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, NULL);
        pl_exchange_finish(x);
        return;
    }
    pl_sign_in_set(x, pl_str_of(making->plain));
    pl_exchange_header(x, "Location", "%.*s", PL_STR_ARG(signing->return_to));
    x->status = 303;
    pl_exchange_finish(x);
}

/* {"issuer": …, "subject": …, "is_admin": …} for the audit log. */
static struct pl_str write_detail(struct pl_exchange *x, struct pl_str issuer,
                                  struct pl_str subject, bool is_admin)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "issuer", issuer);
    pl_put_text(&out, "subject", subject);
    pl_put_bool(&out, "is_admin", is_admin);
    pl_json_out_close(&out, '}');
    return text.status == PL_OK ? pl_arena_dup(&x->arena, pl_buf_str(&text)) : (struct pl_str){0};
}

/* The user, the identity and the sign-in in one transaction. */
static struct pl_batch *batch_of(struct pl_exchange *x, const struct signing *signing,
                                 const struct pl_identity_row *identity, struct pl_str detail)
{
    const struct pl_key_making *making = &signing->making;
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return NULL;
    if (making->user.id.len)
        pl_batch_create_user(batch, &making->user);
    if (identity)
        pl_batch_create_identity(batch, identity);
    if (signing->change.id.len)
        pl_batch_change_user(batch, &signing->change);
    pl_batch_create_key(batch, &making->key);
    if (identity)
        pl_audit_add(x, batch, making->user.id.len ? "user.create" : "user.link", identity->user_id,
                     detail);
    if (signing->change.id.len)
        pl_audit_add(x, batch, "user.change", signing->change.id, detail);
    pl_audit_add(x, batch, "sign_in", making->key.id, detail);
    return batch;
}

static bool prepare(struct pl_oidc_flow *flow, const struct pl_auth_user *user, bool is_admin,
                    struct signing *signing)
{
    struct pl_exchange *x = flow->x;
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    struct pl_key_making *making = &signing->making;
    if (!user) {
        making->user_id = pl_id_take(&seed, "user_");
        making->user = (struct pl_user_row){.id = pl_str_of(making->user_id.text),
                                            .name = flow->name,
                                            .is_admin = is_admin,
                                            .created_ms = seed.unix_ms};
        flow->user_id = making->user.id;
    } else if (user->is_admin != is_admin) {
        signing->change =
            (struct pl_user_change){.id = flow->user_id, .is_admin = is_admin, .disabled_ms = -1};
    }
    if (!pl_key_making_prepare(making, &seed, flow->user_id, PL_STR("sign-in")))
        return false;
    making->key.is_admin = is_admin;
    making->key.is_login = true;
    making->key.expires_ms = seed.unix_ms + PL_SIGN_IN_MS;
    signing->return_to = flow->attempt.return_to;
    return true;
}

static void commit(struct pl_oidc_flow *flow, const struct pl_auth_user *user, bool is_admin)
{
    struct pl_exchange *x = flow->x;
    struct signing *signing = pl_arena_zalloc(&x->arena, 1, sizeof *signing);
    struct pl_str issuer = pl_str_of(flow->config->issuer);
    bool is_ready = signing && prepare(flow, user, is_admin, signing);
    const struct pl_identity_row identity = {issuer, flow->subject, flow->user_id,
                                             pl_loop_unix_ms(x->shard->loop)};
    struct pl_str detail = write_detail(x, issuer, flow->subject, is_admin);
    bool is_new = !user || flow->is_linked;
    x->caller.user_id = flow->user_id;
    pl_oidc_flow_end(flow);
    if (!is_ready || !detail.ptr) {
        pl_exchange_fail_memory(x);
        return;
    }
    x->state = signing;
    signing->number = pl_auth_begin_change(auth_of(x));
    pl_exchange_commit(x, batch_of(x, signing, is_new ? &identity : NULL, detail), signed_in);
    pl_auth_end_change(auth_of(x));
}

void pl_oidc_user_sign_in(struct pl_oidc_flow *flow)
{
    const struct pl_oidc_config *config = flow->config;
    struct pl_auth_user user;
    if (!take_info(flow))
        return;
    bool is_known = flow->user_id.len && pl_auth_find_user(auth_of(flow->x), flow->user_id, &user);
    if (config->allowed_groups && !is_in(flow, config->allowed_groups) &&
        !is_in(flow, config->admin_groups)) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_FORBIDDEN,
                            "You are in none of the groups that may sign in here (the claim "
                            "\"%.100s\"); ask the administrator.",
                            config->groups_claim);
        return;
    }
    if (flow->user_id.len && !is_known) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_CONFLICT,
                            "Your user was erased a moment ago; sign in again.");
        return;
    }
    if (is_known && user.disabled_ms) {
        pl_oidc_flow_refuse(flow, PL_PROBLEM_FORBIDDEN,
                            "Your user is disabled; ask the administrator.");
        return;
    }
    commit(flow, is_known ? &user : NULL, role_of(flow, is_known ? &user : NULL));
}
