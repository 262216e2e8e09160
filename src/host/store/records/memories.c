/* Memories: the record, its list, and the search.
 *
 * The database finds the best rows by its own score. Their order is computed here, so that it is
 * the same in every store:
 *
 *     score = (terms found + the database's score, 0 to 1) / (terms requested + 1) * recency
 *     recency = 1/2 + 1/2 * 2 ^ (-age / 90 days)
 *
 * Rows with more of the terms come first, then rows that the database ranks higher. Age lowers the
 * score by at most half. found.c chooses the rows. */
#include "store/library.h"
#include "store/store_int.h"
#include "base/sort.h"
#include "base/text/terms.h"

#include <math.h>

/* At most this many of the best are sorted; the rest stay in the database's order. The number is
 * fixed: otherwise a later page, which looks at more rows, would have another order than the pages
 * before. */
enum { N_ORDERED = 200 };
static const double HALF_LIFE_MS = 90.0 * 24 * 3600 * 1000;

/* --- writing --------------------------------------------------------------------------------- */

static void write_of_user(struct pl_batch *batch, enum pl_sql sql, struct pl_str user_id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, user_id, "user_");
    pl_batch_write(batch, sql, &params);
}

static void write_of(struct pl_batch *batch, enum pl_sql sql, struct pl_str user_id, int64_t id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_int(&params, id);
    pl_params_id(&params, user_id, "user_");
    pl_batch_write(batch, sql, &params);
}

static void add_texts(struct pl_params *params, const struct pl_memory_row *memory)
{
    const struct pl_str texts[] = {memory->type,          memory->content, memory->skill_name,
                                   memory->record_type,   memory->scope,   memory->owner,
                                   memory->topic,         memory->mem0_id, memory->write_reason,
                                   memory->source_session};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        pl_params_text(params, texts[i]);
}

/* Reserves room for one more memory. A user is locked and counted once per batch, for all new
 * memories together: the limit before the first one is lowered by their number. */
static void want_room(struct pl_batch *batch, struct pl_str user_id)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, PL_MEMORY_MAX_PER_USER - 1);
    for (struct pl_write *write = batch->first; write; write = write->next)
        if (write->sql == PL_SQL_MEMORY_LIMIT &&
            pl_str_eq(write->values[0].bytes, params.values[0].bytes)) {
            write->values[1].number--;
            return;
        }
    write_of_user(batch, PL_SQL_MEMORY_LOCK, user_id);
    pl_batch_write(batch, PL_SQL_MEMORY_LIMIT, &params);
}

void pl_batch_create_memory(struct pl_batch *batch, const struct pl_memory_row *memory)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, memory->uid, "mem_");
    pl_params_id(&params, memory->user_id, "user_");
    add_texts(&params, memory);
    pl_params_int(&params, memory->created_ms);
    pl_params_int(&params, memory->updated_ms);
    pl_params_int(&params, memory->disabled);
    pl_params_terms(&params, memory->terms.ptr ? memory->terms : PL_STR(""), &terms);
    want_room(batch, memory->user_id);
    pl_batch_write(batch, PL_SQL_MEMORY_CREATE, &params);
    pl_batch_write_of(batch, PL_SQL_MEMORY_INDEX_NEW, memory->uid, "mem_", memory->user_id);
}

void pl_batch_update_memory(struct pl_batch *batch, const struct pl_memory_row *memory)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    struct pl_params params = {.err = &batch->err};
    pl_params_int(&params, memory->id);
    pl_params_id(&params, memory->user_id, "user_");
    add_texts(&params, memory);
    pl_params_int(&params, memory->updated_ms);
    pl_params_int(&params, memory->disabled);
    pl_params_terms(&params, memory->terms.ptr ? memory->terms : PL_STR(""), &terms);
    pl_params_int(&params, memory->revision);
    write_of(batch, PL_SQL_MEMORY_EXPECT, memory->user_id, memory->id);
    write_of(batch, PL_SQL_MEMORY_UNINDEX, memory->user_id, memory->id);
    pl_batch_write(batch, PL_SQL_MEMORY_UPDATE, &params);
    write_of(batch, PL_SQL_MEMORY_INDEX, memory->user_id, memory->id);
}

