/* Letters waiting to be sent, in order, and the waiting bytes of each receiver. Nothing here locks:
 * the bus does. A letter counts until it was sent or dropped, even after it was taken from the
 * queue. */
#ifndef PL_BUS_QUEUE_H
#define PL_BUS_QUEUE_H

#include "base/status.h"
#include "base/vec.h"
#include "bus/parcel.h"
#include "cluster/node.h"

struct pl_bus_item {
    struct pl_bus_item *next;
    struct pl_node_id to; /* all zeros for everybody but the sender */
    bool is_to_all;       /* true even if this copy goes to one receiver */
    int64_t at_ms;        /* when it was sent */
    size_t len;           /* of bytes */
    char bytes[];         /* the letter as a parcel of one */
};

struct pl_bus_count {
    struct pl_node_id to;
    size_t n_bytes; /* not 0 */
};

struct pl_bus_queue {
    struct pl_bus_item *first, **end; /* owned; without taken items */
    size_t n_bytes;                   /* of all letters that count */
    PL_VEC(struct pl_bus_count) counts;
};

void pl_bus_queue_init(struct pl_bus_queue *queue);
void pl_bus_queue_deinit(struct pl_bus_queue *queue);

/* Copies the letter. PL_NOMEM. */
enum pl_status pl_bus_queue_push(struct pl_bus_queue *queue, const struct pl_node_id *to,
                                 bool is_to_all, struct pl_str letter, int64_t now_ms);
/* Takes items from the front, up to max_bytes, but at least one; NULL if the queue is empty. */
struct pl_bus_item *pl_bus_queue_take(struct pl_bus_queue *queue, size_t max_bytes);
/* Taken items were sent or dropped: frees them. */
void pl_bus_queue_settle(struct pl_bus_queue *queue, struct pl_bus_item *items);
/* Moves taken items of one queue to the end of another. An item is dropped if there is no memory to
 * count it. */
void pl_bus_queue_move(struct pl_bus_queue *from, struct pl_bus_item *items,
                       struct pl_bus_queue *to);
/* Waiting bytes for this receiver alone; all zeros for everybody. */
size_t pl_bus_queue_waiting(const struct pl_bus_queue *queue, const struct pl_node_id *to);

/* The letter itself. */
struct pl_str pl_bus_item_letter(const struct pl_bus_item *item);

/* Removes from taken items those that can be one parcel with the first one, up to max_bytes: they
 * have the same receiver, and no letter to everybody is between them. *items is the rest. */
struct pl_bus_item *pl_bus_items_gather(struct pl_bus_item **items, size_t max_bytes);

#endif
