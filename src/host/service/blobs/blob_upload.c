/* An upload goes into the store piece by piece while it arrives, under an id that nobody sees.
 * Its last piece and the row that makes it visible are one transaction. If the client
 * disconnects, the type is wrong or the body is too long, the stored pieces are dropped; pieces
 * left by a crash are swept (server.c). */
#include "service/blobs/blob_upload.h"

#include "access/meter/meter.h"
#include "base/text/uuid.h"
#include "http/exchange.h"
#include "service/blobs/blob_inspect.h"
#include "service/blobs/blob_json.h"
#include "transaction/commit.h"

enum { MAX_UPLOAD = 100 << 20 };

struct upload {
    struct pl_id id;
    struct pl_str name; /* or {NULL, 0} */
    struct pl_blob_look look;
    int64_t n_pieces; /* stored so far */
};

static void upload_begin(struct pl_exchange *x)
{
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    struct pl_str name = pl_target_param(&x->target, "name");
    struct upload *upload = pl_arena_zalloc(&x->arena, 1, sizeof *upload);
    if (!upload) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return;
    }
    if (!pl_blob_check_name(x, name))
        return;
    upload->id = pl_id_take(&seed, "blob_");
    if (name.len)
        upload->name = name;
    pl_blob_look_begin(&upload->look, pl_http_header_get(x->head, "content-type"));
    x->state = upload;
}

static void upload_look(struct pl_exchange *x, bool is_last)
{
    struct upload *upload = x->state;
    struct pl_error err = {0};
    enum pl_status status = pl_blob_look(&upload->look, &x->arena, x->body_text, is_last, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    else if (upload->look.is_broken_text)
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "This is declared as %.*s but is not UTF-8 text: send its real type, "
                            "or application/octet-stream.",
                            PL_STR_ARG(upload->look.type));
    else if (is_last)
        pl_exchange_set_body_digest(x, pl_blob_looked(&upload->look).hash);
}

static void put_piece(struct pl_exchange *x, struct pl_batch *batch)
{
    struct upload *upload = x->state;
    pl_batch_put_piece(batch, pl_str_of(upload->id.text), upload->n_pieces++, x->body_text,
                       pl_loop_unix_ms(x->shard->loop));
}

static void piece_is_put(void *ctx, enum pl_status status, const struct pl_error *err)
{
    pl_exchange_piece_kept(ctx, status, err);
}

static void upload_keep(struct pl_exchange *x)
{
    struct pl_batch *batch = pl_batch_create();
    if (!batch) {
        pl_exchange_piece_kept(x, PL_NOMEM, NULL);
        return;
    }
    put_piece(x, batch);
    pl_store_submit(x->shard->server->store, x->shard->loop, batch, piece_is_put, x);
}

static void is_dropped(void *ctx, enum pl_status status, const struct pl_error *err)
{
    (void)ctx;
    (void)status;
    (void)err;
}

/* Drops the pieces. A server that shuts down starts nothing new: its pieces are swept later. */
static void upload_drop(struct pl_exchange *x)
{
    struct upload *upload = x->state;
    bool is_ending = pl_life_is_closing(&x->shard->server->life);
    struct pl_batch *batch = upload->n_pieces && !is_ending ? pl_batch_create() : NULL;
    if (!batch)
        return;
    pl_batch_drop_upload(batch, pl_str_of(upload->id.text));
    pl_store_submit(x->shard->server->store, x->shard->loop, batch, is_dropped, NULL);
}

const struct pl_upload pl_blob_upload = {
    .max_bytes = MAX_UPLOAD,
    .piece_bytes = PL_BLOB_PIECE,
    .begin = upload_begin,
    .look = upload_look,
    .keep = upload_keep,
    .drop = upload_drop,
};

/* The user may already have these bytes: then the answer is the existing blob. */
static void find_created(struct pl_exchange *x)
{
    struct upload *made = x->state;
    struct pl_blob_row blob;
    struct pl_error err = {0};
    enum pl_status status =
        pl_store_blob_find(x->shard->server->store, &x->arena, x->caller.user_id,
                           pl_blob_looked(&made->look).hash, &blob, &err);
    if (status == PL_OK)
        pl_blob_answer(x, 201, &blob);
    else
        pl_exchange_fail(x, status, &err);
}

static void created(struct pl_exchange *x)
{
    pl_exchange_work(x, find_created, NULL);
}

void pl_blob_create(struct pl_exchange *x)
{
    struct upload *made = x->state;
    struct pl_batch *batch = pl_batch_create();
    if (batch && x->body_text.len)
        put_piece(x, batch);
    struct pl_blob_row row = pl_blob_looked(&made->look);
    row.id = pl_str_of(made->id.text);
    row.user_id = x->caller.user_id;
    row.name = made->name;
    row.created_ms = pl_loop_unix_ms(x->shard->loop);
    if (batch) {
        pl_batch_create_blob(batch, &row);
        pl_batch_check_quota(
            batch, row.user_id, PL_LIMIT_BLOB_BYTES,
            pl_meter_quota(x->shard->server->meter, row.user_id, PL_LIMIT_BLOB_BYTES));
    }
    /* Bytes are stored once: repeating the request after a crash returns the same blob, so the key
     * is claimed with the answer. */
    pl_exchange_commit_repeatable(x, batch, created);
}