void pl_batch_delete_memory(struct pl_batch *batch, struct pl_str user_id, int64_t id)
{
    write_of_user(batch, PL_SQL_MEMORY_LOCK, user_id);
    write_of(batch, PL_SQL_MEMORY_UNLINK, user_id, id);
    write_of(batch, PL_SQL_MEMORY_UNINDEX, user_id, id);
    write_of(batch, PL_SQL_MEMORY_DELETE, user_id, id);
}

void pl_batch_supersede_memory(struct pl_batch *batch, struct pl_str user_id, int64_t id,
                               int64_t expected, int64_t by, int64_t now_ms)
{
    struct pl_params params = {.err = &batch->err}, chain = {.err = &batch->err};
    pl_params_int(&params, id);
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, expected);
    pl_params_int(&params, by);
    pl_params_int(&params, now_ms);
    pl_params_int(&chain, id);
    pl_params_int(&chain, by);
    write_of_user(batch, PL_SQL_MEMORY_LOCK, user_id);
    write_of(batch, PL_SQL_MEMORY_EXPECT, user_id, id);
    if (by) {
        write_of(batch, PL_SQL_MEMORY_EXPECT, user_id, by);
        pl_batch_write(batch, PL_SQL_MEMORY_CHAIN, &chain);
    }
    pl_batch_write(batch, PL_SQL_MEMORY_SUPERSEDE, &params);
}

void pl_batch_hit_memory(struct pl_batch *batch, struct pl_str user_id, int64_t id, int64_t now_ms)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_int(&params, id);
    pl_params_id(&params, user_id, "user_");
    pl_params_int(&params, now_ms);
    pl_batch_write(batch, PL_SQL_MEMORY_HIT, &params);
}

/* --- reading --------------------------------------------------------------------------------- */

/* SQL_MEMORY_COLUMNS */
static void read_memory(struct pl_read *read, struct pl_memory_row *ret_memory)
{
    *ret_memory = (struct pl_memory_row){
        .id = pl_read_int(read, 0),
        .uid = pl_read_id(read, 1, "mem_"),
        .user_id = pl_read_id(read, 2, "user_"),
        .type = pl_read_text(read, 3),
        .content = pl_read_text(read, 4),
        .skill_name = pl_read_text(read, 5),
        .record_type = pl_read_text(read, 6),
        .scope = pl_read_text(read, 7),
        .owner = pl_read_text(read, 8),
        .topic = pl_read_text(read, 9),
        .mem0_id = pl_read_text(read, 10),
        .write_reason = pl_read_text(read, 11),
        .source_session = pl_read_text(read, 12),
        .superseded_by = pl_read_int(read, 13),
        .created_ms = pl_read_int(read, 14),
        .updated_ms = pl_read_int(read, 15),
        .last_hit_ms = pl_read_int(read, 16),
        .hit_count = pl_read_int(read, 17),
        .disabled = pl_read_int(read, 18),
        .revision = pl_read_int(read, 19),
    };
}

static enum pl_status read_one(struct pl_store *store, struct pl_arena *arena, enum pl_sql sql,
                               const struct pl_params *params, struct pl_memory_row *ret_memory,
                               struct pl_error *err)
{
    struct pl_memory_row memory = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, sql, params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        read_memory(&read, &memory);
    enum pl_status status = pl_read_end_one(&read, was_found, "memory");
    if (status == PL_OK)
        *ret_memory = memory;
    return status;
}

enum pl_status pl_store_memory_get(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str user_id, int64_t id,
                                   struct pl_memory_row *ret_memory, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_int(&params, id);
    pl_params_id(&params, user_id, "user_");
    return read_one(store, arena, PL_SQL_MEMORY_GET, &params, ret_memory, err);
}

enum pl_status pl_store_memory_find(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str user_id, struct pl_str uid,
                                    struct pl_memory_row *ret_memory, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, uid, "mem_");
    pl_params_id(&params, user_id, "user_");
    return read_one(store, arena, PL_SQL_MEMORY_FIND, &params, ret_memory, err);
}

enum pl_status pl_store_memory_count(struct pl_store *store, struct pl_str user_id, int64_t *ret_n,
                                     struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_id(&params, user_id, "user_");
    struct pl_read read = pl_read_begin(store, NULL, err);
    int64_t n = pl_read_number(&read, PL_SQL_MEMORY_TOTAL, &params);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_n = n;
    return status;
}

