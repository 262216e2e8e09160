/* Turns the flag of a failed tool into an error object for formats without a flag, and back. */
#include "format/adapt/flag_errors.h"

#include "conv/tool_error.h"
#include "json/text.h"

static bool is_text(const struct pl_part *part)
{
    return part->kind == PL_PART_TEXT;
}

/* Decodes and parses a string of the source only if its spelling may be that of an error. */
static bool text_says_error(struct pl_conv *conv, struct pl_val text)
{
    bool is_string = text.kind == PL_VAL_NODE && pl_json_is(text.node, PL_JSON_STRING);
    if (is_string && !(text.node->tag & PL_JSON_ODD) &&
        !pl_tool_error_is_likely(pl_json_raw(conv->doc, text.node)))
        return false;
    return pl_tool_error_is_text(pl_conv_text(conv, text), &conv->status);
}

static bool says_error(struct pl_conv *conv, const struct pl_part *result)
{
    const struct pl_part *children = pl_conv_children(conv, result);
    for (uint32_t i = 0; i < result->n_children; i++)
        if (is_text(&children[i]))
            return text_says_error(conv, children[i].text);
    return false;
}

/* The texts of the result, one per line, as an error object. */
static struct pl_str error_of(struct pl_conv *conv, const struct pl_part *result)
{
    PL_CLEANUP_BUF struct pl_buf words, json;
    pl_buf_init(&words, 0);
    pl_buf_init(&json, 0);
    const struct pl_part *children = pl_conv_children(conv, result);
    bool has_text = false;
    for (uint32_t i = 0; i < result->n_children; i++) {
        if (!is_text(&children[i]))
            continue;
        if (has_text)
            pl_buf_addc(&words, '\n');
        pl_buf_add(&words, pl_conv_text(conv, children[i].text));
        pl_conv_know(conv, children[i].text.node);
        has_text = true;
    }
    pl_tool_error_write(&json, PL_TOOL_ERROR_FLAGGED, words.len ? pl_buf_str(&words) : PL_STR(""));
    struct pl_str kept = pl_arena_dup(conv->arena, pl_buf_str(&json));
    if (words.status != PL_OK || json.status != PL_OK || !kept.ptr)
        conv->status = PL_NOMEM;
    return kept;
}

/* The only string of the source that is its whole text; NULL: several, or none. */
static const struct pl_json_node *only_text(const struct pl_conv *conv,
                                            const struct pl_part *result)
{
    const struct pl_part *children = pl_conv_children(conv, result), *found = NULL;
    for (uint32_t i = 0; i < result->n_children; i++) {
        if (!is_text(&children[i]))
            continue;
        if (found)
            return NULL;
        found = &children[i];
    }
    return found && found->text.kind == PL_VAL_NODE && pl_json_is(found->text.node, PL_JSON_STRING)
               ? found->text.node
               : NULL;
}

/* Puts the object in place of the first text, or first. A result may have no text, so its content
 * moves to the end of conv->children. */
static void wrap(struct pl_conv *conv, size_t at)
{
    struct pl_part *result = &conv->parts.ptr[at];
    struct pl_part error = {.kind = PL_PART_TEXT, .text = pl_val_text(error_of(conv, result))};
    error.text.node = only_text(conv, result);
    uint32_t first = (uint32_t)conv->children.len, n = 1;
    if (!pl_vec_push(&conv->children, error))
        conv->status = PL_NOMEM;
    for (uint32_t i = 0; i < result->n_children && conv->status == PL_OK; i++) {
        struct pl_part child = conv->children.ptr[result->children + i];
        if (is_text(&child))
            continue;
        n++;
        if (!pl_vec_push(&conv->children, child))
            conv->status = PL_NOMEM;
    }
    if (conv->status != PL_OK)
        return;
    result->children = first;
    result->n_children = n;
}

/* Unwraps a message that a conversion to the source's format wrapped. */
static void unwrap(struct pl_conv *conv, struct pl_part *result)
{
    struct pl_part *children = pl_conv_children(conv, result);
    struct pl_part *child = children;
    while (child < children + result->n_children && !is_text(child))
        child++;
    struct pl_json_doc doc;
    enum pl_status status =
        pl_json_parse(conv->arena, pl_conv_text(conv, child->text), NULL, &doc, NULL);
    const struct pl_json_node *message =
        status == PL_OK ? pl_tool_error_flagged(&doc, doc.root) : NULL;
    struct pl_str text;
    if (!message)
        return;
    if (pl_json_text(conv->arena, &doc, message, &text) != PL_OK) {
        conv->status = PL_NOMEM;
        return;
    }
    pl_conv_fate(conv, child->text.node, PL_FATE_SAID);
    child->text = pl_val_text(text.len ? text : PL_STR(""));
}

/* Mode convert does not change text for a vendor: the flag is reported instead. A vendor's answer
 * has no tool results at all. */
static bool is_left_alone(const struct pl_conversion *conversion)
{
    return conversion->to->is_vendor &&
           (conversion->mode == PL_MODE_CONVERT || conversion->kind == PL_KIND_RESPONSE);
}

static void tell(struct pl_conv *conv, const struct pl_part *result, bool is_lost)
{
    const struct pl_json_node *flag = result->is_error.val.node;
    if (flag && is_lost)
        pl_conv_loss(conv, PL_LOSS_DROPPED, flag,
                     "there is no error flag here; only the text can show the failure");
    else if (flag)
        pl_conv_loss(conv, PL_LOSS_MOVED, flag, "the result says it: it is an error object now");
}

void pl_flag_errors(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    bool has_from = conversion->from->has_error_flag, has_to = conversion->to->has_error_flag;
    if (conversion->from == conversion->to || (has_from && has_to))
        return;
    for (size_t i = 0; i < conv->parts.len && conv->status == PL_OK; i++) {
        struct pl_part *part = &conv->parts.ptr[i];
        if (part->kind != PL_PART_RESULT)
            continue;
        bool is_error = part->is_error.is_set && part->is_error.value;
        if (!has_to && is_error && !says_error(conv, part)) {
            if (!is_left_alone(conversion))
                wrap(conv, i);
            tell(conv, &conv->parts.ptr[i], is_left_alone(conversion));
        } else if (!has_from && !part->is_error.is_set && says_error(conv, part)) {
            part->is_error = (struct pl_flag){.is_set = true, .value = true};
            if (has_to)
                unwrap(conv, part);
        }
        if (!has_to)
            pl_conv_know(conv, conv->parts.ptr[i].is_error.val.node);
    }
}
