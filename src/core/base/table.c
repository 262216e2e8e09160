#include "base/table.h"

#include "base/hash.h"
#include "base/mem.h"

void pl_table_deinit(struct pl_table *table)
{
    pl_mem_free(table->slots);
    *table = (struct pl_table){0};
}

static struct pl_table_link **slot_of(const struct pl_table *table, uint64_t hash)
{
    return &table->slots[hash & (table->n_slots - 1)];
}

struct pl_table_link *pl_table_get(const struct pl_table *table, struct pl_str key)
{
    if (!table->n_links)
        return NULL;
    uint64_t hash = pl_hash(key);
    for (struct pl_table_link *link = *slot_of(table, hash); link; link = link->next)
        if (link->hash == hash && pl_str_eq(link->key, key))
            return link;
    return NULL;
}

static bool grow(struct pl_table *table)
{
    struct pl_table bigger = {.n_slots = table->n_slots ? table->n_slots * 2 : 16};
    bigger.slots = pl_mem_alloc(bigger.n_slots, sizeof(struct pl_table_link *));
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < bigger.n_slots; i++)
        bigger.slots[i] = NULL;
    for (size_t i = 0; i < table->n_slots; i++) {
        for (struct pl_table_link *link = table->slots[i], *next; link; link = next) {
            next = link->next;
            struct pl_table_link **slot = slot_of(&bigger, link->hash);
            link->next = *slot;
            *slot = link;
        }
    }
    pl_mem_free(table->slots);
    table->slots = bigger.slots;
    table->n_slots = bigger.n_slots;
    return true;
}

bool pl_table_put(struct pl_table *table, struct pl_table_link *link)
{
    if (table->n_links >= table->n_slots && !grow(table))
        return false;
    link->hash = pl_hash(link->key);
    struct pl_table_link **slot = slot_of(table, link->hash);
    link->next = *slot;
    *slot = link;
    table->n_links++;
    return true;
}

void pl_table_remove(struct pl_table *table, struct pl_table_link *link)
{
    struct pl_table_link **at = slot_of(table, link->hash);
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    table->n_links--;
}

struct pl_table_link *pl_table_next(const struct pl_table *table, const struct pl_table_link *link)
{
    if (link && link->next)
        return link->next;
    size_t i = link ? (link->hash & (table->n_slots - 1)) + 1 : 0;
    for (; i < table->n_slots; i++)
        if (table->slots[i])
            return table->slots[i];
    return NULL;
}
