#include "service/admin/store_size.h"

#include "base/mem.h"
#include "base/table.h"
#include "store/store.h"

enum { MEASURE_WAIT_MS = 30 * 1000 };

struct pl_store_size {
    struct pl_server *server; /* borrowed; used by the job */
    struct pl_job job;        /* with the workers while is_measuring */
    _Atomic(bool) is_measuring;
    _Atomic(int64_t) n_bytes;
};

struct pl_store_size *pl_store_size_create(void)
{
    struct pl_store_size *size = pl_mem_alloc(1, sizeof *size);
    if (size)
        *size = (struct pl_store_size){0};
    return size;
}

void pl_store_size_destroy(struct pl_store_size *size)
{
    pl_mem_free(size);
}

int64_t pl_store_size_get(const struct pl_store_size *size)
{
    return atomic_load(&size->n_bytes);
}

static void measure_run(struct pl_job *job)
{
    struct pl_store_size *size = PL_CONTAINER_OF(job, struct pl_store_size, job);
    atomic_store(&size->n_bytes, pl_store_n_bytes(size->server->store));
    /* Returns freed memory to the system. */
    pl_mem_trim();
}

static void measure_done(struct pl_job *job)
{
    atomic_store(&PL_CONTAINER_OF(job, struct pl_store_size, job)->is_measuring, false);
}

void pl_store_size_measure(struct pl_server *server)
{
    struct pl_store_size *size = server->store_size;
    if (atomic_exchange(&size->is_measuring, true))
        return;
    size->server = server;
    /* A refused job does not change the figure; the next request measures again. */
    size->job = (struct pl_job){
        .lane = PL_WORK_FILE, .wait_ms = MEASURE_WAIT_MS, .run = measure_run, .done = measure_done};
    pl_workers_submit(server->workers, server->shards[0]->loop, &size->job);
}
