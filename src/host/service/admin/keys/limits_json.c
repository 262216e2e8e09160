#include "service/admin/keys/limits_json.h"

#include "json/number.h"

#include <stdio.h>

static const struct {
    const char *name;
    bool is_money; /* stored in millionths of a dollar */
} names[PL_LIMIT_COUNT] = {
    [PL_LIMIT_RPM] = {"rpm", false},
    [PL_LIMIT_TPM] = {"tpm", false},
    [PL_LIMIT_BUDGET_DAY] = {"budget_usd_day", true},
    [PL_LIMIT_BUDGET_MONTH] = {"budget_usd_month", true},
    [PL_LIMIT_TURNS] = {"max_turns", false},
    [PL_LIMIT_SESSIONS] = {"max_sessions", false},
    [PL_LIMIT_BLOB_BYTES] = {"max_blob_bytes", false},
    [PL_LIMIT_KEYS] = {"max_keys", false},
    [PL_LIMIT_TASKS] = {"max_tasks", false},
    [PL_LIMIT_SOCKETS] = {"max_sockets", false},
};

bool pl_limits_read(struct pl_exchange *x, enum pl_usage_limit n, struct pl_limits *ret_limits)
{
    const struct pl_json_node *limits = pl_json_get(&x->body, x->body.root, PL_STR("limits"));
    bool lifts_all = limits && pl_json_kind(limits) == PL_JSON_NULL;
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        const struct pl_json_node *node =
            limits && !lifts_all && i < (int)n
                ? pl_json_get(&x->body, limits, pl_str_of(names[i].name))
                : NULL;
        double unit = names[i].is_money ? 1e6 : 1;
        ret_limits->values[i] = lifts_all ? 0 : -1;
        if (node)
            ret_limits->values[i] = 0;
        if (node && pl_json_kind(node) == PL_JSON_NUMBER)
            ret_limits->values[i] =
                (int64_t)(pl_json_number_double(pl_json_span(&x->body, node)) * unit + 0.5);
    }
    return limits && !lifts_all;
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

void pl_limits_write(struct pl_json_out *out, enum pl_usage_limit n, const struct pl_limits *limits)
{
    bool has_some = false;
    for (int i = 0; i < (int)n; i++)
        has_some |= limits->values[i] > 0;
    pl_json_out_key(out, "limits");
    if (!has_some) {
        pl_json_out_null(out);
        return;
    }
    pl_json_out_open(out, '{');
    for (int i = 0; i < (int)n; i++) {
        pl_json_out_key(out, names[i].name);
        if (limits->values[i] <= 0)
            pl_json_out_null(out);
        else if (names[i].is_money)
            pl_usd_write(out, limits->values[i]);
        else
            pl_json_out_int(out, limits->values[i]);
    }
    pl_json_out_close(out, '}');
}
