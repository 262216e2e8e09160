/* Memories are stored across sessions and searched. A caller sees only its own. recall.h puts
 * them into a conversation. */
#include "base/text/decimal.h"
#include "base/text/uuid.h"
#include "http/exchange.h"
#include "http/routes/route.h"
#include "io/clock.h"
#include "json/number.h"
#include "service/memories/memory_change.h"
#include "service/memories/memory_json.h"
#include "service/memories/memory_query.h"
#include "service/memories/routes.h"
#include "service/request_options.h"
#include "transaction/change.h"
#include "transaction/idempotency.h"

#include <stdio.h>

/* --- finding --------------------------------------------------------------------------------- */

/* Finds the memory named in the path. */
static bool find_memory(struct pl_exchange *x, struct pl_memory_row *ret_memory)
{
    int64_t id = 0;
    if (pl_decimal_read(x->args[0], &id))
        return pl_memory_get(x, id, NULL, ret_memory);
    pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL,
                        "The id of a memory must be a whole "
                        "number.");
    return false;
}

static void write_one(struct pl_exchange *x, const struct pl_memory_row *memory)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_memory_write(&out, memory, false);
}

static void get_work(struct pl_exchange *x)
{
    struct pl_memory_row memory;
    if (find_memory(x, &memory))
        write_one(x, &memory);
}

static void memory_get(struct pl_exchange *x)
{
    pl_exchange_work(x, get_work, NULL);
}

/* --- making ---------------------------------------------------------------------------------- */

struct making {
    struct pl_id_seed seed; /* each plan makes the same ids */
};

static void create_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    const struct making *making = ctx;
    struct pl_id_seed seed = making->seed;
    struct pl_id uid = pl_id_take(&seed, "mem_");
    if (pl_memory_has_room(x, 1))
        pl_memory_plan_new(x, x->body.root, "", pl_str_of(uid.text), batch);
}

static void create_tell(struct pl_exchange *x, void *ctx)
{
    const struct making *making = ctx;
    struct pl_id_seed seed = making->seed;
    struct pl_id uid = pl_id_take(&seed, "mem_");
    struct pl_memory_row memory;
    if (!pl_memory_find_new(x, pl_str_of(uid.text), &memory))
        return;
    x->status = 201;
    write_one(x, &memory);
}

static void memory_create(struct pl_exchange *x)
{
    struct making *making = pl_exchange_room(x, sizeof *making);
    if (!making)
        return;
    making->seed = pl_claim_seed(x);
    pl_exchange_change(x, create_plan, create_tell, making);
}

/* --- changing -------------------------------------------------------------------------------- */

static void tell_one(struct pl_exchange *x, void *ctx)
{
    (void)ctx;
    get_work(x);
}

static void patch_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_memory_row memory;
    (void)ctx;
    if (find_memory(x, &memory))
        pl_memory_plan_update(x, x->body.root, "", memory, batch);
}

static void memory_patch(struct pl_exchange *x)
{
    pl_exchange_change(x, patch_plan, tell_one, NULL);
}

/* Members missing in the body become null, and `disabled` false. */
static void put_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_memory_row memory;
    (void)ctx;
    if (find_memory(x, &memory))
        pl_memory_plan_update(x, x->body.root, "",
                              (struct pl_memory_row){.id = memory.id, .revision = memory.revision},
                              batch);
}

static void memory_put(struct pl_exchange *x)
{
    pl_exchange_change(x, put_plan, tell_one, NULL);
}

static void delete_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_memory_row memory;
    (void)ctx;
    if (!find_memory(x, &memory))
        return;
    x->status = 204;
    pl_memory_plan_delete(x, batch, memory.id);
}

static void memory_delete(struct pl_exchange *x)
{
    pl_exchange_change(x, delete_plan, NULL, NULL);
}

/* --- superseding ----------------------------------------------------------------------------- */

/* A member that is a whole number or null; null and absent are 0. */
static bool read_id(struct pl_exchange *x, const char *name, int64_t *ret_id)
{
    struct pl_str text = pl_body_raw(x, name);
    *ret_id = 0;
    if (!text.len || pl_str_eq(text, PL_STR("null")) ||
        (pl_json_number_int64(text, ret_id) && *ret_id > 0))
        return true;
    pl_option_refuse(x, "The id of a memory must be a number from 1.", "/%s", name);
    return false;
}

