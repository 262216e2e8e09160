/* The set of extensions. It is read from the store when the server starts and after each change;
 * readers hold it. Registrations are stored per user, so that what an extension registers for
 * one user does not replace what another user's own instance has registered. */
#include "ext/run/host_int.h"

#include "base/mem.h"
#include "shard/bell.h"
#include "shard/setup.h"
#include "store/node/shared.h"

#include <stdio.h>

struct pl_ext_entry {
    struct pl_table_link link;            /* key: "extension\nuser" */
    struct pl_ext_registered *registered; /* held */
    char key[];
};

/* --- counting --------------------------------------------------------------------------------- */

struct pl_ext_known *pl_ext_known_hold(struct pl_ext_known *known)
{
    if (known)
        atomic_fetch_add(&known->n_refs, 1);
    return known;
}

void pl_ext_known_release(struct pl_ext_known *known)
{
    if (!known || atomic_fetch_sub(&known->n_refs, 1) != 1)
        return;
    pl_ext_registered_release(known->registered);
    pl_arena_deinit(&known->arena);
    pl_mem_free(known);
}

struct pl_ext_set *pl_ext_set_hold(struct pl_ext_server *host)
{
    pthread_mutex_lock(&host->lock);
    struct pl_ext_set *set = host->set;
    atomic_fetch_add(&set->n_refs, 1);
    pthread_mutex_unlock(&host->lock);
    return set;
}

void pl_ext_set_release(struct pl_ext_set *set)
{
    if (!set || atomic_fetch_sub(&set->n_refs, 1) != 1)
        return;
    for (size_t i = 0; i < set->n; i++)
        pl_ext_known_release(set->items[i]);
    pl_mem_free(set);
}

static struct pl_ext_set *make_set(size_t n_most)
{
    struct pl_ext_set *set = pl_mem_alloc(1, sizeof *set + n_most * sizeof *set->items);
    if (set)
        *set = (struct pl_ext_set){.n_refs = 1};
    return set;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool copy_row(struct pl_ext_known *known, const struct pl_extension_row *row)
{
    struct pl_str *strings[] = {&known->row.id,
                                &known->row.name,
                                &known->row.version,
                                &known->row.runtime,
                                &known->row.artifact,
                                &known->row.manifest,
                                &known->row.manifest_hash,
                                &known->row.profile,
                                &known->row.granted,
                                &known->row.denied,
                                &known->row.state,
                                &known->row.source,
                                &known->row.last_error,
                                &known->row.registered,
                                &known->row.before_version,
                                &known->row.before_manifest};
    known->row = *row;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        struct pl_str from = *strings[i];
        *strings[i] = pl_arena_dup(&known->arena, from);
        if (!strings[i]->ptr && from.len)
            return false;
    }
    return true;
}

/* An unreadable registration counts as none: the extension registers again. */
static enum pl_status read_registered(struct pl_store *store, struct pl_ext_known *known,
                                      struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_extension_tool_row *pins = NULL;
    size_t n_pins = 0;
    pl_arena_init(&arena, 0);
    if (!known->row.registered.len)
        return PL_OK;
    enum pl_status status =
        pl_store_extension_tools(store, &arena, known->row.id, &pins, &n_pins, err);
    if (status != PL_OK)
        return status;
    status = pl_ext_registered_create(known->row.registered, known->row.artifact, pins, n_pins,
                                      &known->registered, err);
    return status == PL_NOMEM ? status : PL_OK;
}

static enum pl_status make_known(struct pl_ext_server *host, const struct pl_extension_row *row,
                                 struct pl_ext_known **ret_known, struct pl_error *err)
{
    struct pl_ext_known *known = pl_mem_alloc(1, sizeof *known);
    if (!known)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *known = (struct pl_ext_known){.n_refs = 1};
    pl_arena_init(&known->arena, 0);
    const char *data_dir = host->server->shards[0]->setup->config.data_dir;
    enum pl_status status = copy_row(known, row) ? PL_OK : pl_fail(err, PL_NOMEM, "out of memory");
    if (status == PL_OK)
        status = pl_ext_package_of_row(&known->arena, data_dir, &known->row, &known->package, err);
    if (status == PL_OK)
        status = read_registered(host->server->store, known, err);
    known->is_missing = status == PL_OK && !pl_ext_package_is_here(&known->package);
    if (status == PL_OK)
        status = pl_store_extension_quarantines(host->server->store, &known->arena, known->row.id,
                                                &known->quarantines, &known->n_quarantines, err);
    if (status == PL_OK)
        *ret_known = known;
    else
        pl_ext_known_release(known);
    return status;
}