/* SQL_MEMORY_FILTER */
static void filter(struct pl_params *params, const struct pl_memory_query *query)
{
    const struct pl_str texts[] = {query->type,    query->skill_name,    query->record_type,
                                   query->scope,   query->owner,         query->topic,
                                   query->mem0_id, query->source_session};
    pl_params_id(params, query->user_id, "user_");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        pl_params_text(params, texts[i].ptr ? texts[i] : PL_STR(""));
    pl_params_int(params, query->is_disabled);
    pl_params_int(params, query->is_superseded);
    pl_params_int(params, query->created_after_ms);
    pl_params_int(params, query->created_before_ms);
}

static void read_list(struct pl_read *read, const struct pl_memory_query *query,
                      struct pl_memory_page *page)
{
    struct pl_params some = {.err = read->err}, all = {.err = read->err};
    filter(&some, query);
    filter(&all, query);
    pl_params_int(&some, query->before_id);
    pl_params_int(&some, (int64_t)query->limit + 1);
    pl_params_int(&some, query->offset);
    struct pl_list list = {.size = sizeof(struct pl_memory_row)};
    pl_read_query(read, PL_SQL_MEMORY_LIST, &some);
    while (pl_read_next_of(read, list.n, query->limit, &page->has_more)) {
        struct pl_memory_row *memory = pl_read_add(read, &list);
        if (memory)
            read_memory(read, memory);
    }
    page->items = list.items;
    page->n_items = list.n;
    page->total = pl_read_number(read, PL_SQL_MEMORY_COUNT, &all);
}

/* --- search ---------------------------------------------------------------------------------- */

/* Whether `term` is among `terms`; a term with a trailing '*' matches as a prefix. */
static bool has_term(struct pl_str terms, struct pl_str term)
{
    bool is_start = term.len && term.ptr[term.len - 1] == '*';
    term.len -= is_start;
    const char *at = terms.ptr, *end = terms.ptr + terms.len;
    while (at && (at = memmem(at, (size_t)(end - at), term.ptr, term.len))) {
        const char *after = at + term.len;
        if ((at == terms.ptr || at[-1] == ' ') && (is_start || after == end || *after == ' '))
            return true;
        at = after;
    }
    return false;
}

/* The number of requested terms that are among `terms`; all of them if `terms` is NULL. */
static size_t count_terms(struct pl_str asked, const struct pl_str *terms)
{
    size_t n = 0, at = 0;
    for (struct pl_str term; pl_terms_next(asked, &at, &term);)
        n += !terms || has_term(*terms, term);
    return n;
}

static double recency(int64_t created_ms, int64_t now_ms)
{
    double age_ms = now_ms > created_ms ? (double)(now_ms - created_ms) : 0;
    return 0.5 + 0.5 * exp2(-age_ms / HALF_LIFE_MS);
}

struct candidate {
    struct pl_memory_row row;
    size_t n_found;      /* requested terms that the row has */
    int64_t given_score; /* the database's score */
};

/* Higher scores first, then newer memories. */
static int order_candidates(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_memory_row *x = &((const struct candidate *)a)->row,
                               *y = &((const struct candidate *)b)->row;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id < y->id) - (x->id > y->id);
}

static void score(struct candidate *candidates, size_t n, size_t n_asked, int64_t now_ms)
{
    int64_t best = n ? candidates[0].given_score : 0;
    for (size_t i = 0; i < n; i++) {
        struct candidate *c = &candidates[i];
        double given = best > 0 ? (double)c->given_score / (double)best : 0;
        c->row.score = ((double)c->n_found + given) / (double)(n_asked + 1) *
                       recency(c->row.created_ms, now_ms);
    }
}

/* The number of rows before the page; limited by the maximum per user, so that sums do not
 * overflow. */
static size_t skipped(const struct pl_memory_query *query)
{
    int64_t offset = query->offset > 0 ? query->offset : 0;
    return (size_t)(offset < PL_MEMORY_MAX_PER_USER ? offset : PL_MEMORY_MAX_PER_USER);
}

