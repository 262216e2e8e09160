/* The running drafts by their ids: any shard may get the request to stop one, and the run's own
 * shard stops it. */
#include "base/mem.h"
#include "base/table.h"
#include "service/runs/draft_run.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pl_draft_run *at_work; /* under the lock; each belongs to its shard */

void pl_draft_run_enter(struct pl_draft_run *run)
{
    pthread_mutex_lock(&lock);
    run->next = at_work;
    at_work = run;
    pthread_mutex_unlock(&lock);
}

void pl_draft_run_leave(struct pl_draft_run *run)
{
    pthread_mutex_lock(&lock);
    struct pl_draft_run **at = &at_work;
    while (*at && *at != run)
        at = &(*at)->next;
    if (*at)
        *at = run->next;
    pthread_mutex_unlock(&lock);
}

/* The shard where it runs; NULL: it does not run. */
static struct pl_shard *find_shard(struct pl_server *server, struct pl_str user_id,
                                   struct pl_str id, struct pl_draft_run **ret_run)
{
    struct pl_shard *shard = NULL;
    pthread_mutex_lock(&lock);
    for (struct pl_draft_run *run = at_work; run && !shard; run = run->next) {
        const struct pl_exchange *x = run->all->x;
        if (x->shard->server != server || !pl_str_eq(x->caller.user_id, user_id) ||
            !pl_str_eq(pl_str_of(run->id.text), id))
            continue;
        shard = x->shard;
        *ret_run = run;
    }
    pthread_mutex_unlock(&lock);
    return shard;
}

struct stopping {
    struct pl_letter letter;
    struct pl_shard *shard;
    char user_id[PL_ID_MAX], id[PL_ID_MAX];
};

/* On the shard of the run. Only this shard frees the run, so the found one stays valid for this
 * call. */
static void open_stopping(struct pl_letter *letter)
{
    struct stopping *stopping = PL_CONTAINER_OF(letter, struct stopping, letter);
    struct pl_draft_run *run = NULL;
    const struct pl_shard *there = find_shard(stopping->shard->server, pl_str_of(stopping->user_id),
                                              pl_str_of(stopping->id), &run);
    if (there == stopping->shard)
        pl_draft_run_stop(run);
    pl_mem_free(stopping);
}

bool pl_draft_run_stop_anywhere(struct pl_server *server, struct pl_str user_id, struct pl_str id)
{
    struct pl_draft_run *run = NULL;
    struct pl_shard *shard = find_shard(server, user_id, id, &run);
    struct stopping *stopping = shard ? pl_mem_alloc(1, sizeof *stopping) : NULL;
    if (!stopping)
        return false;
    *stopping = (struct stopping){.shard = shard};
    stopping->letter.open = open_stopping;
    memcpy(stopping->user_id, user_id.ptr, user_id.len);
    memcpy(stopping->id, id.ptr, id.len);
    pl_loop_post(shard->loop, &stopping->letter);
    return true;
}
