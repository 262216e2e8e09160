/* The life of a simulated node: see machine.h. Its start follows server/server.c without the parts
 * that are missing here: sockets, routes, the gateway, care, backups, retention. The wiring of the
 * node is the program's own (server/cluster.c). */
#include "machine.h"

#include "access/audit.h"
#include "access/key_table.h"
#include "access/meter/meter.h"
#include "agent/background/unattended.h"
#include "agent/driver.h"
#include "agent/running_turns.h"
#include "agent/tools/tools.h"
#include "base.h"
#include "base/mem.h"
#include "base/table.h"
#include "bus.h"
#include "ext/run/ext.h"
#include "http/limits/quota.h"
#include "io/clock.h"
#include "io/file/file.h"
#include "io/file/outfile.h"
#include "kernel.h"
#include "live/hub.h"
#include "model/model.h"
#include "node/node.h"
#include "server/cluster.h"
#include "server/setup.h"
#include "service/tasks/scheduler.h"
#include "service/tasks/zones.h"
#include "shard/log.h"
#include "store/store.h"
#include "transaction/idempotency.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct machine {
    enum machine_state state;
    uint64_t life;
    struct pl_server_own *own;
    int64_t frozen_us; /* start of the freeze */
    char disk[256];    /* the file `node` of its data directory */
    size_t n_disk;
} machines[MACHINES_MAX];
static size_t n_machines, n_shards;

void machines_begin(size_t n, size_t shards)
{
    memset(machines, 0, sizeof machines);
    n_machines = n;
    n_shards = shards;
}

int machine_owner(size_t i)
{
    return (int)i + 1;
}

static struct machine *here(void)
{
    return &machines[sim_owner() - 1];
}

enum machine_state machine_state(size_t i)
{
    return machines[i].state;
}

bool machine_is_frozen(size_t i)
{
    return sim_is_frozen(machine_owner(i));
}

bool machine_looks_ready(size_t i)
{
    return machines[i].state == MACHINE_SERVING &&
           (!machine_is_frozen(i) || sim_now_us() - machines[i].frozen_us < 2 * SIM_S);
}

uint64_t machine_life(size_t i)
{
    return machines[i].life;
}

struct pl_server *machine_server(size_t i)
{
    return machines[i].state == MACHINE_SERVING ? &machines[i].own->server : NULL;
}

/* --- its disk -------------------------------------------------------------------------------- */

enum pl_status __wrap_pl_file_write(const char *path, struct pl_str bytes, struct pl_error *err)
{
    (void)path, (void)err;
    struct machine *machine = here();
    machine->n_disk = bytes.len < sizeof machine->disk ? bytes.len : sizeof machine->disk;
    memcpy(machine->disk, bytes.ptr, machine->n_disk);
    return PL_OK;
}

enum pl_status __wrap_pl_file_read(const char *path, size_t max_bytes, const char *what,
                                   struct pl_file *ret_file, struct pl_error *err)
{
    (void)path, (void)max_bytes, (void)what;
    struct machine *machine = here();
    if (!machine->n_disk)
        return pl_fail(err, PL_NOT_FOUND, "there is no such file");
    *ret_file = (struct pl_file){.bytes = {machine->disk, machine->n_disk}};
    return PL_OK;
}

void __wrap_pl_file_close(struct pl_file *file)
{
    (void)file;
}

/* --- the process ----------------------------------------------------------------------------- */

/* The process ends, as in server.c. */
static void on_fatal(void *ctx, const struct pl_error *err)
{
    (void)ctx;
    sim_fail("the store of node %d stopped: %s", sim_owner(), err->message);
}

static void on_fenced(void *ctx)
{
    pl_node_fenced(((struct pl_server_own *)ctx)->server.node);
}

static void on_rewound(void *ctx)
{
    pl_node_rewound(((struct pl_server_own *)ctx)->server.node);
}

static void on_trouble(void *ctx, const char *text)
{
    (void)ctx;
    sim_trace("[%d] trouble: %s", sim_owner(), text);
}

