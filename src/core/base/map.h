/* A map from byte strings to pointers or numbers: open addressing, keyed hash, insertion order
 * kept. */
#ifndef PL_BASE_MAP_H
#define PL_BASE_MAP_H

#include "base/str.h"

#include <stdint.h>

struct pl_map_entry {
    struct pl_str key; /* borrowed from the caller */
    uint64_t value;
    uint64_t hash;
};

struct pl_map {
    struct pl_map_entry *entries; /* owned; in insertion order */
    uint32_t *slots;              /* owned; entry index + 1, 0 for free */
    uint32_t n_entries, n_slots;
};

/* A zero-initialised map is valid and empty. */
void pl_map_deinit(struct pl_map *map);

/* The entry of `key`, or NULL. Valid until the next put. */
struct pl_map_entry *pl_map_get(const struct pl_map *map, struct pl_str key);

/* Finds or adds the entry of `key`; *ret_is_new says which (a new value is 0). NULL when out of
 * memory; the map is unchanged. */
struct pl_map_entry *pl_map_put(struct pl_map *map, struct pl_str key, bool *ret_is_new);

#endif
