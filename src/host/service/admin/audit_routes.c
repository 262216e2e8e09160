/* The audit log for administrators: its rows, newest first, and a check of its hash chain. */
#include "access/audit.h"
#include "http/json_members.h"
#include "http/routes/route.h"
#include "service/admin/routes.h"

#include <stdio.h>

static void write_hash(struct pl_json_out *out, struct pl_str hash)
{
    char hex[65] = "";
    for (size_t i = 0; i < hash.len && i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)hash.ptr[i]);
    pl_put_text(out, "hash", hash.len ? pl_str_of(hex) : (struct pl_str){0});
}

static struct pl_str or_null(struct pl_str text)
{
    return text.len ? text : (struct pl_str){0};
}

static void write_row(struct pl_json_out *out, const struct pl_audit_row *row)
{
    pl_json_out_open(out, '{');
    pl_put_int(out, "number", row->number);
    pl_put_time(out, "at", row->at_ms);
    pl_put_text(out, "user_id", or_null(row->user_id));
    pl_put_text(out, "key_id", or_null(row->key_id));
    pl_put_text(out, "action", row->action);
    pl_put_text(out, "object", or_null(row->object));
    pl_put_raw(out, "detail", row->detail.len ? row->detail : PL_STR("null"));
    write_hash(out, row->hash);
    pl_json_out_close(out, '}');
}

static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_audit_page page;
    struct pl_error err = {0};
    char cursor[24] = "";
    int64_t before = INT64_MAX;
    if (!pl_exchange_sums_args(x, &args) ||
        (args.cursor.len && !pl_exchange_cursor_number(x, &args, &before)))
        return;
    enum pl_status status = pl_store_audit_list(x->shard->server->store, &x->arena, PL_AUDIT_NEWEST,
                                                before, args.limit, &page, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page.n_rows, page.has_more, 0};
    while (pl_list_walk_next(&walk, x))
        write_row(&out, &page.rows[walk.n - 1]);
    if (walk.has_more)
        snprintf(cursor, sizeof cursor, "%lld", (long long)page.rows[walk.n - 1].number);
    pl_exchange_sums_end(x, pl_str_of(cursor));
}

static void list_audit(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

static void verify_work(struct pl_exchange *x)
{
    struct pl_audit_check check;
    struct pl_error err = {0};
    enum pl_status status = pl_audit_verify(x->shard->server->store, &check, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_put_bool(&out, "chain_ok", !check.broken_at);
    pl_put_int(&out, "rows", check.n_rows);
    pl_put_int(&out, "unsealed", check.n_unsealed);
    pl_put_number(&out, "broken_at", check.broken_at);
    pl_put_text(&out, "problem", check.what ? pl_str_of(check.what) : (struct pl_str){0});
    pl_json_out_close(&out, '}');
}

static void verify_audit(struct pl_exchange *x)
{
    pl_exchange_work(x, verify_work, NULL);
}

static const struct pl_route_param params[] = {PL_PARAMS_OF_SUMS, {0}};

const struct pl_route pl_routes_audit[] = {
    {PL_METHOD_GET, "/api/audit", PL_ROUTE_ADMIN, PL_FOR_READ, list_audit, "audit_list",
     "List who did what to access, keys, limits, shares, exports and restores, newest first",
     "audit", NULL, "AuditList", 200, params},
    {PL_METHOD_GET, "/api/audit/verify", PL_ROUTE_ADMIN, PL_FOR_READ, verify_audit, "audit_verify",
     "Check the chain of hashes of the audit log", "audit", NULL, "AuditCheck", 200, NULL},
    {0},
};
