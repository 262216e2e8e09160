/* Creates, changes and deletes many memories in one transaction. */
#include "base/text/uuid.h"
#include "http/exchange.h"
#include "json/number.h"
#include "service/memories/memory_change.h"
#include "service/memories/memory_json.h"
#include "service/request_options.h"
#include "transaction/change.h"
#include "transaction/idempotency.h"

#include <stdio.h>

enum { MAX_EACH = 100 }; /* as in the schema */

struct many {
    struct pl_id_seed seed;
    int64_t updated[MAX_EACH], deleted[MAX_EACH];
    size_t n_created, n_updated, n_deleted;
};

static const struct pl_json_node *list_of(struct pl_exchange *x, const char *name)
{
    const struct pl_json_node *list = pl_json_get(&x->body, x->body.root, pl_str_of(name));
    return list && pl_json_kind(list) == PL_JSON_ARRAY ? list : NULL;
}

static bool has_id(const int64_t *ids, size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Finds the memory with the id in `number`, at most once per request; false after making a
 * problem. */
static bool take_named(struct pl_exchange *x, const struct many *many,
                       const struct pl_json_node *number, const char *pointer,
                       struct pl_memory_row *ret_memory)
{
    int64_t id = 0;
    if (!pl_json_number_int64(pl_json_span(&x->body, number), &id))
        id = -1;
    if (has_id(many->updated, many->n_updated, id) || has_id(many->deleted, many->n_deleted, id)) {
        pl_option_refuse(x, "A batch can change or delete a memory only once.", "%s", pointer);
        return false;
    }
    return pl_memory_get(x, id, pointer, ret_memory);
}

static bool plan_creates(struct pl_exchange *x, struct many *many, struct pl_batch *batch)
{
    const struct pl_json_node *list = list_of(x, "create");
    struct pl_id_seed seed = many->seed;
    if (!list || !pl_json_count(list))
        return true;
    if (!pl_memory_has_room(x, pl_json_count(list)))
        return false;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        char pointer[32];
        size_t i = many->n_created++;
        snprintf(pointer, sizeof pointer, "/create/%zu", i);
        struct pl_id uid = pl_id_take(&seed, "mem_");
        if (!pl_memory_plan_new(x, n, pointer, pl_str_of(uid.text), batch))
            return false;
    }
    return true;
}

static bool plan_updates(struct pl_exchange *x, struct many *many, struct pl_batch *batch)
{
    const struct pl_json_node *list = list_of(x, "update");
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        char pointer[32], id_pointer[40];
        struct pl_memory_row memory;
        snprintf(pointer, sizeof pointer, "/update/%zu", many->n_updated);
        snprintf(id_pointer, sizeof id_pointer, "%s/id", pointer);
        if (!take_named(x, many, pl_json_get(&x->body, n, PL_STR("id")), id_pointer, &memory))
            return false;
        many->updated[many->n_updated++] = memory.id;
        if (!pl_memory_plan_update(x, n, pointer, memory, batch))
            return false;
    }
    return true;
}

static bool plan_deletes(struct pl_exchange *x, struct many *many, struct pl_batch *batch)
{
    const struct pl_json_node *list = list_of(x, "delete");
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        char pointer[32];
        struct pl_memory_row memory;
        snprintf(pointer, sizeof pointer, "/delete/%zu", many->n_deleted);
        if (!take_named(x, many, n, pointer, &memory))
            return false;
        many->deleted[many->n_deleted++] = memory.id;
        pl_memory_plan_delete(x, batch, memory.id);
    }
    return true;
}

static void batch_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct many *many = ctx;
    many->n_created = many->n_updated = many->n_deleted = 0;
    (void)(plan_creates(x, many, batch) && plan_updates(x, many, batch) &&
           plan_deletes(x, many, batch));
}

/* Uses only the request and the seed, because after a crash there is no plan. */
static bool tell_created(struct pl_exchange *x, const struct many *many, struct pl_json_out *out)
{
    const struct pl_json_node *list = list_of(x, "create");
    struct pl_id_seed seed = many->seed;
    struct pl_memory_row memory;
    for (size_t i = 0, n = list ? pl_json_count(list) : 0; i < n; i++) {
        struct pl_id uid = pl_id_take(&seed, "mem_");
        if (!pl_memory_find_new(x, pl_str_of(uid.text), &memory))
            return false;
        pl_memory_write(out, &memory, false);
    }
    return true;
}

static int64_t id_of(struct pl_exchange *x, const struct pl_json_node *number)
{
    int64_t id = 0;
    return number && pl_json_number_int64(pl_json_span(&x->body, number), &id) ? id : -1;
}

static bool tell_updated(struct pl_exchange *x, struct pl_json_out *out)
{
    const struct pl_json_node *list = list_of(x, "update");
    struct pl_memory_row memory;
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        int64_t id = id_of(x, pl_json_get(&x->body, n, PL_STR("id")));
        if (!pl_memory_get(x, id, NULL, &memory))
            return false;
        pl_memory_write(out, &memory, false);
    }
    return true;
}

static void batch_tell(struct pl_exchange *x, void *ctx)
{
    const struct pl_json_node *deleted = list_of(x, "delete");
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "created");
    pl_json_out_open(&out, '[');
    if (!tell_created(x, ctx, &out))
        return;
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "updated");
    pl_json_out_open(&out, '[');
    if (!tell_updated(x, &out))
        return;
    pl_json_out_close(&out, ']');
    pl_json_out_key(&out, "deleted");
    pl_json_out_open(&out, '[');
    for (const struct pl_json_node *n = deleted ? pl_json_first(deleted) : NULL;
         n && n < pl_json_end(deleted); n = pl_json_next(n))
        pl_json_out_int(&out, id_of(x, n));
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

void pl_memory_batch(struct pl_exchange *x)
{
    struct many *many = pl_exchange_room(x, sizeof *many);
    if (!many)
        return;
    many->seed = pl_claim_seed(x);
    pl_exchange_change(x, batch_plan, batch_tell, many);
}
