/* Adds, seals and verifies the rows of the audit log. */
#include "access/audit.h"

#include "access/key_table.h"
#include "base/mem.h"
#include "base/table.h"
#include "io/clock.h"
#include "shard/log.h"

#include <stdatomic.h>

enum { SEAL_MS = 500, MAX_ROUNDS = 64, PAGE = 500, MAX_LOST = 1000 };

#define HEAD "audit_head"

struct pl_audit {
    struct pl_server *server; /* borrowed */
    struct pl_timer timer;    /* the first shard's */
    struct pl_job job;
    bool is_sealing;
    /* Rounds since a row was added to a batch; MAX_ROUNDS: no row is expected. It is not known when
     * the batch is committed, so rows are sealed in the rounds 1, 2, 4 … 64. */
    _Atomic(int) n_rounds;
};

/* --- hashes ---------------------------------------------------------------------------------- */

/* Hashes every field with its length in front, so that no two rows hash the same text. */
static enum pl_status hash_row(const struct pl_audit_row *row, struct pl_str before,
                               uint8_t ret_hash[32])
{
    PL_CLEANUP_BUF struct pl_buf text;
    const struct pl_str parts[] = {before,      row->user_id, row->key_id,
                                   row->action, row->object,  row->detail};
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, "%lld %lld\n", (long long)row->number, (long long)row->at_ms);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        pl_buf_addf(&text, "%zu:", parts[i].len);
        pl_buf_add(&text, parts[i]);
    }
    if (text.status == PL_OK)
        pl_secret_hash(pl_buf_str(&text), ret_hash);
    return text.status;
}

static void write_head(char to[96], int64_t number, struct pl_str hash)
{
    int n = snprintf(to, 96, "%lld:", (long long)number);
    for (size_t i = 0; i < hash.len && n > 0 && n + 3 < 96; i++)
        n += snprintf(to + n, 3, "%02x", (unsigned char)hash.ptr[i]);
}

/* The head of the chain; empty: nothing is sealed yet. */
static enum pl_status read_head(struct pl_store *store, struct pl_arena *arena,
                                struct pl_str *ret_head, struct pl_error *err)
{
    enum pl_status status = pl_store_setting_get(store, arena, PL_STR(HEAD), ret_head, err);
    if (status == PL_NOT_FOUND)
        *ret_head = (struct pl_str){0};
    return status == PL_NOT_FOUND ? PL_OK : status;
}

/* Reads the head before the rows: if another node seals rows meanwhile, the batch fails and the
 * rows are read again. */
static enum pl_status seal_page(struct pl_store *store, bool *ret_has_more, struct pl_error *err)
{
    struct pl_str old_head = {0};
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_audit_row last;
    struct pl_audit_page page = {0};
    uint8_t hash[32];
    char head[96];
    enum pl_status status = read_head(store, &arena, &old_head, err);
    if (status == PL_OK)
        status = pl_store_audit_last(store, &arena, &last, err);
    if (status == PL_OK)
        status = pl_store_audit_list(store, &arena, PL_AUDIT_UNSEALED, 0, PAGE, &page, err);
    *ret_has_more = page.has_more;
    struct pl_batch *batch = status == PL_OK && page.n_rows ? pl_batch_create() : NULL;
    if (!batch)
        return status == PL_OK && page.n_rows ? PL_NOMEM : status;
    struct pl_str before = last.number ? last.hash : PL_STR("");
    pl_batch_begin_seal(batch, PL_STR(HEAD), old_head);
    for (size_t i = 0; i < page.n_rows && status == PL_OK; i++) {
        status = hash_row(&page.rows[i], before, hash);
        before = pl_arena_dup(&arena, (struct pl_str){(const char *)hash, 32});
        if (!before.ptr)
            status = PL_NOMEM;
        if (status == PL_OK)
            pl_batch_seal_audit(batch, page.rows[i].number, before);
    }
    if (status != PL_OK) {
        pl_batch_destroy(batch);
        return status;
    }
    write_head(head, page.rows[page.n_rows - 1].number, before);
    pl_batch_put_setting(batch, PL_STR(HEAD), pl_str_of(head));
    return pl_store_commit(store, batch, err);
}

enum pl_status pl_audit_seal(struct pl_store *store, struct pl_error *err)
{
    bool has_more = true;
    enum pl_status status = PL_OK;
    for (int n_lost = 0; has_more && status == PL_OK;) {
        status = seal_page(store, &has_more, err);
        /* Another node has just sealed some of them. */
        if (status == PL_NOT_FOUND && n_lost++ < MAX_LOST) {
            has_more = true;
            status = PL_OK;
        }
    }
    return status;
}

/* --- verifying ------------------------------------------------------------------------------- */

/* Whether the last sealed row matches the stored head. */
static enum pl_status check_head(struct pl_store *store, struct pl_arena *arena, int64_t number,
                                 struct pl_str hash, struct pl_audit_check *check,
                                 struct pl_error *err)
{
    struct pl_str kept = {0};
    char head[96];
    enum pl_status status = pl_store_setting_get(store, arena, PL_STR(HEAD), &kept, err);
    if (status == PL_NOT_FOUND && !number)
        return PL_OK;
    write_head(head, number, hash);
    if (status == PL_OK && pl_str_eq(kept, pl_str_of(head)))
        return PL_OK;
    if (status == PL_OK || status == PL_NOT_FOUND) {
        check->broken_at = number ? number : 1;
        check->what = "rows after this one are missing";
        return PL_OK;
    }
    return status;
}

