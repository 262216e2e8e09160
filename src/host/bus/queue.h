/* Letters that wait to go out, in order, and how many bytes of them each receiver has. Nothing here locks:
 * the bus does. A letter counts until it has gone out or was dropped, not until somebody has it in hand. */
#ifndef PL_BUS_QUEUE_H
#define PL_BUS_QUEUE_H

#include "base/status.h"
#include "base/vec.h"
#include "bus/parcel.h"
#include "cluster/node.h"

struct pl_bus_item {
    struct pl_bus_item *next;
    struct pl_node_id to; /* zeros: everybody but the sender */
    bool is_to_all;       /* also where it goes to one of them alone */
    int64_t at_ms;        /* when it was sent */
    size_t len;           /* of bytes */
    char bytes[];         /* the letter as a parcel of one */
};

struct pl_bus_count {
    struct pl_node_id to;
    size_t n_bytes; /* not 0 */
};

struct pl_bus_queue {
    struct pl_bus_item *first, **end; /* owned; nobody has them in hand */
    size_t n_bytes;                   /* of all that count */
    PL_VEC(struct pl_bus_count) counts;
};

void pl_bus_queue_init(struct pl_bus_queue *queue);
void pl_bus_queue_deinit(struct pl_bus_queue *queue);

/* Copies. PL_NOMEM. */
enum pl_status pl_bus_queue_push(struct pl_bus_queue *queue, const struct pl_node_id *to,
                                 bool is_to_all, struct pl_str letter, int64_t now_ms);
/* Those in front, up to so many bytes, at least one where there is one; NULL: there is none. */
struct pl_bus_item *pl_bus_queue_take(struct pl_bus_queue *queue, size_t max_bytes);
/* Items in hand have gone out, or are dropped. */
void pl_bus_queue_settle(struct pl_bus_queue *queue, struct pl_bus_item *items);
/* Items in hand of one queue become the last of another one. Where there is no memory to count one, it is
 * dropped. */
void pl_bus_queue_move(struct pl_bus_queue *from, struct pl_bus_item *items,
                       struct pl_bus_queue *to);
/* For this receiver alone; zeros: for everybody. */
size_t pl_bus_queue_waiting(const struct pl_bus_queue *queue, const struct pl_node_id *to);

/* The letter itself. */
struct pl_str pl_bus_item_letter(const struct pl_bus_item *item);

/* Of items in hand: takes out those that can go as one parcel with the first one, up to so many bytes. They
 * have its receiver, and no letter to everybody stands between them. *items is what is left. */
struct pl_bus_item *pl_bus_items_gather(struct pl_bus_item **items, size_t max_bytes);

#endif
