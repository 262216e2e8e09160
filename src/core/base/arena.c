/* A list of blocks, newest first. Each new block is as large as all before it, so the number of
 * heap calls is logarithmic. The newest allocation can grow in place. */
#include "base/arena.h"
#include "base/mem.h"

#include <assert.h>
#include <stdint.h>

enum { ALIGN = 16, FIRST_BLOCK = 4096 };

struct pl_arena_block {
    struct pl_arena_block *older; /* owned */
    size_t n_bytes;               /* of the whole block, this header included */
    _Alignas(ALIGN) char space[];
};

static bool rounded(size_t n_bytes, size_t *ret_bytes)
{
    size_t up;
    if (__builtin_add_overflow(n_bytes, (size_t)ALIGN - 1, &up))
        return false;
    *ret_bytes = up & ~(size_t)(ALIGN - 1);
    return true;
}

void pl_arena_init(struct pl_arena *arena, size_t max_bytes)
{
    *arena = (struct pl_arena){.max_bytes = max_bytes ? max_bytes : SIZE_MAX};
}

void pl_arena_init_in(struct pl_arena *arena, size_t max_bytes, char *space, size_t n_bytes)
{
    pl_arena_init(arena, max_bytes);
    size_t off = -(uintptr_t)space % ALIGN;
    if (n_bytes <= off)
        return;
    arena->space = arena->cur = space + off;
    arena->space_end = arena->end = space + n_bytes;
}

/* Blocks double, so the number of heap calls is logarithmic in the bytes requested. */
static bool add_block(struct pl_arena *arena, size_t need)
{
    size_t least, left = arena->max_bytes - arena->n_bytes;
    if (__builtin_add_overflow(need, sizeof(struct pl_arena_block), &least) || least > left)
        return false;
    size_t n_bytes = arena->n_bytes > FIRST_BLOCK ? arena->n_bytes : FIRST_BLOCK;
    if (n_bytes < arena->n_wanted)
        n_bytes = arena->n_wanted;
    if (n_bytes < least)
        n_bytes = least;
    if (n_bytes > left)
        n_bytes = left;
    struct pl_arena_block *block = pl_mem_alloc(1, n_bytes);
    if (!block)
        return false;
    block->older = arena->head;
    block->n_bytes = n_bytes;
    arena->head = block;
    arena->n_bytes += n_bytes;
    arena->cur = block->space;
    arena->end = (char *)block + n_bytes;
    return true;
}

static void free_blocks(struct pl_arena *arena)
{
    for (struct pl_arena_block *b = arena->head, *older; b; b = older) {
        older = b->older;
        pl_mem_free(b);
    }
    arena->head = NULL;
    arena->n_bytes = 0;
    arena->cur = arena->space;
    arena->end = arena->space_end;
}

void pl_arena_deinit(struct pl_arena *arena)
{
    free_blocks(arena);
    *arena = (struct pl_arena){.max_bytes = arena->max_bytes};
}

void pl_arena_deinit_var(struct pl_arena *arena)
{
    pl_arena_deinit(arena);
}

void pl_arena_reset(struct pl_arena *arena)
{
    struct pl_arena_block *only = arena->head;
    if (only && !only->older) {
        arena->cur = only->space;
        arena->end = (char *)only + only->n_bytes;
        return;
    }
    if (arena->n_bytes)
        arena->n_wanted = arena->n_bytes;
    free_blocks(arena);
}

static void *alloc_bytes(struct pl_arena *arena, size_t n_bytes)
{
    if (!rounded(n_bytes, &n_bytes))
        return NULL;
    if ((size_t)(arena->end - arena->cur) < n_bytes || !arena->cur)
        if (!add_block(arena, n_bytes))
            return NULL;
    void *ptr = arena->cur;
    arena->cur += n_bytes;
    return ptr;
}

void *pl_arena_alloc(struct pl_arena *arena, size_t n, size_t size)
{
    size_t n_bytes;
    if (__builtin_mul_overflow(n, size, &n_bytes))
        return NULL;
    return alloc_bytes(arena, n_bytes);
}

void *pl_arena_zalloc(struct pl_arena *arena, size_t n, size_t size)
{
    void *ptr = pl_arena_alloc(arena, n, size);
    return ptr ? memset(ptr, 0, n * size) : NULL;
}

/* Whether the allocation of old_bytes at ptr is the newest. */
static bool is_newest(const struct pl_arena *arena, const void *ptr, size_t old_bytes)
{
    size_t room;
    return ptr && rounded(old_bytes, &room) && (const char *)ptr + room == arena->cur;
}

void *pl_arena_grow(struct pl_arena *arena, void *ptr, size_t old_bytes, size_t new_bytes)
{
    size_t room;
    if (!rounded(new_bytes, &room))
        return NULL;
    if (is_newest(arena, ptr, old_bytes) && (size_t)(arena->end - (char *)ptr) >= room) {
        arena->cur = (char *)ptr + room;
        return ptr;
    }
    void *grown = alloc_bytes(arena, new_bytes);
    if (grown && old_bytes)
        memcpy(grown, ptr, old_bytes);
    return grown;
}

void pl_arena_shrink(struct pl_arena *arena, void *ptr, size_t old_bytes, size_t new_bytes)
{
    size_t room;
    assert(new_bytes <= old_bytes);
    if (is_newest(arena, ptr, old_bytes) && rounded(new_bytes, &room))
        arena->cur = (char *)ptr + room;
}

struct pl_str pl_arena_dup(struct pl_arena *arena, struct pl_str s)
{
    char *copy = alloc_bytes(arena, s.len ? s.len : 1);
    if (!copy)
        return (struct pl_str){0};
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    return (struct pl_str){copy, s.len};
}
