/* Replaces the blobs that turns name by data, and media that is left out by a text. */
#include "agent/context/inline_media.h"

#include "agent/context/inline_item.h"
#include "agent/context/upright.h"
#include "base/text/base64.h"
#include "json/edit/edit.h"
#include "json/number.h"
#include "json/text.h"
#include "json/write.h"
#include "tokens/media.h"

/* For sounds and files; the actual ratio is higher. */
enum { BYTES_PER_TOKEN = 3 };

struct inlining {
    struct pl_store *store;
    struct pl_arena *arena;
    const struct pl_inline_opts *opts;
    struct pl_json_doc doc;
    struct pl_json_edit edit;
    struct pl_inline_items items;
    struct pl_error *err;
};

/* --- bytes ----------------------------------------------------------------------------------- */

enum pl_status pl_blob_bytes(struct pl_store *store, const struct pl_blob_row *blob,
                             struct pl_buf *to, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    for (int64_t i = 0; status == PL_OK && i * (int64_t)PL_BLOB_PIECE < blob->n_bytes; i++) {
        struct pl_arena arena PL_CLEANUP_ARENA;
        struct pl_str piece;
        pl_arena_init(&arena, 0);
        status = pl_store_blob_piece(store, &arena, blob->hash, i, &piece, err);
        if (status == PL_OK)
            pl_buf_add(to, piece);
    }
    return status == PL_OK ? to->status : status;
}

static enum pl_status find_blob(struct inlining *in, struct pl_inline_item *item)
{
    struct pl_str id;
    enum pl_status status = pl_json_text(in->arena, &in->doc, item->blob, &id);
    if (status == PL_OK)
        status =
            pl_store_blob_get(in->store, in->arena, in->opts->user_id, id, &item->row, in->err);
    if (status != PL_NOT_FOUND && status != PL_INVALID)
        return status;
    item->fate = PL_INLINED_GONE;
    return PL_OK;
}

/* `auto`, and a detail that the vendor does not have, count as high. */
static void weigh(struct pl_inline_item *item)
{
    struct pl_media media = {pl_buf_str(&item->bytes), false};
    struct pl_image_size size;
    bool is_known = item->is_image && item->blob && pl_image_size_read(&media, &size);
    item->n_tokens = item->is_image ? pl_image_tokens(PL_IMAGE_HIGH, is_known ? &size : NULL)
                                    : (uint64_t)item->row.n_bytes / BYTES_PER_TOKEN + 1;
}

static enum pl_status load(struct inlining *in, struct pl_inline_item *item)
{
    enum pl_status status = PL_OK;
    if (item->blob)
        status = pl_blob_bytes(in->store, &item->row, &item->bytes, in->err);
    if (status == PL_OK)
        weigh(item);
    return status;
}

/* --- upright --------------------------------------------------------------------------------- */

static int rotation_of(const struct inlining *in, const struct pl_inline_item *item)
{
    const struct pl_json_node *n =
        pl_json_member(&in->doc, item->media, "rotation", PL_JSON_NUMBER);
    int64_t degrees = 0;
    if (!n || !item->is_image || !pl_json_number_int64(pl_json_span(&in->doc, n), &degrees))
        return 0;
    return degrees == 90 || degrees == 180 || degrees == 270 ? (int)degrees : 0;
}

static enum pl_status note_trouble(struct inlining *in, struct pl_inline_item *item, int degrees,
                                   const char *why)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, "not turned by %d degrees: %s", degrees, why);
    if (text.status != PL_OK)
        return text.status;
    item->trouble = pl_arena_dup(in->arena, pl_buf_str(&text));
    return item->trouble.ptr ? PL_OK : PL_NOMEM;
}

/* An image that cannot be rotated is sent as it is, with a note: a model can read a rotated page
 * too. */
static enum pl_status turn(struct inlining *in, struct pl_inline_item *item)
{
    int degrees = rotation_of(in, item);
    struct pl_error why = {0};
    if (!in->opts->is_upright || !degrees)
        return PL_OK;
    if (!item->blob)
        return note_trouble(in, item, degrees, "it is behind a URL");
    struct pl_buf turned;
    pl_buf_init(&turned, 0);
    enum pl_status status =
        pl_upright_turn(pl_buf_str(&item->bytes), item->row.content_type, degrees,
                        (size_t)in->opts->max_bytes, &turned, &item->mime, &why);
    if (status == PL_OK) {
        pl_buf_deinit(&item->bytes);
        item->bytes = turned;
        return PL_OK;
    }
    pl_buf_deinit(&turned);
    return status == PL_NOMEM ? status : note_trouble(in, item, degrees, why.message);
}

/* --- into the document ----------------------------------------------------------------------- */

/* {"type":"text","content":"[image photo.png: …]"} */
static enum pl_status name_it(struct inlining *in, const struct pl_inline_item *item,
                              const struct pl_json_node *block)
{
    struct pl_buf words PL_CLEANUP_BUF, json PL_CLEANUP_BUF;
    pl_buf_init(&words, 0);
    pl_buf_init(&json, 0);
    enum pl_status status = pl_inline_item_words(in->arena, &in->doc, item, &words);
    if (status != PL_OK)
        return status;
    struct pl_json_out out = pl_json_out(&json);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "type");
    pl_json_out_text(&out, PL_STR("text"));
    pl_json_out_key(&out, "content");
    pl_json_out_text(&out, pl_buf_str(&words));
    pl_json_out_close(&out, '}');
    if (json.status != PL_OK)
        return json.status;
    return pl_json_edit_set_node(&in->edit, block, pl_buf_str(&json), in->err);
}

