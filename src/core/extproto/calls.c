/* A call stays in the table until 1,024 later calls have ended. */
#include "extproto/calls.h"

#include "base/mem.h"

#include <assert.h>

static struct pl_ext_call *call_of(struct pl_table_link *link)
{
    return link ? PL_CONTAINER_OF(link, struct pl_ext_call, link) : NULL;
}

void pl_ext_calls_deinit(struct pl_ext_calls *calls)
{
    for (struct pl_table_link *link; (link = pl_table_next(&calls->by_id, NULL));) {
        pl_table_remove(&calls->by_id, link);
        pl_mem_free(call_of(link));
    }
    pl_table_deinit(&calls->by_id);
    *calls = (struct pl_ext_calls){0};
}

static void append(struct pl_ext_call **first, struct pl_ext_call **last, struct pl_ext_call *call)
{
    call->next = NULL;
    if (*last)
        (*last)->next = call;
    else
        *first = call;
    *last = call;
}

static struct pl_ext_call *take_first(struct pl_ext_call **first, struct pl_ext_call **last)
{
    struct pl_ext_call *call = *first;
    *first = call->next;
    if (!*first)
        *last = NULL;
    return call;
}

enum pl_status pl_ext_calls_add(struct pl_ext_calls *calls, struct pl_str id, void *thing)
{
    if (!id.len || id.len > PL_EXT_CALL_ID_BYTES)
        return PL_INVALID;
    if (pl_table_get(&calls->by_id, id))
        return PL_CONFLICT;
    if (calls->n_queued >= PL_EXT_CALLS_QUEUED)
        return PL_LIMIT;
    struct pl_ext_call *call = pl_mem_alloc(1, sizeof *call + id.len);
    if (!call)
        return PL_NOMEM;
    *call = (struct pl_ext_call){.thing = thing, .n_id = id.len};
    memcpy(call->id, id.ptr, id.len);
    call->link.key = (struct pl_str){call->id, id.len};
    if (!pl_table_put(&calls->by_id, &call->link)) {
        pl_mem_free(call);
        return PL_NOMEM;
    }
    append(&calls->queue_first, &calls->queue_last, call);
    calls->n_queued++;
    return PL_OK;
}

struct pl_ext_call *pl_ext_calls_next(struct pl_ext_calls *calls)
{
    if (!calls->queue_first || calls->n_running >= PL_EXT_CALLS_AT_ONCE)
        return NULL;
    struct pl_ext_call *call = take_first(&calls->queue_first, &calls->queue_last);
    calls->n_queued--;
    calls->n_running++;
    call->state = PL_EXT_CALL_RUNNING;
    return call;
}

struct pl_ext_call *pl_ext_calls_find(struct pl_ext_calls *calls, struct pl_str id)
{
    struct pl_ext_call *call = call_of(pl_table_get(&calls->by_id, id));
    return call && call->state != PL_EXT_CALL_ENDED ? call : NULL;
}

/* A linear search is enough: the queue is short, and only a cancelled call needs it. */
static void leave_queue(struct pl_ext_calls *calls, const struct pl_ext_call *call)
{
    struct pl_ext_call *before = NULL;
    for (struct pl_ext_call *one = calls->queue_first; one != call; one = one->next)
        before = one;
    if (before)
        before->next = call->next;
    else
        calls->queue_first = call->next;
    if (!call->next)
        calls->queue_last = before;
    calls->n_queued--;
}

void pl_ext_calls_end(struct pl_ext_calls *calls, struct pl_ext_call *call)
{
    assert(call->state != PL_EXT_CALL_ENDED);
    if (call->state == PL_EXT_CALL_QUEUED)
        leave_queue(calls, call);
    else
        calls->n_running--;
    call->state = PL_EXT_CALL_ENDED;
    call->thing = NULL;
    append(&calls->ended_first, &calls->ended_last, call);
    if (++calls->n_ended <= PL_EXT_CALLS_REMEMBERED)
        return;
    struct pl_ext_call *oldest = take_first(&calls->ended_first, &calls->ended_last);
    calls->n_ended--;
    pl_table_remove(&calls->by_id, &oldest->link);
    pl_mem_free(oldest);
}