static bool is_model(struct pl_shard *shard, struct pl_str name)
{
    return pl_model_find(shard->setup->models, name);
}

static bool is_tool(struct pl_str name)
{
    return pl_tools_has(name);
}

static const struct pl_ext_above above_ext = {is_tool, is_model, pl_tools_write_names, NULL};

static struct pl_server_config config_of(void)
{
    return (struct pl_server_config){
        .data_dir = "/simulated",
        .store_url = "postgres://simulated",
        .store_answer_ms = 5000,
        .store_away_ms = 600000,
        .n_shards = n_shards,
        .n_workers = 2,
        .queue_wait_ms = 30000,
        .body_memory_mib = 256,
        .drain_ms = 30000,
        .log_level = 2,
        .default_model = "demo/slow",
        .demo_word_ms = 20,
        .answer_ms = 1800000,
        .client_tool_ms = 600000,
        .turn_ms = 1800000,
        .task_ms = 1800000,
        .has_schedules = true,
    };
}

static enum pl_status open_store(struct pl_server_own *own, struct pl_error *err)
{
    struct pl_store_config config = {
        .url = own->setup->config.store_url,
        .n_readers = 4,
        .is_server = true,
        .answer_ms = own->setup->config.store_answer_ms,
        .away_ms = own->setup->config.store_away_ms,
        .on_fatal = on_fatal,
        .on_fenced = on_fenced,
        .on_rewound = on_rewound,
        .on_trouble = on_trouble,
        .ctx = own,
    };
    return pl_store_open(&config, &own->server.store, err);
}

static enum pl_status make_shard(struct pl_server_own *own, size_t index, struct pl_error *err)
{
    struct pl_shard_own *shard = pl_mem_alloc(1, sizeof *shard);
    *shard = (struct pl_shard_own){
        .shard = {.index = index, .server = &own->server, .setup = own->setup}};
    own->server.shards[index] = &shard->shard;
    own->server.n_shards = index + 1;
    enum pl_status status = pl_loop_create(&shard->shard.loop, err);
    if (status == PL_OK)
        status = pl_hub_create(&shard->shard, &shard->shard.hub);
    if (status == PL_OK)
        status = pl_drivers_create(&shard->shard, &shard->shard.drivers);
    if (status == PL_OK)
        status = pl_node_seats_create(&shard->shard, &shard->shard.seats);
    if (status == PL_OK)
        status = pl_ext_shard_create(&shard->shard, &shard->shard.exts);
    return status;
}

static void *run_loop(void *arg)
{
    pl_loop_run(((struct pl_shard *)arg)->loop);
    return NULL;
}

static enum pl_status prepare(struct pl_server_own *own, struct pl_error *err)
{
    struct pl_server *server = &own->server;
    enum pl_status status = open_store(own, err);
    if (status == PL_OK)
        status = pl_cluster_enter(own, err);
    if (status == PL_OK)
        status = pl_auth_create(server->store, &server->auth, err);
    if (status == PL_OK)
        status = pl_meter_create(server, &server->meter, err);
    if (status == PL_OK)
        status = pl_audit_create(server, &server->audit, err);
    server->running = pl_running_create(pl_scheduler_tell_room);
    server->zones = pl_zones_create(NULL);
    server->unattended = pl_unattended_create();
    server->bodies = pl_quota_create();
    server->address_limit = pl_quota_create();
    server->spools = pl_quota_create();
    server->claims = pl_claims_create();
    if (status == PL_OK)
        status = pl_workers_create(own->setup->config.n_workers, &server->workers, err);
    if (status == PL_OK)
        status = pl_ext_server_create(server, &above_ext, &server->ext, err);
    for (size_t i = 0; status == PL_OK && i < own->setup->config.n_shards; i++)
        status = make_shard(own, i, err);
    if (status == PL_OK)
        status = pl_scheduler_create(server, &server->scheduler);
    if (status == PL_OK)
        status = pl_cluster_start(own, err);
    return status;
}

