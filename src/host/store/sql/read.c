/* Reading records: one connection of the pool per read, and one sticky error, checked at its
 * end. */
#include "store/store_int.h"

struct pl_read pl_read_begin(struct pl_store *store, struct pl_arena *arena, struct pl_error *err)
{
    struct pl_read read = {.store = store, .arena = arena, .err = err};
    read.status = pl_pool_take(store, &read.db, err);
    return read;
}

static void close_query(struct pl_read *read)
{
    if (read->is_open)
        read->db->ops->finish(read->db);
    read->is_open = false;
}

void pl_read_query(struct pl_read *read, enum pl_sql sql, const struct pl_params *params)
{
    if (read->status != PL_OK)
        return;
    close_query(read);
    if (params->status != PL_OK)
        return;
    read->n_bytes_before = read->arena ? read->arena->n_bytes : 0;
    read->status = read->db->ops->query(read->db, sql, params->values, params->n, read->err);
    read->is_open = true;
}

bool pl_read_next(struct pl_read *read)
{
    bool has_row = false;
    if (read->status == PL_OK && read->is_open)
        read->status = read->db->ops->step(read->db, &has_row, read->err);
    return has_row && read->status == PL_OK;
}

bool pl_read_next_of(struct pl_read *read, size_t n, size_t limit, bool *ret_has_more)
{
    if (!pl_read_next(read))
        return false;
    /* The first row is on every page, so it does not count. */
    if (n == 1)
        read->n_bytes_before = read->arena->n_bytes;
    bool is_full =
        n && read->max_bytes && read->arena->n_bytes - read->n_bytes_before > read->max_bytes;
    *ret_has_more = is_full || n == limit;
    return !*ret_has_more;
}

int64_t pl_read_number(struct pl_read *read, enum pl_sql sql, const struct pl_params *params)
{
    pl_read_query(read, sql, params);
    return pl_read_next(read) ? pl_read_int(read, 0) : 0;
}

enum pl_status pl_read_end(struct pl_read *read)
{
    close_query(read);
    if (read->db)
        pl_pool_give(read->store, read->db);
    read->db = NULL;
    return read->status;
}

enum pl_status pl_read_end_one(struct pl_read *read, bool was_found, const char *what)
{
    enum pl_status status = pl_read_end(read);
    if (status == PL_OK && !was_found)
        return pl_fail(read->err, PL_NOT_FOUND, "there is no such %s", what);
    return status;
}

static void *fail_memory(struct pl_read *read)
{
    if (read->status == PL_OK)
        read->status = pl_fail(read->err, PL_NOMEM, "out of memory while reading the store");
    return NULL;
}

int64_t pl_read_int(struct pl_read *read, size_t i)
{
    return read->db->ops->column(read->db, i).number;
}

struct pl_str pl_read_text(struct pl_read *read, size_t i)
{
    struct pl_sql_value value = read->db->ops->column(read->db, i);
    if (value.kind == PL_SQL_VALUE_NULL)
        return (struct pl_str){NULL, 0};
    if (!value.bytes.len)
        return PL_STR("");
    struct pl_str text = pl_arena_dup(read->arena, value.bytes);
    if (!text.ptr)
        fail_memory(read);
    return text;
}

struct pl_str pl_read_keep(struct pl_read *read, struct pl_str s)
{
    struct pl_str kept = pl_arena_dup(read->arena, s);
    if (s.len && !kept.ptr)
        fail_memory(read);
    return kept;
}

struct pl_str pl_read_id(struct pl_read *read, size_t i, const char *prefix)
{
    struct pl_sql_value value = read->db->ops->column(read->db, i);
    if (value.bytes.len != PL_UUID_BYTES)
        return (struct pl_str){NULL, 0};
    struct pl_str start = pl_str_of(prefix);
    char *text = pl_arena_alloc(read->arena, start.len + PL_UUID_SIZE, 1);
    if (!text) {
        fail_memory(read);
        return (struct pl_str){NULL, 0};
    }
    memcpy(text, start.ptr, start.len);
    pl_uuid_write(text + start.len, value.bytes.ptr);
    return (struct pl_str){text, start.len + PL_UUID_SIZE};
}

struct pl_str pl_read_loop(struct pl_read *read, size_t i)
{
    struct pl_sql_value value = read->db->ops->column(read->db, i);
    return value.bytes.len ? pl_read_id(read, i, "loop_") : PL_STR("root");
}

void *pl_read_room(struct pl_read *read, size_t n, size_t size)
{
    void *room = pl_arena_alloc(read->arena, n ? n : 1, size);
    return room ? room : fail_memory(read);
}

void *pl_read_add(struct pl_read *read, struct pl_list *list)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 16;
        void *items =
            pl_arena_grow(read->arena, list->items, list->cap * list->size, cap * list->size);
        if (!items)
            return fail_memory(read);
        list->items = items;
        list->cap = cap;
    }
    void *item = (char *)list->items + list->n++ * list->size;
    return memset(item, 0, list->size);
}

enum pl_status pl_db_number(struct pl_db *db, enum pl_sql sql, int64_t *ret_number,
                            struct pl_error *err)
{
    bool has_row = false;
    enum pl_status status = db->ops->query(db, sql, NULL, 0, err);
    if (status == PL_OK)
        status = db->ops->step(db, &has_row, err);
    if (status == PL_OK && has_row)
        *ret_number = db->ops->column(db, 0).number;
    db->ops->finish(db);
    return status;
}
