/* Letters between nodes, stored as rows: the SQL part of the bus (host/bus has the rest).
 *
 * A desk is a connection of its own, like a node's line, and belongs to one thread. One desk sends,
 * another one receives. Every call blocks until the timeout for an answer. A desk never reconnects
 * by itself: after a failure the caller connects again.
 *
 * A desk sends parcels: bytes from the caller, with a number that grows with every parcel of this
 * sender. Parcels of one desk arrive in the order of their numbers, with one exception: after a
 * failure nobody knows whether a parcel was stored, so the sender puts it again, and the old
 * connection may still store the first copy late. The receiver skips a parcel with a number that it
 * has already had. */
#ifndef PL_STORE_LETTERS_H
#define PL_STORE_LETTERS_H

#include "cluster/node.h"
#include "store/store.h"

enum {
    PL_LETTERS_TAKE = 16,      /* parcels per call */
    PL_LETTERS_OLD_MS = 60000, /* no receiver waits longer for a letter */
    PL_LETTERS_RING_MAX = 64,  /* receivers per call */
};

struct pl_letter_desk; /* owned */

/* Whether the store is a database that several nodes share, so that it can carry letters. */
bool pl_store_has_letters(const struct pl_store *store);

/* Opens a desk of the node `me`, which has a row in the table nodes. A receiving desk is notified
 * of new parcels. PL_INVALID: this store has no nodes. The store must outlive the desk. */
enum pl_status pl_letters_open(struct pl_store *store, const struct pl_node_id *me,
                               bool is_receiving, struct pl_letter_desk **ret_desk,
                               struct pl_error *err);
void pl_letters_close(struct pl_letter_desk *desk); /* accepts NULL */

/* Does nothing if the desk seems connected. */
enum pl_status pl_letters_connect(struct pl_letter_desk *desk, struct pl_error *err);

/* `to` NULL: to every other node. *ret_n is the number of nodes that get it: 0 if `to` is gone. */
enum pl_status pl_letters_put(struct pl_letter_desk *desk, const struct pl_node_id *to,
                              int64_t number, struct pl_str parcel, size_t *ret_n,
                              struct pl_error *err);
/* Notifies these nodes of new parcels. */
enum pl_status pl_letters_ring(struct pl_letter_desk *desk, const struct pl_node_id *to, size_t n,
                               struct pl_error *err);
enum pl_status pl_letters_ring_all(struct pl_letter_desk *desk, struct pl_error *err);

/* Takes up to PL_LETTERS_TAKE parcels, in the order sent. They are deleted before `each` is called;
 * the bytes are valid during the call. */
typedef void pl_letters_each_fn(void *ctx, const struct pl_node_id *sender, int64_t number,
                                struct pl_str parcel);
enum pl_status pl_letters_take(struct pl_letter_desk *desk, pl_letters_each_fn *each, void *ctx,
                               size_t *ret_n, struct pl_error *err);
/* Waits until a parcel arrives, `wake_fd` is readable, or the time is over. PL_IO: the connection
 * is cut. */
enum pl_status pl_letters_wait(struct pl_letter_desk *desk, int wake_fd, int64_t ms,
                               struct pl_error *err);
/* Deletes letters that nobody will take, of all senders and receivers. */
enum pl_status pl_letters_expire(struct pl_letter_desk *desk, struct pl_error *err);

#endif
