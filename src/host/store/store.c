/* Opening and closing: the driver for a URL, the schema, the writer, the readers. */
#include "store/store_int.h"
#include "base/mem.h"

static const struct {
    const char *prefix;
    const struct pl_db_ops *ops;
} schemes[] = {
    {"memory:", &pl_db_memory},
    {"sqlite:", &pl_db_sqlite},
    {"postgres://", &pl_db_postgres},
    {"postgresql://", &pl_db_postgres},
};

static enum pl_status find_ops(const char *url, const struct pl_db_ops **ret_ops,
                               struct pl_error *err)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(url, schemes[i].prefix, strlen(schemes[i].prefix)) == 0) {
            *ret_ops = schemes[i].ops;
            return PL_OK;
        }
    return pl_fail(err, PL_USAGE,
                   "this is not a store: write \"memory:\", \"sqlite:PATH\" or \"postgres://…\"");
}

enum { ANSWER_MS = 5000, AWAY_MS = 600000 };

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = pl_mem_alloc(n, 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

static void init_locks(struct pl_store *store)
{
    pthread_condattr_t steady; /* timed waits use the monotonic clock */
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&store->writer.lock, NULL);
    pthread_cond_init(&store->writer.has_work, &steady);
    pthread_cond_init(&store->writer.is_settled, NULL);
    pthread_mutex_init(&store->pool.lock, NULL);
    pthread_cond_init(&store->pool.has_idle, &steady);
    pthread_mutex_init(&store->prober.lock, NULL);
    pthread_cond_init(&store->prober.wake, &steady);
    pthread_condattr_destroy(&steady);
}

static struct pl_store *create(const struct pl_store_config *config, const struct pl_db_ops *ops)
{
    struct pl_store *store = pl_mem_alloc(1, sizeof *store);
    if (!store)
        return NULL;
    *store = (struct pl_store){.ops = ops,
                               .on_fatal = config->on_fatal,
                               .on_fenced = config->on_fenced,
                               .ctx = config->ctx};
    size_t n_readers = config->n_readers ? config->n_readers : 4;
    store->pool.max = n_readers < PL_READERS_MAX ? n_readers : PL_READERS_MAX;
    store->writer.end = &store->writer.first;
    store->writer.n_wanted = 1;
    init_locks(store);
    store->place = (struct pl_db_place){
        .url = copy_text(config->url),
        .password = config->password ? copy_text(config->password) : NULL,
        .answer_ms = config->answer_ms ? config->answer_ms : ANSWER_MS,
        .away_ms = config->away_ms ? config->away_ms : AWAY_MS,
        .is_server = config->is_server,
        .on_trouble = config->on_trouble,
        .on_rewound = config->on_rewound,
        .ctx = config->ctx,
    };
    if (store->place.url && (store->place.password || !config->password))
        return store;
    pl_store_close(store);
    return NULL;
}

/* The server's lock is taken before anything is changed. */
static enum pl_status open_all(struct pl_store *store, struct pl_error *err)
{
    const struct pl_db_ops *ops = store->ops;
    enum pl_status status = PL_OK;
    if (ops->probe && store->place.is_server)
        status = ops->open(&store->place, PL_DB_PROBER, &store->prober.db, err);
    if (status == PL_OK)
        status = ops->open(&store->place, PL_DB_WRITER, &store->writer.db, err);
    if (status == PL_OK)
        status = pl_migrate(store->writer.db, err);
    if (status == PL_OK && ops->ready)
        status = ops->ready(store->writer.db, err);
    if (status == PL_OK && ops->is_shared) {
        store->pool.max = store->pool.n_open = store->pool.n_idle = 1;
        store->pool.idle[0] = PL_TAKE(store->writer.db);
    }
    if (status == PL_OK)
        status = pl_store_writer_start(store, err);
    if (status == PL_OK)
        status = pl_prober_start(store, err);
    return status;
}

enum pl_status pl_store_open(const struct pl_store_config *config, struct pl_store **ret_store,
                             struct pl_error *err)
{
    const struct pl_db_ops *ops;
    enum pl_status status = find_ops(config->url, &ops, err);
    if (status != PL_OK)
        return status;
    struct pl_store *store = create(config, ops);
    if (!store)
        return pl_fail(err, PL_NOMEM, "out of memory while opening the store");
    status = open_all(store, err);
    if (status != PL_OK) {
        pl_store_close(store);
        return status;
    }
    *ret_store = store;
    return PL_OK;
}

static void free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    pl_mem_free(text);
}

/* The writer's connection is closed after the readers, because it may tidy up after them. The
 * prober's is last: it holds the lock that keeps other servers away. */
void pl_store_close(struct pl_store *store)
{
    if (!store)
        return;
    pl_store_writer_stop(store);
    pl_prober_stop(store);
    for (size_t i = 0; i < store->pool.n_idle; i++)
        store->ops->close(store->pool.idle[i]);
    store->ops->close(store->writer.db);
    store->ops->close(store->prober.db);
    pthread_cond_destroy(&store->pool.has_idle);
    pthread_mutex_destroy(&store->pool.lock);
    pthread_cond_destroy(&store->writer.is_settled);
    pthread_cond_destroy(&store->writer.has_work);
    pthread_mutex_destroy(&store->writer.lock);
    pthread_cond_destroy(&store->prober.wake);
    pthread_mutex_destroy(&store->prober.lock);
    free_secret(store->place.url);
    free_secret(store->place.password);
    pl_mem_free(store);
}

const char *pl_store_kind(const struct pl_store *store)
{
    return store->ops->kind;
}

int64_t pl_store_schema_version(const struct pl_store *store)
{
    (void)store; /* open migrates to the newest version, or fails */
    return pl_migrations_version();
}

enum pl_status pl_store_restore(const char *url, const char *from_path, struct pl_error *err)
{
    const struct pl_db_ops *ops;
    enum pl_status status = find_ops(url, &ops, err);
    return status == PL_OK ? ops->restore(url, from_path, err) : status;
}