static enum pl_status read_set(struct pl_ext_server *host, struct pl_ext_set **ret_set,
                               bool *ret_has_any, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_extension_row *rows = NULL;
    size_t n = 0;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_store_extension_list(host->server->store, &arena, &rows, &n, err);
    struct pl_ext_set *set = status == PL_OK ? make_set(n) : NULL;
    if (status == PL_OK && !set)
        status = pl_fail(err, PL_NOMEM, "out of memory");
    *ret_has_any = false;
    for (size_t i = 0; i < n && status == PL_OK; i++) {
        struct pl_ext_known *known = NULL;
        struct pl_error why = {0};
        status = make_known(host, &rows[i], &known, &why);
        if (status == PL_INVALID) { /* damaged: the others work */
            status = PL_OK;
            continue;
        }
        if (status != PL_OK && err)
            *err = why;
        if (known) {
            set->items[set->n++] = known;
            *ret_has_any |= known->package.state != PL_EXT_STATE_DISABLED;
        }
    }
    if (status == PL_OK)
        *ret_set = set;
    else
        pl_ext_set_release(set);
    return status;
}

/* Reads the version first: the rows are at least as new. */
enum pl_status pl_ext_set_read(struct pl_ext_server *host, struct pl_error *err)
{
    struct pl_ext_set *set = NULL;
    bool has_any = false;
    struct pl_ext_set *old = NULL;
    int64_t version = 0;
    pthread_mutex_lock(&host->reloading);
    enum pl_status status = pl_store_ext_version(host->server->store, &version, err);
    if (status == PL_OK)
        status = read_set(host, &set, &has_any, err);
    if (status == PL_OK) {
        atomic_store(&host->version, version);
        pthread_mutex_lock(&host->lock);
        old = host->set;
        host->set = set;
        pthread_mutex_unlock(&host->lock);
        atomic_store(&host->has_any, has_any);
    }
    pthread_mutex_unlock(&host->reloading);
    if (status != PL_OK)
        return status;
    pl_ext_set_release(old);
    pl_ext_shards_visit(host, (struct pl_str){0});
    return PL_OK;
}

enum pl_status pl_ext_server_reload(struct pl_ext_server *host, struct pl_error *err)
{
    struct pl_server *server = host->server;
    if (server->ring)
        server->ring(server, PL_BELL_EXT, (struct pl_str){0});
    return pl_ext_set_read(host, err);
}

enum pl_status pl_ext_server_create(struct pl_server *server, const struct pl_ext_above *above,
                                    struct pl_ext_server **ret_host, struct pl_error *err)
{
    struct pl_ext_server *host = pl_mem_alloc(1, sizeof *host);
    struct pl_ext_set *set = host ? make_set(0) : NULL;
    if (!set) {
        pl_mem_free(host);
        return pl_fail(err, PL_NOMEM, "out of memory");
    }
    *host = (struct pl_ext_server){.server = server, .above = above, .set = set};
    pthread_mutex_init(&host->lock, NULL);
    pthread_mutex_init(&host->reloading, NULL);
    enum pl_status status = pl_ext_set_read(host, err);
    atomic_store(&host->version, 0); /* the first renewal looks for missing files */
    if (status == PL_OK)
        *ret_host = host;
    else
        pl_ext_server_destroy(host);
    return status;
}

void pl_ext_server_destroy(struct pl_ext_server *host)
{
    struct pl_table_link *link;
    if (!host)
        return;
    while ((link = pl_table_next(&host->registered, NULL))) {
        struct pl_ext_entry *entry = PL_CONTAINER_OF(link, struct pl_ext_entry, link);
        pl_table_remove(&host->registered, link);
        pl_ext_registered_release(entry->registered);
        pl_mem_free(entry);
    }
    pl_table_deinit(&host->registered);
    pl_ext_logs_deinit(host);
    pl_ext_rans_deinit(host);
    pl_ext_set_release(host->set);
    pthread_mutex_destroy(&host->lock);
    pthread_mutex_destroy(&host->reloading);
    pl_mem_free(host);
}

bool pl_ext_server_has_any(struct pl_ext_server *host)
{
    return host && atomic_load(&host->has_any);
}

/* --- looking ---------------------------------------------------------------------------------- */