/* Whether the chain of successors of `from` contains `id`. A chain has no cycle, so it ends;
 * each link is read once. */
static bool leads_to(struct pl_exchange *x, struct pl_memory_row from, int64_t id)
{
    for (int n = 0; from.superseded_by && n < PL_MEMORY_MAX_PER_USER; n++) {
        if (from.superseded_by == id)
            return true;
        struct pl_error err = {0};
        if (pl_store_memory_get(x->shard->server->store, &x->arena, x->caller.user_id,
                                from.superseded_by, &from, &err) != PL_OK)
            return false;
    }
    return false;
}

/* Adds the change and writes the answer, which is stored with it. */
static void supersede(struct pl_exchange *x, struct pl_batch *batch, struct pl_memory_row memory,
                      int64_t by_id)
{
    int64_t now_ms = pl_clock_unix_ms();
    pl_batch_supersede_memory(batch, x->caller.user_id, memory.id, memory.superseded_by, by_id,
                              now_ms);
    memory.superseded_by = by_id;
    memory.updated_ms = now_ms;
    write_one(x, &memory);
}

/* Compare and set: only if nobody has superseded it meanwhile. */
static void supersede_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_memory_row memory, by = {0};
    int64_t by_id, expected;
    (void)ctx;
    if (!read_id(x, "by", &by_id) || !read_id(x, "expected", &expected) ||
        !find_memory(x, &memory) || (by_id && !pl_memory_get(x, by_id, "/by", &by)))
        return;
    char now[24] = "null";
    if (memory.superseded_by)
        snprintf(now, sizeof now, "%lld", (long long)memory.superseded_by);
    if (by_id == memory.id)
        pl_option_refuse(x, "A memory cannot supersede itself.", "/by");
    else if (memory.superseded_by != expected)
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "superseded_by is now %s; send it as \"expected\" to change it.", now);
    else if (leads_to(x, by, memory.id))
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "Memory %lld is itself superseded by this one, directly or through "
                            "others: this would make a circle. superseded_by is now %s.",
                            (long long)by_id, now);
    else
        supersede(x, batch, memory, by_id);
}

static void memory_supersede(struct pl_exchange *x)
{
    pl_exchange_change(x, supersede_plan, NULL, NULL);
}

/* --- listing and searching ------------------------------------------------------------------- */

/* A query of punctuation only finds nothing: without terms the store would list everything. */
static bool search(struct pl_exchange *x, struct pl_str words, const struct pl_memory_query *query,
                   struct pl_memory_page *ret_page)
{
    struct pl_error err = {0};
    *ret_page = (struct pl_memory_page){0};
    if (words.len && !query->terms.len)
        return true;
    enum pl_status status =
        pl_store_memory_list(x->shard->server->store, &x->arena, query, ret_page, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    return status == PL_OK;
}

static void write_page(struct pl_exchange *x, const struct pl_page_args *args,
                       const struct pl_memory_query *query, const struct pl_memory_page *page,
                       bool has_score)
{
    char cursor[PL_MEMORY_CURSOR_SIZE];
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page->n_items, page->has_more, 0};
    while (pl_list_walk_next(&walk, x))
        pl_memory_write(&out, &page->items[walk.n - 1], has_score);
    pl_memory_query_cursor(query, page, &walk, cursor);
    pl_exchange_list_end(x, args, page->total, pl_str_of(cursor));
}

static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_memory_query query;
    struct pl_memory_page page;
    if (!pl_exchange_page_args(x, &args) || !pl_memory_query_params(x, &args, &query) ||
        !search(x, pl_target_param(&x->target, "q"), &query, &page))
        return;
    write_page(x, &args, &query, &page, false);
}

static void memory_list(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

static void search_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_memory_query query;
    struct pl_memory_page page;
    if (!pl_memory_query_body(x, &args, &query) ||
        !search(x, pl_body_text(x, "query"), &query, &page))
        return;
    write_page(x, &args, &query, &page, true);
}

