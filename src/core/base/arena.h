/* Memory by lifetime: one document, one request, one turn. Allocations in an arena are not freed
 * one by one. */
#ifndef PL_BASE_ARENA_H
#define PL_BASE_ARENA_H

#include "base/str.h"

#include <stddef.h>

struct pl_arena_block;

struct pl_arena {
    struct pl_arena_block *head; /* owned; newest block first */
    char *cur, *end;             /* free space in head */
    size_t n_bytes;              /* taken from the heap so far */
    size_t max_bytes;            /* cap on n_bytes */
    size_t n_wanted;             /* minimum size of the next block: the total of the last round */
    char *space, *space_end;     /* borrowed; the initial space, or NULL */
};

/* Takes no memory yet, so it cannot fail. max_bytes 0 means no cap. */
void pl_arena_init(struct pl_arena *arena, size_t max_bytes);
/* The same, but uses n_bytes at `space` before the heap, so that small arenas need no heap. The
 * space must outlive the arena; it does not count toward the cap. */
void pl_arena_init_in(struct pl_arena *arena, size_t max_bytes, char *space, size_t n_bytes);
void pl_arena_deinit(struct pl_arena *arena);
void pl_arena_deinit_var(struct pl_arena *arena);
#define PL_CLEANUP_ARENA __attribute__((cleanup(pl_arena_deinit_var)))

/* Frees everything but one block. If there were several blocks, remembers their total size, so that
 * the next round allocates one block: rounds of the same size soon need no heap. */
void pl_arena_reset(struct pl_arena *arena);

/* 16-byte aligned, not zeroed; NULL when out of memory or over the cap. */
void *pl_arena_alloc(struct pl_arena *arena, size_t n, size_t size);
void *pl_arena_zalloc(struct pl_arena *arena, size_t n, size_t size);

/* Makes an allocation larger, in place if it is the newest one. Keeps old_bytes; `ptr` may be
 * NULL. */
void *pl_arena_grow(struct pl_arena *arena, void *ptr, size_t old_bytes, size_t new_bytes);

/* Returns the unused tail of the newest allocation to the arena; does nothing for any other
 * allocation. */
void pl_arena_shrink(struct pl_arena *arena, void *ptr, size_t old_bytes, size_t new_bytes);

/* Copies the bytes; {NULL, 0} only when out of memory and s is not empty. */
struct pl_str pl_arena_dup(struct pl_arena *arena, struct pl_str s);

#endif