struct pl_ext_known *pl_ext_known_any(struct pl_ext_server *host, struct pl_str id)
{
    struct pl_ext_set *set = pl_ext_set_hold(host);
    struct pl_ext_known *known = NULL;
    for (size_t i = 0; i < set->n && !known; i++)
        if (pl_str_eq(set->items[i]->package.id, id))
            known = pl_ext_known_hold(set->items[i]);
    pl_ext_set_release(set);
    return known;
}

static const struct pl_extension_quarantine_row *quarantine_of(const struct pl_ext_known *known,
                                                               struct pl_str user_id)
{
    for (size_t i = 0; i < known->n_quarantines; i++)
        if (pl_str_eq(known->quarantines[i].user_id, user_id))
            return &known->quarantines[i];
    return NULL;
}

enum pl_ext_state pl_ext_known_state(const struct pl_ext_known *known, struct pl_str user_id)
{
    if (known->package.state != PL_EXT_STATE_ENABLED)
        return known->package.state;
    return quarantine_of(known, user_id) ? PL_EXT_STATE_QUARANTINED : PL_EXT_STATE_ENABLED;
}

size_t pl_ext_quarantines(struct pl_ext_server *host, struct pl_str extension_id,
                          struct pl_str user_id, bool *ret_is, char *ret_why, size_t size)
{
    struct pl_ext_known *known = pl_ext_known_any(host, extension_id);
    const struct pl_extension_quarantine_row *row = known ? quarantine_of(known, user_id) : NULL;
    size_t n = known ? known->n_quarantines : 0;
    *ret_is = row;
    snprintf(ret_why, size, "%.*s", row ? (int)row->error.len : 0, row ? row->error.ptr : "");
    pl_ext_known_release(known);
    return n;
}

enum { MAX_KEY = 200 };

/* Ids have at most 64 and 48 bytes. */
static struct pl_str key_of(char *to, struct pl_str extension_id, struct pl_str user_id)
{
    if (extension_id.len + user_id.len + 1 > MAX_KEY)
        return (struct pl_str){0};
    memcpy(to, extension_id.ptr, extension_id.len);
    to[extension_id.len] = '\n';
    memcpy(to + extension_id.len + 1, user_id.ptr, user_id.len);
    return (struct pl_str){to, extension_id.len + 1 + user_id.len};
}

struct pl_ext_registered *pl_ext_registered_of(struct pl_ext_server *host,
                                               const struct pl_ext_known *known,
                                               struct pl_str user_id)
{
    char room[MAX_KEY];
    struct pl_ext_registered *found = NULL;
    struct pl_str key = key_of(room, known->package.id, user_id);
    pthread_mutex_lock(&host->lock);
    struct pl_table_link *link = key.len ? pl_table_get(&host->registered, key) : NULL;
    if (link) {
        found = PL_CONTAINER_OF(link, struct pl_ext_entry, link)->registered;
        found = pl_str_eq(found->artifact, known->package.artifact) ? found : NULL;
        pl_ext_registered_hold(found);
    }
    pthread_mutex_unlock(&host->lock);
    return found ? found : pl_ext_registered_hold(known->registered);
}

bool pl_ext_registered_put(struct pl_ext_server *host, struct pl_str extension_id,
                           struct pl_str user_id, struct pl_ext_registered *registered)
{
    char room[MAX_KEY];
    struct pl_str key = key_of(room, extension_id, user_id);
    struct pl_ext_entry *entry = key.len ? pl_mem_alloc(1, sizeof *entry + key.len) : NULL;
    struct pl_ext_registered *old = NULL;
    if (!entry)
        return false;
    *entry = (struct pl_ext_entry){.registered = pl_ext_registered_hold(registered)};
    memcpy(entry->key, key.ptr, key.len);
    entry->link.key = (struct pl_str){entry->key, key.len};
    pthread_mutex_lock(&host->lock);
    struct pl_table_link *link = pl_table_get(&host->registered, key);
    bool is_kept = link || pl_table_put(&host->registered, &entry->link);
    if (link) {
        struct pl_ext_entry *there = PL_CONTAINER_OF(link, struct pl_ext_entry, link);
        old = there->registered;
        there->registered = entry->registered;
    }
    pthread_mutex_unlock(&host->lock);
    if (!is_kept)
        pl_ext_registered_release(entry->registered);
    if (link || !is_kept)
        pl_mem_free(entry);
    pl_ext_registered_release(old);
    return is_kept;
}
