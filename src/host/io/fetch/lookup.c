/* Looking a name up. getaddrinfo cannot be stopped, so it has a lane of its own, with threads that
 * nobody else needs; whoever waits for it may leave at any time, and the look-up ends alone. */
#include "io/fetch_int.h"

#include "base/mem.h"
#include "base/table.h"

struct pl_lookup {
    struct pl_job job;
    struct pl_fetch_rules rules; /* only what resolves */
    pl_lookup_fn *done;          /* the loop's; NULL: they have left */
    void *ctx;
    enum pl_status status;
    struct pl_error err;
    struct pl_addresses addresses;
    size_t n_host;
    char host[]; /* the one that is asked for */
};

static struct pl_lookup *lookup_of(struct pl_job *job)
{
    return PL_CONTAINER_OF(job, struct pl_lookup, job);
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
    if (lookup->done && job->is_refused)
        lookup->status =
            pl_fail(&lookup->err, PL_LIMIT, "%.*s is too slow: its name was not looked up in time",
                    (int)(lookup->n_host < 200 ? lookup->n_host : 200), lookup->host);
    if (lookup->done)
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
        lookup->done = NULL;
}
