#include "unit/ext/run/ext_world.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const variables[] = {"PLAIN=value", "OTHER=hidden", NULL};
static struct ext_world *now; /* only one at a time */

/* --- the store -------------------------------------------------------------------------------- */

struct commit {
    struct pl_letter letter;
    pl_batch_done_fn *done;
    void *ctx;
    enum pl_status status;
};

static void on_committed(struct pl_letter *letter)
{
    struct commit *commit = PL_CONTAINER_OF(letter, struct commit, letter);
    struct pl_error err = {0};
    if (commit->status != PL_OK)
        (void)pl_fail(&err, commit->status, "the disk is full");
    commit->done(commit->ctx, commit->status, &err);
    free(commit);
}

void __wrap_pl_store_submit(struct pl_store *store, struct pl_loop *home, struct pl_batch *batch,
                            pl_batch_done_fn *done, void *ctx);
/* Its own memory is not the host's, so no fault is injected here. */
void __wrap_pl_store_submit(struct pl_store *store, struct pl_loop *home, struct pl_batch *batch,
                            pl_batch_done_fn *done, void *ctx)
{
    struct commit *commit = calloc(1, sizeof *commit);
    (void)store;
    if (!commit)
        abort();
    *commit = (struct commit){{.open = on_committed}, done, ctx, now->store_status};
    if (commit->status == PL_OK)
        now->n_rows += pl_batch_n_writes(batch) - 1; /* the lock of the audit is one write, too */
    pl_batch_destroy(batch);
    pl_loop_post(home, &commit->letter);
}

/* --- the world -------------------------------------------------------------------------------- */

static struct pl_ext_known *known_of(size_t which, const char *profile, const char *payload)
{
    static const char ids[][2] = {"a", "b", "c"};
    struct pl_ext_known *known = pl_mem_alloc(1, sizeof *known);
    if (!known)
        return NULL;
    *known = (struct pl_ext_known){.n_refs = 1};
    pl_arena_init(&known->arena, 0);
    known->package.id = pl_str_of(ids[which]);
    known->package.runtime = PL_EXT_RUNTIME_REMOTE;
    known->package.artifact = PL_STR("art");
    if (!pl_ext_policy_of_profile(pl_str_of(profile), &known->package.policy) ||
        pl_ext_registered_create(pl_str_of(payload), PL_STR("art"), NULL, 0, &known->registered,
                                 NULL) != PL_OK) {
        pl_ext_known_release(known);
        return NULL;
    }
    known->package.manifest = known->registered->said.manifest;
    return known;
}

static void on_stopped(struct pl_loop_hook *hook)
{
    (void)hook;
}

static bool connect_one(struct ext_world *world, size_t which, struct pl_ext_known *known)
{
    struct ext_world_one *one = &world->ones[which];
    struct pl_ext_refusal refusal;
    one->place = pl_ext_place_get(&world->exts, known->package.id, PL_STR("user_1"));
    one->wire = one->place ? pl_ext_wire_create() : NULL;
    if (!one->wire)
        return false;
    pl_ext_place_connect(one->place, one->wire, &refusal);
    struct pl_ext_instance *instance = one->place->instance;
    if (!instance)
        return false;
    pl_ext_instance_become(instance, PL_EXT_LIFE_VALIDATING);
    pl_ext_instance_become(instance, PL_EXT_LIFE_RESOLVING_CAPS);
    pl_ext_instance_become(instance, PL_EXT_LIFE_READY);
    instance->is_remote = false;
    instance->registered = pl_ext_registered_hold(known->registered);
    instance->first = pl_ext_registered_hold(known->registered);
    return true;
}

static bool fill(struct ext_world *world, const char *profile, const char *const *payloads)
{
    struct pl_ext_set *set = pl_mem_alloc(1, sizeof *set + PL_EXT_WORLD_MOST * sizeof *set->items);
    if (!set)
        return false;
    *set = (struct pl_ext_set){.n_refs = 1};
    world->ext.set = set;
    for (size_t i = 0; i < world->n; i++) {
        struct pl_ext_known *known = known_of(i, profile, payloads[i]);
        if (!known)
            return false;
        set->items[set->n++] = known;
        if (!connect_one(world, i, known))
            return false;
    }
    ext_world_settle(world);
    return true;
}

