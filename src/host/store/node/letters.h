/* Letters between nodes, as rows: the part of the bus that knows SQL (host/bus has the rest).
 *
 * A desk is a connection of its own, as a node's line is, and belongs to one thread. One desk sends, another
 * one receives. Every call waits as long as an answer may take. A desk never connects by itself: after
 * a failure the caller connects again.
 *
 * A desk sends parcels: bytes that the caller made, with a number that grows with every parcel of this
 * sender. Parcels of one desk come in the order of their numbers, with one exception. After a failure nobody
 * knows whether a parcel was put, so the sender puts it again, and the old connection may still put the
 * first one late. The receiver skips a parcel whose number it has had already. */
#ifndef PL_STORE_LETTERS_H
#define PL_STORE_LETTERS_H

#include "cluster/node.h"
#include "store/store.h"

enum {
    PL_LETTERS_TAKE = 16,      /* parcels at once */
    PL_LETTERS_OLD_MS = 60000, /* nobody waits for a letter that long */
    PL_LETTERS_RING_MAX = 64,  /* receivers at once */
};

struct pl_letter_desk; /* owned */

/* True: the store is a database that several nodes share, so that letters can go by it. */
bool pl_store_has_letters(const struct pl_store *store);

/* Of the node `me`, whose row is in the table nodes. The receiving desk is told when something comes.
 * PL_INVALID: this store has no nodes. The store outlives the desk. */
enum pl_status pl_letters_open(struct pl_store *store, const struct pl_node_id *me,
                               bool is_receiving, struct pl_letter_desk **ret_desk,
                               struct pl_error *err);
void pl_letters_close(struct pl_letter_desk *desk); /* accepts NULL */

/* Nothing where it is connected, as far as anybody knows. */
enum pl_status pl_letters_connect(struct pl_letter_desk *desk, struct pl_error *err);

/* To NULL: to every node but this one. *ret_n is how many nodes get it: none where `to` is gone. */
enum pl_status pl_letters_put(struct pl_letter_desk *desk, const struct pl_node_id *to,
                              int64_t number, struct pl_str parcel, size_t *ret_n,
                              struct pl_error *err);
/* Tells these nodes that something came. */
enum pl_status pl_letters_ring(struct pl_letter_desk *desk, const struct pl_node_id *to, size_t n,
                               struct pl_error *err);
enum pl_status pl_letters_ring_all(struct pl_letter_desk *desk, struct pl_error *err);

/* Takes up to PL_LETTERS_TAKE parcels, in the order sent. They are deleted before `each` is called; the
 * bytes are valid during the call. */
typedef void pl_letters_each_fn(void *ctx, const struct pl_node_id *sender, int64_t number,
                                struct pl_str parcel);
enum pl_status pl_letters_take(struct pl_letter_desk *desk, pl_letters_each_fn *each, void *ctx,
                               size_t *ret_n, struct pl_error *err);
/* Waits until something came, `wake_fd` can be read, or the time is over. PL_IO: the connection is cut. */
enum pl_status pl_letters_wait(struct pl_letter_desk *desk, int wake_fd, int64_t ms,
                               struct pl_error *err);
/* Deletes what nobody will take: of whatever sender, to whatever receiver. */
enum pl_status pl_letters_expire(struct pl_letter_desk *desk, struct pl_error *err);

#endif
