/* A chunk is one allocation with a reference count. An outbox is a ring of references to chunks; a
 * flush writes up to 64 of them with one call. */
#include "live/chunk.h"

#include "base/mem.h"

struct pl_chunk *pl_chunk_create(struct pl_str bytes, uint32_t n_frames)
{
    struct pl_chunk *chunk = pl_mem_alloc(1, sizeof *chunk + bytes.len);
    if (!chunk)
        return NULL;
    atomic_init(&chunk->n_refs, 1);
    chunk->n_frames = n_frames & INT32_MAX;
    chunk->is_answer = false;
    chunk->n = bytes.len;
    if (bytes.len)
        memcpy(chunk->bytes, bytes.ptr, bytes.len);
    return chunk;
}

struct pl_chunk *pl_chunk_ref(struct pl_chunk *chunk)
{
    atomic_fetch_add_explicit(&chunk->n_refs, 1, memory_order_relaxed);
    return chunk;
}

void pl_chunk_unref(struct pl_chunk *chunk)
{
    if (chunk && atomic_fetch_sub_explicit(&chunk->n_refs, 1, memory_order_acq_rel) == 1)
        pl_mem_free(chunk);
}

static struct pl_chunk **at(const struct pl_outbox *outbox, uint32_t i)
{
    return &outbox->items[(outbox->head + i) & (outbox->cap - 1)];
}

static void release_if_empty(struct pl_outbox *outbox)
{
    if (outbox->len)
        return;
    pl_mem_free(outbox->items);
    *outbox = (struct pl_outbox){0};
}

void pl_outbox_deinit(struct pl_outbox *outbox)
{
    for (uint32_t i = 0; i < outbox->len; i++)
        pl_chunk_unref(*at(outbox, i));
    outbox->len = 0;
    release_if_empty(outbox);
}

static bool grow(struct pl_outbox *outbox, uint32_t n)
{
    uint32_t cap = outbox->cap ? outbox->cap : 4;
    while (cap < n)
        cap *= 2;
    if (cap == outbox->cap)
        return true;
    struct pl_chunk **items = pl_mem_alloc(cap, sizeof(struct pl_chunk *));
    if (!items)
        return false;
    for (uint32_t i = 0; i < outbox->len; i++)
        items[i] = *at(outbox, i);
    pl_mem_free(outbox->items);
    outbox->items = items;
    outbox->cap = cap;
    outbox->head = 0;
    return true;
}

bool pl_outbox_push(struct pl_outbox *outbox, struct pl_chunk *chunk)
{
    if (!grow(outbox, outbox->len + 1))
        return false;
    *at(outbox, outbox->len++) = pl_chunk_ref(chunk);
    outbox->n_bytes += chunk->n;
    return true;
}

void pl_outbox_drop(struct pl_outbox *outbox)
{
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < outbox->len; i++) {
        struct pl_chunk *chunk = *at(outbox, i);
        bool is_begun = !i && outbox->n_sent;
        if (is_begun || chunk->is_answer) {
            *at(outbox, n_kept++) = chunk;
            continue;
        }
        outbox->n_bytes -= chunk->n;
        pl_chunk_unref(chunk);
    }
    outbox->len = n_kept;
    release_if_empty(outbox);
}

bool pl_outbox_move(struct pl_outbox *from, struct pl_outbox *to)
{
    if (!grow(to, to->len + from->len))
        return false;
    for (uint32_t i = 0; i < from->len; i++)
        *at(to, to->len++) = *at(from, i);
    to->n_bytes += from->n_bytes;
    from->len = 0;
    release_if_empty(from);
    return true;
}

static void shift(struct pl_outbox *outbox, size_t n)
{
    outbox->n_bytes -= n;
    outbox->n_sent += n;
    while (outbox->len && outbox->n_sent >= (*at(outbox, 0))->n) {
        outbox->n_sent -= (*at(outbox, 0))->n;
        pl_chunk_unref(*at(outbox, 0));
        outbox->head = (outbox->head + 1) & (outbox->cap - 1);
        outbox->len--;
    }
    release_if_empty(outbox);
}

#define MAX_PIECES 64

enum pl_status pl_outbox_flush(struct pl_outbox *outbox, struct pl_conn *conn, size_t *ret_n)
{
    size_t n_all = 0;
    while (outbox->len) {
        struct pl_str pieces[MAX_PIECES];
        size_t n_pieces = outbox->len < MAX_PIECES ? outbox->len : MAX_PIECES;
        size_t n_wanted = 0;
        for (uint32_t i = 0; i < n_pieces; i++) {
            struct pl_chunk *chunk = *at(outbox, i);
            size_t skip = i ? 0 : outbox->n_sent;
            pieces[i] = (struct pl_str){chunk->bytes + skip, chunk->n - skip};
            n_wanted += pieces[i].len;
        }
        size_t n = 0;
        enum pl_status status = pl_conn_write(conn, pieces, n_pieces, &n);
        if (status != PL_OK)
            return status;
        shift(outbox, n);
        n_all += n;
        if (n < n_wanted)
            break;
    }
    *ret_n = n_all;
    return PL_OK;
}
