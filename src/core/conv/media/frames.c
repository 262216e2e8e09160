/* Gives frames of a video their time in words: builds the lists of parts again, with a text before
 * each frame. */
#include "conv/media/frames.h"

struct timing {
    struct pl_conv *conv;
    PL_VEC(struct pl_part) parts;    /* owned; the new conv->parts */
    PL_VEC(struct pl_part) children; /* owned; the new conv->children */
};

static bool is_frame(const struct pl_part *part)
{
    return part->kind == PL_PART_IMAGE && part->context.kind == PL_VAL_NODE &&
           pl_json_is(part->context.node, PL_JSON_OBJECT);
}

static bool has_frames(const struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->parts.len; i++)
        if (is_frame(&conv->parts.ptr[i]))
            return true;
    for (size_t i = 0; i < conv->children.len; i++)
        if (is_frame(&conv->children.ptr[i]))
            return true;
    return false;
}

static void fail(struct timing *t)
{
    if (t->conv->status == PL_OK)
        t->conv->status = PL_NOMEM;
}

/* " of the video cam_01", or nothing. */
static struct pl_str video_words(struct pl_conv *conv, const struct pl_json_node *video)
{
    struct pl_str id = pl_conv_text(conv, pl_val_node(video));
    return id.len ? pl_conv_printf(conv, " of the video %.*s", PL_STR_ARG(id)) : PL_STR("");
}

/* The words for a frame; empty: none. */
static struct pl_str words_of(struct pl_conv *conv, const struct pl_part *part)
{
    const struct pl_json_node *about = part->context.node;
    const struct pl_json_node *time =
        pl_json_member(conv->doc, about, "timestamp_sec", PL_JSON_NUMBER);
    const struct pl_json_node *index =
        pl_json_member(conv->doc, about, "frame_index", PL_JSON_NUMBER);
    const struct pl_json_node *video = pl_json_member(conv->doc, about, "video_id", PL_JSON_STRING);
    if (!time && !index)
        return (struct pl_str){0};
    struct pl_str of = video_words(conv, video);
    struct pl_str at = time ? pl_json_span(conv->doc, time) : PL_STR("");
    struct pl_str number = index ? pl_json_span(conv->doc, index) : PL_STR("");
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED, time ? time : index,
                 "there is no place for the time of a frame; a text before the image says it");
    pl_conv_know(conv, time);
    pl_conv_know(conv, index);
    pl_conv_know(conv, video);
    return pl_conv_printf(conv, "[Frame%s%.*s%s%.*s%s%.*s]", time ? " at " : "", PL_STR_ARG(at),
                          time ? " s" : "", PL_STR_ARG(of), index ? ", frame " : "",
                          PL_STR_ARG(number));
}

static void add(struct timing *t, const struct pl_part *part, bool is_child)
{
    bool is_added = is_child ? pl_vec_push(&t->children, *part) : pl_vec_push(&t->parts, *part);
    if (!is_added)
        fail(t);
}

static void add_timed(struct timing *t, const struct pl_part *part, bool is_child)
{
    struct pl_str words = is_frame(part) ? words_of(t->conv, part) : (struct pl_str){0};
    if (words.len)
        add(t, &(struct pl_part){.kind = PL_PART_TEXT, .text = pl_val_text(words)}, is_child);
    add(t, part, is_child);
}

/* Copies the content of a result first: the result refers to it. */
static void add_part(struct timing *t, struct pl_part part)
{
    if (part.kind == PL_PART_RESULT) {
        uint32_t first = (uint32_t)t->children.len;
        for (uint32_t i = 0; i < part.n_children; i++)
            add_timed(t, &t->conv->children.ptr[part.children + i], true);
        part.children = first;
        part.n_children = (uint32_t)t->children.len - first;
    }
    add_timed(t, &part, false);
}

void pl_conv_time_frames(struct pl_conv *conv)
{
    if (!has_frames(conv))
        return;
    struct timing t = {.conv = conv};
    for (size_t m = 0; m < conv->messages.len && conv->status == PL_OK; m++) {
        struct pl_message *message = &conv->messages.ptr[m];
        uint32_t first = (uint32_t)t.parts.len;
        for (uint32_t i = 0; i < message->n_parts; i++)
            add_part(&t, conv->parts.ptr[message->parts + i]);
        message->parts = first;
        message->n_parts = (uint32_t)t.parts.len - first;
    }
    if (conv->status != PL_OK) {
        /* The messages may point beyond the old list, but nobody reads a failed conversation. */
        pl_vec_deinit(&t.parts);
        pl_vec_deinit(&t.children);
        return;
    }
    pl_vec_deinit(&conv->parts);
    pl_vec_deinit(&conv->children);
    conv->parts.ptr = t.parts.ptr, conv->parts.len = t.parts.len, conv->parts.cap = t.parts.cap;
    conv->children.ptr = t.children.ptr, conv->children.len = t.children.len;
    conv->children.cap = t.children.cap;
}
