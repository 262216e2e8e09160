/* If a client does not read its answer, the rest of the answer moves from memory to a file without
 * a name, and is sent from there piece by piece (send.c).
 *
 *     reply ──over 1 MiB is left after a second──> file (worker) ──> pieces ──> kernel
 *
 * After that second, a slow reader occupies 1 MiB of memory at most. Files have a budget too: one
 * owner may use as much as all bodies, all owners four times that. Beyond it, or when the disk is
 * full, the connection ends: half an answer cannot become a problem. */
#include "http/exchange_int.h"

#include "base/table.h"
#include "http/connection.h"
#include "io/file/scratch.h"
#include "shard/log.h"

bool pl_spool_is_large(const struct pl_exchange_own *own)
{
    const struct pl_sending *sending = &own->sending;
    return sending->flow == PL_FLOW_NONE && !sending->read && !own->static_body.ptr &&
           sending->body.len > PL_SPOOL_BYTES;
}

bool pl_spool_is_due(const struct pl_exchange_own *own)
{
    return pl_spool_is_large(own) &&
           pl_loop_now_ms(own->x.shard->loop) - own->sending.from_ms >= PL_SPOOL_MS;
}

static void write_file(struct pl_job *job)
{
    struct pl_exchange *x = PL_CONTAINER_OF(job, struct pl_exchange, job);
    struct pl_sending *sending = &pl_exchange_own(x)->sending;
    sending->status = pl_scratch_write(sending->fd, sending->body);
}

static void keep(struct pl_str *text, char *room)
{
    if (text->len)
        memcpy(room, text->ptr, text->len);
    text->ptr = room;
}

/* Releases the data the answer was made from, too. The log still needs the user, key and model. */
static void drop_memory(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    pl_buf_deinit(&x->reply);
    pl_exchange_count_memory(own);
    if (x->route->upload || x->caller.user_id.len > sizeof own->spool_user ||
        x->caller.key_id.len > sizeof own->spool_key || x->used_model.len > sizeof own->spool_model)
        return;
    keep(&x->caller.user_id, own->spool_user);
    keep(&x->caller.key_id, own->spool_key);
    keep(&x->used_model, own->spool_model);
    x->problem_detail = (struct pl_str){0};
    x->state = NULL;
    pl_arena_deinit(&x->arena);
    pl_exchange_count_memory(own);
}

static void file_is_written(struct pl_job *job)
{
    struct pl_exchange *x = PL_CONTAINER_OF(job, struct pl_exchange, job);
    struct pl_sending *sending = &pl_exchange_own(x)->sending;
    pl_exchange_become(pl_exchange_own(x), PL_X_SEND);
    if (sending->status == PL_OK) {
        int64_t n_left = (int64_t)sending->body.len;
        sending->body = (struct pl_str){0};
        pl_exchange_file(x, sending->fd, n_left);
        drop_memory(pl_exchange_own(x));
    } else {
        pl_log_say(x->shard->server->log, x->shard, PL_LOG_WARNING,
                   "the answer to a slow reader could not be written to a file, and is cut off");
    }
    pl_exchange_wake(pl_exchange_own(x));
}

enum pl_status pl_spool_start(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    int64_t budget = (int64_t)pl_body_memory_most(x->shard) * 4;
    struct pl_body_owner owner = pl_body_owner(x->caller.user_id, x->conn->conn);
    struct pl_str who = {owner.text, owner.n};
    enum pl_taking taking =
        pl_quota_take(x->shard->server->spools, &own->spool_hold, who,
                      (int64_t)own->sending.body.len, (struct pl_quota_limits){budget, 4 * budget});
    if (taking != PL_TAKING_DONE)
        return PL_LIMIT;
    /* Opened here and not on the worker, because a new configuration may replace this one. */
    own->sending.fd = pl_scratch_open(x->shard->setup->config.data_dir);
    if (own->sending.fd < 0)
        return PL_IO;
    pl_metric_add(&x->shard->metrics, PL_METRIC_spooled_answers_total, 1);
    pl_exchange_become(own, PL_X_READING);
    pl_exchange_must_end(x);
    pl_exchange_submit(x, PL_WORK_FILE, write_file, file_is_written);
    return PL_OK;
}
