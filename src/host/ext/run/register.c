/* A registration: validated, compared with earlier ones (a worker reads the pins and the stored
 * answers), answered with what the extension may do. A later one replaces all of it and widens
 * nothing. */
#include "ext/run/broker/broker.h"

#include "base/mem.h"
#include "base/text/utc.h"
#include "shard/log.h"

#include <stdio.h>

static void refuse(struct pl_ext_instance *instance, struct pl_str id, const struct pl_error *err)
{
    char why[200];
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_ext_fault fault = {.code = PL_EXT_CODE_SCHEMA_VIOLATION, .id = id, .err = *err};
    pl_buf_init(&line, 0);
    pl_ext_frame_write_fault(&line, &fault);
    pl_ext_instance_send(instance, &line);
    snprintf(why, sizeof why, "its register was refused: %.160s", err->message);
    pl_ext_instance_end(instance, PL_EXT_LIFE_FAILED, why);
}

/* --- names ------------------------------------------------------------------------------------ */

static bool has_tool(const struct pl_ext_registered *r, struct pl_str name)
{
    for (size_t i = 0; i < r->said.n_tools; i++)
        if (!r->said.tools[i].refusal && pl_str_eq(r->said.tools[i].name, name))
            return true;
    return false;
}

/* By a built-in tool, or by an extension of the same user. */
static bool is_taken(struct pl_ext_instance *instance, const struct pl_ext_set *set,
                     struct pl_str name)
{
    struct pl_ext_server *host = instance->exts->host;
    bool is = host->above->is_tool(name);
    for (size_t i = 0; i < set->n && !is; i++) {
        struct pl_ext_known *other = set->items[i];
        if (other->package.state == PL_EXT_STATE_DISABLED ||
            pl_str_eq(other->package.id, instance->known->package.id))
            continue;
        struct pl_ext_registered *r = pl_ext_registered_of(host, other, instance->place->user_id);
        is = r && has_tool(r, name);
        pl_ext_registered_release(r);
    }
    return is;
}

static void refuse_taken(struct pl_ext_instance *instance, struct pl_ext_registered *r)
{
    struct pl_ext_set *set = pl_ext_set_hold(instance->exts->host);
    for (size_t i = 0; i < r->said.n_tools; i++)
        if (!r->said.tools[i].refusal && is_taken(instance, set, r->said.tools[i].name))
            r->said.tools[i].refusal = "the name is taken";
    pl_ext_set_release(set);
}

static bool is_foreign(const struct pl_ext_instance *instance, const struct pl_ext_registered *r)
{
    const struct pl_ext_package *package = &instance->known->package;
    bool is_named = pl_str_eq(r->said.name, package->name) || pl_str_eq(r->said.name, package->id);
    return !is_named || !pl_str_eq(r->said.version, package->version);
}

/* --- ready ------------------------------------------------------------------------------------ */

static void write_limits(struct pl_json_out *out)
{
    const struct {
        const char *key;
        int64_t value;
    } limits[] = {
        {"line_bytes", PL_EXT_LINE_BYTES},
        {"calls_at_once", PL_EXT_CALLS_AT_ONCE},
        {"calls_queued", PL_EXT_CALLS_QUEUED},
        {"calls_per_s", 50},
        {"chunk_bytes", 32 << 10},
        {"answer_bytes", 4 << 20},
    };
    pl_json_out_key(out, "limits");
    pl_json_out_open(out, '{');
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        pl_json_out_key(out, limits[i].key);
        pl_json_out_int(out, limits[i].value);
    }
    pl_json_out_close(out, '}');
}

