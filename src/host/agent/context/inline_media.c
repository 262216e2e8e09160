/* Blobs that turns name become data, the newest first; what does not fit is named in words. */
#include "agent/context/inline_media.h"

#include "base/text/base64.h"
#include "base/vec.h"
#include "json/edit/edit.h"
#include "json/text.h"
#include "json/write.h"

struct inlining {
    struct pl_store *store;
    struct pl_arena *arena;
    struct pl_str user_id;
    struct pl_json_doc doc;
    struct pl_json_edit edit;
    PL_VEC(const struct pl_json_node *) blocks; /* owned; those with a blob, oldest first */
    int64_t n_left;                             /* bytes that may still be put in */
    struct pl_error *err;
};

static const struct pl_json_node *blob_of(const struct inlining *in,
                                          const struct pl_json_node *block)
{
    const struct pl_json_node *type = pl_json_member(&in->doc, block, "type", PL_JSON_STRING);
    const struct pl_json_node *media = pl_json_member(&in->doc, block, "content", PL_JSON_OBJECT);
    return type && media && pl_json_text_is(&in->doc, type, PL_STR("media"))
               ? pl_json_member(&in->doc, media, "blob", PL_JSON_STRING)
               : NULL;
}

/* --- which ----------------------------------------------------------------------------------- */

static enum pl_status list(struct inlining *in, const struct pl_json_node *blocks)
{
    if (!blocks)
        return PL_OK;
    for (const struct pl_json_node *b = pl_json_first(blocks); b < pl_json_end(blocks);
         b = pl_json_next(b))
        if (blob_of(in, b) && !pl_vec_push(&in->blocks, b))
            return PL_NOMEM;
    return PL_OK;
}

/* The blocks of a turn, and the lists that results are: of a call, and of its block. */
static enum pl_status list_turn(struct inlining *in, const struct pl_json_node *turn)
{
    const struct pl_json_node *blocks = pl_json_member(&in->doc, turn, "blocks", PL_JSON_ARRAY);
    const struct pl_json_node *calls = pl_json_member(&in->doc, turn, "tool_calls", PL_JSON_ARRAY);
    enum pl_status status = list(in, blocks);
    for (const struct pl_json_node *b = blocks ? pl_json_first(blocks) : NULL;
         status == PL_OK && b && b < pl_json_end(blocks); b = pl_json_next(b))
        status = list(in, pl_json_member(&in->doc, b, "content", PL_JSON_ARRAY));
    for (const struct pl_json_node *c = calls ? pl_json_first(calls) : NULL;
         status == PL_OK && c && c < pl_json_end(calls); c = pl_json_next(c))
        status = list(in, pl_json_member(&in->doc, c, "result", PL_JSON_ARRAY));
    return status;
}

/* --- in words -------------------------------------------------------------------------------- */

static enum pl_status member_text(struct inlining *in, const struct pl_json_node *media,
                                  const char *key, struct pl_str *ret)
{
    const struct pl_json_node *n = pl_json_member(&in->doc, media, key, PL_JSON_STRING);
    *ret = PL_STR("");
    return n ? pl_json_text(in->arena, &in->doc, n, ret) : PL_OK;
}

/* {"type":"text","content":"[image photo.png: …]"} */
static enum pl_status name_it(struct inlining *in, const struct pl_json_node *block,
                              const char *why)
{
    const struct pl_json_node *media = pl_json_get(&in->doc, block, PL_STR("content"));
    struct pl_str kind, name;
    struct pl_buf words PL_CLEANUP_BUF, json PL_CLEANUP_BUF;
    pl_buf_init(&words, 0);
    pl_buf_init(&json, 0);
    enum pl_status status = member_text(in, media, "kind", &kind);
    if (status == PL_OK)
        status = member_text(in, media, "name", &name);
    if (status != PL_OK)
        return status;
    pl_buf_addf(&words, "[%.*s%s%.*s: %s]", PL_STR_ARG(kind), name.len ? " " : "", PL_STR_ARG(name),
                why);
    struct pl_json_out out = pl_json_out(&json);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "type");
    pl_json_out_text(&out, PL_STR("text"));
    pl_json_out_key(&out, "content");
    pl_json_out_text(&out, pl_buf_str(&words));
    pl_json_out_close(&out, '}');
    if (words.status != PL_OK || json.status != PL_OK)
        return PL_NOMEM;
    return pl_json_edit_set_node(&in->edit, block, pl_buf_str(&json), in->err);
}

