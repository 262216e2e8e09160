/* Parses and checks the options of `parley key`, and writes them as a request. */
#include "app/access/key_wish.h"

#include "base/text/decimal.h"
#include "base/text/utf8.h"
#include "base/text/utc.h"
#include "http/routes/scope.h"
#include "io/clock.h"
#include "json/number.h"
#include "service/admin/keys/key_json.h"

#include <stdio.h>

enum { MAX_NAME = 100 };

static const struct {
    enum pl_option_id id;
    const char *option, *member;
    double unit, most;
    bool is_whole;
} limits[PL_LIMIT_OF_KEYS] = {
    [PL_LIMIT_RPM] = {PL_OPT_RPM, "rpm", "rpm", 1, 1e9, true},
    [PL_LIMIT_TPM] = {PL_OPT_TPM, "tpm", "tpm", 1, 1e12, true},
    [PL_LIMIT_BUDGET_DAY] = {PL_OPT_BUDGET_DAY, "budget-day", "budget_usd_day", 1e6, 1e9, false},
    [PL_LIMIT_BUDGET_MONTH] = {PL_OPT_BUDGET_MONTH, "budget-month", "budget_usd_month", 1e6, 1e9,
                               false},
};

const char *pl_scope_choice(size_t i)
{
    if (i == PL_SCOPE_EXTENSION)
        return "extension:ID";
    return i < PL_SCOPE_COUNT ? pl_scope_word((enum pl_scope)i) : NULL;
}

int64_t pl_duration_read(const char *text)
{
    static const struct {
        char letter;
        int64_t s;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    int64_t n;
    size_t n_digits = strspn(text, "0123456789");
    const char *end = text + n_digits;
    if (!pl_decimal_read((struct pl_str){text, n_digits}, &n))
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end[0] == units[i].letter && !end[1] && n >= 0 && n <= 1000000)
            return n * units[i].s;
    return -1;
}

/* Parses "90d" from now, "2027-01-31", an instant, or "never". */
static bool read_end(const char *text, int64_t *ret_ms)
{
    char whole[40];
    int64_t unix_us, s = pl_duration_read(text);
    if (strcmp(text, "never") == 0) {
        *ret_ms = 0;
        return true;
    }
    if (s > 0) {
        *ret_ms = pl_clock_unix_ms() + s * 1000;
        return true;
    }
    snprintf(whole, sizeof whole, strlen(text) == 10 ? "%sT00:00:00Z" : "%s", text);
    if (!pl_utc_read(pl_str_of(whole), &unix_us))
        return false;
    *ret_ms = unix_us / 1000;
    return *ret_ms > pl_clock_unix_ms();
}

bool pl_limit_read(const char *text, bool is_whole, double unit, double most, int64_t *ret_value)
{
    if (strcmp(text, "none") == 0) {
        *ret_value = 0;
        return true;
    }
    size_t n_digits = strspn(text, "0123456789"), n = n_digits;
    if (text[n] == '.' && !is_whole)
        n += 1 + strspn(text + n + 1, "0123456789");
    if (!n_digits || text[n] || text[n - 1] == '.')
        return false;
    double number = pl_json_number_double(pl_str_of(text));
    if (number > most)
        return false;
    *ret_value = (int64_t)(number * unit + 0.5);
    return *ret_value > 0;
}

static bool read_models(struct pl_arena *arena, const char *text, struct pl_str *ret_models)
{
    struct pl_str lines =
        strcmp(text, "all") == 0 ? PL_STR("") : pl_arena_dup(arena, pl_str_of(text));
    *ret_models = lines;
    for (size_t i = 0; i < lines.len; i++)
        if (lines.ptr[i] == ',')
            ((char *)lines.ptr)[i] = '\n';
    return lines.ptr;
}

enum pl_exit pl_key_wish_read(struct pl_console *console, const struct pl_args *args,
                              struct pl_arena *arena, struct pl_key_wish *ret_wish)
{
    struct pl_key_wish wish = {.expires_ms = -1};
    const char *expires = pl_args_value(args, PL_OPT_EXPIRES);
    const char *models = pl_args_value(args, PL_OPT_MODELS);
    wish.name = pl_args_value(args, PL_OPT_NAME);
    wish.scope = pl_args_value(args, PL_OPT_SCOPE);
    wish.is_admin = pl_args_has(args, PL_OPT_ADMIN);
    size_t n = wish.name ? pl_utf8_count(pl_str_of(wish.name)) : 1;
    if (!n || n > MAX_NAME)
        return pl_usage_fail(console, "key", "the name of a key has 1 to 100 characters");
    enum pl_scope scope;
    if (wish.scope && !pl_scope_find(pl_str_of(wish.scope), &scope))
        return pl_usage_fail(console, "key",
                             "--scope %s: the id of an extension has small letters, digits, \".\", "
                             "\"_\" and \"-\", at most 64",
                             wish.scope);
    if (expires && !read_end(expires, &wish.expires_ms))
        return pl_usage_fail(console, "key",
                             "--expires %s: give a time from now such as 90d, 12h or 2w, a day "
                             "in the future such as 2027-01-31, or never",
                             expires);
    for (size_t i = 0; i < PL_LIMIT_OF_KEYS; i++) {
        wish.limits[i] = pl_args_value(args, limits[i].id);
        wish.values[i] = -1;
        wish.has_limits |= wish.limits[i] != NULL;
        if (wish.limits[i] && !pl_limit_read(wish.limits[i], limits[i].is_whole, limits[i].unit,
                                             limits[i].most, &wish.values[i]))
            return pl_usage_fail(console, "key", "--%s %s: give a %s greater than 0, or none",
                                 limits[i].option, wish.limits[i],
                                 limits[i].is_whole ? "whole number" : "number of dollars");
    }
    if (models && !read_models(arena, models, &wish.models))
        return pl_console_fail_as(console, NULL, PL_NOMEM, &(struct pl_error){0});
    *ret_wish = wish;
    return PL_EXIT_OK;
}

static void write_limits(struct pl_json_out *out, const struct pl_key_wish *wish)
{
    pl_json_out_key(out, "limits");
    pl_json_out_open(out, '{');
    for (size_t i = 0; i < PL_LIMIT_OF_KEYS; i++) {
        if (!wish->limits[i])
            continue;
        pl_json_out_key(out, limits[i].member);
        if (wish->values[i])
            pl_json_out_raw(out, pl_str_of(wish->limits[i]));
        else
            pl_json_out_null(out);
    }
    pl_json_out_close(out, '}');
}

void pl_key_wish_write(struct pl_json_out *out, const struct pl_key_wish *wish)
{
    char end[PL_UTC_SIZE];
    pl_json_out_open(out, '{');
    if (wish->name) {
        pl_json_out_key(out, "name");
        pl_json_out_text(out, pl_str_of(wish->name));
    }
    if (wish->scope) {
        pl_json_out_key(out, "scope");
        pl_json_out_text(out, pl_str_of(wish->scope));
    }
    if (wish->models.ptr)
        pl_key_write_models(out, wish->models);
    if (wish->expires_ms >= 0) {
        pl_json_out_key(out, "expires_at");
        pl_utc_write(end, wish->expires_ms);
        if (wish->expires_ms)
            pl_json_out_text(out, (struct pl_str){end, sizeof end});
        else
            pl_json_out_null(out);
    }
    if (wish->is_admin) {
        pl_json_out_key(out, "is_admin");
        pl_json_out_bool(out, true);
    }
    if (wish->has_limits)
        write_limits(out, wish);
    pl_json_out_close(out, '}');
}
