/* Creates and rotates keys: one transaction, then the table, then the answer with the secret. */
#include "service/admin/keys/key_making.h"

#include "access/audit.h"
#include "access/meter/meter.h"
#include "access/sign_in.h"
#include "base/text/suggest.h"
#include "base/text/utc.h"
#include "http/routes/route.h"
#include "json/text.h"
#include "service/admin/keys/key_json.h"
#include "transaction/commit.h"

void pl_exchange_fail_memory(struct pl_exchange *x)
{
    pl_exchange_fail(x, PL_NOMEM, NULL);
    pl_exchange_finish(x);
}

struct pl_key_making *pl_key_making_begin(struct pl_exchange *x)
{
    struct pl_key_making *making = pl_arena_zalloc(&x->arena, 1, sizeof *making);
    if (!making)
        pl_exchange_fail_memory(x);
    x->state = making;
    return making;
}

bool pl_key_making_prepare(struct pl_key_making *making, struct pl_id_seed *seed,
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
        .scope = PL_STR("all"),
    };
    return true;
}

static void write_made(const struct pl_key_making *making, const char *plain, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    if (!making->user.id.len) {
        pl_key_write(&out, &making->key, plain, &making->limits);
        return;
    }
    pl_json_out_open(&out, '{');
    pl_user_write(&out, &making->user);
    pl_json_out_key(&out, "key");
    pl_key_write(&out, &making->key, plain, &making->limits);
    pl_json_out_close(&out, '}');
}

static void made(struct pl_exchange *x)
{
    struct pl_key_making *making = x->state;
    struct pl_auth *auth = x->shard->server->auth;
    enum pl_status status = PL_OK;
    if (making->user.id.len)
        status = pl_auth_add_user(auth, &making->user);
    if (status == PL_OK && making->limits.key_id.len)
        status = pl_meter_set_limits(x->shard->server->meter, &making->limits, 0, 0, 0);
    if (status == PL_OK)
        status = making->number ? pl_auth_rotate_key(auth, &making->key, making->number)
                                : pl_auth_add_key(auth, &making->key);
    if (status == PL_OK && making->is_cookie)
        pl_sign_in_set(x, pl_str_of(making->plain));
    if (status == PL_OK)
        write_made(making, making->is_cookie ? NULL : making->plain, &x->reply);
    else if (status == PL_NOT_FOUND)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "There is no key with this id.");
    else
        pl_exchange_fail(x, PL_NOMEM, NULL);
    pl_exchange_finish(x);
}

static struct pl_batch *batch_of(const struct pl_key_making *making, int64_t n_keys)
{
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return NULL;
    if (making->user.id.len)
        pl_batch_create_user(batch, &making->user);
    if (making->key.old_hash.len)
        pl_batch_rotate_key(batch, &making->key, making->key.old_until_ms);
    else
        pl_batch_create_key(batch, &making->key);
    if (making->limits.key_id.len)
        pl_batch_put_limits(batch, &making->limits);
    if (!making->key.old_hash.len && !making->key.is_login)
        pl_batch_check_quota(batch, making->key.user_id, PL_LIMIT_KEYS, n_keys);
    return batch;
}

/* The body of a public sign-in is a secret (a code or a key). The body of a new user is logged
 * with the user. */
static bool tells_body(const struct pl_exchange *x, const struct pl_key_making *making)
{
    return !making->user.id.len && !(x->route->flags & PL_ROUTE_PUBLIC);
}

/* Only the first answer has the plaintext: the stored answer for a repeated request does not. */
void pl_key_making_commit(struct pl_exchange *x, struct pl_key_making *making)
{
    struct pl_auth *auth = x->shard->server->auth;
    struct pl_batch *batch = batch_of(
        making, pl_meter_quota(x->shard->server->meter, making->key.user_id, PL_LIMIT_KEYS));
    PL_CLEANUP_BUF struct pl_buf kept;
    pl_buf_init(&kept, 0);
    write_made(making, NULL, &kept);
    pl_exchange_keep_instead(x, pl_arena_dup(&x->arena, pl_buf_str(&kept)));
    if (!batch || kept.status != PL_OK || !pl_exchange_kept_reply(x).ptr) {
        pl_batch_destroy(batch);
        pl_exchange_fail_memory(x);
        return;
    }
    if (making->user.id.len)
        pl_audit_add(x, batch, "user.create", making->user.id, x->body_text);
    pl_audit_add(x, batch,
                 making->key.old_hash.len ? "key.rotate"
                 : making->is_cookie      ? "sign_in"
                                          : "key.create",
                 making->key.id, tells_body(x, making) ? x->body_text : (struct pl_str){0});
    uint64_t number = pl_auth_begin_change(auth);
    making->number = making->key.old_hash.len ? number : 0;
    pl_exchange_commit(x, batch, made);
    pl_auth_end_change(auth);
}

