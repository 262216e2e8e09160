#include "agent/background/unattended.h"

#include "base/mem.h"
#include "base/table.h"

#include <pthread.h>

struct pl_unattended {
    pthread_mutex_t lock;
    struct pl_table by_id; /* of links, each followed by its key */
};

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
        pl_mem_free(link);
    }
    pl_table_deinit(&unattended->by_id);
    pthread_mutex_destroy(&unattended->lock);
    pl_mem_free(unattended);
}

bool pl_unattended_add(struct pl_unattended *unattended, struct pl_str session_id)
{
    struct pl_table_link *link = pl_mem_alloc(1, sizeof *link + session_id.len);
    if (!link)
        return false;
    *link = (struct pl_table_link){0};
    memcpy(link + 1, session_id.ptr, session_id.len);
    link->key = (struct pl_str){(const char *)(link + 1), session_id.len};
    pthread_mutex_lock(&unattended->lock);
    bool is_new = !pl_table_get(&unattended->by_id, session_id);
    bool is_there = !is_new || pl_table_put(&unattended->by_id, link);
    pthread_mutex_unlock(&unattended->lock);
    if (!is_new || !is_there)
        pl_mem_free(link);
    return is_there;
}

void pl_unattended_remove(struct pl_unattended *unattended, struct pl_str session_id)
{
    pthread_mutex_lock(&unattended->lock);
    struct pl_table_link *link = pl_table_get(&unattended->by_id, session_id);
    if (link)
        pl_table_remove(&unattended->by_id, link);
    pthread_mutex_unlock(&unattended->lock);
    pl_mem_free(link);
}

bool pl_unattended_has(struct pl_unattended *unattended, struct pl_str session_id)
{
    pthread_mutex_lock(&unattended->lock);
    bool is_there = pl_table_get(&unattended->by_id, session_id) != NULL;
    pthread_mutex_unlock(&unattended->lock);
    return is_there;
}