/* Sorts the candidates and copies the page. */
static void take_page(struct pl_read *read, const struct pl_memory_query *query,
                      const struct pl_list *list, struct pl_memory_page *page)
{
    struct candidate *candidates = list->items;
    size_t n = list->n, from = skipped(query);
    from = from < n ? from : n;
    page->n_items = n - from < query->limit ? n - from : query->limit;
    page->has_more = n - from > query->limit;
    const void **order = pl_read_room(read, 2 * n, sizeof *order);
    page->items = pl_read_room(read, page->n_items, sizeof *page->items);
    if (!order || !page->items)
        return;
    for (size_t i = 0; i < n; i++)
        order[i] = &candidates[i];
    pl_sort(order, order + n, n < N_ORDERED ? n : N_ORDERED, order_candidates, NULL);
    for (size_t i = 0; i < page->n_items; i++)
        page->items[i] = ((const struct candidate *)order[from + i])->row;
}

/* Adds the rows that a statement finds by these terms, without duplicates. */
static void add_candidates(struct pl_read *read, enum pl_sql sql,
                           const struct pl_memory_query *query, struct pl_str terms, int64_t wanted,
                           struct pl_list *list)
{
    struct pl_params params = {.err = read->err};
    filter(&params, query);
    pl_params_text(&params, terms);
    pl_params_int(&params, wanted);
    pl_read_query(read, sql, &params);
    const size_t n_before = list->n;
    while ((int64_t)list->n < wanted && pl_read_next(read)) {
        const struct candidate *all = list->items;
        bool is_there = false;
        int64_t id = pl_read_int(read, 0);
        for (size_t i = 0; i < n_before && !is_there; i++)
            is_there = all[i].row.id == id;
        struct candidate *candidate = is_there ? NULL : pl_read_add(read, list);
        if (!candidate)
            continue;
        read_memory(read, &candidate->row);
        struct pl_str own = read->db->ops->column(read->db, 20).bytes;
        candidate->n_found = count_terms(query->terms, &own);
        candidate->given_score = pl_read_int(read, 21);
    }
}

/* The terms of the query are already normalised. */
static void search(struct pl_read *read, const struct pl_memory_query *query,
                   struct pl_memory_page *page)
{
    PL_CLEANUP_BUF struct pl_buf rare;
    pl_buf_init(&rare, 0);
    struct pl_list list = {.size = sizeof(struct candidate)};
    int64_t wanted = (int64_t)(skipped(query) + query->limit + 1);
    wanted = wanted > N_ORDERED ? wanted : N_ORDERED;
    size_t n_left =
        pl_read_rare_terms(read, PL_SQL_MEMORY_TERMS, query->user_id, query->terms, &rare);
    if (rare.len)
        add_candidates(read, PL_SQL_MEMORY_SEARCH, query, pl_buf_str(&rare), wanted, &list);
    if (n_left)
        add_candidates(read, PL_SQL_MEMORY_NEWEST, query, query->terms, wanted, &list);
    score(list.items, list.n, count_terms(query->terms, NULL), query->now_ms);
    take_page(read, query, &list, page);
    page->total = (int64_t)list.n;
    if (page->total < wanted)
        return;
    struct pl_params params = {.err = read->err};
    filter(&params, query);
    pl_params_text(&params, query->terms);
    pl_params_int(&params, PL_FOUND_MAX > wanted ? PL_FOUND_MAX : wanted);
    page->total = pl_read_number(read, PL_SQL_MEMORY_COUNT_FOUND, &params);
}

static void clean_and_search(struct pl_read *read, const struct pl_memory_query *query,
                             struct pl_memory_page *page)
{
    PL_CLEANUP_BUF struct pl_buf terms;
    pl_buf_init(&terms, 0);
    struct pl_params params = {.err = read->err};
    pl_params_id(&params, query->user_id, "user_");
    pl_params_terms(&params, query->terms, &terms);
    if (read->status == PL_OK)
        read->status = params.status;
    struct pl_memory_query clean = *query;
    clean.terms = pl_buf_str(&terms);
    if (clean.terms.len && read->status == PL_OK)
        search(read, &clean, page);
}

enum pl_status pl_store_memory_list(struct pl_store *store, struct pl_arena *arena,
                                    const struct pl_memory_query *query,
                                    struct pl_memory_page *ret_page, struct pl_error *err)
{
    struct pl_memory_page result = {0};
    struct pl_read read = pl_read_begin(store, arena, err);
    if (query->terms.len)
        clean_and_search(&read, query, &result);
    else
        read_list(&read, query, &result);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_page = result;
    return status;
}
