/* A table by session id, under a lock: every shard reads it, and the scheduler's shard changes
 * it. */
#include "agent/background/unattended.h"

#include "base/mem.h"
#include "base/table.h"

#include <pthread.h>

struct pl_unattended {
    pthread_mutex_t lock;
    struct pl_table by_id; /* of struct entry */
};

struct entry {
    struct pl_table_link link;
    bool skips_confirmations;
    char session_id[];
};

static struct entry *entry_of(struct pl_table_link *link)
{
    return link ? PL_CONTAINER_OF(link, struct entry, link) : NULL;
}

struct pl_unattended *pl_unattended_create(void)
{
    struct pl_unattended *unattended = pl_mem_alloc(1, sizeof *unattended);
    if (!unattended)
        return NULL;
    *unattended = (struct pl_unattended){0};
    pthread_mutex_init(&unattended->lock, NULL);
    return unattended;
}

void pl_unattended_destroy(struct pl_unattended *unattended)
{
    if (!unattended)
        return;
    struct pl_table_link *link;
    while ((link = pl_table_next(&unattended->by_id, NULL))) {
        pl_table_remove(&unattended->by_id, link);
        pl_mem_free(entry_of(link));
    }
    pl_table_deinit(&unattended->by_id);
    pthread_mutex_destroy(&unattended->lock);
    pl_mem_free(unattended);
}

bool pl_unattended_add(struct pl_unattended *unattended, struct pl_str session_id,
                       bool skips_confirmations)
{
    struct entry *entry = pl_mem_alloc(1, sizeof *entry + session_id.len);
    if (!entry)
        return false;
    *entry = (struct entry){.skips_confirmations = skips_confirmations};
    memcpy(entry->session_id, session_id.ptr, session_id.len);
    entry->link.key = (struct pl_str){entry->session_id, session_id.len};
    pthread_mutex_lock(&unattended->lock);
    bool is_new = !pl_table_get(&unattended->by_id, session_id);
    bool is_there = !is_new || pl_table_put(&unattended->by_id, &entry->link);
    pthread_mutex_unlock(&unattended->lock);
    if (!is_new || !is_there)
        pl_mem_free(entry);
    return is_there;
}

void pl_unattended_remove(struct pl_unattended *unattended, struct pl_str session_id)
{
    pthread_mutex_lock(&unattended->lock);
    struct pl_table_link *link = pl_table_get(&unattended->by_id, session_id);
    if (link)
        pl_table_remove(&unattended->by_id, link);
    pthread_mutex_unlock(&unattended->lock);
    pl_mem_free(entry_of(link));
}

bool pl_unattended_has(struct pl_unattended *unattended, struct pl_str session_id)
{
    pthread_mutex_lock(&unattended->lock);
    bool is_there = pl_table_get(&unattended->by_id, session_id) != NULL;
    pthread_mutex_unlock(&unattended->lock);
    return is_there;
}

bool pl_unattended_skips(struct pl_unattended *unattended, struct pl_str session_id)
{
    pthread_mutex_lock(&unattended->lock);
    struct entry *entry = entry_of(pl_table_get(&unattended->by_id, session_id));
    bool is_so = entry && entry->skips_confirmations;
    pthread_mutex_unlock(&unattended->lock);
    return is_so;
}
