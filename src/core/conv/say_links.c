#include "conv/say_links.h"

#include "conv/link.h"

/* A relative one is of our own: /api/blobs/… */
static bool is_link(struct pl_str url)
{
    if (!pl_link_is_web(url) && !pl_str_starts(url, PL_STR("/")))
        return false;
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.ptr[i] <= ' ' || strchr("<>\\", url.ptr[i]))
            return false;
    return true;
}

static const char *word_of(enum pl_part_kind kind)
{
    switch (kind) {
    case PL_PART_IMAGE:
        return "image";
    case PL_PART_AUDIO:
        return "audio";
    case PL_PART_VIDEO:
        return "video";
    default:
        return "file";
    }
}

/* The name a person knows it by, if that can stand between brackets. */
static struct pl_str name_of(struct pl_conv *conv, const struct pl_part *part)
{
    struct pl_str name = pl_conv_text(conv, part->name);
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || strchr("[]\\", name.ptr[i]))
            name.len = 0;
    return name.len ? name : pl_str_of(word_of(part->kind));
}

static void say(struct pl_conv *conv, struct pl_part *part)
{
    if (part->kind < PL_PART_IMAGE || part->kind > PL_PART_FILE || !pl_val_is_set(part->url))
        return;
    struct pl_str url = pl_conv_text(conv, part->url), name = name_of(conv, part);
    if (!is_link(url))
        return;
    bool is_wrapped = memchr(url.ptr, '(', url.len) || memchr(url.ptr, ')', url.len);
    struct pl_str text = pl_conv_printf(
        conv, "%s[%.*s](%s%.*s%s)", part->kind == PL_PART_IMAGE ? "!" : "", PL_STR_ARG(name),
        is_wrapped ? "<" : "", PL_STR_ARG(url), is_wrapped ? ">" : "");
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED, part->node ? part->node : part->url.node,
                 "there is no place for it; a link to it stands in the text");
    pl_conv_know(conv, part->url.node);
    if (pl_str_eq(name, pl_conv_text(conv, part->name)))
        pl_conv_know(conv, part->name.node);
    *part = (struct pl_part){.kind = PL_PART_TEXT, .node = part->node, .text = pl_val_text(text)};
}

enum pl_status pl_conv_say_links(struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->parts.len && conv->status == PL_OK; i++)
        say(conv, &conv->parts.ptr[i]);
    for (size_t i = 0; i < conv->children.len && conv->status == PL_OK; i++)
        say(conv, &conv->children.ptr[i]);
    return conv->status;
}