enum pl_status pl_audit_verify(struct pl_store *store, struct pl_audit_check *ret_check,
                               struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_audit_check check = {0};
    struct pl_audit_page page = {.has_more = true};
    uint8_t hash[32];
    int64_t number = 0, sealed = 0;
    struct pl_str before = PL_STR("");
    enum pl_status status = PL_OK;
    while (status == PL_OK && page.has_more && !check.broken_at) {
        status = pl_store_audit_list(store, &arena, PL_AUDIT_OLDEST, number, PAGE, &page, err);
        for (size_t i = 0; status == PL_OK && i < page.n_rows && !check.broken_at; i++) {
            const struct pl_audit_row *row = &page.rows[i];
            number = row->number;
            check.n_rows++;
            check.n_unsealed += !row->hash.len;
            status = hash_row(row, before, hash);
            bool is_right = row->hash.len == 32 && memcmp(row->hash.ptr, hash, 32) == 0;
            if (row->hash.len && !is_right)
                check.what = "this row was changed, or one before it was removed or put in";
            else if (row->hash.len && check.n_unsealed)
                check.what = "a row before this one was put in";
            check.broken_at = check.what ? number : 0;
            if (row->hash.len)
                sealed = number, before = row->hash;
        }
    }
    if (status == PL_OK && !check.broken_at)
        status = check_head(store, &arena, sealed, before, &check, err);
    if (status == PL_OK)
        *ret_check = check;
    return status;
}

/* --- adding ---------------------------------------------------------------------------------- */

void pl_audit_add(struct pl_exchange *x, struct pl_batch *batch, const char *action,
                  struct pl_str object, struct pl_str detail)
{
    if (!batch)
        return;
    pl_batch_add_audit(batch, &(struct pl_audit_row){
                                  .at_ms = pl_clock_unix_ms(),
                                  .user_id = x->caller.user_id,
                                  .key_id = x->caller.key_id,
                                  .action = pl_str_of(action),
                                  .object = object,
                                  .detail = detail,
                              });
    pl_audit_expect(x->shard->server->audit);
}

void pl_audit_expect(struct pl_audit *audit)
{
    if (audit)
        atomic_store(&audit->n_rounds, 0);
}

static void told(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_shard *shard = ctx;
    if (status != PL_OK)
        pl_log_say(shard->server->log, shard, PL_LOG_WARNING, "audit: a row is missing: %s",
                   err->message);
}

void pl_audit_tell(struct pl_exchange *x, const char *action, struct pl_str object)
{
    struct pl_batch *batch = pl_batch_create();
    pl_audit_add(x, batch, action, object, (struct pl_str){0});
    if (batch)
        pl_store_submit(x->shard->server->store, x->shard->loop, batch, told, x->shard);
}

/* --- sealing --------------------------------------------------------------------------------- */

static void on_timer(struct pl_timer *timer);

static void seal_run(struct pl_job *job)
{
    struct pl_audit *audit = PL_CONTAINER_OF(job, struct pl_audit, job);
    struct pl_error err = {0};
    if (pl_audit_seal(audit->server->store, &err) == PL_OK)
        return;
    atomic_store(&audit->n_rounds, 0);
    pl_log_say(audit->server->log, NULL, PL_LOG_WARNING, "audit: rows could not be sealed: %s",
               err.message);
}

static void seal_done(struct pl_job *job)
{
    struct pl_audit *audit = PL_CONTAINER_OF(job, struct pl_audit, job);
    if (job->is_refused) /* seal them in the next round */
        atomic_store(&audit->n_rounds, 0);
    audit->is_sealing = false;
}

static bool is_round_due(struct pl_audit *audit)
{
    if (audit->is_sealing || atomic_load(&audit->n_rounds) >= MAX_ROUNDS)
        return false;
    int round = atomic_fetch_add(&audit->n_rounds, 1) + 1;
    return (round & (round - 1)) == 0;
}

static void on_timer(struct pl_timer *timer)
{
    struct pl_audit *audit = PL_CONTAINER_OF(timer, struct pl_audit, timer);
    struct pl_loop *loop = audit->server->shards[0]->loop;
    if (is_round_due(audit)) {
        audit->is_sealing = true;
        audit->job = (struct pl_job){
            .wait_ms = audit->server->shards[0]->setup->config.queue_wait_ms,
            .run = seal_run,
            .done = seal_done,
        };
        pl_workers_submit(audit->server->workers, loop, &audit->job);
    }
    pl_timer_start(loop, timer, SEAL_MS, on_timer);
}

enum pl_status pl_audit_create(struct pl_server *server, struct pl_audit **ret_audit,
                               struct pl_error *err)
{
    struct pl_audit *audit = pl_mem_alloc(1, sizeof *audit);
    if (!audit)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *audit = (struct pl_audit){.server = server, .n_rounds = MAX_ROUNDS};
    enum pl_status status = pl_audit_seal(server->store, err);
    if (status != PL_OK) {
        pl_mem_free(audit);
        return status;
    }
    *ret_audit = audit;
    return PL_OK;
}

void pl_audit_start(struct pl_audit *audit)
{
    pl_timer_start(audit->server->shards[0]->loop, &audit->timer, SEAL_MS, on_timer);
}

void pl_audit_stop(struct pl_audit *audit)
{
    struct pl_error err = {0};
    if (!audit || !audit->server->n_shards)
        return;
    pl_timer_stop(audit->server->shards[0]->loop, &audit->timer);
    if (pl_audit_seal(audit->server->store, &err) != PL_OK)
        pl_log_say(audit->server->log, NULL, PL_LOG_WARNING,
                   "audit: the last rows could not be sealed: %s", err.message);
}

void pl_audit_destroy(struct pl_audit *audit)
{
    pl_mem_free(audit);
}
