/* Bytes for many receivers. A chunk is made once and never changed; the queue of every receiver
 * holds a reference. The reference count is atomic, because the listeners of a session may be on
 * several shards. */
#ifndef PL_LIVE_CHUNK_H
#define PL_LIVE_CHUNK_H

#include "base/status.h"
#include "base/str.h"
#include "io/net/conn.h"

#include <stdatomic.h>
#include <stdint.h>

struct pl_chunk {
    _Atomic(uint32_t) n_refs;
    uint32_t n_frames : 31;
    uint32_t is_answer : 1; /* for one client only: a snapshot cannot replace it */
    size_t n;
    char bytes[];
};

/* A copy of the bytes, with one reference; NULL when out of memory. */
struct pl_chunk *pl_chunk_create(struct pl_str bytes, uint32_t n_frames);
struct pl_chunk *pl_chunk_ref(struct pl_chunk *chunk);
void pl_chunk_unref(struct pl_chunk *chunk); /* accepts NULL */

/* The chunks that wait to be written to a connection. An empty outbox holds no memory. */
struct pl_outbox {
    struct pl_chunk **items; /* owned: the array and a reference each */
    uint32_t head, len, cap; /* a ring */
    size_t n_sent;           /* bytes already sent of the first chunk */
    size_t n_bytes;          /* in all, without n_sent */
};

void pl_outbox_deinit(struct pl_outbox *outbox);
/* Takes its own reference; false when out of memory. */
bool pl_outbox_push(struct pl_outbox *outbox, struct pl_chunk *chunk);
/* Drops the waiting events. Keeps answers, and a chunk that is partly sent: half a frame must not
 * remain. */
void pl_outbox_drop(struct pl_outbox *outbox);
/* Moves everything to the end of `to`; false when out of memory, then nothing is lost. */
bool pl_outbox_move(struct pl_outbox *from, struct pl_outbox *to);
/* Writes until the kernel accepts no more. *ret_n: the bytes written. PL_IO: the connection is
 * broken. */
enum pl_status pl_outbox_flush(struct pl_outbox *outbox, struct pl_conn *conn, size_t *ret_n);

#endif
