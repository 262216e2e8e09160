/* Blobs: images, audio and documents, stored once for all users that have them. Uploads are in
 * blob_upload.c; downloads also work a piece at a time. */
#include "base/text/hidden.h"
#include "base/text/utf8.h"
#include "http/exchange.h"
#include "service/blobs/blob_fetch.h"
#include "service/blobs/blob_inspect.h"
#include "service/blobs/blob_json.h"
#include "service/blobs/blob_upload.h"
#include "service/blobs/routes.h"
#include "transaction/commit.h"

#include <stdio.h>

enum { SMALL_BYTES = 64 << 10 };

/* --- fetching -------------------------------------------------------------------------------- */

/* An unreachable, broken or slow host is an upstream error; everything else is an error of the
 * request. */
static void fail_fetch(struct pl_exchange *x, const struct pl_blob_fetched *fetched)
{
    bool is_hosts_fault = fetched->status == PL_NOT_FOUND || fetched->status == PL_IO;
    if (fetched->is_stores_fault)
        pl_exchange_fail_commit(x, fetched->status, &fetched->err);
    else if (is_hosts_fault || fetched->is_late)
        pl_exchange_problem(x, PL_PROBLEM_UPSTREAM_FAILED, NULL, "%s", fetched->err.message);
    else
        pl_exchange_fail(x, fetched->status, &fetched->err);
}

static void is_fetched(void *ctx, const struct pl_blob_fetched *fetched)
{
    struct pl_exchange *x = ctx;
    pl_exchange_end_fetching(x);
    if (fetched->status == PL_OK)
        pl_blob_answer(x, 201, &fetched->blob);
    else
        fail_fetch(x, fetched);
    pl_exchange_finish(x);
}

static void blob_fetch(struct pl_exchange *x)
{
    struct pl_blob_fetch_options options = {
        .config = &x->setup->config,
        .user_id = x->caller.user_id,
        .url = pl_body_text(x, "url"),
        .name = pl_body_text(x, "name"),
    };
    if (pl_blob_check_name(x, options.name) && pl_exchange_begin_fetching(x)) {
        if (pl_blob_fetch_start(x->shard, &options, is_fetched, x))
            return;
        pl_exchange_end_fetching(x);
        pl_exchange_fail(x, PL_NOMEM, NULL);
    }
    pl_exchange_finish(x);
}

/* --- reading --------------------------------------------------------------------------------- */

/* The row of {id}, in the arena; NULL after making a problem. On a worker. */
static const struct pl_blob_row *get_blob(struct pl_exchange *x)
{
    struct pl_blob_row *blob = pl_arena_zalloc(&x->arena, 1, sizeof *blob);
    struct pl_error err = {0};
    enum pl_status status = PL_NOMEM;
    if (blob)
        status = pl_store_blob_get(x->shard->server->store, &x->arena, x->caller.user_id,
                                   x->args[0], blob, &err);
    if (status == PL_OK)
        return blob;
    pl_exchange_fail(x, status, &err);
    return NULL;
}

static void info_work(struct pl_exchange *x)
{
    const struct pl_blob_row *blob = get_blob(x);
    if (blob)
        pl_blob_answer(x, 200, blob);
}

static void blob_info(struct pl_exchange *x)
{
    pl_exchange_work(x, info_work, NULL);
}

static enum pl_status read_bytes(struct pl_exchange *x, int64_t at, char *to, size_t n,
                                 size_t *ret_n)
{
    const struct pl_blob_row *blob = x->state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_str bytes;
    enum pl_status status = pl_store_blob_piece(x->shard->server->store, &arena, blob->hash,
                                                at / PL_BLOB_PIECE, &bytes, NULL);
    if (status != PL_OK)
        return status;
    size_t from = (size_t)(at % PL_BLOB_PIECE);
    bytes = pl_str_slice(bytes, from, from + n);
    if (!bytes.len)
        return PL_IO;
    memcpy(to, bytes.ptr, bytes.len);
    *ret_n = bytes.len;
    return PL_OK;
}

/* Shown inline: images, audio and video. SVG is not, because it can contain scripts. */
static bool is_shown(struct pl_str type)
{
    return (pl_str_starts(type, PL_STR("image/")) || pl_str_starts(type, PL_STR("audio/")) ||
            pl_str_starts(type, PL_STR("video/"))) &&
           !pl_str_starts(type, PL_STR("image/svg"));
}

/* Encodes a name as in RFC 8187. An invisible character, or one that changes the writing
 * direction, becomes "_": it could make a file seem to have another extension. */
static size_t spell_name(struct pl_str text, char *name, size_t size)
{
    enum { MOST_SPELLED = 3 * 4 };
    size_t n = 0;
    for (size_t at = 0, from = 0; at < text.len && n + MOST_SPELLED < size; from = at) {
        int32_t c = pl_utf8_next(text, &at);
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
        if (is_plain || pl_text_is_hidden(c)) {
            name[n++] = is_plain ? (char)c : '_';
            continue;
        }
        for (; from < at; from++)
            n += (size_t)snprintf(name + n, size - n, "%%%02X", (unsigned char)text.ptr[from]);
    }
    name[n] = 0;
    return n;
}

/* RFC 6266. */
static void say_disposition(struct pl_exchange *x, const struct pl_blob_row *blob)
{
    char name[3 * PL_BLOB_MAX_NAME + 16];
    size_t n = spell_name(blob->name, name, sizeof name);
    pl_exchange_header(x, "Content-Disposition", "%s%s%s",
                       is_shown(blob->content_type) ? "inline" : "attachment",
                       n ? "; filename*=UTF-8''" : "", name);
}

