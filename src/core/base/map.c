#include "base/map.h"
#include "base/hash.h"
#include "base/mem.h"

enum { FIRST_SLOTS = 16 };

void pl_map_deinit(struct pl_map *map)
{
    pl_mem_free(map->entries);
    pl_mem_free(map->slots);
    *map = (struct pl_map){0};
}

/* The slot of `key`, or the free slot where it belongs. */
static uint32_t find_slot(const struct pl_map *map, struct pl_str key, uint64_t hash)
{
    uint32_t mask = map->n_slots - 1;
    uint32_t slot = (uint32_t)hash & mask;
    while (map->slots[slot]) {
        const struct pl_map_entry *entry = &map->entries[map->slots[slot] - 1];
        if (entry->hash == hash && pl_str_eq(entry->key, key))
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

struct pl_map_entry *pl_map_get(const struct pl_map *map, struct pl_str key)
{
    if (!map->n_slots)
        return NULL;
    uint32_t index = map->slots[find_slot(map, key, pl_hash(key))];
    return index ? &map->entries[index - 1] : NULL;
}

/* At most three quarters of the slots are used; entries have room for exactly that many. */
static bool grow(struct pl_map *map)
{
    uint32_t n_slots = map->n_slots ? map->n_slots * 2 : FIRST_SLOTS;
    if (n_slots < map->n_slots)
        return false;
    uint32_t *slots = pl_mem_alloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    struct pl_map_entry *entries = pl_mem_grow(map->entries, n_slots / 4 * 3, sizeof *map->entries);
    if (!entries) {
        pl_mem_free(slots);
        return false;
    }
    memset(slots, 0, n_slots * sizeof *slots);
    pl_mem_free(map->slots);
    map->entries = entries;
    map->slots = slots;
    map->n_slots = n_slots;
    for (uint32_t i = 0; i < map->n_entries; i++)
        slots[find_slot(map, entries[i].key, entries[i].hash)] = i + 1;
    return true;
}

struct pl_map_entry *pl_map_put(struct pl_map *map, struct pl_str key, bool *ret_is_new)
{
    uint64_t hash = pl_hash(key);
    if (map->n_slots) {
        uint32_t index = map->slots[find_slot(map, key, hash)];
        if (index) {
            *ret_is_new = false;
            return &map->entries[index - 1];
        }
    }
    if (map->n_entries >= map->n_slots / 4 * 3 && !grow(map))
        return NULL;
    struct pl_map_entry *entry = &map->entries[map->n_entries++];
    *entry = (struct pl_map_entry){.key = key, .hash = hash};
    map->slots[find_slot(map, key, hash)] = map->n_entries;
    *ret_is_new = true;
    return entry;
}
