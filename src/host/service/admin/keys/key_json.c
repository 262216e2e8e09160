/* Writes ApiKey and User objects. Shared by the routes and `parley key`, so that both print the
 * same members. */
#include "service/admin/keys/key_json.h"

#include "access/auth.h"
#include "http/json_members.h"
#include "service/admin/keys/limits_json.h"

#include <stdio.h>

void pl_key_write_models(struct pl_json_out *out, struct pl_str models)
{
    pl_json_out_key(out, "models");
    if (!models.len) {
        pl_json_out_null(out);
        return;
    }
    pl_json_out_open(out, '[');
    while (models.len) {
        const char *end = memchr(models.ptr, '\n', models.len);
        size_t n = end ? (size_t)(end - models.ptr) : models.len;
        pl_json_out_text(out, pl_str_slice(models, 0, n));
        models = pl_str_slice(models, end ? n + 1 : n, models.len);
    }
    pl_json_out_close(out, ']');
}

void pl_key_write(struct pl_json_out *out, const struct pl_key_row *key, const char *plain,
                  const struct pl_limits *limits)
{
    char masked[32];
    snprintf(masked, sizeof masked, PL_KEY_PREFIX "...%.*s", PL_STR_ARG(key->last4));
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "id");
    pl_json_out_text(out, key->id);
    pl_json_out_key(out, "name");
    pl_json_out_text(out, key->name);
    pl_json_out_key(out, "masked");
    pl_json_out_text(out, pl_str_of(masked));
    pl_json_out_key(out, "plaintext");
    if (plain)
        pl_json_out_text(out, pl_str_of(plain));
    else
        pl_json_out_null(out);
    pl_put_time(out, "created_at", key->created_ms);
    pl_put_time(out, "last_used_at", key->last_used_ms);
    pl_json_out_key(out, "user_id");
    pl_json_out_text(out, key->user_id);
    pl_json_out_key(out, "scope");
    pl_json_out_text(out, key->scope.len ? key->scope : PL_STR("all"));
    pl_json_out_key(out, "is_admin");
    pl_json_out_bool(out, key->is_admin);
    pl_key_write_models(out, key->models);
    pl_put_time(out, "expires_at", key->expires_ms);
    pl_put_time(out, "old_until", key->old_until_ms);
    pl_json_out_key(out, "is_login");
    pl_json_out_bool(out, key->is_login);
    if (limits)
        pl_limits_write(out, PL_LIMIT_OF_KEYS, limits);
    pl_json_out_close(out, '}');
}

void pl_user_write(struct pl_json_out *out, const struct pl_user_row *user)
{
    pl_json_out_key(out, "id");
    pl_json_out_text(out, user->id);
    pl_json_out_key(out, "name");
    pl_json_out_text(out, user->name);
    pl_json_out_key(out, "is_admin");
    pl_json_out_bool(out, user->is_admin);
    pl_json_out_key(out, "is_disabled");
    pl_json_out_bool(out, user->disabled_ms != 0);
    pl_put_time(out, "created_at", user->created_ms);
    pl_put_time(out, "disabled_at", user->disabled_ms);
}
