/* The result of a call: text, an object without members for the page, or a list of texts and
 * media. */
#include "format/turns/turns_int.h"

/* The text of an object without its `_meta`, which is for the page and never for the model. Members
 * keep their spelling. */
static struct pl_val without_meta(struct pl_conv *conv, const struct pl_json_node *object)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    pl_buf_addc(&json, '{');
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k)) {
        if (pl_json_text_is(conv->doc, k, PL_STR("_meta")))
            continue;
        if (json.len > 1)
            pl_buf_addc(&json, ',');
        pl_buf_add(&json, pl_json_span(conv->doc, k));
        pl_buf_addc(&json, ':');
        pl_buf_add(&json, pl_json_span(conv->doc, k + 1));
        pl_conv_know(conv, k + 1);
    }
    pl_buf_addc(&json, '}');
    struct pl_str text = pl_arena_dup(conv->arena, pl_buf_str(&json));
    if (json.status != PL_OK || !text.ptr)
        conv->status = PL_NOMEM;
    return pl_val_text(text);
}

/* Whether a result is a list of texts and media. */
static bool is_shown(struct pl_conv *conv, const struct pl_json_node *result)
{
    static const char *const types[] = {"text", "media", NULL};
    if (!pl_json_is(result, PL_JSON_ARRAY) || !pl_json_count(result))
        return false;
    for (const struct pl_json_node *n = pl_json_first(result); n < pl_json_end(result);
         n = pl_json_next(n))
        if (!pl_json_is(n, PL_JSON_OBJECT) ||
            pl_conv_word(conv, pl_conv_node(conv, n, "type"), types) < 0)
            return false;
    return true;
}

static void add_shown(struct pl_conv *conv, const struct pl_json_node *result)
{
    for (const struct pl_json_node *n = pl_json_first(result); n < pl_json_end(result);
         n = pl_json_next(n)) {
        const struct pl_json_node *type = pl_conv_node(conv, n, "type");
        pl_conv_know(conv, type);
        if (pl_conv_says(conv, type, "media"))
            pl_turns_read_media(conv, n, pl_conv_add_child);
        else
            pl_conv_add_child(conv, PL_PART_TEXT, n)->text =
                pl_conv_get(conv, n, "content", PL_WANT_STRING);
    }
}

void pl_turns_read_result(struct pl_conv *conv, const struct pl_json_node *result)
{
    if (is_shown(conv, result)) {
        add_shown(conv, result);
        return;
    }
    struct pl_val text = pl_val_node(result);
    if (pl_json_is(result, PL_JSON_OBJECT) && pl_json_get(conv->doc, result, PL_STR("_meta")))
        text = without_meta(conv, result);
    pl_conv_add_child(conv, PL_PART_TEXT, NULL)->text = text;
}
