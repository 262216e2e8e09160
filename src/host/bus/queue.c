/* Waiting letters. The counts are a short list: one entry for each receiver with waiting
 * letters. */
#include "bus/queue.h"
#include "base/mem.h"

void pl_bus_queue_init(struct pl_bus_queue *queue)
{
    *queue = (struct pl_bus_queue){0};
    queue->end = &queue->first;
}

void pl_bus_queue_deinit(struct pl_bus_queue *queue)
{
    for (struct pl_bus_item *item; (item = queue->first);) {
        queue->first = item->next;
        pl_mem_free(item);
    }
    pl_vec_deinit(&queue->counts);
}

/* --- counts ---------------------------------------------------------------------------------- */

static struct pl_bus_count *find_count(const struct pl_bus_queue *queue,
                                       const struct pl_node_id *to)
{
    for (size_t i = 0; i < queue->counts.len; i++)
        if (pl_node_id_eq(&queue->counts.ptr[i].to, to))
            return &queue->counts.ptr[i];
    return NULL;
}

static bool add_count(struct pl_bus_queue *queue, const struct pl_node_id *to, size_t n_bytes)
{
    struct pl_bus_count *count = find_count(queue, to);
    if (!count && !pl_vec_push(&queue->counts, (struct pl_bus_count){*to, 0}))
        return false;
    count = count ? count : &queue->counts.ptr[queue->counts.len - 1];
    count->n_bytes += n_bytes;
    queue->n_bytes += n_bytes;
    return true;
}

static void drop_count(struct pl_bus_queue *queue, const struct pl_node_id *to, size_t n_bytes)
{
    struct pl_bus_count *count = find_count(queue, to);
    queue->n_bytes -= n_bytes;
    count->n_bytes -= n_bytes;
    if (!count->n_bytes)
        *count = queue->counts.ptr[--queue->counts.len];
}

size_t pl_bus_queue_waiting(const struct pl_bus_queue *queue, const struct pl_node_id *to)
{
    const struct pl_bus_count *count = find_count(queue, to);
    return count ? count->n_bytes : 0;
}

/* --- items ----------------------------------------------------------------------------------- */

static void append(struct pl_bus_queue *queue, struct pl_bus_item *item)
{
    item->next = NULL;
    *queue->end = item;
    queue->end = &item->next;
}

enum pl_status pl_bus_queue_push(struct pl_bus_queue *queue, const struct pl_node_id *to,
                                 bool is_to_all, struct pl_str letter, int64_t now_ms)
{
    size_t len = PL_PARCEL_HEAD + letter.len;
    struct pl_bus_item *item = pl_mem_alloc(1, sizeof *item + len);
    if (!item || !add_count(queue, to, len)) {
        pl_mem_free(item);
        return PL_NOMEM;
    }
    *item = (struct pl_bus_item){.to = *to, .is_to_all = is_to_all, .at_ms = now_ms, .len = len};
    pl_parcel_head(is_to_all, letter.len, item->bytes);
    if (letter.len)
        memcpy(item->bytes + PL_PARCEL_HEAD, letter.ptr, letter.len);
    append(queue, item);
    return PL_OK;
}

struct pl_bus_item *pl_bus_queue_take(struct pl_bus_queue *queue, size_t max_bytes)
{
    struct pl_bus_item *taken = queue->first, **end = &queue->first;
    for (size_t n_bytes = 0; *end && (!n_bytes || n_bytes + (*end)->len <= max_bytes);) {
        n_bytes += (*end)->len;
        end = &(*end)->next;
    }
    queue->first = *end;
    if (!queue->first)
        queue->end = &queue->first;
    if (taken)
        *end = NULL;
    return taken;
}

void pl_bus_queue_settle(struct pl_bus_queue *queue, struct pl_bus_item *items)
{
    for (struct pl_bus_item *item; (item = items);) {
        items = item->next;
        drop_count(queue, &item->to, item->len);
        pl_mem_free(item);
    }
}

void pl_bus_queue_move(struct pl_bus_queue *from, struct pl_bus_item *items,
                       struct pl_bus_queue *to)
{
    for (struct pl_bus_item *item; (item = items);) {
        items = item->next;
        drop_count(from, &item->to, item->len);
        if (add_count(to, &item->to, item->len))
            append(to, item);
        else
            pl_mem_free(item);
    }
}

struct pl_str pl_bus_item_letter(const struct pl_bus_item *item)
{
    return (struct pl_str){item->bytes + PL_PARCEL_HEAD, item->len - PL_PARCEL_HEAD};
}

struct pl_bus_item *pl_bus_items_gather(struct pl_bus_item **items, size_t max_bytes)
{
    struct pl_bus_item *gathered = NULL, **end = &gathered;
    struct pl_bus_item **at = items;
    size_t n_bytes = 0;
    struct pl_node_id to = *items ? (*items)->to : (struct pl_node_id){0};
    bool is_everybody = pl_node_id_is_zero(&to);
    while (*at) {
        struct pl_bus_item *item = *at;
        bool is_same = pl_node_id_eq(&item->to, &to);
        if (is_same && n_bytes && n_bytes + item->len > max_bytes)
            break;
        if (!is_same && (is_everybody || pl_node_id_is_zero(&item->to)))
            break;
        if (!is_same) {
            at = &item->next;
            continue;
        }
        *at = item->next;
        item->next = NULL;
        *end = item;
        end = &item->next;
        n_bytes += item->len;
    }
    return gathered;
}