struct ext_world *ext_world_open(const char *profile, const char *const *payloads, size_t n)
{
    struct ext_world *world = calloc(1, sizeof *world);
    if (!world)
        abort();
    now = world;
    world->n = n;
    world->setup.config.ext_env = variables;
    world->shard = (struct pl_shard){.server = &world->server, .setup = &world->setup};
    world->server.ext = &world->ext;
    world->server.shards[0] = &world->shard;
    world->server.n_shards = 1;
    pthread_mutex_init(&world->ext.lock, NULL);
    if (pl_loop_create(&world->shard.loop, NULL) == PL_OK) {
        world->exts = (struct pl_ext_shard){
            .shard = &world->shard, .host = &world->ext, .loop = world->shard.loop};
        world->shard.exts = &world->exts;
        if (fill(world, profile, payloads))
            return world;
    }
    ext_world_close(world);
    return NULL;
}

void ext_world_close(struct ext_world *world)
{
    if (!world)
        return;
    world->exts.is_stopping = true;
    world->exts.stop_hook.fn = on_stopped;
    for (size_t i = 0; i < world->n; i++) {
        struct ext_world_one *one = &world->ones[i];
        if (one->place && one->place->instance)
            pl_ext_instance_end(one->place->instance, PL_EXT_LIFE_KILLED, "the test ends");
    }
    if (world->shard.loop)
        (void)pl_loop_settle(world->shard.loop);
    for (size_t i = 0; i < world->n; i++) {
        if (world->ones[i].place)
            pl_ext_place_destroy(world->ones[i].place);
        pl_ext_wire_release(world->ones[i].wire);
    }
    if (world->shard.loop)
        (void)pl_loop_settle(world->shard.loop);
    pl_table_deinit(&world->exts.places);
    pl_table_deinit(&world->exts.questions);
    if (world->shard.loop) {
        pl_ext_audit_write(&world->exts);
        pl_timer_stop(world->shard.loop, &world->exts.gather);
    }
    pl_batch_destroy(world->exts.gathered);
    pl_buf_deinit(&world->exts.spare);
    pl_ext_logs_deinit(&world->ext);
    pl_ext_rans_deinit(&world->ext);
    pl_ext_set_release(world->ext.set);
    pthread_mutex_destroy(&world->ext.lock);
    if (world->shard.loop)
        pl_loop_destroy(world->shard.loop);
    now = NULL;
    free(world);
}

/* --- talking ---------------------------------------------------------------------------------- */

struct pl_ext_instance *ext_world_instance(struct ext_world *world, size_t which)
{
    return world->ones[which].place->instance;
}

void ext_world_settle(struct ext_world *world)
{
    while (pl_loop_settle(world->shard.loop)) {
    }
}

const char *ext_world_hear(struct ext_world *world, size_t which)
{
    struct ext_world_one *one = &world->ones[which];
    ext_world_settle(world);
    ssize_t n = read(one->wire->to_socket[0], one->heard, sizeof one->heard - 1);
    one->heard[n > 0 ? n : 0] = '\0';
    return one->heard;
}

void ext_world_say(struct ext_world *world, size_t which, const char *line)
{
    struct pl_ext_instance *instance = ext_world_instance(world, which);
    if (instance)
        pl_ext_hear_line(instance, pl_str_of(line));
    ext_world_settle(world);
}

const char *ext_world_id(struct ext_world *world, size_t which, char *to, size_t size)
{
    const char *at = strstr(world->ones[which].heard, "\"id\":\"");
    size_t n = at ? strcspn(at + 6, "\"") : 0;
    snprintf(to, size, "%.*s", (int)n, at ? at + 6 : "");
    return to;
}
