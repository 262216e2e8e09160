/* The life of one run of an extension (core/extproto/life.c has the states): a worker starts its
 * cell, it registers within ten seconds, works, and is stopped or ends. Whatever ends it, each
 * of its asks fails exactly once. */
#include "ext/run/ext_int.h"

#include "base/mem.h"
#include "io/move.h"
#include "shard/log.h"
#include "shard/setup.h"

#include <signal.h>
#include <stdio.h>

static void on_fault(void *ctx, enum pl_ext_channel_fault fault);
static void on_taken(void *ctx)
{
    pl_ext_hostcalls_taken(ctx);
}
static const struct pl_ext_channel_ops channel_ops = {pl_ext_hear_line, on_fault, pl_ext_hear_said,
                                                      on_taken};

static void on_late(struct pl_timer *timer)
{
    pl_ext_instance_end(PL_CONTAINER_OF(timer, struct pl_ext_instance, timer), PL_EXT_LIFE_KILLED,
                        "it did not register within 10 seconds");
}

void pl_ext_instance_become(struct pl_ext_instance *instance, enum pl_ext_life life)
{
    struct pl_loop *loop = instance->exts->loop;
    instance->life =
        (enum pl_ext_life)pl_move(&pl_ext_life_machine, instance, instance->life, life);
    if (life == PL_EXT_LIFE_AWAITING_REGISTER)
        pl_move_limit(&pl_ext_life_machine, life, loop, &instance->timer, 0, on_late);
    else
        pl_timer_stop(loop, &instance->timer);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void destroy(struct pl_ext_instance *instance)
{
    struct pl_ext_shard *exts = instance->exts;
    pl_ext_codec_destroy(instance->codec);
    pl_ext_registered_release(instance->registered);
    pl_ext_registered_release(instance->candidate);
    pl_ext_registered_release(instance->first);
    pl_ext_known_release(instance->known);
    pl_ext_wire_release(instance->wire);
    pl_ext_calls_deinit(&instance->out);
    pl_ext_calls_deinit(&instance->in);
    pl_buf_deinit(&instance->long_line);
    pl_buf_deinit(&instance->said);
    pl_mem_free((char *)instance->register_id.ptr);
    pl_arena_deinit(&instance->arena);
    pl_arena_deinit(&instance->job_arena);
    pl_mem_free(instance);
    exts->n_live--;
    if (exts->is_stopping)
        pl_loop_hook_add(exts->loop, &exts->stop_hook);
}

/* Called at the end of the turn of the loop, because a caller may still use it until then. */
static void on_bury(struct pl_loop_hook *hook)
{
    struct pl_ext_instance *instance = PL_CONTAINER_OF(hook, struct pl_ext_instance, bury);
    if (!instance->is_away)
        destroy(instance);
}

static struct pl_ext_instance *create(struct pl_ext_place *place, struct pl_ext_known *known)
{
    struct pl_ext_shard *exts = place->exts;
    struct pl_ext_instance *instance = pl_mem_alloc(1, sizeof *instance);
    if (!instance)
        return NULL;
    struct pl_id_seed seed = pl_shard_seed(exts->shard);
    *instance = (struct pl_ext_instance){
        .place = place, .exts = exts, .known = pl_ext_known_hold(known), .secrets = exts->secrets};
    instance->id = pl_id_take(&seed, "inst_");
    instance->bury.fn = on_bury;
    pl_arena_init(&instance->arena, 0);
    pl_arena_init(&instance->job_arena, 0);
    pl_buf_init(&instance->long_line, 0);
    pl_buf_init(&instance->said, 0);
    for (int i = 0; i < PL_EXT_QUOTA_COUNT; i++)
        instance->buckets[i] = pl_ext_bucket_make((enum pl_ext_quota)i, pl_loop_now_ms(exts->loop));
    exts->n_live++;
    if (pl_ext_codec_create(&instance->codec, NULL) == PL_OK)
        return instance;
    destroy(instance);
    return NULL;
}

/* --- starting --------------------------------------------------------------------------------- */

static enum pl_cell_level least_level(const struct pl_server_config *config)
{
    enum pl_cell_level level = PL_CELL_FULL;
    if (config->ext_sandbox)
        (void)pl_cell_level_find(pl_str_of(config->ext_sandbox), &level);
    return level;
}

static void start_run(struct pl_job *job)
{
    struct pl_ext_instance *instance = PL_CONTAINER_OF(job, struct pl_ext_instance, job);
    const struct pl_ext_package *package = &instance->known->package;
    const char *const *argv = NULL;
    instance->status = pl_ext_package_verify(package, &instance->err);
    if (instance->status == PL_OK)
        instance->status =
            pl_ext_package_command(&instance->job_arena, package, &argv, &instance->err);
    if (instance->status != PL_OK)
        return;
    instance->status = pl_ext_adapter_open(instance, &instance->err);
    struct pl_ext_adapter *adapter = instance->adapter;
    struct pl_cell_spec spec = {
        .argv = argv,
        .package = {.fd = -1, .from = package->dir.ptr},
        .least = instance->least,
    };
    if (adapter) {
        spec.env = adapter->env;
        spec.mounts = adapter->mounts;
        spec.n_mounts = adapter->n_mounts;
        spec.hosts = adapter->hosts;
        spec.n_hosts = adapter->n_hosts;
    }
    if (instance->status == PL_OK)
        instance->status = pl_cell_spawn(NULL, &spec, &instance->made, &instance->err);
    pl_ext_adapter_close_mounts(adapter);
}

static void on_child_exit(void *ctx, const struct pl_cell_end *end);

static void begin(struct pl_ext_instance *instance)
{
    struct pl_cell *cell = PL_TAKE(instance->made);
    snprintf(instance->sandbox, sizeof instance->sandbox, "%s", pl_cell_level_name(cell->level));
    pl_ext_ran_tell(instance->place, cell, true);
    instance->child = pl_ext_child_take(instance->exts, cell, on_child_exit, instance);
    if (!instance->child)
        pl_ext_cell_leave(instance->exts, cell, NULL);
    else
        instance->channel = pl_ext_channel_open_pipes(instance->exts->loop, cell->in, cell->out,
                                                      cell->err, &channel_ops, instance);
    if (instance->channel)
        cell->in = cell->out = cell->err = -1;
    if (!instance->channel || !pl_ext_adapter_start(instance, cell)) {
        pl_ext_instance_end(instance, PL_EXT_LIFE_FAILED, "out of memory");
        return;
    }
    pl_ext_instance_become(instance, PL_EXT_LIFE_AWAITING_REGISTER);
    pl_ext_audit_life(instance, "extension.start", NULL);
}

static void start_done(struct pl_job *job)
{
    struct pl_ext_instance *instance = PL_CONTAINER_OF(job, struct pl_ext_instance, job);
    instance->is_away = false;
    if (instance->is_over) {
        pl_ext_cell_leave(instance->exts, PL_TAKE(instance->made), pl_ext_adapter_leave(instance));
        pl_loop_hook_add(instance->exts->loop, &instance->bury);
    } else if (job->is_refused) {
        pl_ext_instance_end(instance, PL_EXT_LIFE_FAILED, "the server is too busy to start it");
    } else if (instance->status != PL_OK) {
        pl_ext_instance_end(instance, PL_EXT_LIFE_FAILED, instance->err.message);
    } else {
        begin(instance);
    }
}

struct pl_ext_instance *pl_ext_instance_start(struct pl_ext_place *place,
                                              struct pl_ext_known *known)
{
    enum { START_MS = 30000 };
    struct pl_ext_instance *instance = create(place, known);
    if (!instance)
        return NULL;
    instance->is_away = true;
    const struct pl_server_config *config = &place->exts->shard->setup->config;
    instance->least = least_level(config);
    if (config->workspace)
        snprintf(instance->workspace, sizeof instance->workspace, "%s/%.*s", config->workspace,
                 PL_STR_ARG(place->user_id));
    instance->job = (struct pl_job){
        .lane = PL_WORK_CPU,
        .owner = pl_owner_of(place->user_id),
        .wait_ms = START_MS,
        .run = start_run,
        .done = start_done,
    };
    pl_workers_submit(place->exts->shard->server->workers, place->exts->loop, &instance->job);
    return instance;
}

struct pl_ext_instance *pl_ext_instance_connect(struct pl_ext_place *place,
                                                struct pl_ext_known *known,
                                                struct pl_ext_wire *wire)
{
    struct pl_ext_instance *instance = create(place, known);
    if (!instance)
        return NULL;
    instance->channel = pl_ext_channel_open_pipes(place->exts->loop, wire->to_socket[1],
                                                  wire->to_host[0], -1, &channel_ops, instance);
    if (!instance->channel) {
        destroy(instance);
        return NULL;
    }
    wire->to_socket[1] = wire->to_host[0] = -1;
    instance->wire = pl_ext_wire_hold(wire);
    instance->is_remote = true;
    snprintf(instance->sandbox, sizeof instance->sandbox, "remote");
    pl_ext_ran_tell(place, NULL, true);
    pl_ext_instance_become(instance, PL_EXT_LIFE_AWAITING_REGISTER);
    pl_ext_audit_life(instance, "extension.start", NULL);
    return instance;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void fail_asks(struct pl_ext_instance *instance)
{
    while (instance->asks)
        pl_ext_ask_fail(instance->asks, PL_TOOL_ERROR_INTERRUPTED,
                        "The extension %.*s ended before it answered: %s",
                        PL_STR_ARG(instance->known->package.id), instance->why);
}

/* Resources of the starting job are freed when the job is back. */
static void leave_child(struct pl_ext_instance *instance)
{
    struct pl_ext_ward *ward =
        instance->is_away && !instance->child ? NULL : pl_ext_adapter_leave(instance);
    if (instance->child)
        pl_ext_child_leave(PL_TAKE(instance->child), ward);
    else
        pl_ext_cell_leave(instance->exts, NULL, ward);
}

void pl_ext_instance_end(struct pl_ext_instance *instance, enum pl_ext_life life, const char *why)
{
    if (instance->is_over)
        return;
    struct pl_ext_place *place = instance->place;
    instance->is_over = true;
    pl_ext_instance_become(instance, life);
    if (why != instance->why)
        snprintf(instance->why, sizeof instance->why, "%s", why);
    pl_ext_audit_life(instance, "extension.exit", instance->why);
    pl_log_say(instance->exts->shard->server->log, instance->exts->shard,
               life == PL_EXT_LIFE_STOPPED ? PL_LOG_INFO : PL_LOG_WARNING, "extension %.*s %s: %s",
               PL_STR_ARG(instance->known->package.id), pl_ext_life_machine.states[life].name,
               instance->why);
    pl_ext_hear_rest(instance);
    pl_ext_hostcalls_end(instance, NULL);
    fail_asks(instance);
    pl_ext_wire_say(instance->wire,
                    life == PL_EXT_LIFE_STOPPED ? PL_WS_CLOSE_GOING_AWAY : PL_WS_CLOSE_POLICY,
                    instance->why);
    pl_ext_channel_close(PL_TAKE(instance->channel));
    leave_child(instance);
    place->instance = NULL;
    pl_loop_hook_add(instance->exts->loop, &instance->bury);
    pl_ext_place_left(place, life != PL_EXT_LIFE_STOPPED, instance->why);
    pl_ext_ran_tell(place, NULL, false);
}

static void say_exit(struct pl_ext_instance *instance)
{
    const struct pl_cell_end *end = &instance->ended;
    if (end->why == PL_CELL_WHY_MEMORY)
        snprintf(instance->why, sizeof instance->why, "its processes took too much memory");
    else if (end->why == PL_CELL_WHY_PROCESSES)
        snprintf(instance->why, sizeof instance->why, "it had too many processes");
    else if (end->code < 0)
        snprintf(instance->why, sizeof instance->why, "signal %d ended it", -end->code);
    else
        snprintf(instance->why, sizeof instance->why, "it exited with code %d", end->code);
}

static void end_by_exit(struct pl_ext_instance *instance)
{
    bool is_asked = instance->life == PL_EXT_LIFE_DRAINING;
    say_exit(instance);
    pl_ext_instance_end(instance, is_asked ? PL_EXT_LIFE_STOPPED : PL_EXT_LIFE_FAILED,
                        instance->why);
}

static void on_no_end(struct pl_timer *timer)
{
    end_by_exit(PL_CONTAINER_OF(timer, struct pl_ext_instance, timer));
}

/* Its last output is still in the pipe: waits for its end, at most a second. */
static void on_child_exit(void *ctx, const struct pl_cell_end *end)
{
    enum { REST_MS = 1000 };
    struct pl_ext_instance *instance = ctx;
    instance->has_exited = true;
    instance->ended = *end;
    pl_timer_start(instance->exts->loop, &instance->timer, REST_MS, on_no_end);
}

static void on_no_exit(struct pl_timer *timer)
{
    struct pl_ext_instance *instance = PL_CONTAINER_OF(timer, struct pl_ext_instance, timer);
    pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED,
                        "it closed its standard output and did not exit");
}

/* A closed connection is not a crash, unless it broke the protocol. */
static void end_by_socket(struct pl_ext_instance *instance)
{
    const struct pl_ext_wire *wire = instance->wire;
    bool has_said = atomic_load(&wire->has_socket_said);
    if (instance->life != PL_EXT_LIFE_DRAINING && !(has_said && wire->is_fault))
        pl_ext_instance_become(instance, PL_EXT_LIFE_DRAINING);
    pl_ext_instance_end(instance,
                        has_said && wire->is_fault ? PL_EXT_LIFE_KILLED : PL_EXT_LIFE_STOPPED,
                        has_said ? wire->socket_why : "its connection was closed");
}

static void on_fault(void *ctx, enum pl_ext_channel_fault fault)
{
    static const char *const words[] = {
        [PL_EXT_CHANNEL_LONG] = "it sent a line of more than 8 MiB",
        [PL_EXT_CHANNEL_STUCK] = "it does not read what it is sent",
        [PL_EXT_CHANNEL_MEMORY] = "out of memory",
    };
    struct pl_ext_instance *instance = ctx;
    if (fault != PL_EXT_CHANNEL_ENDED)
        pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED, words[fault]);
    else if (instance->has_exited)
        end_by_exit(instance);
    else if (instance->is_remote)
        end_by_socket(instance);
    else if (instance->life != PL_EXT_LIFE_DRAINING)
        pl_timer_start(instance->exts->loop, &instance->timer, PL_EXT_DRAIN_MS, on_no_exit);
}