static void put(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

static void say_ready(struct pl_ext_instance *instance)
{
    PL_CLEANUP_BUF struct pl_buf line;
    char ts[PL_UTC_SIZE];
    struct pl_ext_standing standing = {instance->known, instance->registered, instance->first,
                                       instance->is_remote};
    pl_buf_init(&line, 0);
    pl_utc_write(ts, pl_loop_unix_ms(instance->exts->loop));
    struct pl_json_out out = pl_ext_frame_begin(&line, PL_EXT_TYPE_LOG, instance->register_id);
    put(&out, "schema", PL_STR("pi.ext.log.v1"));
    put(&out, "ts", (struct pl_str){ts, PL_UTC_SIZE});
    put(&out, "level", PL_STR("info"));
    put(&out, "event", PL_STR("extension.ready"));
    put(&out, "message", PL_STR("the extension is ready"));
    pl_json_out_key(&out, "correlation");
    pl_json_out_open(&out, '{');
    put(&out, "extension_id", instance->known->package.id);
    put(&out, "scenario_id", pl_str_of(instance->id.text));
    pl_json_out_close(&out, '}');
    pl_json_out_key(&out, "data");
    pl_json_out_open(&out, '{');
    put(&out, "extension_id", instance->known->package.id);
    put(&out, "instance_id", pl_str_of(instance->id.text));
    pl_ext_standing_write(&standing, &out);
    write_limits(&out);
    put(&out, "sandbox", pl_str_of(instance->sandbox));
    pl_json_out_close(&out, '}');
    pl_ext_frame_end(&out);
    pl_ext_instance_send(instance, &line);
}

/* The first event after ready; a later registration is not a start. */
static void say_startup(struct pl_ext_instance *instance)
{
    PL_CLEANUP_BUF struct pl_buf line;
    struct pl_id_seed seed = pl_shard_seed(instance->exts->shard);
    struct pl_id id = pl_id_take(&seed, "evt_");
    pl_buf_init(&line, 0);
    if (!pl_ext_registered_wants(instance->registered, PL_EXT_HOOK_STARTUP, (struct pl_str){0},
                                 NULL))
        return;
    struct pl_json_out out = pl_ext_frame_begin(&line, PL_EXT_TYPE_EVENT_HOOK, pl_str_of(id.text));
    put(&out, "event", PL_STR("startup"));
    pl_json_out_key(&out, "data");
    pl_json_out_open(&out, '{');
    put(&out, "instance_id", pl_str_of(instance->id.text));
    put(&out, "reason", instance->place->n_restarts ? PL_STR("restart") : PL_STR("start"));
    pl_json_out_close(&out, '}');
    pl_ext_frame_end(&out);
    pl_ext_instance_send(instance, &line);
}

static void on_stored(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_server *server = ctx;
    if (status != PL_OK)
        pl_log_say(server->log, NULL, PL_LOG_WARNING,
                   "the tools of an extension could not be stored: %s", err->message);
}

/* Pins its tools; they are offered from now on, running or not. */
static void store_tools(struct pl_ext_instance *instance)
{
    const struct pl_ext_registered *r = instance->registered;
    struct pl_str id = instance->known->package.id;
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return;
    for (size_t i = 0; i < r->said.n_tools; i++) {
        const struct pl_ext_tool *tool = &r->said.tools[i];
        struct pl_extension_tool_row row = {
            .name = tool->name,
            .seen = pl_str_of(tool->hash),
            .definition = tool->parameters ? pl_json_span(&r->doc, tool->parameters)
                                           : PL_STR("{\"type\":\"object\"}"),
            .seen_ms = pl_loop_unix_ms(instance->exts->loop),
        };
        if (!tool->refusal)
            pl_batch_see_extension_tool(batch, id, &row);
    }
    pl_batch_set_extension_registered(batch, id, r->payload);
    pl_store_submit(instance->exts->shard->server->store, instance->exts->loop, batch, on_stored,
                    instance->exts->shard->server);
}

/* The record has all permanent answers: others were withdrawn. */
static void take_answers(struct pl_ext_instance *instance)
{
    pl_ext_answers_forget_always(instance->place);
    for (size_t i = 0; i < instance->n_answers; i++)
        if (pl_str_eq(instance->answers[i].manifest_hash, instance->known->row.manifest_hash))
            pl_ext_answers_keep(
                instance->place, pl_ext_capability_find(instance->answers[i].capability),
                instance->answers[i].target, (struct pl_str){0}, instance->answers[i].is_allowed);
}

static void become_ready(struct pl_ext_instance *instance)
{
    pl_ext_registered_release(instance->registered);
    instance->registered = PL_TAKE(instance->candidate);
    bool is_first = !instance->first;
    if (is_first)
        instance->first = pl_ext_registered_hold(instance->registered);
    refuse_taken(instance, instance->registered);
    take_answers(instance);
    store_tools(instance);
    if (!pl_ext_registered_put(instance->exts->host, instance->known->package.id,
                               instance->place->user_id, instance->registered)) {
        pl_ext_instance_end(instance, PL_EXT_LIFE_FAILED, "out of memory");
        return;
    }
    pl_ext_instance_become(instance, PL_EXT_LIFE_READY);
    pl_ext_audit_life(instance, "extension.ready", NULL);
    say_ready(instance);
    if (is_first && !instance->is_over)
        say_startup(instance);
    if (!instance->is_over)
        pl_ext_place_ready(instance->place);
}

/* --- comparing with earlier registrations ----------------------------------------------------- */

static void resolve_run(struct pl_job *job)
{
    struct pl_ext_instance *instance = PL_CONTAINER_OF(job, struct pl_ext_instance, job);
    struct pl_store *store = instance->exts->shard->server->store;
    struct pl_extension_tool_row *pins = NULL;
    size_t n_pins = 0;
    struct pl_ext_registered *pinned = NULL;
    instance->status = pl_store_extension_tools(
        store, &instance->job_arena, instance->known->package.id, &pins, &n_pins, &instance->err);
    if (instance->status == PL_OK)
        instance->status = pl_store_extension_answers(
            store, &instance->job_arena, instance->known->package.id, instance->place->user_id,
            &instance->answers, &instance->n_answers, &instance->err);
    if (instance->status == PL_OK)
        instance->status =
            pl_ext_registered_create(instance->candidate->payload, instance->candidate->artifact,
                                     pins, n_pins, &pinned, &instance->err);
    if (instance->status != PL_OK)
        return;
    pl_ext_registered_release(instance->candidate);
    instance->candidate = pinned;
}

static void resolve_done(struct pl_job *job)
{
    struct pl_ext_instance *instance = PL_CONTAINER_OF(job, struct pl_ext_instance, job);
    instance->is_away = false;
    if (instance->is_over) {
        pl_loop_hook_add(instance->exts->loop, &instance->bury);
        return;
    }
    if (instance->life == PL_EXT_LIFE_DRAINING)
        (void)0; /* it is being stopped: nobody waits for it */
    else if (job->is_refused)
        pl_ext_instance_end(instance, PL_EXT_LIFE_FAILED, "the server is too busy");
    else if (instance->status != PL_OK)
        pl_ext_instance_end(instance, PL_EXT_LIFE_FAILED, instance->err.message);
    else
        become_ready(instance);
    instance->answers = NULL;
    instance->n_answers = 0;
    pl_arena_reset(&instance->job_arena);
    pl_buf_deinit(&instance->long_line);
    if (instance->channel)
        pl_ext_channel_resume(instance->channel);
}

static void resolve(struct pl_ext_instance *instance)
{
    enum { RESOLVE_MS = 30000 };
    pl_ext_instance_become(instance, PL_EXT_LIFE_RESOLVING_CAPS);
    pl_ext_channel_pause(instance->channel);
    instance->is_away = true;
    instance->job = (struct pl_job){
        .owner = pl_owner_of(instance->place->user_id),
        .wait_ms = RESOLVE_MS,
        .run = resolve_run,
        .done = resolve_done,
    };
    pl_workers_submit(instance->exts->shard->server->workers, instance->exts->loop, &instance->job);
}

static bool keep_id(struct pl_ext_instance *instance, struct pl_str id)
{
    char *copy = pl_mem_alloc(1, id.len + 1);
    if (!copy)
        return false;
    memcpy(copy, id.ptr, id.len);
    pl_mem_free((char *)instance->register_id.ptr);
    instance->register_id = (struct pl_str){copy, id.len};
    return true;
}

void pl_ext_register(struct pl_ext_instance *instance, const struct pl_ext_frame *frame)
{
    struct pl_error err = {0};
    struct pl_ext_registered *said = NULL;
    pl_ext_instance_become(instance, PL_EXT_LIFE_VALIDATING);
    enum pl_status status =
        pl_ext_registered_create(pl_json_span(&frame->doc, frame->payload),
                                 instance->known->package.artifact, NULL, 0, &said, &err);
    if (status == PL_OK && is_foreign(instance, said)) {
        status =
            pl_fail(&err, PL_INVALID, "name and version must be those of the package: %.*s, %.*s",
                    PL_STR_ARG(instance->known->package.name),
                    PL_STR_ARG(instance->known->package.version));
        pl_error_point(&err, "/name");
    }
    if (status == PL_OK && !keep_id(instance, frame->id))
        status = PL_NOMEM;
    if (status != PL_OK) {
        pl_ext_registered_release(said);
        refuse(instance, frame->id, &err);
        return;
    }
    pl_ext_registered_release(instance->candidate);
    instance->candidate = said;
    resolve(instance);
}
