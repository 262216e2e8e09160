/* The block `media` of a turn: an image, audio, video or a file.
 *
 *     {"kind", "blob"|"url"|"data", "mime", "name", "size", "detail"?, "rotation"?,
 *      "video_metadata"?, "sample_rate"?, "alt"?}
 *
 * `blob` names bytes on a server (/api/blobs/ID); `data` is base64, for self-contained documents.
 * `size` is the number of bytes: it adds no information. */
#include "format/turns/turns_int.h"

#define BLOBS "/api/blobs/"

static const struct {
    const char *word;
    enum pl_part_kind kind;
} kinds[] = {
    {"image", PL_PART_IMAGE},
    {"audio", PL_PART_AUDIO},
    {"video", PL_PART_VIDEO},
    {"file", PL_PART_FILE},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static enum pl_part_kind kind_of(struct pl_conv *conv, const struct pl_json_node *word)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (pl_conv_says(conv, word, kinds[i].word))
            return kinds[i].kind;
    return PL_PART_FILE;
}

/* The address of a blob on the server. */
static struct pl_val blob_url(struct pl_conv *conv, const struct pl_json_node *blob)
{
    struct pl_str id = pl_conv_text(conv, pl_val_node(blob));
    struct pl_val url = pl_val_text(pl_conv_printf(conv, BLOBS "%.*s", PL_STR_ARG(id)));
    url.node = blob;
    return url;
}

static void read_url(struct pl_conv *conv, struct pl_val url, struct pl_part *part)
{
    if (!pl_conv_data_url(conv, url, &part->mime, &part->data))
        part->url = url;
}

void pl_turns_read_media(struct pl_conv *conv, const struct pl_json_node *block, pl_part_adder *add)
{
    const struct pl_json_node *media = pl_conv_member(conv, block, "content", PL_WANT_OBJECT);
    const struct pl_json_node *word = pl_conv_member(conv, media, "kind", PL_WANT_STRING);
    const struct pl_json_node *blob = pl_conv_member(conv, media, "blob", PL_WANT_STRING);
    struct pl_val data = pl_conv_get(conv, media, "data", PL_WANT_STRING);
    if (!media)
        return;
    struct pl_part *part = add(conv, kind_of(conv, word), block);
    pl_conv_know(conv, word);
    pl_conv_know(conv, pl_conv_node(conv, media, "size"));
    if (pl_val_is_set(data))
        pl_conv_take_data(conv, data, part);
    else if (blob)
        part->url = blob_url(conv, blob);
    else /* an address, or the bytes themselves in a data URL */
        read_url(conv, pl_conv_get(conv, media, "url", PL_WANT_STRING), part);
    if (pl_val_is_set(data) && blob)
        pl_conv_know(conv, blob); /* the same bytes */
    struct pl_val mime = pl_conv_get(conv, media, "mime", PL_WANT_STRING);
    if (pl_val_is_set(mime))
        part->mime = mime;
    part->name = pl_conv_get(conv, media, "name", PL_WANT_STRING);
    if (part->kind == PL_PART_AUDIO) {
        part->rate = pl_conv_get(conv, media, "sample_rate", PL_WANT_INTEGER);
    } else if (part->kind == PL_PART_IMAGE) {
        part->detail = pl_conv_get(conv, media, "detail", PL_WANT_STRING);
        part->rotation = pl_conv_get(conv, media, "rotation", PL_WANT_NUMBER);
        part->context = pl_conv_get(conv, media, "video_metadata", PL_WANT_OBJECT);
    }
}

bool pl_turns_has_media(const struct pl_part *part)
{
    return part->kind >= PL_PART_IMAGE && part->kind <= PL_PART_FILE &&
           (pl_val_is_set(part->data) || pl_val_is_set(part->url));
}

/* A URL of our own blobs becomes the blob's id. */
static void write_place(struct pl_writer *w, const struct pl_part *part)
{
    struct pl_str url = pl_conv_text(w->conv, part->url), blobs = PL_STR(BLOBS);
    if (pl_val_is_set(part->data)) {
        pl_w_opt_string(w, "data", part->data);
    } else if (pl_str_starts(url, blobs)) {
        pl_w_key(w, "blob");
        pl_w_string(w, pl_val_text(pl_str_slice(url, blobs.len, url.len)));
        pl_w_mapped(w, part->url);
    } else {
        pl_w_opt_string(w, "url", part->url);
    }
}

void pl_turns_write_media(struct pl_writer *w, const struct pl_part *part)
{
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", "media");
    pl_w_key(w, "content");
    pl_w_open(w, '{');
    for (size_t i = 0; i < N_KINDS; i++)
        if (kinds[i].kind == part->kind)
            pl_w_key_word(w, "kind", kinds[i].word);
    write_place(w, part);
    pl_w_opt_string(w, "mime", part->mime);
    if (part->mime.kind == PL_VAL_TEXT)
        pl_w_mapped(w, part->mime);
    pl_w_opt_string(w, "name", part->name);
    if (part->kind == PL_PART_AUDIO) {
        pl_w_opt_value(w, "sample_rate", part->rate);
    } else if (part->kind == PL_PART_IMAGE) {
        pl_w_opt_string(w, "detail", part->detail);
        pl_w_opt_value(w, "rotation", part->rotation);
        if (part->context.kind == PL_VAL_NODE && pl_json_is(part->context.node, PL_JSON_OBJECT))
            pl_w_opt_value(w, "video_metadata", part->context);
    }
    pl_w_close(w, '}');
    pl_w_close(w, '}');
}
