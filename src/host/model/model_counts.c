/* A table that only grows, up to its limit. Rows are found under a lock and counted without one. */
#include "model/model_counts.h"

#include "base/map.h"
#include "base/mem.h"
#include "model/model_int.h"
#include "model/vendor/vendors_int.h"

#include <pthread.h>
#include <stdio.h>

enum { MAX_ROW_NAME = 200 };

struct row {
    char name[MAX_ROW_NAME]; /* "provider/model" */
    size_t n_provider, n_name;
    struct pl_model_counts counts;
};

struct pl_model_counts_table {
    pthread_mutex_t lock;
    struct pl_map map;                     /* of names; protected by the lock, like rows */
    struct row *rows[PL_MODEL_COUNTS_MAX]; /* owned */
    _Atomic(size_t) n_rows;
    _Atomic(size_t) n_owners;
};

struct pl_model_counts_table *pl_model_counts_create(void)
{
    struct pl_model_counts_table *table = pl_mem_alloc(1, sizeof *table);
    if (!table)
        return NULL;
    memset(table, 0, sizeof *table);
    pthread_mutex_init(&table->lock, NULL);
    atomic_init(&table->n_owners, 1);
    return table;
}

void pl_model_counts_release(struct pl_model_counts_table *table)
{
    if (!table || atomic_fetch_sub(&table->n_owners, 1) > 1)
        return;
    for (size_t i = 0; i < atomic_load(&table->n_rows); i++)
        pl_mem_free(table->rows[i]);
    pl_map_deinit(&table->map);
    pthread_mutex_destroy(&table->lock);
    pl_mem_free(table);
}

void pl_model_counts_inherit(struct pl_models *models, const struct pl_models *before)
{
    if (!before->counts)
        return;
    atomic_fetch_add(&before->counts->n_owners, 1);
    pl_model_counts_release(models->counts);
    models->counts = before->counts;
}

/* --- names ----------------------------------------------------------------------------------- */

static size_t n_before_slash(struct pl_str name)
{
    const char *slash = name.len ? memchr(name.ptr, '/', name.len) : NULL;
    return slash ? (size_t)(slash - name.ptr) : name.len;
}

static bool is_target(const struct pl_models *models, struct pl_str name)
{
    for (size_t i = 0; i < models->n_aliases; i++)
        for (size_t k = 0; k < models->aliases[i].n_targets; k++)
            if (pl_str_eq(models->aliases[i].targets[k], name))
                return true;
    return false;
}

static bool is_priced(const struct pl_vendor *vendor, struct pl_str model)
{
    for (const struct pl_priced_model *one = vendor->prices; one && one->model; one++)
        if (pl_str_eq(pl_str_of(one->model), model))
            return true;
    return false;
}

/* True if the model was named by anything but a client. */
static bool is_known(const struct pl_models *models, struct pl_str name)
{
    const struct pl_model_info *info = pl_model_find_own(name);
    size_t n = n_before_slash(name);
    if (info)
        return !info->is_family;
    for (size_t i = 0; (info = pl_vendors_model_at(models, i)); i++)
        if (pl_str_eq(pl_str_of(info->name), name))
            return true;
    for (size_t i = 0; i < models->n_vendors; i++)
        if (pl_str_eq(pl_str_of(models->vendors[i].vendor.name), pl_str_slice(name, 0, n)) &&
            is_priced(&models->vendors[i].vendor, pl_str_slice(name, n + 1, name.len)))
            return true;
    return is_target(models, name);
}

static bool is_provider(const struct pl_models *models, struct pl_str name)
{
    for (size_t i = 0; i < models->n_vendors; i++)
        if (pl_str_eq(pl_str_of(models->vendors[i].vendor.name), name))
            return true;
    return pl_str_eq(name, PL_STR("demo")) || pl_str_eq(name, PL_STR("replay"));
}

/* --- rows ------------------------------------------------------------------------------------ */

/* Called under the lock. Returns NULL if there is no room. */
static struct row *put_row(struct pl_model_counts_table *table, struct pl_str name)
{
    struct pl_map_entry *entry = pl_map_get(&table->map, name);
    size_t n = atomic_load(&table->n_rows);
    bool is_new;
    if (entry)
        return table->rows[entry->value];
    if (n == PL_MODEL_COUNTS_MAX || name.len >= MAX_ROW_NAME)
        return NULL;
    struct row *row = pl_mem_alloc(1, sizeof *row);
    if (!row)
        return NULL;
    memset(row, 0, sizeof *row);
    memcpy(row->name, name.ptr, name.len);
    row->n_name = name.len;
    row->n_provider = n_before_slash(name);
    entry = pl_map_put(&table->map, (struct pl_str){row->name, name.len}, &is_new);
    if (!entry) {
        pl_mem_free(row);
        return NULL;
    }
    entry->value = n;
    table->rows[n] = row;
    atomic_store(&table->n_rows, n + 1);
    return row;
}

/* The row that all other models of a provider share. */
static struct row *put_other(struct pl_model_counts_table *table, const struct pl_models *models,
                             struct pl_str provider)
{
    char name[MAX_ROW_NAME];
    const struct pl_str end = PL_STR("/other");
    bool is_there = is_provider(models, provider) && provider.len < sizeof name - end.len;
    if (!is_there)
        provider = PL_STR("other");
    memcpy(name, provider.ptr, provider.len);
    memcpy(name + provider.len, end.ptr, end.len);
    return put_row(table, (struct pl_str){name, provider.len + end.len});
}

struct pl_model_counts *pl_model_counts_find(const struct pl_models *models, struct pl_str name)
{
    struct pl_model_counts_table *table = models ? models->counts : NULL;
    if (!table || !name.len)
        return NULL;
    pthread_mutex_lock(&table->lock);
    struct pl_map_entry *entry = pl_map_get(&table->map, name);
    struct row *row = entry ? table->rows[entry->value] : NULL;
    if (!row && is_known(models, name))
        row = put_row(table, name);
    if (!row)
        row = put_other(table, models, pl_str_slice(name, 0, n_before_slash(name)));
    pthread_mutex_unlock(&table->lock);
    return row ? &row->counts : NULL;
}

void pl_model_counts_add(struct pl_model_counts *counts, size_t member, int64_t n)
{
    if (counts)
        atomic_fetch_add_explicit((_Atomic(int64_t) *)(void *)((char *)counts + member), n,
                                  memory_order_relaxed);
}

const struct pl_model_counts *pl_model_counts_at(const struct pl_models *models, size_t i,
                                                 struct pl_str *ret_provider,
                                                 struct pl_str *ret_model)
{
    struct pl_model_counts_table *table = models ? models->counts : NULL;
    if (!table || i >= atomic_load(&table->n_rows))
        return NULL;
    const struct row *row = table->rows[i];
    struct pl_str name = {row->name, row->n_name};
    *ret_provider = pl_str_slice(name, 0, row->n_provider);
    *ret_model = pl_str_slice(name, row->n_provider + 1, name.len);
    return &row->counts;
}
