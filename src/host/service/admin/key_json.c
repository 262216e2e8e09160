/* Writes ApiKey and User objects. The routes and `parley key` share it, so both print the same
 * members. */
#include "service/admin/key_json.h"

#include "access/auth.h"
#include "base/text/utc.h"

#include <stdio.h>

static void write_time(struct pl_json_out *out, const char *name, int64_t unix_ms)
{
    char text[PL_UTC_SIZE];
    pl_json_out_key(out, name);
    pl_utc_write(text, unix_ms);
    if (unix_ms)
        pl_json_out_text(out, (struct pl_str){text, sizeof text});
    else
        pl_json_out_null(out);
}

static void write_limit(struct pl_json_out *out, const char *name, int64_t limit)
{
    pl_json_out_key(out, name);
    if (limit)
        pl_json_out_int(out, limit);
    else
        pl_json_out_null(out);
}

void pl_usd_write(struct pl_json_out *out, int64_t micro)
{
    char text[48];
    int n = snprintf(text, sizeof text, "%lld.%06lld", (long long)(micro / 1000000),
                     (long long)(micro % 1000000));
    while (n > 0 && text[n - 1] == '0')
        n--;
    if (n > 0 && text[n - 1] == '.')
        n--;
    pl_json_out_raw(out, (struct pl_str){text, (size_t)n});
}

static void write_budget(struct pl_json_out *out, const char *name, int64_t micro)
{
    pl_json_out_key(out, name);
    if (micro)
        pl_usd_write(out, micro);
    else
        pl_json_out_null(out);
}

static void write_limits(struct pl_json_out *out, const struct pl_key_limits *limits)
{
    bool has_some =
        (limits->rpm || limits->tpm || limits->budget_day_micro || limits->budget_month_micro);
    pl_json_out_key(out, "limits");
    if (!has_some) {
        pl_json_out_null(out);
        return;
    }
    pl_json_out_open(out, '{');
    write_limit(out, "rpm", limits->rpm);
    write_limit(out, "tpm", limits->tpm);
    write_budget(out, "budget_usd_day", limits->budget_day_micro);
    write_budget(out, "budget_usd_month", limits->budget_month_micro);
    pl_json_out_close(out, '}');
}

void pl_key_write(struct pl_json_out *out, const struct pl_key_row *key, const char *plain,
                  const struct pl_key_limits *limits)
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
    write_time(out, "created_at", key->created_ms);
    write_time(out, "last_used_at", key->last_used_ms);
    if (limits)
        write_limits(out, limits);
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
    write_time(out, "created_at", user->created_ms);
}
