#include "format/pieces/content.h"

#include "conv/media/sniff.h"

void pl_content_read_refusal(struct pl_conv *conv, const struct pl_json_node *n,
                             struct pl_part *part)
{
    pl_conv_take(conv, n, "refusal", PL_WANT_STRING, &part->text);
}

void pl_content_set_url(struct pl_conv *conv, struct pl_part *part, struct pl_val url)
{
    if (!pl_conv_data_url(conv, url, &part->mime, &part->data))
        part->url = url;
}

void pl_content_read_audio(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part,
                           const char *(*mime_of)(const struct pl_conv *conv,
                                                  const struct pl_json_node *format))
{
    const struct pl_json_node *audio = pl_conv_member(conv, n, "input_audio", PL_WANT_OBJECT);
    const struct pl_json_node *format = pl_conv_member(conv, audio, "format", PL_WANT_STRING);
    pl_conv_take_data(conv, pl_conv_get(conv, audio, "data", PL_WANT_STRING), part);
    const char *type = mime_of(conv, format);
    if (!type)
        return;
    part->mime = pl_val_text(pl_str_of(type));
    part->mime.node = format;
    /* Every target with audio has a word for its type. */
    pl_conv_know(conv, format);
}

struct pl_val pl_content_mime(struct pl_conv *conv, const struct pl_part *part)
{
    if (pl_val_is_set(part->mime) || !pl_val_is_set(part->data))
        return part->mime;
    const char *mime = pl_sniff_mime(pl_conv_text(conv, part->data));
    return mime ? pl_val_text(pl_str_of(mime)) : (struct pl_val){0};
}

void pl_content_write_url(struct pl_writer *w, const struct pl_part *part)
{
    if (!pl_val_is_set(part->data)) {
        pl_w_string(w, part->url);
        return;
    }
    struct pl_val mime = pl_content_mime(w->conv, part);
    pl_w_data_url(w, mime, part->data);
    pl_w_mapped(w, mime);
}