/* --- what a body says ------------------------------------------------------------------------ */

static bool refuse(struct pl_exchange *x, const char *member, const char *sentence)
{
    struct pl_error err = {0};
    (void)pl_fail(&err, PL_INVALID, "%s", sentence);
    pl_error_point(&err, "/%s", member);
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err, "%s", sentence);
    return false;
}

static bool read_scope(struct pl_exchange *x, struct pl_str *ret_scope)
{
    struct pl_str word = pl_body_text(x, "scope");
    struct pl_suggest suggest = pl_suggest(word);
    enum pl_scope scope;
    char sentence[160];
    if (!word.ptr || pl_scope_find(word, &scope)) {
        *ret_scope = word;
        return true;
    }
    for (int i = 0; i < PL_SCOPE_COUNT; i++)
        pl_suggest_offer(&suggest, pl_scope_word((enum pl_scope)i));
    snprintf(sentence, sizeof sentence,
             "The scope must be all, sessions, gateway, read or extension:ID%s%s%s",
             suggest.best ? "; did you mean \"" : "", suggest.best ? suggest.best : "",
             suggest.best ? "\"?" : ".");
    return refuse(x, "scope", sentence);
}

/* One model per line; null: every model. */
static bool read_models(struct pl_exchange *x, struct pl_str *ret_models)
{
    const struct pl_json_node *models = pl_json_get(&x->body, x->body.root, PL_STR("models"));
    PL_CLEANUP_BUF struct pl_buf lines;
    pl_buf_init(&lines, 0);
    if (!models)
        return true;
    if (pl_json_kind(models) == PL_JSON_ARRAY)
        for (const struct pl_json_node *one = pl_json_first(models); one < pl_json_end(models);
             one = pl_json_next(one)) {
            struct pl_str name;
            if (pl_json_text(&x->arena, &x->body, one, &name) != PL_OK)
                return pl_exchange_fail(x, PL_NOMEM, NULL), false;
            if (memchr(name.ptr, '\n', name.len))
                return refuse(x, "models", "The name of a model has one line.");
            if (lines.len)
                pl_buf_addc(&lines, '\n');
            pl_buf_add(&lines, name);
        }
    *ret_models = lines.len ? pl_arena_dup(&x->arena, pl_buf_str(&lines)) : PL_STR("");
    if (lines.status == PL_OK && ret_models->ptr)
        return true;
    pl_exchange_fail(x, PL_NOMEM, NULL);
    return false;
}

static bool read_end(struct pl_exchange *x, int64_t *ret_expires_ms)
{
    struct pl_str text = pl_body_text(x, "expires_at");
    int64_t unix_us;
    *ret_expires_ms = pl_body_has(x, "expires_at") ? 0 : -1;
    if (!text.ptr)
        return true;
    if (!pl_utc_read(text, &unix_us))
        return refuse(x, "expires_at",
                      "expires_at must be an instant such as "
                      "2027-01-31T12:00:00Z.");
    if (unix_us / 1000 <= pl_loop_unix_ms(x->shard->loop))
        return refuse(x, "expires_at", "expires_at must be in the future; DELETE revokes a key.");
    *ret_expires_ms = unix_us / 1000;
    return true;
}

bool pl_key_patch_read(struct pl_exchange *x, struct pl_key_patch *ret_patch)
{
    return read_scope(x, &ret_patch->scope) && read_models(x, &ret_patch->models) &&
           read_end(x, &ret_patch->expires_ms);
}