/* Reads a small blob before sending the head of the answer. So a blob that is deleted meanwhile
 * gives a 404, not a truncated answer. */
static void send_bytes(struct pl_exchange *x, const struct pl_blob_row *blob, const char *etag)
{
    struct pl_str bytes;
    struct pl_error err = {0};
    if (!blob->n_bytes || blob->n_bytes > SMALL_BYTES) {
        pl_exchange_bytes(x, read_bytes, blob->n_bytes, etag);
        return;
    }
    enum pl_status status =
        pl_store_blob_piece(x->shard->server->store, &x->arena, blob->hash, 0, &bytes, &err);
    if (status == PL_OK && bytes.len != (size_t)blob->n_bytes)
        status = pl_fail(&err, PL_IO, "the blob is not whole; restore it from a backup");
    if (status == PL_OK)
        pl_exchange_static(x, bytes, etag);
    else
        pl_exchange_fail(x, status, &err);
}

void pl_blob_send(struct pl_exchange *x, const struct pl_blob_row *blob)
{
    char *type = pl_arena_zalloc(&x->arena, blob->content_type.len + 1, 1);
    char *etag = pl_arena_zalloc(&x->arena, PL_SHA256_HEX + 3, 1);
    if (!type || !etag) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return;
    }
    memcpy(type, blob->content_type.ptr, blob->content_type.len);
    pl_blob_spell_hash(blob, etag + 1);
    etag[0] = etag[PL_SHA256_HEX + 1] = '"';
    x->state = (void *)blob;
    send_bytes(x, blob, etag);
    if (x->is_problem)
        return;
    x->content_type = type;
    say_disposition(x, blob);
    pl_exchange_header(x, "Content-Security-Policy",
                       "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
}

static void read_work(struct pl_exchange *x)
{
    const struct pl_blob_row *blob = get_blob(x);
    if (blob)
        pl_blob_send(x, blob);
}

static void blob_read(struct pl_exchange *x)
{
    pl_exchange_work(x, read_work, NULL);
}

static void list_work(struct pl_exchange *x)
{
    struct pl_page_args args;
    struct pl_blob_page page;
    struct pl_error err = {0};
    if (!pl_exchange_counted_args(x, &args))
        return;
    enum pl_status status =
        pl_store_blob_list(x->shard->server->store, &x->arena, x->caller.user_id, args.limit,
                           args.offset, &page, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {page.n_items, page.has_more, 0};
    while (pl_list_walk_next(&walk, x))
        pl_blob_write(&out, &page.items[walk.n - 1]);
    pl_exchange_counted_end(x, &args, page.total, &walk);
}

static void blob_list(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

/* --- deleting -------------------------------------------------------------------------------- */

static void deleted(struct pl_exchange *x)
{
    x->status = 204;
    pl_exchange_finish(x);
}

static void found_for_delete(struct pl_exchange *x)
{
    if (x->is_problem) {
        pl_exchange_finish(x);
        return;
    }
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_batch_delete_blob(batch, x->caller.user_id, x->args[0]);
    pl_exchange_commit(x, batch, deleted);
}

static void find_for_delete(struct pl_exchange *x)
{
    const struct pl_blob_row *blob = get_blob(x);
    char etag[PL_SHA256_HEX + 3] = "\"";
    if (!blob)
        return;
    pl_blob_spell_hash(blob, etag + 1);
    etag[PL_SHA256_HEX + 1] = '"';
    (void)pl_exchange_if_match_tag(x, etag); /* makes a problem itself */
}

static void blob_delete(struct pl_exchange *x)
{
    pl_exchange_work(x, find_for_delete, found_for_delete);
}

static const struct pl_route_param upload_params[] = {
    {"name", "{\"type\":\"string\",\"maxLength\":255}", "The name of the file"},
    {0},
};
static const struct pl_route_param list_params[] = {
    PL_PARAMS_OF_PAGE,
    {0},
};

const struct pl_route pl_routes_blobs[] = {
    {PL_METHOD_POST, "/api/blobs", PL_ROUTE_IDEMPOTENT | PL_ROUTE_RAW_BODY, PL_FOR_SESSIONS,
     pl_blob_create, "blob_create", "Store bytes, up to 100 MiB; equal bytes are the same blob",
     "blobs", NULL, "Blob", 201, upload_params, &pl_blob_upload},
    {PL_METHOD_GET, "/api/blobs", 0, PL_FOR_SESSIONS | PL_FOR_READ, blob_list, "blob_list",
     "List your blobs, newest first", "blobs", NULL, "BlobList", 200, list_params},
    {PL_METHOD_POST, "/api/blobs/fetch", PL_ROUTE_IDEMPOTENT, PL_FOR_SESSIONS, blob_fetch,
     "blob_fetch", "Download a URL and store its content", "blobs", "BlobFetch", "Blob", 201, NULL},
    {PL_METHOD_GET, "/api/blobs/{id}", PL_ROUTE_ANY_REPLY, PL_FOR_SESSIONS | PL_FOR_READ, blob_read,
     "blob_read", "Get the bytes of a blob, or a single range of them", "blobs", NULL, NULL, 200,
     NULL},
    {PL_METHOD_DELETE, "/api/blobs/{id}", 0, PL_FOR_SESSIONS, blob_delete, "blob_delete",
     "Delete a blob; its bytes are deleted with their last blob", "blobs", NULL, NULL, 204, NULL},
    {PL_METHOD_GET, "/api/blobs/{id}/info", 0, PL_FOR_SESSIONS | PL_FOR_READ, blob_info,
     "blob_info", "Get the description of a blob", "blobs", NULL, "Blob", 200, NULL},
    {0},
};
