/*     machine media-keep
 *
 *     NEW -> READING -> STORING -> WRITING -> HOME
 *     READING -> WRITING          nothing is to be stored
 *     READING, STORING -> HOME    it failed
 *
 * The bytes of all blocks are one transaction. A user may already have a blob with the same bytes,
 * so the ids are known only after the commit. */
#include "service/blobs/media_keep.h"

#include "access/meter/meter.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text/base64.h"
#include "io/clock.h"
#include "io/move.h"
#include "json/edit/edit.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"
#include "service/blobs/blob_inspect.h"
#include "service/blobs/content_parts.h"
#include "shard/setup.h"

#define TO(name) PL_TO(PL_KEEP_##name)
static const struct pl_state states[] = {
    [PL_KEEP_NEW] = {"new", TO(READING)},
    [PL_KEEP_READING] = {"reading", TO(STORING) | TO(WRITING) | TO(HOME), PL_WAIT_SET,
                         PL_CANCEL_NONE, .why = "queue_wait_ms; a worker always comes back"},
    [PL_KEEP_STORING] = {"storing", TO(WRITING) | TO(HOME), PL_WAIT_OPEN, PL_CANCEL_NONE,
                         .why = "the store answers every transaction"},
    [PL_KEEP_WRITING] = {"writing", TO(HOME), PL_WAIT_OPEN, PL_CANCEL_NONE,
                         .why = "it ends what was begun: a worker always comes back"},
    [PL_KEEP_HOME] = {"home", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("media-keep", states);

/* One block. */
struct pl_media_item {
    const struct pl_json_node *content;
    const struct pl_json_node *data; /* NULL: it already names a blob */
    struct pl_str declared;          /* arena */
    struct pl_blob_look look;
};

static void become(struct pl_media_keep *keep, enum pl_media_keep_state to)
{
    keep->state = (enum pl_media_keep_state)pl_move(&machine, keep, keep->state, to);
}

/* --- which blocks ---------------------------------------------------------------------------- */

static const struct pl_json_node *media_of(const struct pl_json_doc *doc,
                                           const struct pl_json_node *block)
{
    const struct pl_json_node *type = pl_json_member(doc, block, "type", PL_JSON_STRING);
    return type && pl_json_text_is(doc, type, PL_STR("media"))
               ? pl_json_member(doc, block, "content", PL_JSON_OBJECT)
               : NULL;
}

typedef bool visit_fn(void *ctx, const struct pl_json_node *content);

/* Visits the blocks of a list, and those in a block's content (the result of a tool). False: the
 * visitor wants no more. */
static bool visit_blocks(const struct pl_json_doc *doc, const struct pl_json_node *list,
                         visit_fn *visit, void *ctx)
{
    bool goes_on = true;
    for (const struct pl_json_node *b = pl_json_first(list); goes_on && b < pl_json_end(list);
         b = pl_json_next(b)) {
        const struct pl_json_node *media = media_of(doc, b);
        const struct pl_json_node *inner = pl_json_member(doc, b, "content", PL_JSON_ARRAY);
        if (media)
            goes_on = visit(ctx, media);
        for (const struct pl_json_node *n = inner ? pl_json_first(inner) : NULL;
             goes_on && n && n < pl_json_end(inner); n = pl_json_next(n)) {
            media = media_of(doc, n);
            goes_on = !media || visit(ctx, media);
        }
    }
    return goes_on;
}

static bool visit_calls(const struct pl_json_doc *doc, const struct pl_json_node *calls,
                        visit_fn *visit, void *ctx)
{
    bool goes_on = true;
    for (const struct pl_json_node *c = pl_json_first(calls); goes_on && c < pl_json_end(calls);
         c = pl_json_next(c)) {
        const struct pl_json_node *result = pl_json_member(doc, c, "result", PL_JSON_ARRAY);
        goes_on = !result || visit_blocks(doc, result, visit, ctx);
    }
    return goes_on;
}

static void visit_all(const struct pl_json_doc *doc, const struct pl_json_node *list,
                      visit_fn *visit, void *ctx)
{
    if (!pl_json_is(list, PL_JSON_ARRAY) || !visit_blocks(doc, list, visit, ctx))
        return;
    for (const struct pl_json_node *t = pl_json_first(list); t < pl_json_end(list);
         t = pl_json_next(t)) {
        const struct pl_json_node *blocks = pl_json_member(doc, t, "blocks", PL_JSON_ARRAY);
        const struct pl_json_node *calls = pl_json_member(doc, t, "tool_calls", PL_JSON_ARRAY);
        if ((blocks && !visit_blocks(doc, blocks, visit, ctx)) ||
            (calls && !visit_calls(doc, calls, visit, ctx)))
            return;
    }
}

static bool notice(void *ctx, const struct pl_json_node *content)
{
    (void)content;
    *(bool *)ctx = true;
    return false;
}

bool pl_media_keep_is_needed(const struct pl_json_doc *doc, const struct pl_json_node *list)
{
    bool is_needed = false;
    visit_all(doc, list, notice, &is_needed);
    return is_needed;
}

/* --- reading, on a worker -------------------------------------------------------------------- */

static enum pl_status fail_at(struct pl_media_keep *keep, const struct pl_json_node *node,
                              const char *says)
{
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    pl_json_pointer_of(&pointer, &keep->doc, node);
    enum pl_status status = pl_fail(&keep->err, PL_INVALID, "%s", says);
    pl_error_point(&keep->err, "%.*s", PL_STR_ARG(pl_buf_str(&pointer)));
    return status;
}

static bool add_item(void *ctx, const struct pl_json_node *content)
{
    struct pl_media_keep *keep = ctx;
    struct pl_media_item item = {
        .content = content,
        .data = pl_json_member(&keep->doc, content, "data", PL_JSON_STRING),
    };
    const struct pl_json_node *mime = pl_json_member(&keep->doc, content, "mime", PL_JSON_STRING);
    const struct pl_json_node *blob = pl_json_member(&keep->doc, content, "blob", PL_JSON_STRING);
    if (!item.data && !blob)
        return true;
    if (keep->items.len == PL_MEDIA_MAX_KEPT)
        keep->status = fail_at(keep, content, "There are more than 100 media in one message.");
    else if (mime && pl_json_text(keep->arena, &keep->doc, mime, &item.declared) != PL_OK)
        keep->status = PL_NOMEM;
    else if (!pl_vec_push(&keep->items, item))
        keep->status = PL_NOMEM;
    return keep->status == PL_OK;
}

static enum pl_status look(struct pl_media_keep *keep, struct pl_media_item *item,
                           struct pl_str bytes)
{
    pl_blob_look_begin(&item->look, item->declared);
    enum pl_status status = pl_blob_look(&item->look, keep->arena, bytes, true, &keep->err);
    if (status != PL_INVALID)
        return status;
    if (!keep->is_lenient)
        return fail_at(keep, item->content, "The data are not what their mime says.");
    pl_blob_look_begin(&item->look, (struct pl_str){0});
    return pl_blob_look(&item->look, keep->arena, bytes, true, &keep->err);
}

static void put(struct pl_media_keep *keep, const struct pl_media_item *item, struct pl_str bytes)
{
    struct pl_id id = pl_id_take(&keep->seed, "blob_");
    struct pl_blob_row row = pl_blob_looked(&item->look);
    int64_t i = 0;
    for (size_t at = 0; at < bytes.len; at += PL_BLOB_PIECE)
        pl_batch_put_piece(keep->batch, pl_str_of(id.text), i++,
                           pl_str_slice(bytes, at, at + PL_BLOB_PIECE), keep->now_ms);
    row.id = pl_str_of(id.text);
    row.user_id = keep->user_id;
    row.created_ms = keep->now_ms;
    row.is_servers = true;
    pl_batch_create_blob(keep->batch, &row);
    pl_batch_check_quota(keep->batch, row.user_id, PL_LIMIT_BLOB_BYTES,
                         pl_meter_quota(keep->meter, row.user_id, PL_LIMIT_BLOB_BYTES));
}

static enum pl_status read_item(struct pl_media_keep *keep, struct pl_media_item *item)
{
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    enum pl_status status =
        pl_base64_decode(&bytes, pl_json_raw(&keep->doc, item->data)); /* base64 has no escapes */
    if (status == PL_SYNTAX)
        return fail_at(keep, item->data, "The data are not base64.");
    if (status == PL_OK && !bytes.len)
        return fail_at(keep, item->data, "The data are empty.");
    if (status == PL_OK)
        status = look(keep, item, pl_buf_str(&bytes));
    if (status == PL_OK && !keep->batch)
        keep->batch = pl_batch_create();
    if (status == PL_OK && !keep->batch)
        status = PL_NOMEM;
    if (status == PL_OK)
        put(keep, item, pl_buf_str(&bytes));
    return status;
}

static enum pl_status parse(struct pl_media_keep *keep)
{
    struct pl_json_opts opts = {.refuses_nul = true};
    return pl_json_parse(keep->arena, keep->document, &opts, &keep->doc, &keep->err);
}

/* Converts the parts of a message to blocks. */
static enum pl_status read_parts(struct pl_media_keep *keep)
{
    PL_CLEANUP_BUF struct pl_buf blocks;
    pl_buf_init(&blocks, 0);
    enum pl_status status =
        pl_content_parts_write(keep->arena, &keep->doc, keep->doc.root, &blocks, &keep->err);
    if (status != PL_OK)
        return status;
    keep->document = pl_arena_dup(keep->arena, pl_buf_str(&blocks));
    return keep->document.ptr ? parse(keep) : PL_NOMEM;
}

static void read_items(struct pl_media_keep *keep)
{
    keep->status = parse(keep);
    if (keep->status == PL_OK && keep->has_parts)
        keep->status = read_parts(keep);
    if (keep->status != PL_OK)
        return;
    visit_all(&keep->doc, keep->doc.root, add_item, keep);
    for (size_t i = 0; keep->status == PL_OK && i < keep->items.len; i++)
        if (keep->items.ptr[i].data)
            keep->status = read_item(keep, &keep->items.ptr[i]);
}

static void read_run(struct pl_job *job)
{
    read_items(PL_CONTAINER_OF(job, struct pl_media_keep, job));
}

/* --- writing, on a worker -------------------------------------------------------------------- */

/* An unreferenced blob is about to be referenced: restarts its grace period before the message
 * that names it can be stored. */
static enum pl_status touch(struct pl_media_keep *keep, const struct pl_blob_row *blob)
{
    if (blob->unused_ms <= 0)
        return PL_OK;
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return PL_NOMEM;
    pl_batch_touch_blob(batch, blob->id, keep->now_ms);
    return pl_store_commit(keep->store, batch, &keep->err);
}

static enum pl_status find_blob(struct pl_media_keep *keep, const struct pl_media_item *item,
                                struct pl_blob_row *ret_blob)
{
    if (item->data)
        return pl_store_blob_find(keep->store, keep->arena, keep->user_id,
                                  pl_blob_looked(&item->look).hash, ret_blob, &keep->err);
    const struct pl_json_node *blob = pl_json_get(&keep->doc, item->content, PL_STR("blob"));
    struct pl_str id;
    enum pl_status status = pl_json_text(keep->arena, &keep->doc, blob, &id);
    if (status == PL_OK)
        status =
            pl_store_blob_get(keep->store, keep->arena, keep->user_id, id, ret_blob, &keep->err);
    if (status == PL_OK)
        status = touch(keep, ret_blob);
    return status == PL_NOT_FOUND || status == PL_INVALID
               ? fail_at(keep, blob, "You have no blob with this id.")
               : status;
}

/* Members that are replaced by those of the blob. */
static bool is_replaced(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    static const char *const names[] = {"data", "blob", "mime", "size", NULL};
    for (size_t i = 0; names[i]; i++)
        if (pl_json_text_is(doc, key, pl_str_of(names[i])))
            return true;
    return false;
}

static void write_content(const struct pl_media_keep *keep, const struct pl_media_item *item,
                          const struct pl_blob_row *blob, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    for (const struct pl_json_node *key = pl_json_first_member(item->content);
         key < pl_json_end(item->content); key = pl_json_next_member(key)) {
        if (is_replaced(&keep->doc, key))
            continue;
        struct pl_str name;
        if (pl_json_text(keep->arena, &keep->doc, key, &name) != PL_OK)
            to->status = PL_NOMEM;
        pl_json_out_key_str(&out, name);
        pl_json_out_raw(&out, pl_json_span(&keep->doc, key + 1));
    }
    pl_json_out_key(&out, "blob");
    pl_json_out_text(&out, blob->id);
    pl_json_out_key(&out, "mime");
    pl_json_out_text(&out, blob->content_type);
    pl_json_out_key(&out, "size");
    pl_json_out_int(&out, blob->n_bytes);
    if (blob->name.len && !pl_json_get(&keep->doc, item->content, PL_STR("name"))) {
        pl_json_out_key(&out, "name");
        pl_json_out_text(&out, blob->name);
    }
    pl_json_out_close(&out, '}');
}

static enum pl_status write_item(struct pl_media_keep *keep, struct pl_json_edit *edit,
                                 const struct pl_media_item *item)
{
    PL_CLEANUP_BUF struct pl_buf content;
    pl_buf_init(&content, 0);
    struct pl_blob_row blob;
    enum pl_status status = find_blob(keep, item, &blob);
    if (status != PL_OK)
        return status;
    write_content(keep, item, &blob, &content);
    if (content.status != PL_OK)
        return content.status;
    return pl_json_edit_set_node(edit, item->content, pl_buf_str(&content), &keep->err);
}

static void write_items(struct pl_media_keep *keep)
{
    struct pl_json_edit edit;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_json_edit_init(&edit, keep->arena, &keep->doc);
    for (size_t i = 0; keep->status == PL_OK && i < keep->items.len; i++)
        keep->status = write_item(keep, &edit, &keep->items.ptr[i]);
    if (keep->status == PL_OK)
        keep->status = pl_json_edit_write(&edit, &text);
    pl_json_edit_deinit(&edit);
    if (keep->status != PL_OK)
        return;
    keep->document = pl_arena_dup(keep->arena, pl_buf_str(&text));
    if (!keep->document.ptr)
        keep->status = PL_NOMEM;
}

static void write_run(struct pl_job *job)
{
    write_items(PL_CONTAINER_OF(job, struct pl_media_keep, job));
}

/* --- the way --------------------------------------------------------------------------------- */

static void end(struct pl_media_keep *keep)
{
    become(keep, PL_KEEP_HOME);
    pl_batch_destroy(PL_TAKE(keep->batch));
    pl_vec_deinit(&keep->items);
    keep->done(keep);
}

static void write_done(struct pl_job *job)
{
    end(PL_CONTAINER_OF(job, struct pl_media_keep, job));
}

static void write_document(struct pl_media_keep *keep)
{
    become(keep, PL_KEEP_WRITING);
    keep->job = (struct pl_job){
        .owner = pl_owner_of(keep->user_id),
        .is_begun = true,
        .run = write_run,
        .done = write_done,
    };
    pl_workers_submit(keep->shard->server->workers, keep->shard->loop, &keep->job);
}

static void on_stored(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_media_keep *keep = ctx;
    keep->status = status;
    if (err)
        keep->err = *err;
    if (status == PL_OK)
        write_document(keep);
    else
        end(keep);
}

static void read_done(struct pl_job *job)
{
    struct pl_media_keep *keep = PL_CONTAINER_OF(job, struct pl_media_keep, job);
    keep->is_refused = job->is_refused;
    if (job->is_refused)
        keep->status = pl_fail(&keep->err, PL_IO, "No worker was free in time.");
    if (keep->status != PL_OK) {
        end(keep);
    } else if (keep->batch) {
        become(keep, PL_KEEP_STORING);
        pl_store_submit(keep->store, keep->shard->loop, PL_TAKE(keep->batch), on_stored, keep);
    } else {
        write_document(keep);
    }
}

void pl_media_keep_start(struct pl_media_keep *keep)
{
    keep->store = keep->shard->server->store;
    keep->meter = keep->shard->server->meter;
    keep->seed = pl_shard_seed(keep->shard);
    keep->now_ms = pl_loop_unix_ms(keep->shard->loop);
    become(keep, PL_KEEP_READING);
    keep->job = (struct pl_job){
        .lane = PL_WORK_CPU,
        .owner = pl_owner_of(keep->user_id),
        .wait_ms = keep->shard->setup->config.queue_wait_ms,
        .n_bytes = 3 * keep->document.len,
        .run = read_run,
        .done = read_done,
    };
    pl_workers_submit(keep->shard->server->workers, keep->shard->loop, &keep->job);
}

enum pl_status pl_media_keep_here(struct pl_server *server, struct pl_arena *arena,
                                  struct pl_str user_id, struct pl_str document, bool has_parts,
                                  struct pl_str *ret_document, struct pl_error *err)
{
    struct pl_media_keep keep = {
        .store = server->store,
        .meter = server->meter,
        .user_id = user_id,
        .arena = arena,
        .document = document,
        .has_parts = has_parts,
        .seed = pl_seed_draw(),
        .now_ms = pl_clock_unix_ms(),
    };
    read_items(&keep);
    if (keep.status == PL_OK && keep.batch)
        keep.status = pl_store_commit(server->store, PL_TAKE(keep.batch), &keep.err);
    if (keep.status == PL_OK)
        write_items(&keep);
    pl_batch_destroy(keep.batch);
    pl_vec_deinit(&keep.items);
    if (keep.status == PL_OK)
        *ret_document = keep.document;
    else if (err)
        *err = keep.err;
    return keep.status;
}