static void stop_machine(void *arg)
{
    size_t i = (size_t)((struct machine *)arg - machines);
    machine_kill(i, false);
    machine_start(i);
}

/* The main thread of a process. */
static void *live(void *arg)
{
    struct machine *machine = arg;
    struct pl_error err = {0};
    struct pl_server_own *own = pl_mem_alloc(1, sizeof *own);
    *own = (struct pl_server_own){.setup = pl_setup_create()};
    own->setup->config = config_of();
    own->server.started_ms = pl_clock_unix_ms();
    own->server.log = pl_log_create(own->setup->config.log_level, false);
    own->server.session_owner = &pl_driver_owner;
    own->server.claim_ops = &pl_idempotency;
    char name[16];
    snprintf(name, sizeof name, "node-%d", sim_owner());
    own->setup->config.node_name = name;
    enum pl_status status = prepare(own, &err);
    if (status != PL_OK) {
        /* As after a failed start: it is tried again. */
        sim_trace("[%d] does not start: %s", sim_owner(), err.message);
        sim_at(sim_now_us() + 500 * SIM_MS, stop_machine, machine);
        (void)sim_wait(own, INT64_MAX);
        return NULL;
    }
    for (size_t i = 1; i < own->server.n_shards; i++)
        sim_fiber_start(sim_owner(), "loop", run_loop, own->server.shards[i]);
    pl_scheduler_start(own->server.scheduler);
    pl_meter_start(own->server.meter);
    pl_audit_start(own->server.audit);
    pl_resume_queued_start(&own->requeue, &own->server);
    pl_life_go(&own->server.life, PL_LIFE_SERVING);
    machine->own = own;
    machine->state = MACHINE_SERVING;
    sim_trace("[%d] serves", sim_owner());
    pl_loop_run(own->server.shards[0]->loop);
    return NULL;
}

void machine_start(size_t i)
{
    struct machine *machine = &machines[i];
    if (machine->state != MACHINE_OFF)
        return;
    machine->state = MACHINE_STARTING;
    machine->life++;
    sim_trace("[%d] starts", machine_owner(i));
    sim_fiber_start(machine_owner(i), "main", live, machine);
}

void machine_kill(size_t i, bool is_silent)
{
    struct machine *machine = &machines[i];
    if (machine->state == MACHINE_OFF)
        return;
    sim_trace("[%d] is killed%s", machine_owner(i), is_silent ? ", with its machine" : "");
    machine->state = MACHINE_OFF;
    machine->own = NULL;
    bus_client_gone(machine_owner(i));
    base_client_gone(machine_owner(i), is_silent);
    sim_kill(machine_owner(i));
}

void machine_freeze(size_t i, bool is_frozen)
{
    sim_trace("[%d] %s", machine_owner(i), is_frozen ? "is frozen" : "goes on");
    machines[i].frozen_us = sim_now_us();
    sim_freeze(machine_owner(i), is_frozen);
}

/* --- calls on its loops ---------------------------------------------------------------------- */

struct errand {
    struct pl_letter letter;
    struct pl_shard *shard;
    void (*fn)(struct pl_shard *shard, void *ctx);
    void *ctx;
};

static void open_errand(struct pl_letter *letter)
{
    struct errand errand = *PL_CONTAINER_OF(letter, struct errand, letter);
    pl_mem_free(PL_CONTAINER_OF(letter, struct errand, letter));
    errand.fn(errand.shard, errand.ctx);
}

void machine_do(size_t i, void (*fn)(struct pl_shard *shard, void *ctx), void *ctx)
{
    struct pl_server *server = machine_server(i);
    if (!server)
        abort();
    struct pl_shard *shard = server->shards[sim_below(server->n_shards)];
    int owner = sim_set_owner(machine_owner(i));
    struct errand *errand = pl_mem_alloc(1, sizeof *errand);
    *errand = (struct errand){.letter.open = open_errand, .shard = shard, .fn = fn, .ctx = ctx};
    pl_loop_post(shard->loop, &errand->letter);
    sim_set_owner(owner);
}