/* --- as data --------------------------------------------------------------------------------- */

enum pl_status pl_blob_write_base64(struct pl_store *store, const struct pl_blob_row *blob,
                                    struct pl_buf *to, struct pl_error *err)
{
    struct pl_buf bytes PL_CLEANUP_BUF;
    pl_buf_init(&bytes, 0);
    enum pl_status status = PL_OK;
    for (int64_t i = 0; status == PL_OK && i * (int64_t)PL_BLOB_PIECE < blob->n_bytes; i++) {
        struct pl_arena arena PL_CLEANUP_ARENA;
        struct pl_str piece;
        pl_arena_init(&arena, 0);
        status = pl_store_blob_piece(store, &arena, blob->hash, i, &piece, err);
        if (status == PL_OK)
            pl_buf_add(&bytes, piece);
    }
    if (status == PL_OK)
        status = bytes.status;
    if (status != PL_OK)
        return status;
    pl_base64_encode(to, pl_buf_str(&bytes));
    return to->status;
}

static enum pl_status put_in(struct inlining *in, const struct pl_json_node *block,
                             const struct pl_blob_row *blob)
{
    struct pl_buf json PL_CLEANUP_BUF;
    pl_buf_init(&json, 0);
    pl_buf_addc(&json, '"');
    enum pl_status status = pl_blob_write_base64(in->store, blob, &json, in->err);
    pl_buf_addc(&json, '"');
    if (status == PL_OK)
        status = json.status;
    if (status != PL_OK)
        return status;
    in->n_left -= blob->n_bytes;
    return pl_json_edit_insert_after(&in->edit, pl_json_get(&in->doc, block, PL_STR("content")),
                                     NULL, PL_STR("data"), pl_buf_str(&json), in->err);
}

static enum pl_status inline_block(struct inlining *in, const struct pl_json_node *block)
{
    struct pl_str id;
    struct pl_blob_row blob;
    enum pl_status status = pl_json_text(in->arena, &in->doc, blob_of(in, block), &id);
    if (status == PL_OK)
        status = pl_store_blob_get(in->store, in->arena, in->user_id, id, &blob, in->err);
    if (status == PL_NOT_FOUND || status == PL_INVALID)
        return name_it(in, block, "no longer stored");
    if (status != PL_OK)
        return status;
    return blob.n_bytes <= in->n_left
               ? put_in(in, block, &blob)
               : name_it(in, block, "shown before, left out here to keep the request short");
}

static enum pl_status write(struct inlining *in, struct pl_str *ret_turns)
{
    struct pl_buf text PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    enum pl_status status = pl_json_edit_write(&in->edit, &text);
    if (status != PL_OK)
        return status;
    *ret_turns = pl_arena_dup(in->arena, pl_buf_str(&text));
    return ret_turns->ptr ? PL_OK : PL_NOMEM;
}

enum pl_status pl_media_inline(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str user_id, int64_t max_bytes, struct pl_str turns,
                               struct pl_str *ret_turns, struct pl_error *err)
{
    struct inlining in = {
        .store = store,
        .arena = arena,
        .user_id = user_id,
        .n_left = max_bytes,
        .err = err,
    };
    /* Most conversations have none: then nothing is parsed. */
    if (pl_str_find(turns, PL_STR("\"media\"")) == SIZE_MAX) {
        *ret_turns = turns;
        return PL_OK;
    }
    enum pl_status status = pl_json_parse(arena, turns, &pl_json_own, &in.doc, err);
    if (status != PL_OK)
        return status;
    pl_json_edit_init(&in.edit, arena, &in.doc);
    for (const struct pl_json_node *t = pl_json_first(in.doc.root);
         status == PL_OK && t < pl_json_end(in.doc.root); t = pl_json_next(t))
        status = list_turn(&in, t);
    for (size_t i = in.blocks.len; status == PL_OK && i > 0; i--) /* the newest first */
        status = inline_block(&in, in.blocks.ptr[i - 1]);
    if (status == PL_OK && in.blocks.len)
        status = write(&in, ret_turns);
    else if (status == PL_OK)
        *ret_turns = turns;
    pl_json_edit_deinit(&in.edit);
    pl_vec_deinit(&in.blocks);
    return status;
}
