/* The isolation of an extension at its last run, per user: the parts of its cell, and the number
 * of restarts. If it has not run since the server started: the isolation that this machine
 * supports. Any thread. */
#include "ext/run/ext_int.h"

#include "base/mem.h"
#include "io/clock.h"
#include "shard/setup.h"

#include <stdio.h>

struct pl_ext_ran {
    struct pl_table_link link; /* key: "extension\nuser" */
    struct pl_ext_walls walls;
    bool is_running;
    unsigned n_restarts;
    char key[];
};

enum { MAX_KEY = 200, PROBED_MS = 60000 };

static struct pl_str key_of(char *to, struct pl_str extension_id, struct pl_str user_id)
{
    int n = snprintf(to, MAX_KEY, "%.*s\n%.*s", PL_STR_ARG(extension_id), PL_STR_ARG(user_id));
    return (struct pl_str){to, n > 0 && n < MAX_KEY ? (size_t)n : 0};
}

/* Under the lock; NULL: not found, or out of memory. */
static struct pl_ext_ran *find(struct pl_ext_server *host, struct pl_str key, bool is_made)
{
    struct pl_table_link *link = key.len ? pl_table_get(&host->ran, key) : NULL;
    if (link || !is_made || !key.len)
        return link ? PL_CONTAINER_OF(link, struct pl_ext_ran, link) : NULL;
    struct pl_ext_ran *ran = pl_mem_alloc(1, sizeof *ran + key.len);
    if (!ran)
        return NULL;
    *ran = (struct pl_ext_ran){0};
    memcpy(ran->key, key.ptr, key.len);
    ran->link.key = (struct pl_str){ran->key, key.len};
    if (pl_table_put(&host->ran, &ran->link))
        return ran;
    pl_mem_free(ran);
    return NULL;
}

void pl_ext_ran_tell(const struct pl_ext_place *place, const struct pl_cell *cell, bool is_running)
{
    struct pl_ext_server *host = place->exts->host;
    char room[MAX_KEY];
    struct pl_str key = key_of(room, place->extension_id, place->user_id);
    pthread_mutex_lock(&host->lock);
    struct pl_ext_ran *ran = find(host, key, is_running);
    if (ran) {
        ran->is_running = is_running;
        ran->n_restarts = place->n_restarts;
        if (cell)
            ran->walls = (struct pl_ext_walls){
                .level = cell->level, .parts = cell->parts, .landlock_abi = cell->landlock_abi};
    }
    pthread_mutex_unlock(&host->lock);
}

void pl_ext_rans_deinit(struct pl_ext_server *host)
{
    struct pl_table_link *link;
    while ((link = pl_table_next(&host->ran, NULL))) {
        pl_table_remove(&host->ran, link);
        pl_mem_free(PL_CONTAINER_OF(link, struct pl_ext_ran, link));
    }
    pl_table_deinit(&host->ran);
}

/* --- the isolation that this machine supports ------------------------------------------------- */

/* Probes again after a minute: a person may have corrected it. Blocks. False: no process can be
 * started. */
static bool probe(struct pl_ext_server *host, struct pl_ext_walls *ret_walls)
{
    struct pl_cell_probe found;
    pthread_mutex_lock(&host->lock);
    bool is_new = host->probed_ms && pl_clock_unix_ms() - host->probed_ms < PROBED_MS;
    *ret_walls = host->probed;
    pthread_mutex_unlock(&host->lock);
    if (is_new)
        return true;
    if (pl_cell_probe(NULL, 0, &found, NULL) != PL_OK)
        return false;
    *ret_walls = (struct pl_ext_walls){found.level, found.has, found.landlock_abi};
    pthread_mutex_lock(&host->lock);
    host->probed = *ret_walls;
    host->probed_ms = pl_clock_unix_ms();
    pthread_mutex_unlock(&host->lock);
    return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* A wall stands if one of these parts exists; 0: always. `spare` is its text if another part
 * does its work. */
static const struct {
    const char *name;
    unsigned parts;
    const char *says;
    unsigned without;
    const char *spare;
} walls[] = {
    {"uid", PL_CELL_HAS(UID), "a user that is not root", 0, NULL},
    {"namespaces", PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP),
     "its own processes, mounts and network", PL_CELL_HAS(NAMESPACES), "made by bubblewrap"},
    {"root", PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP), "an empty root with its own files", 0,
     NULL},
    {"landlock", PL_CELL_HAS(LANDLOCK), "files, TCP and signals", 0, NULL},
    {"seccomp", PL_CELL_HAS(SECCOMP), "a list of system calls", 0, NULL},
    {"limits", 0, "32 processes, 1,024 descriptors, 64 MiB files", 0, NULL},
    {"memory", PL_CELL_HAS(CGROUP) | PL_CELL_HAS(PROC), "256 MiB by a cgroup", PL_CELL_HAS(CGROUP),
     "256 MiB, watched"},
};

static void write_walls(const struct pl_ext_walls *has, struct pl_json_out *out)
{
    pl_json_out_key(out, "walls");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
        bool stands = !walls[i].parts || (has->parts & walls[i].parts);
        bool is_spare = walls[i].without && !(has->parts & walls[i].without);
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "name");
        pl_json_out_text(out, pl_str_of(walls[i].name));
        pl_json_out_key(out, "stands");
        pl_json_out_bool(out, stands);
        pl_json_out_key(out, "says");
        pl_json_out_text(out, pl_str_of(is_spare ? walls[i].spare : walls[i].says));
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
}

void pl_ext_sandbox_write(struct pl_ext_server *host, struct pl_str extension_id,
                          struct pl_str user_id, bool is_remote, struct pl_json_out *out)
{
    char room[MAX_KEY];
    struct pl_str key = key_of(room, extension_id, user_id);
    struct pl_ext_walls has = {0};
    bool is_running = false;
    unsigned n_restarts = 0;
    pthread_mutex_lock(&host->lock);
    const struct pl_ext_ran *ran = find(host, key, false);
    if (ran) {
        has = ran->walls;
        is_running = ran->is_running;
        n_restarts = ran->n_restarts;
    }
    pthread_mutex_unlock(&host->lock);
    bool is_known = ran || is_remote || probe(host, &has);
    pl_json_out_key(out, "is_running");
    pl_json_out_bool(out, is_running);
    pl_json_out_key(out, "restarts");
    pl_json_out_int(out, n_restarts);
    pl_json_out_key(out, "sandbox");
    pl_json_out_text(out, is_remote   ? PL_STR("remote")
                          : !is_known ? PL_STR("none")
                                      : pl_str_of(pl_cell_level_name(has.level)));
    pl_json_out_key(out, "is_measured");
    pl_json_out_bool(out, ran || is_remote);
    if (is_remote) {
        pl_json_out_key(out, "walls");
        pl_json_out_raw(out, PL_STR("[]"));
    } else {
        write_walls(&has, out);
    }
}
