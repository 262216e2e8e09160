/* Parts of a message that several vendors spell alike: refusals, sounds, addresses and cache markers. */
#include "format/pieces/content.h"

#include "base/ascii.h"
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

void pl_content_know_mark(struct pl_conv *conv, const struct pl_json_node *mark)
{
    static const char *const words[] = {"type", "mode"};
    pl_conv_know(conv, mark);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        pl_conv_know(conv, pl_json_member(conv->doc, mark, words[i], PL_JSON_STRING));
}

/* Whether a word may be the second half of a media type. */
static bool is_subtype(struct pl_str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!pl_ascii_is_alnum(word.ptr[i]) && !memchr(".+-_", word.ptr[i], 4))
            return false;
    return word.len > 0;
}

/* The media type of a sound whose format is in no table: the format's own word, unless the bytes say
 * what they are. */
static struct pl_val type_of_unknown(struct pl_conv *conv, const struct pl_part *part,
                                     const struct pl_json_node *format)
{
    struct pl_str word = pl_conv_text(conv, pl_val_node(format)), head = PL_STR("audio/");
    if (pl_str_starts(word, head) && is_subtype(pl_str_slice(word, head.len, word.len)))
        return pl_val_node(format);
    if (!is_subtype(word) || pl_sniff_mime(pl_conv_text(conv, part->data)))
        return (struct pl_val){0};
    struct pl_val type = pl_val_text(pl_conv_printf(conv, "audio/%.*s", PL_STR_ARG(word)));
    type.node = format;
    return type;
}

void pl_content_read_audio(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part,
                           const char *(*mime_of)(const struct pl_conv *conv,
                                                  const struct pl_json_node *format))
{
    const struct pl_json_node *audio = pl_conv_member(conv, n, "input_audio", PL_WANT_OBJECT);
    const struct pl_json_node *format = pl_conv_member(conv, audio, "format", PL_WANT_STRING);
    pl_conv_take_data(conv, pl_conv_get(conv, audio, "data", PL_WANT_STRING), part);
    const char *type = mime_of(conv, format);
    if (!type) {
        part->mime = type_of_unknown(conv, part, format);
        return;
    }
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
