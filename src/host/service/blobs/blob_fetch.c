/* Fetches a URL into the store, piece by piece.
 *
 *     machine blob-fetch
 *
 *     FETCHING -> LOOKING -> PUTTING -> FETCHING    a piece is complete; a worker, then the store
 *     PUTTING -> FINDING -> OVER                    it was the last one: a worker reads the row
 *     FETCHING, LOOKING -> OVER                     failed
 *
 * A failure in PUTTING or FINDING waits for the store or the worker. The fetch is paused while a
 * piece is in use, so it needs the memory of one piece and of one read. */
#include "service/blobs/blob_fetch.h"

#include "access/meter/meter.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text/uuid.h"
#include "io/fetch/fetch.h"
#include "io/move.h"
#include "service/blobs/blob_inspect.h"
#include "service/blobs/fetch_slots.h"
#include "wire/url.h"

enum blob_fetch_state {
    BLOB_FETCH_FETCHING,
    BLOB_FETCH_LOOKING, /* a worker has the piece */
    BLOB_FETCH_PUTTING, /* the store has it */
    BLOB_FETCH_FINDING, /* a worker reads the row */
    BLOB_FETCH_OVER,
};

#define TO(name) PL_TO(BLOB_FETCH_##name)
static const struct pl_state states[] = {
    [BLOB_FETCH_FETCHING] = {"fetching", TO(LOOKING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                             .why = "fetch_ms, the deadline of the fetch itself"},
    [BLOB_FETCH_LOOKING] = {"looking", TO(PUTTING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_LATER,
                            .why = "queue_wait_ms in the queue; a worker always comes back"},
    [BLOB_FETCH_PUTTING] = {"putting", TO(FETCHING) | TO(FINDING), PL_WAIT_OPEN, PL_CANCEL_LATER,
                            .why = "the store always answers"},
    [BLOB_FETCH_FINDING] = {"finding", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER,
                            .why = "a worker always comes back"},
    [BLOB_FETCH_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("blob-fetch", states);

struct pl_blob_fetch {
    struct pl_blob_fetch *prev, *next; /* in the shard's list */
    struct pl_shard *shard;            /* borrowed */
    pl_blob_fetch_fn *done;
    void *ctx;
    struct pl_arena arena;
    struct pl_blob_fetch_options options; /* arena */
    struct pl_fetch_rules rules;
    struct pl_fetch *fetch; /* owned; NULL after its end */
    enum blob_fetch_state state;
    struct pl_id id;
    struct pl_buf bytes; /* owned; received bytes */
    size_t n_taken;      /* of them: already taken into pieces */
    bool is_begun;       /* the declared type is known */
    bool is_whole;       /* the fetch has ended successfully */
    bool is_last;        /* the piece in use is the last one */
    struct pl_blob_fetched result;
    /* Used only by the job or the store while a piece is with them: */
    struct pl_job job;
    struct pl_arena job_arena;
    struct pl_blob_look look;
    char *piece; /* owned */
    size_t n_piece;
    int64_t n_pieces; /* stored so far */
    enum pl_status job_status;
    struct pl_error job_err;
};

static void become(struct pl_blob_fetch *f, enum blob_fetch_state to)
{
    f->state = (enum blob_fetch_state)pl_move(&machine, f, f->state, to);
}

static bool has_failed(const struct pl_blob_fetch *f)
{
    return f->result.status != PL_OK;
}

static void destroy(struct pl_blob_fetch *f)
{
    pl_mem_free(f->piece);
    pl_buf_deinit(&f->bytes);
    pl_arena_deinit(&f->job_arena);
    pl_arena_deinit(&f->arena);
    pl_mem_free(f);
}

static void is_dropped(void *ctx, enum pl_status status, const struct pl_error *err)
{
    (void)ctx, (void)status, (void)err;
}

/* Drops pieces stored before a failure. A server that shuts down starts nothing new: its pieces are
 * swept later. */
static void drop_pieces(struct pl_blob_fetch *f)
{
    struct pl_server *server = f->shard->server;
    bool may = f->n_pieces && has_failed(f) && !pl_life_is_closing(&server->life);
    struct pl_batch *batch = may ? pl_batch_create() : NULL;
    if (!batch)
        return;
    pl_batch_drop_upload(batch, pl_str_of(f->id.text));
    pl_store_submit(server->store, f->shard->loop, batch, is_dropped, NULL);
}

static void end(struct pl_blob_fetch *f)
{
    become(f, BLOB_FETCH_OVER);
    if (f->prev)
        f->prev->next = f->next;
    else
        f->shard->fetches = f->next;
    if (f->next)
        f->next->prev = f->prev;
    pl_fetch_cancel(f->fetch);
    drop_pieces(f);
    f->done(f->ctx, &f->result);
    destroy(f);
}

static void go_on(struct pl_blob_fetch *f);

/* --- a piece --------------------------------------------------------------------------------- */

static struct pl_str piece_of(const struct pl_blob_fetch *f)
{
    return (struct pl_str){f->piece, f->n_piece};
}

static size_t n_waiting(const struct pl_blob_fetch *f)
{
    return f->bytes.len - f->n_taken;
}

/* Copies the piece, because more bytes arrive while it is in use. */
static void take_piece(struct pl_blob_fetch *f)
{
    size_t n = n_waiting(f) < PL_BLOB_PIECE ? n_waiting(f) : PL_BLOB_PIECE;
    if (n)
        memcpy(f->piece, f->bytes.ptr + f->n_taken, n);
    f->n_piece = n;
    f->n_taken += n;
    if (f->n_taken <= f->bytes.len / 2)
        return;
    if (n_waiting(f))
        memmove(f->bytes.ptr, f->bytes.ptr + f->n_taken, n_waiting(f));
    f->bytes.len = n_waiting(f);
    f->n_taken = 0;
}

/* Keeps only the first failure. */
static void note_failure(struct pl_blob_fetch *f, enum pl_status status, bool is_stores_fault,
                         const struct pl_error *err)
{
    if (status == PL_OK || has_failed(f))
        return;
    f->result.status = status;
    f->result.is_stores_fault = is_stores_fault;
    if (err)
        f->result.err = *err;
    else
        (void)pl_fail(&f->result.err, status, "%s", pl_status_info(status)->text);
}

static void work(struct pl_blob_fetch *f, enum blob_fetch_state to, enum pl_work lane,
                 void (*run)(struct pl_job *), void (*done)(struct pl_job *))
{
    /* The blob was just stored: this cannot be undone. */
    bool is_begun = to == BLOB_FETCH_FINDING;
    become(f, to);
    f->job = (struct pl_job){
        .lane = lane,
        .owner = pl_owner_of(f->options.user_id),
        .wait_ms = is_begun ? 0 : f->shard->setup->config.queue_wait_ms,
        .is_begun = is_begun,
        .run = run,
        .done = done,
    };
    pl_workers_submit(f->shard->server->workers, f->shard->loop, &f->job);
}

/* Notes the job's failure, or that it waited too long for a worker. */
static void note_job(struct pl_blob_fetch *f, bool is_stores_fault)
{
    if (f->job.is_refused)
        f->job_status = pl_fail(&f->job_err, PL_IO, "no worker was free in time");
    note_failure(f, f->job_status, is_stores_fault || f->job.is_refused, &f->job_err);
}

static void find_run(struct pl_job *job)
{
    struct pl_blob_fetch *f = PL_CONTAINER_OF(job, struct pl_blob_fetch, job);
    f->job_status = pl_store_blob_find(f->shard->server->store, &f->job_arena, f->options.user_id,
                                       pl_blob_looked(&f->look).hash, &f->result.blob, &f->job_err);
}

static void find_done(struct pl_job *job)
{
    struct pl_blob_fetch *f = PL_CONTAINER_OF(job, struct pl_blob_fetch, job);
    note_job(f, true);
    end(f);
}

static void on_put(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_blob_fetch *f = ctx;
    note_failure(f, status, true, err);
    f->n_pieces++;
    if (!has_failed(f) && f->is_last) { /* the user may have had these bytes before */
        work(f, BLOB_FETCH_FINDING, PL_WORK_STORE, find_run, find_done);
        return;
    }
    become(f, BLOB_FETCH_FETCHING);
    go_on(f);
}

/* The last segment of a path, decoded; empty if it is not a valid name. */
static struct pl_str name_of(struct pl_arena *arena, struct pl_str url)
{
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_url parsed;
    pl_buf_init(&text, 0);
    if (pl_url_parse(arena, url, NULL, &parsed, NULL) != PL_OK)
        return (struct pl_str){0};
    size_t at = parsed.path.len;
    while (at && parsed.path.ptr[at - 1] != '/')
        at--;
    pl_url_decode(pl_str_slice(parsed.path, at, parsed.path.len), &text);
    struct pl_str name = pl_buf_str(&text);
    bool is_good = name.len && pl_blob_name_is_good(name);
    return is_good ? pl_arena_dup(arena, name) : (struct pl_str){0};
}

static void put(struct pl_blob_fetch *f)
{
    struct pl_batch *batch = pl_batch_create();
    int64_t now_ms = pl_loop_unix_ms(f->shard->loop);
    become(f, BLOB_FETCH_PUTTING);
    if (!batch) {
        on_put(f, PL_NOMEM, NULL);
        return;
    }
    if (f->n_piece)
        pl_batch_put_piece(batch, pl_str_of(f->id.text), f->n_pieces, piece_of(f), now_ms);
    if (f->is_last) {
        struct pl_blob_row row = pl_blob_looked(&f->look);
        row.id = pl_str_of(f->id.text);
        row.user_id = f->options.user_id;
        row.name = f->options.name;
        row.created_ms = now_ms;
        row.is_servers = f->options.is_servers;
        pl_batch_create_blob(batch, &row);
        pl_batch_check_quota(
            batch, row.user_id, PL_LIMIT_BLOB_BYTES,
            pl_meter_quota(f->shard->server->meter, row.user_id, PL_LIMIT_BLOB_BYTES));
    }
    pl_store_submit(f->shard->server->store, f->shard->loop, batch, on_put, f);
}

static void look_run(struct pl_job *job)
{
    struct pl_blob_fetch *f = PL_CONTAINER_OF(job, struct pl_blob_fetch, job);
    f->job_status = pl_blob_look(&f->look, &f->job_arena, piece_of(f), f->is_last, &f->job_err);
}

static void look_done(struct pl_job *job)
{
    struct pl_blob_fetch *f = PL_CONTAINER_OF(job, struct pl_blob_fetch, job);
    note_job(f, false);
    if (has_failed(f))
        end(f);
    else
        put(f);
}

/* No piece is in use: takes the next piece, waits for more bytes, or ends. */
static void go_on(struct pl_blob_fetch *f)
{
    bool has_piece = n_waiting(f) >= PL_BLOB_PIECE;
    if (has_failed(f)) {
        end(f);
        return;
    }
    if (f->fetch)
        pl_fetch_pause(f->fetch, has_piece);
    if (!f->is_whole && !has_piece)
        return;
    f->is_last = f->is_whole && n_waiting(f) <= PL_BLOB_PIECE;
    take_piece(f);
    work(f, BLOB_FETCH_LOOKING, PL_WORK_CPU, look_run, look_done);
}

/* --- the fetch ------------------------------------------------------------------------------- */

static void begin(struct pl_blob_fetch *f, struct pl_str declared)
{
    if (f->is_begun)
        return;
    f->is_begun = true;
    pl_blob_look_begin(&f->look, declared.len ? pl_arena_dup(&f->arena, declared) : declared);
}

/* Inside the fetch's own callback, which must not end the fetch: a failure waits until it has
 * ended. */
static void on_bytes(void *ctx, struct pl_str bytes)
{
    struct pl_blob_fetch *f = ctx;
    begin(f, pl_fetch_content_type(f->fetch));
    pl_buf_add(&f->bytes, bytes);
    note_failure(f, f->bytes.status, false, NULL);
    if (f->state == BLOB_FETCH_FETCHING && n_waiting(f) >= PL_BLOB_PIECE && !has_failed(f))
        go_on(f);
}

static void on_fetched(void *ctx, enum pl_status status, const struct pl_fetched *fetched,
                       const struct pl_error *err)
{
    struct pl_blob_fetch *f = ctx;
    f->fetch = NULL;
    f->result.is_late = fetched->is_late;
    note_failure(f, status, false, err);
    if (!has_failed(f)) {
        begin(f, fetched->content_type);
        f->is_whole = true;
        if (!f->options.name.len)
            f->options.name = name_of(&f->arena, fetched->url);
    }
    if (f->state == BLOB_FETCH_FETCHING)
        go_on(f);
}

/* --- starting -------------------------------------------------------------------------------- */

static bool copy_options(struct pl_blob_fetch *f, const struct pl_blob_fetch_options *options)
{
    f->options.user_id = pl_arena_dup(&f->arena, options->user_id);
    f->options.is_servers = options->is_servers;
    if (options->name.len)
        f->options.name = pl_arena_dup(&f->arena, options->name);
    return f->options.user_id.ptr && (!options->name.len || f->options.name.ptr);
}

static bool prepare(struct pl_blob_fetch *f, const struct pl_blob_fetch_options *options)
{
    static const struct pl_fetch_ops ops = {on_bytes, on_fetched};
    const struct pl_server *server = f->shard->server;
    struct pl_id_seed seed = pl_shard_seed(f->shard);
    struct pl_fetch_from from = {
        .loop = f->shard->loop,
        .workers = server->workers,
        .owner = pl_owner_of(options->user_id),
    };
    f->id = pl_id_take(&seed, "blob_");
    f->rules = (struct pl_fetch_rules){
        .allowed = options->config->fetch_hosts,
        .total_ms = options->config->fetch_ms,
    };
    while (f->rules.allowed && f->rules.allowed[f->rules.n_allowed])
        f->rules.n_allowed++;
    f->piece = pl_mem_alloc(PL_BLOB_PIECE, 1);
    if (!f->piece || !copy_options(f, options))
        return false;
    f->fetch = pl_fetch_start(&from, options->url, &f->rules, &ops, f);
    return f->fetch != NULL;
}

bool pl_blob_fetch_start(struct pl_shard *shard, const struct pl_blob_fetch_options *options,
                         pl_blob_fetch_fn *done, void *ctx)
{
    struct pl_blob_fetch *f = pl_mem_alloc(1, sizeof *f);
    if (!f)
        return false;
    *f = (struct pl_blob_fetch){.shard = shard, .done = done, .ctx = ctx};
    pl_arena_init(&f->arena, 0);
    pl_arena_init(&f->job_arena, 0);
    pl_buf_init(&f->bytes, 0);
    if (!prepare(f, options)) {
        become(f, BLOB_FETCH_OVER);
        destroy(f);
        return false;
    }
    f->next = shard->fetches;
    if (f->next)
        f->next->prev = f;
    shard->fetches = f;
    return true;
}

/* Pieces in use return when the loop is destroyed, and find that the fetch has failed. */
void pl_blob_fetch_end_all(struct pl_shard *shard)
{
    struct pl_error err;
    enum pl_status status = pl_fail(&err, PL_IO, "the server is stopping");
    for (struct pl_blob_fetch *f = shard->fetches, *next; f; f = next) {
        next = f->next;
        pl_fetch_cancel(PL_TAKE(f->fetch));
        note_failure(f, status, true, &err);
        if (f->state == BLOB_FETCH_FETCHING)
            end(f);
    }
}

/* --- how many -------------------------------------------------------------------------------- */

bool pl_exchange_begin_fetching(struct pl_exchange *x)
{
    struct pl_server *server = x->shard->server;
    switch (pl_fetch_slots_take(server->fetch_slots, pl_owner_of(x->caller.user_id))) {
    case PL_FETCH_SLOT_TAKEN:
        return true;
    case PL_FETCH_SLOT_YOURS:
        pl_exchange_problem(x, PL_PROBLEM_RATE_LIMITED, NULL,
                            "You already have %d running downloads, the maximum for one user; try "
                            "again when one of them ends.",
                            PL_FETCHES_MAX_OF_USER);
        break;
    case PL_FETCH_SLOT_OTHERS:
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "The server has too many running downloads; try again in a moment.");
    }
    return false;
}

void pl_exchange_end_fetching(struct pl_exchange *x)
{
    pl_fetch_slots_give(x->shard->server->fetch_slots, pl_owner_of(x->caller.user_id));
}
