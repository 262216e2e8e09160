/* Usage summed by user, key, model and day: one row of the store for many calls. */
#include "access/meter/meter_sums.h"

#include "base/mem.h"

enum { MAX_NAME = 512 };

struct sum {
    struct pl_table_link link; /* by name */
    struct pl_usage_row row;   /* its strings are views of name */
    char name[];               /* user, key, model and the bytes of the day, separated by NULs */
};

static struct pl_str put_name(char **at, struct pl_str text)
{
    struct pl_str name = {*at, text.len};
    if (text.len)
        memcpy(*at, text.ptr, text.len);
    (*at)[text.len] = 0;
    *at += text.len + 1;
    return name;
}

static struct sum *make(struct pl_meter_sums *sums, const struct pl_usage_row *row,
                        struct pl_str name)
{
    struct sum *sum = pl_mem_alloc(1, sizeof *sum + name.len);
    if (!sum)
        return NULL;
    memcpy(sum->name, name.ptr, name.len);
    sum->link = (struct pl_table_link){.key = {sum->name, name.len}};
    sum->row = (struct pl_usage_row){.day = row->day};
    char *at = sum->name;
    sum->row.user_id = put_name(&at, row->user_id);
    sum->row.key_id = put_name(&at, row->key_id);
    sum->row.model = put_name(&at, row->model);
    if (pl_table_put(&sums->rows, &sum->link))
        return sum;
    pl_mem_free(sum);
    return NULL;
}

static struct sum *find(struct pl_meter_sums *sums, const struct pl_usage_row *row)
{
    char name[MAX_NAME], *at = name;
    if (row->user_id.len + row->key_id.len + row->model.len + 32 > sizeof name)
        return NULL;
    (void)put_name(&at, row->user_id);
    (void)put_name(&at, row->key_id);
    (void)put_name(&at, row->model);
    memcpy(at, &row->day, sizeof row->day);
    at += sizeof row->day;
    struct pl_str key = {name, (size_t)(at - name)};
    struct pl_table_link *link = pl_table_get(&sums->rows, key);
    return link ? PL_CONTAINER_OF(link, struct sum, link) : make(sums, row, key);
}

bool pl_meter_sums_add(struct pl_meter_sums *sums, const struct pl_usage_row *row)
{
    struct sum *sum = find(sums, row);
    if (!sum)
        return false;
    sum->row.n_requests += row->n_requests;
    sum->row.input_tokens += row->input_tokens;
    sum->row.output_tokens += row->output_tokens;
    sum->row.cached_tokens += row->cached_tokens;
    sum->row.cost_micro += row->cost_micro;
    sum->row.n_failed += row->n_failed;
    sum->row.n_aborted += row->n_aborted;
    sum->row.n_unpriced += row->n_unpriced;
    return true;
}

static void drop(struct pl_meter_sums *sums, struct sum *sum)
{
    pl_table_remove(&sums->rows, &sum->link);
    pl_mem_free(sum);
}

void pl_meter_sums_add_all(struct pl_meter_sums *sums, const struct pl_meter_sums *from)
{
    struct pl_table_link *link = NULL;
    while ((link = pl_table_next(&from->rows, link)))
        (void)pl_meter_sums_add(sums, &PL_CONTAINER_OF(link, struct sum, link)->row);
}

size_t pl_meter_sums_put(const struct pl_meter_sums *sums, struct pl_batch *batch)
{
    struct pl_table_link *link = NULL;
    while ((link = pl_table_next(&sums->rows, link)))
        pl_batch_add_usage(batch, &PL_CONTAINER_OF(link, struct sum, link)->row);
    return sums->rows.n_links;
}

void pl_meter_sums_forget_user(struct pl_meter_sums *sums, struct pl_str user_id)
{
    for (struct pl_table_link *link = pl_table_next(&sums->rows, NULL), *next; link; link = next) {
        struct sum *sum = PL_CONTAINER_OF(link, struct sum, link);
        next = pl_table_next(&sums->rows, link);
        if (pl_str_eq(sum->row.user_id, user_id))
            drop(sums, sum);
    }
}

void pl_meter_sums_deinit(struct pl_meter_sums *sums)
{
    for (struct pl_table_link *link; (link = pl_table_next(&sums->rows, NULL));)
        drop(sums, PL_CONTAINER_OF(link, struct sum, link));
    pl_table_deinit(&sums->rows);
    *sums = (struct pl_meter_sums){0};
}
