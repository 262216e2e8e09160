#include "conv/conv.h"

#include "json/text.h"

#include <stdio.h>

enum pl_status pl_conv_init(struct pl_conv *conv, struct pl_arena *arena,
                            const struct pl_json_doc *doc)
{
    *conv = (struct pl_conv){.arena = arena, .doc = doc};
    conv->fates = pl_arena_zalloc(arena, doc->n_nodes, 1);
    return conv->fates ? PL_OK : PL_NOMEM;
}

void pl_conv_deinit(struct pl_conv *conv)
{
    pl_vec_deinit(&conv->messages);
    pl_vec_deinit(&conv->parts);
    pl_vec_deinit(&conv->children);
    pl_vec_deinit(&conv->tools);
    pl_vec_deinit(&conv->losses);
}

struct pl_message *pl_conv_add_message(struct pl_conv *conv, enum pl_role role,
                                       const struct pl_json_node *node, uint32_t element)
{
    struct pl_message message = {
        .role = role, .node = node, .element = element, .parts = (uint32_t)conv->parts.len};
    if (pl_vec_push(&conv->messages, message))
        return &conv->messages.ptr[conv->messages.len - 1];
    conv->status = PL_NOMEM;
    return &conv->spare_message;
}

struct pl_part *pl_conv_add_part(struct pl_conv *conv, enum pl_part_kind kind,
                                 const struct pl_json_node *node)
{
    struct pl_part part = {.kind = kind, .node = node, .children = (uint32_t)conv->children.len};
    if (conv->status == PL_OK && pl_vec_push(&conv->parts, part)) {
        conv->messages.ptr[conv->messages.len - 1].n_parts++;
        return &conv->parts.ptr[conv->parts.len - 1];
    }
    conv->status = PL_NOMEM;
    return &conv->spare_part;
}

struct pl_part *pl_conv_add_child(struct pl_conv *conv, enum pl_part_kind kind,
                                  const struct pl_json_node *node)
{
    struct pl_part part = {.kind = kind, .node = node};
    if (conv->status == PL_OK && pl_vec_push(&conv->children, part)) {
        conv->parts.ptr[conv->parts.len - 1].n_children++;
        return &conv->children.ptr[conv->children.len - 1];
    }
    conv->status = PL_NOMEM;
    return &conv->spare_part;
}

struct pl_tool *pl_conv_add_tool(struct pl_conv *conv, const struct pl_json_node *node)
{
    struct pl_tool tool = {.node = node};
    if (pl_vec_push(&conv->tools, tool))
        return &conv->tools.ptr[conv->tools.len - 1];
    conv->status = PL_NOMEM;
    return &conv->spare_tool;
}

const struct pl_json_node *pl_conv_node(const struct pl_conv *conv,
                                        const struct pl_json_node *object, const char *key)
{
    if (!object)
        return NULL;
    const struct pl_json_node *value = pl_json_get(conv->doc, object, pl_str_of(key));
    return value && pl_json_kind(value) != PL_JSON_NULL ? value : NULL;
}

struct pl_val pl_conv_get(const struct pl_conv *conv, const struct pl_json_node *object,
                          const char *key)
{
    return pl_val_node(pl_conv_node(conv, object, key));
}

bool pl_conv_says(const struct pl_conv *conv, const struct pl_json_node *node, const char *word)
{
    return node && pl_json_kind(node) == PL_JSON_STRING &&
           pl_json_text_is(conv->doc, node, pl_str_of(word));
}

int pl_conv_word(const struct pl_conv *conv, const struct pl_json_node *node,
                 const char *const words[])
{
    for (int i = 0; words[i]; i++)
        if (pl_conv_says(conv, node, words[i]))
            return i;
    return -1;
}

static struct pl_str decoded(struct pl_conv *conv, struct pl_str raw)
{
    if (!memchr(raw.ptr, '\\', raw.len))
        return raw;
    char *to = pl_arena_alloc(conv->arena, raw.len, 1);
    if (!to) {
        conv->status = PL_NOMEM;
        return (struct pl_str){0};
    }
    return (struct pl_str){to, pl_json_decode(to, raw)};
}

struct pl_str pl_conv_text(struct pl_conv *conv, struct pl_val val)
{
    switch (val.kind) {
    case PL_VAL_NONE:
        return (struct pl_str){0};
    case PL_VAL_NODE:
        if (pl_json_kind(val.node) != PL_JSON_STRING)
            return pl_json_span(conv->doc, val.node);
        return decoded(conv, pl_json_raw(conv->doc, val.node));
    case PL_VAL_SPAN:
        return decoded(conv, val.str);
    default:
        return val.str;
    }
}

bool pl_conv_is_blank(struct pl_conv *conv, struct pl_val val)
{
    struct pl_str text = pl_conv_text(conv, val);
    for (size_t i = 0; i < text.len; i++)
        if (!strchr(" \t\r\n\f\v", text.ptr[i]))
            return false;
    return true;
}

struct pl_str pl_conv_printf(struct pl_conv *conv, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = n >= 0 ? pl_arena_alloc(conv->arena, (size_t)n + 1, 1) : NULL;
    if (to)
        vsnprintf(to, (size_t)n + 1, format, again);
    else
        conv->status = PL_NOMEM;
    va_end(again);
    return (struct pl_str){to, to ? (size_t)n : 0};
}

bool pl_conv_data_url(struct pl_conv *conv, struct pl_val url, struct pl_val *ret_mime,
                      struct pl_val *ret_data)
{
    if (url.kind != PL_VAL_NODE || pl_json_kind(url.node) != PL_JSON_STRING)
        return false;
    struct pl_str raw = pl_json_raw(conv->doc, url.node);
    if (!pl_str_starts(raw, PL_STR("data:")))
        return false;
    const char *comma = memchr(raw.ptr, ',', raw.len < 512 ? raw.len : 512);
    if (!comma)
        return false;
    struct pl_str head = pl_str_slice(raw, 5, (size_t)(comma - raw.ptr));
    struct pl_str base64 = PL_STR(";base64");
    if (head.len < base64.len ||
        memcmp(head.ptr + head.len - base64.len, base64.ptr, base64.len) != 0)
        return false;
    const char *end = memchr(head.ptr, ';', head.len);
    struct pl_str mime = {head.ptr, (size_t)(end - head.ptr)};
    *ret_mime = mime.len ? (struct pl_val){PL_VAL_SPAN, url.node, mime} : (struct pl_val){0};
    *ret_data = (struct pl_val){PL_VAL_SPAN, url.node,
                                pl_str_slice(raw, (size_t)(comma + 1 - raw.ptr), raw.len)};
    return true;
}
