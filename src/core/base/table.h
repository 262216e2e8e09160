/* A hash table of objects that embed their own link. Objects can be added and removed, and the
 * table never owns them. For a plain dictionary that only grows use map.h. */
#ifndef PL_BASE_TABLE_H
#define PL_BASE_TABLE_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/* Embedded in the object. */
struct pl_table_link {
    struct pl_table_link *next;
    struct pl_str key; /* borrowed from the object */
    uint64_t hash;
};

struct pl_table {
    struct pl_table_link **slots; /* owned */
    size_t n_slots, n_links;
};

/* A zero-initialised table is valid and empty. */
void pl_table_deinit(struct pl_table *table);

struct pl_table_link *pl_table_get(const struct pl_table *table, struct pl_str key);
/* The caller sets link->key, which must not be in the table yet. False: out of memory, nothing
 * changed. */
bool pl_table_put(struct pl_table *table, struct pl_table_link *link);
void pl_table_remove(struct pl_table *table, struct pl_table_link *link);

/* In any order; NULL starts. An entry may be removed once the entry after it was fetched. */
struct pl_table_link *pl_table_next(const struct pl_table *table, const struct pl_table_link *link);

/* The object that a link is embedded in. */
#define PL_CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