/* Removes the rotation mark from an image that was rotated. */
static enum pl_status say_upright(struct inlining *in, const struct pl_json_node *media,
                                  const char *mime)
{
    const struct pl_json_node *said = pl_json_get(&in->doc, media, PL_STR("mime"));
    const struct pl_json_node *rotation = pl_json_get(&in->doc, media, PL_STR("rotation"));
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    pl_json_quote(&json, pl_str_of(mime));
    enum pl_status status = json.status;
    if (status == PL_OK && said)
        status = pl_json_edit_set_node(&in->edit, said, pl_buf_str(&json), in->err);
    if (status == PL_OK)
        status = pl_json_edit_remove_node(&in->edit, media, rotation, in->err);
    return status;
}

static enum pl_status put_in(struct inlining *in, const struct pl_inline_item *item,
                             const struct pl_json_node *media)
{
    struct pl_buf json PL_CLEANUP_BUF;
    pl_buf_init(&json, 0);
    if (!item->blob)
        return PL_OK;
    pl_buf_addc(&json, '"');
    pl_base64_encode(&json, pl_buf_str(&item->bytes));
    pl_buf_addc(&json, '"');
    if (json.status != PL_OK)
        return json.status;
    return pl_json_edit_insert_after(&in->edit, media, NULL, PL_STR("data"), pl_buf_str(&json),
                                     in->err);
}

static enum pl_status place(struct inlining *in, struct pl_inline_item *item)
{
    const struct pl_inline_item *as =
        item->twin == SIZE_MAX ? item : &in->items.list.ptr[item->twin];
    if (as->fate != PL_INLINED_IN)
        return name_it(in, as, item->block);
    enum pl_status status = as->mime ? say_upright(in, item->media, as->mime) : PL_OK;
    return status == PL_OK ? put_in(in, as, item->media) : status;
}

static enum pl_status each(struct inlining *in,
                           enum pl_status (*work)(struct inlining *, struct pl_inline_item *),
                           bool is_of_all)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < in->items.list.len; i++) {
        struct pl_inline_item *item = &in->items.list.ptr[i];
        bool is_meant = item->twin == SIZE_MAX && item->fate == PL_INLINED_IN;
        if (is_of_all || is_meant)
            status = work(in, item);
    }
    return status;
}

static enum pl_status find(struct inlining *in, struct pl_inline_item *item)
{
    return item->blob ? find_blob(in, item) : PL_OK;
}

static enum pl_status choose(struct inlining *in)
{
    enum pl_status status = pl_inline_items_list(&in->items, &in->doc);
    if (status == PL_OK)
        status = each(in, find, false);
    pl_inline_items_limit_bytes(&in->items, in->opts->max_bytes);
    if (status == PL_OK)
        status = each(in, load, false);
    if (status == PL_OK && in->opts->max_tokens >= 0)
        pl_inline_items_limit_tokens(&in->items, in->opts->max_tokens);
    return status;
}

/* --- the result ------------------------------------------------------------------------------ */

static enum pl_status keep(struct inlining *in, const struct pl_buf *from, struct pl_str *ret)
{
    *ret = from->status == PL_OK ? pl_arena_dup(in->arena, pl_buf_str(from)) : (struct pl_str){0};
    return from->len && !ret->ptr ? PL_NOMEM : PL_OK;
}

static enum pl_status tell(struct inlining *in, struct pl_inlined *ret)
{
    struct pl_buf notes PL_CLEANUP_BUF, words PL_CLEANUP_BUF, new_words PL_CLEANUP_BUF;
    pl_buf_init(&notes, 0);
    pl_buf_init(&words, 0);
    pl_buf_init(&new_words, 0);
    enum pl_status status = pl_inline_items_notes(&in->doc, &in->items, &notes);
    if (status == PL_OK)
        status = pl_inline_items_sentence(in->arena, &in->doc, &in->items, false, &words);
    if (status == PL_OK)
        status = pl_inline_items_sentence(in->arena, &in->doc, &in->items, true, &new_words);
    if (status == PL_OK)
        status = keep(in, &notes, &ret->notes);
    if (status == PL_OK)
        status = keep(in, &words, &ret->words);
    if (status == PL_OK)
        status = keep(in, &new_words, &ret->new_words);
    for (size_t i = 0; i < in->items.list.len; i++) {
        const struct pl_inline_item *item = &in->items.list.ptr[i];
        if (item->fate != PL_INLINED_IN || item->twin != SIZE_MAX)
            continue;
        ret->n_most_tokens += item->n_tokens;
        ret->n_old_tokens += item->is_image && !item->is_new ? item->n_tokens : 0;
    }
    return status;
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
                               const struct pl_inline_opts *opts, struct pl_str turns,
                               struct pl_inlined *ret_inlined, struct pl_error *err)
{
    struct inlining in = {.store = store, .arena = arena, .opts = opts, .err = err};
    struct pl_inlined inlined = {.turns = turns};
    /* Most conversations have no media: then nothing is parsed. */
    if (pl_str_find(turns, PL_STR("\"media\"")) == SIZE_MAX) {
        *ret_inlined = inlined;
        return PL_OK;
    }
    enum pl_status status = pl_json_parse(arena, turns, &pl_json_own, &in.doc, err);
    if (status != PL_OK)
        return status;
    pl_json_edit_init(&in.edit, arena, &in.doc);
    status = choose(&in);
    if (status == PL_OK)
        status = each(&in, turn, false);
    if (status == PL_OK)
        status = each(&in, place, true);
    if (status == PL_OK && in.items.list.len)
        status = write(&in, &inlined.turns);
    if (status == PL_OK)
        status = tell(&in, &inlined);
    pl_json_edit_deinit(&in.edit);
    pl_inline_items_deinit(&in.items);
    if (status == PL_OK)
        *ret_inlined = inlined;
    return status;
}
