/* An upload goes into the store piece by piece while it comes, under an id that nobody sees; its
 * last piece and the row that makes it visible are one transaction. A client that goes away, a type
 * that is a lie, a body that is too long: what was kept is dropped, and what a crash leaves is
 * swept (server.c). */
#include "server/blob_upload.h"

#include "base/mime.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "server/blob_json.h"
#include "server/blob_store.h"
#include "server/exchange_int.h"

enum { MAX_UPLOAD = 100 << 20 };

struct upload {
    struct pl_id id;
    struct pl_str name;     /* or {NULL, 0} */
    struct pl_str declared; /* Content-Type as it was sent; may be empty */
    struct pl_str type;     /* known with the first piece */
    struct pl_sha256_run sha;
    unsigned char digest[PL_SHA256_BYTES];
    int64_t n_bytes, n_pieces; /* pieces that were put */
    bool is_text;
    char cut[4]; /* of a text: the sequence that the last piece ended in */
    size_t n_cut;
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
    upload->declared = pl_http_header_get(x->head, "content-type");
    if (name.len)
        upload->name = name;
    pl_sha256_begin(&upload->sha);
    x->state = upload;
}

/* The bytes behind the sequence the piece before was cut in; false when it does not go on. */
static bool mend_cut(struct upload *upload, struct pl_str *bytes)
{
    char joint[8];
    size_t n_more = bytes->len < 4 ? bytes->len : 4;
    memcpy(joint, upload->cut, upload->n_cut);
    if (n_more)
        memcpy(joint + upload->n_cut, bytes->ptr, n_more);
    size_t n_good = pl_utf8_valid_prefix((struct pl_str){joint, upload->n_cut + n_more});
    if (n_good <= upload->n_cut)
        return false;
    *bytes = pl_str_slice(*bytes, n_good - upload->n_cut, bytes->len);
    upload->n_cut = 0;
    return true;
}

static bool check_text(struct upload *upload, struct pl_str bytes, bool is_last)
{
    if (upload->n_cut && !mend_cut(upload, &bytes))
        return false;
    struct pl_str tail = pl_str_slice(bytes, pl_utf8_valid_prefix(bytes), bytes.len);
    if (!tail.len)
        return true;
    if (is_last || !pl_utf8_is_cut(tail))
        return false;
    memcpy(upload->cut, tail.ptr, tail.len);
    upload->n_cut = tail.len;
    return true;
}

static void upload_look(struct pl_exchange *x, bool is_last)
{
    struct upload *upload = x->state;
    struct pl_str bytes = x->body_text;
    struct pl_error err = {0};
    if (!upload->n_bytes) {
        enum pl_status status =
            pl_blob_type(&x->arena, upload->declared, pl_str_slice(bytes, 0, PL_MIME_SNIFF_BYTES),
                         &upload->type, &err);
        if (status != PL_OK) {
            pl_exchange_fail(x, status, &err);
            return;
        }
        upload->is_text = pl_blob_is_text(upload->type);
    }
    if (upload->is_text && !check_text(upload, bytes, is_last)) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "This is declared as %.*s and is no UTF-8 text: send its real type, or "
                            "application/octet-stream.",
                            PL_STR_ARG(upload->type));
        return;
    }
    upload->n_bytes += (int64_t)bytes.len;
    pl_sha256_add(&upload->sha, bytes);
    if (is_last) {
        pl_sha256_end(&upload->sha, upload->digest);
        pl_exchange_own(x)->body_digest =
            (struct pl_str){(const char *)upload->digest, sizeof upload->digest};
    }
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

/* What cannot be dropped now is swept later: a server that ends begins nothing more. */
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

/* The user may have had these bytes before: then that is his blob. */
static void find_created(struct pl_exchange *x)
{
    struct upload *made = x->state;
    struct pl_str hash = {(const char *)made->digest, sizeof made->digest};
    struct pl_blob_row blob;
    struct pl_error err = {0};
    enum pl_status status = pl_store_blob_find(x->shard->server->store, &x->arena,
                                               x->caller.user_id, hash, &blob, &err);
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
    if (batch)
        pl_batch_create_blob(batch, &(struct pl_blob_row){
                                        .id = pl_str_of(made->id.text),
                                        .user_id = x->caller.user_id,
                                        .hash = {(const char *)made->digest, sizeof made->digest},
                                        .n_bytes = made->n_bytes,
                                        .content_type = made->type,
                                        .name = made->name,
                                        .created_ms = pl_loop_unix_ms(x->shard->loop),
                                    });
    /* Bytes are kept once: who sends them again after a crash gets the same blob, so the key is
     * claimed with the answer. */
    pl_exchange_commit_repeatable(x, batch, created);
}