static void memory_search(struct pl_exchange *x)
{
    pl_exchange_work(x, search_work, NULL);
}

/* --- the table ------------------------------------------------------------------------------- */

#define TEXT "{\"type\":\"string\"}"
#define TIME "{\"type\":\"string\",\"format\":\"date-time\"}"
#define FLAG "{\"type\":\"string\",\"enum\":[\"true\",\"false\",\"any\"]}"

static const struct pl_route_param list_params[] = {
    PL_PARAM_LIMIT,
    PL_PARAM_OFFSET,
    {"cursor", TEXT, "next_cursor of the previous page"},
    {"q", TEXT, "Words to search for; the last one may be incomplete; best match first"},
    {"type", "{\"type\":\"string\",\"enum\":[\"feedback\",\"experience\"]}", "Only of this type"},
    {"skill_name", TEXT, "Only of this skill"},
    {"record_type", "{\"type\":\"string\",\"enum\":[\"memory\",\"skill_comment\"]}",
     "Only of this kind of record"},
    {"scope", TEXT, "Only of this scope"},
    {"owner", TEXT, "Only of this owner"},
    {"topic", TEXT, "Only on this topic"},
    {"mem0_id", TEXT, "Only with this external id"},
    {"source_session", TEXT, "Only from this session"},
    {"disabled", FLAG, "Only disabled memories, or only others; any by default"},
    {"superseded", FLAG, "Only superseded memories, or only others; any by default"},
    {"created_after", TIME, "Only memories created after this time"},
    {"created_before", TIME, "Only memories created before this time"},
    {NULL, NULL, NULL},
};

const struct pl_route pl_routes_memories[] = {
    {PL_METHOD_POST, "/api/memories", PL_ROUTE_IDEMPOTENT | PL_ROUTE_RETELLS, PL_FOR_ALL,
     memory_create, "memory_create", "Store a memory", "memories", "MemoryCreate", "Memory", 201,
     NULL, .tells = "memory:updated"},
    {PL_METHOD_GET, "/api/memories", 0, PL_FOR_READ, memory_list, "memory_list",
     "List your memories: newest first, or the matches of q", "memories", NULL, "MemoryList", 200,
     list_params},
    {PL_METHOD_POST, "/api/memories/batch", PL_ROUTE_IDEMPOTENT | PL_ROUTE_RETELLS, PL_FOR_ALL,
     pl_memory_batch, "memory_batch", "Create, change and delete many, all or nothing", "memories",
     "MemoryBatch", "MemoryBatchResult", 200, NULL, .tells = "memory:updated"},
    {PL_METHOD_POST, "/api/memories/search", PL_ROUTE_IDEMPOTENT, PL_FOR_READ, memory_search,
     "memory_search", "Search memories by words, ranked by text and recency", "memories",
     "MemorySearch", "MemoryFound", 200, NULL},
    {PL_METHOD_GET, "/api/memories/{id}", 0, PL_FOR_READ, memory_get, "memory_get", "Get a memory",
     "memories", NULL, "Memory", 200, NULL},
    {PL_METHOD_PUT, "/api/memories/{id}", 0, PL_FOR_ALL, memory_put, "memory_put",
     "Replace a memory: omitted fields become null", "memories", "MemoryReplace", "Memory", 200,
     NULL, .tells = "memory:updated"},
    {PL_METHOD_PATCH, "/api/memories/{id}", 0, PL_FOR_ALL, memory_patch, "memory_patch",
     "Change the given fields of a memory", "memories", "MemoryUpdate", "Memory", 200, NULL,
     .tells = "memory:updated"},
    {PL_METHOD_DELETE, "/api/memories/{id}", 0, PL_FOR_ALL, memory_delete, "memory_delete",
     "Delete a memory", "memories", NULL, NULL, 204, NULL, .tells = "memory:deleted"},
    {PL_METHOD_POST, "/api/memories/{id}/supersede", PL_ROUTE_IDEMPOTENT, PL_FOR_ALL,
     memory_supersede, "memory_supersede",
     "Mark a memory as superseded by another, unless it has changed", "memories", "MemorySupersede",
     "Memory", 200, NULL, .tells = "memory:updated"},
    {0},
};