/* --- stopping --------------------------------------------------------------------------------- */

static void on_stop_stage(struct pl_timer *timer)
{
    struct pl_ext_instance *instance = PL_CONTAINER_OF(timer, struct pl_ext_instance, timer);
    if (instance->has_exited) {
        end_by_exit(instance);
    } else if (instance->is_remote) {
        pl_ext_instance_end(instance, PL_EXT_LIFE_STOPPED, instance->why);
    } else if (!instance->child || instance->stop_stage++) {
        pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED, "it did not stop when it was asked to");
    } else {
        pl_ext_child_signal(instance->child, SIGTERM);
        pl_timer_start(instance->exts->loop, timer, PL_EXT_TERM_MS, on_stop_stage);
    }
}

void pl_ext_instance_stop(struct pl_ext_instance *instance, const char *why)
{
    PL_CLEANUP_BUF struct pl_buf line;
    if (instance->is_over || instance->life == PL_EXT_LIFE_DRAINING)
        return;
    if (!instance->channel) { /* it is being started */
        pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED, why);
        return;
    }
    pl_buf_init(&line, 0);
    pl_ext_instance_become(instance, PL_EXT_LIFE_DRAINING);
    snprintf(instance->why, sizeof instance->why, "%s", why);
    struct pl_json_out out =
        pl_ext_frame_begin(&line, PL_EXT_TYPE_EVENT_HOOK, pl_str_of(instance->id.text));
    pl_json_out_key(&out, "event");
    pl_json_out_text(&out, PL_STR("shutdown"));
    pl_json_out_key(&out, "data");
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "reason");
    pl_json_out_text(&out, pl_str_of(why));
    pl_json_out_key(&out, "deadline_ms");
    pl_json_out_int(&out, PL_EXT_DRAIN_MS);
    pl_json_out_close(&out, '}');
    pl_ext_frame_end(&out);
    pl_ext_instance_send(instance, &line);
    pl_ext_channel_finish(instance->channel);
    pl_timer_start(instance->exts->loop, &instance->timer, PL_EXT_DRAIN_MS, on_stop_stage);
}

