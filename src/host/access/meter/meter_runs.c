/* Every call that ends becomes a run. Runs of free calls wait in memory for the next commit. */
#include "access/meter/meter_runs.h"

#include "base/mem.h"
#include "shard/shard.h"

struct pl_meter_waiting_run {
    struct pl_meter_waiting_run *next;
    struct pl_model_run run; /* strings in the arena */
    struct pl_arena arena;
    char space[512];
};

static void keep_id(char to[PL_ID_MAX], struct pl_str id)
{
    pl_meter_keep(to, PL_ID_MAX, id);
}

void pl_meter_run_begin(struct pl_shard *shard, const struct pl_meter_ask *ask,
                        struct pl_meter_call *call)
{
    const struct pl_meter_about *about = &ask->about;
    call->source = about->source ? about->source : "chat";
    call->version = about->version;
    call->started_ms = ask->now_ms;
    keep_id(call->session_id, about->session_id);
    keep_id(call->turn_id, about->turn_id);
    keep_id(call->prompt_id, about->prompt_id);
    struct pl_id_seed seed = shard ? pl_shard_seed(shard) : pl_seed_draw();
    struct pl_id id = pl_id_take(&seed, "run_");
    call->is_run_known = about->run_id.len;
    keep_id(call->run_id, about->run_id.len ? about->run_id : pl_str_of(id.text));
}

/* {NULL, 0} if it is empty. */
static struct pl_str some(const char *id)
{
    return id[0] ? pl_str_of(id) : (struct pl_str){0};
}

struct pl_model_run pl_meter_run_row(const struct pl_meter_call *call,
                                     const struct pl_meter_used *used,
                                     const struct pl_usage_row *row, int64_t now_ms)
{
    static const char *const words[] = {[PL_METER_DONE] = "completed",
                                        [PL_METER_FAILED] = "failed",
                                        [PL_METER_ABORTED] = "stopped"};
    int64_t total_ms = now_ms - call->started_ms;
    int64_t first_ms = used->first_at_ms ? used->first_at_ms - call->started_ms : -1;
    return (struct pl_model_run){
        .id = pl_str_of(call->run_id),
        .user_id = row->user_id,
        .key_id = row->key_id,
        .source = pl_str_of(call->source),
        .status = pl_str_of(words[used->outcome]),
        .model = row->model,
        .session_id = some(call->session_id),
        .turn_id = some(call->turn_id),
        .prompt_id = some(call->prompt_id),
        .error = used->error ? pl_str_of(used->error) : (struct pl_str){0},
        .version = call->version,
        .started_ms = call->started_ms,
        .first_ms = first_ms < 0 ? -1 : first_ms,
        .total_ms = total_ms > 0 ? total_ms : 0,
        .input_tokens = row->input_tokens,
        .output_tokens = row->output_tokens,
        .cached_tokens = row->cached_tokens,
        .cost_micro = used->outcome == PL_METER_FAILED ? 0 : used->cost_micro,
    };
}

static void destroy(struct pl_meter_waiting_run *waiting)
{
    pl_arena_deinit(&waiting->arena);
    pl_mem_free(waiting);
}

void pl_meter_runs_add(struct pl_meter_runs *runs, const struct pl_model_run *run)
{
    struct pl_meter_waiting_run *waiting =
        runs->n < PL_METER_RUNS_MAX ? pl_mem_alloc(1, sizeof *waiting) : NULL;
    if (!waiting)
        return;
    *waiting = (struct pl_meter_waiting_run){.run = *run};
    pl_arena_init_in(&waiting->arena, 0, waiting->space, sizeof waiting->space);
    struct pl_str *strings[] = {&waiting->run.id,        &waiting->run.user_id,
                                &waiting->run.key_id,    &waiting->run.source,
                                &waiting->run.status,    &waiting->run.model,
                                &waiting->run.turn_id,   &waiting->run.session_id,
                                &waiting->run.prompt_id, &waiting->run.error};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        struct pl_str kept =
            strings[i]->ptr ? pl_arena_dup(&waiting->arena, *strings[i]) : (struct pl_str){0};
        if (strings[i]->len && !kept.ptr) {
            destroy(waiting);
            return;
        }
        *strings[i] = kept;
    }
    if (runs->last)
        runs->last->next = waiting;
    else
        runs->first = waiting;
    runs->last = waiting;
    runs->n++;
}

/* Runs of one user mostly follow each other, so the walk is short. */
static bool is_last_of_user(const struct pl_meter_waiting_run *waiting)
{
    for (const struct pl_meter_waiting_run *at = waiting->next; at; at = at->next)
        if (pl_str_eq(at->run.user_id, waiting->run.user_id))
            return false;
    return true;
}

size_t pl_meter_runs_take(struct pl_meter_runs *runs, struct pl_batch *batch)
{
    size_t n = runs->n;
    for (const struct pl_meter_waiting_run *at = runs->first; at; at = at->next) {
        pl_batch_add_model_run(batch, &at->run);
        if (is_last_of_user(at)) {
            pl_batch_drop_gone_model_runs(batch, at->run.user_id);
            n++;
        }
    }
    if (runs->last) {
        runs->last->next = runs->taken;
        runs->taken = runs->first;
    }
    runs->first = runs->last = NULL;
    runs->n = 0;
    return n;
}

void pl_meter_runs_tell(struct pl_meter_runs *runs, struct pl_server *server, bool is_stored)
{
    while (runs->taken) {
        struct pl_meter_waiting_run *waiting = runs->taken;
        runs->taken = waiting->next;
        if (is_stored && server && server->tell_run)
            server->tell_run(server, &waiting->run);
        destroy(waiting);
    }
}

void pl_meter_runs_expire(struct pl_meter_runs *runs, struct pl_batch *batch, int64_t now_ms)
{
    if (now_ms - runs->expired_ms < 86400000)
        return;
    runs->expired_ms = now_ms;
    pl_batch_expire_model_runs(batch, now_ms - PL_METER_RUNS_MS);
}

void pl_meter_runs_deinit(struct pl_meter_runs *runs)
{
    while (runs->first) {
        struct pl_meter_waiting_run *waiting = runs->first;
        runs->first = waiting->next;
        destroy(waiting);
    }
    runs->last = NULL;
    pl_meter_runs_tell(runs, NULL, false);
}
