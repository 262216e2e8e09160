/* A hash table of things that carry their own link: they come and go, and the table never owns
 * them. Use map.h for a plain dictionary that only grows. */
#ifndef PL_BASE_TABLE_H
#define PL_BASE_TABLE_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/* Embedded in the thing. */
struct pl_table_link {
    struct pl_table_link *next;
    struct pl_str key; /* borrowed from the thing */
    uint64_t hash;
};

struct pl_table {
    struct pl_table_link **slots; /* owned */
    size_t n_slots, n_links;
};

/* Zero-initialised is a valid empty table. */
void pl_table_deinit(struct pl_table *table);

struct pl_table_link *pl_table_get(const struct pl_table *table, struct pl_str key);
/* link->key is set by the caller and is not in the table yet. False: out of memory, nothing done.
 */
bool pl_table_put(struct pl_table *table, struct pl_table_link *link);
void pl_table_remove(struct pl_table *table, struct pl_table_link *link);

/* Any order; NULL begins. An entry may be removed if the one after it was already asked for. */
struct pl_table_link *pl_table_next(const struct pl_table *table, const struct pl_table_link *link);

/* The thing a link is embedded in. */
#define PL_CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