/* --- speaking --------------------------------------------------------------------------------- */

void pl_ext_instance_send(struct pl_ext_instance *instance, struct pl_buf *line)
{
    if (!instance->channel)
        return;
    if (line->status != PL_OK)
        pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED, "out of memory");
    else
        pl_ext_channel_write(instance->channel, pl_buf_str(line));
}

void pl_ext_instance_send_result(struct pl_ext_instance *instance,
                                 const struct pl_ext_result *result)
{
    if (instance->channel)
        pl_ext_channel_write_result(instance->channel, result);
}

void pl_ext_instance_complain(struct pl_ext_instance *instance, enum pl_ext_code code,
                              struct pl_str id, const char *message)
{
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_ext_fault fault = {.code = code, .id = id};
    (void)pl_fail(&fault.err, PL_INVALID, "%s", message);
    pl_buf_init(&line, 0);
    pl_ext_frame_write_fault(&line, &fault);
    pl_ext_instance_send(instance, &line);
}

bool pl_ext_instance_strike(struct pl_ext_instance *instance, const char *what)
{
    char why[160];
    if (!pl_ext_strikes_add(&instance->over_quota, PL_EXT_STRIKE_OVER_QUOTA,
                            pl_loop_now_ms(instance->exts->loop)))
        return false;
    snprintf(why, sizeof why, "it went over its quota of %s three times in a minute", what);
    pl_ext_instance_end(instance, PL_EXT_LIFE_KILLED, why);
    return true;
}

bool pl_ext_instance_is_quiet(const struct pl_ext_instance *instance)
{
    return !instance->asks && !instance->hostcalls && !instance->is_away;
}
