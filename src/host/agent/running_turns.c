/* The number of running turns of each user, over all shards. It changes only when a turn starts or
 * ends, so one lock is enough. */
#include "agent/driver_int.h"
#include "agent/running_turns.h"
#include "base/mem.h"

#include <pthread.h>

struct count {
    struct pl_table_link link; /* key: user id, after this struct */
    size_t n;
};

struct pl_running {
    pthread_mutex_t lock;
    struct pl_table by_user;
    void (*on_room)(struct pl_server *server);
};

struct pl_running *pl_running_create(void (*on_room)(struct pl_server *server))
{
    struct pl_running *running = pl_mem_alloc(1, sizeof *running);
    if (!running)
        return NULL;
    *running = (struct pl_running){.on_room = on_room};
    pthread_mutex_init(&running->lock, NULL);
    return running;
}

void pl_running_destroy(struct pl_running *running)
{
    if (!running)
        return;
    struct pl_table_link *link;
    while ((link = pl_table_next(&running->by_user, NULL))) {
        pl_table_remove(&running->by_user, link);
        pl_mem_free(PL_CONTAINER_OF(link, struct count, link));
    }
    pl_table_deinit(&running->by_user);
    pthread_mutex_destroy(&running->lock);
    pl_mem_free(running);
}

static struct count *find(struct pl_running *running, struct pl_str user_id)
{
    struct pl_table_link *link = pl_table_get(&running->by_user, user_id);
    return link ? PL_CONTAINER_OF(link, struct count, link) : NULL;
}

size_t pl_running_of(struct pl_server *server, struct pl_str user_id)
{
    struct pl_running *running = server->running;
    pthread_mutex_lock(&running->lock);
    const struct count *count = find(running, user_id);
    size_t n = count ? count->n : 0;
    pthread_mutex_unlock(&running->lock);
    return n;
}

/* When out of memory, a turn is not counted: the limit is then too generous by one. */
static struct count *find_or_make(struct pl_running *running, struct pl_str user_id)
{
    struct count *count = find(running, user_id);
    if (count)
        return count;
    count = pl_mem_alloc(1, sizeof *count + user_id.len);
    if (!count)
        return NULL;
    *count = (struct count){0};
    memcpy(count + 1, user_id.ptr, user_id.len);
    count->link.key = (struct pl_str){(const char *)(count + 1), user_id.len};
    if (pl_table_put(&running->by_user, &count->link))
        return count;
    pl_mem_free(count);
    return NULL;
}

void pl_running_change(struct pl_server *server, struct pl_str user_id, int change)
{
    struct pl_running *running = server->running;
    pthread_mutex_lock(&running->lock);
    struct count *count = change > 0 ? find_or_make(running, user_id) : find(running, user_id);
    bool was_full = count && count->n >= PL_MAX_RUNNING;
    if (count && (change > 0 || count->n))
        count->n += (size_t)change;
    bool has_room = was_full && count->n < PL_MAX_RUNNING;
    if (count && !count->n) {
        pl_table_remove(&running->by_user, &count->link);
        pl_mem_free(count);
    }
    pthread_mutex_unlock(&running->lock);
    if (has_room)
        running->on_room(server);
}
