/* Resolving a name. getaddrinfo cannot be stopped, so it has its own lane of worker threads. The
 * fetch may abandon the lookup at any time; it then ends and frees itself.
 *
 *     machine lookup
 *
 *     AWAITED -> HOME
 *     AWAITED -> LEFT -> HOME      nobody waits for it any more */
#include "io/fetch/fetch_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "io/move.h"

enum state { LOOKUP_AWAITED, LOOKUP_LEFT, LOOKUP_HOME };

#define TO(name) PL_TO(LOOKUP_##name)
static const struct pl_state states[] = {
    [LOOKUP_AWAITED] = {"awaited", TO(LEFT) | TO(HOME), PL_WAIT_SET, PL_CANCEL_LATER,
                        .why = "the fetch that waits for it has a deadline, and leaves"},
    [LOOKUP_LEFT] = {"left", TO(HOME), PL_WAIT_OPEN, PL_CANCEL_LATER,
                     .why = "the worker comes back, or is abandoned when the process ends"},
    [LOOKUP_HOME] = {"home", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("lookup", states);

struct pl_lookup {
    struct pl_job job;
    struct pl_fetch_rules rules; /* only its resolver */
    pl_lookup_fn *done;
    void *ctx;
    enum state state; /* for the loop only; the worker uses the other fields */
    enum pl_status status;
    struct pl_error err;
    struct pl_addresses addresses;
    size_t n_host;
    char host[]; /* the name to resolve */
};

static struct pl_lookup *lookup_of(struct pl_job *job)
{
    return PL_CONTAINER_OF(job, struct pl_lookup, job);
}

static void become(struct pl_lookup *lookup, enum state to)
{
    lookup->state = (enum state)pl_move(&machine, lookup, lookup->state, to);
}

static void run(struct pl_job *job)
{
    struct pl_lookup *lookup = lookup_of(job);
    lookup->status = pl_fetch_resolve((struct pl_str){lookup->host, lookup->n_host}, &lookup->rules,
                                      &lookup->addresses, &lookup->err);
}

static void come_home(struct pl_job *job)
{
    struct pl_lookup *lookup = lookup_of(job);
    bool is_awaited = lookup->state == LOOKUP_AWAITED;
    become(lookup, LOOKUP_HOME);
    if (is_awaited && job->is_refused)
        lookup->status =
            pl_fail(&lookup->err, PL_LIMIT, "%.*s is too slow: the DNS lookup timed out",
                    (int)(lookup->n_host < 200 ? lookup->n_host : 200), lookup->host);
    if (is_awaited)
        lookup->done(lookup->ctx, lookup->status, &lookup->addresses, &lookup->err);
    pl_mem_free(lookup);
}

static void abandon(struct pl_job *job)
{
    pl_mem_free(lookup_of(job));
}

struct pl_lookup *pl_lookup_start(const struct pl_fetch_from *from, struct pl_str host,
                                  const struct pl_fetch_rules *rules, pl_lookup_fn *done, void *ctx)
{
    struct pl_lookup *lookup = pl_mem_alloc(1, sizeof *lookup + host.len);
    if (!lookup)
        return NULL;
    *lookup = (struct pl_lookup){
        .job = {.lane = PL_WORK_LOOKUP,
                .owner = from->owner,
                .wait_ms = rules->total_ms ? rules->total_ms : PL_FETCH_TOTAL_MS,
                .run = run,
                .done = come_home,
                .abandon = abandon},
        .rules = {.resolve = rules->resolve, .ctx = rules->ctx},
        .done = done,
        .ctx = ctx,
        .n_host = host.len,
    };
    memcpy(lookup->host, host.ptr, host.len);
    pl_workers_submit(from->workers, from->loop, &lookup->job);
    return lookup;
}

void pl_lookup_leave(struct pl_lookup *lookup)
{
    if (lookup)
        become(lookup, LOOKUP_LEFT);
}
