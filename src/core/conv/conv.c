/* Building a conversation: growing lists of messages, parts and tools, look-ups in the source
 * document, and marks for the nodes that were read. */
#include "conv/conv.h"

#include "base/ascii.h"

#include <assert.h>
#include <stdio.h>

/* Messages to reserve room for. A small document uses the initial size of the vectors. */
enum { FEW = 8, MOST_AT_ONCE = 1024 };

enum pl_status pl_conv_renew(struct pl_conv *conv, struct pl_arena *arena,
                             const struct pl_json_doc *doc)
{
    assert(doc->root && doc->n_nodes > 0);
    conv->arena = arena;
    conv->doc = doc;
    conv->messages.len = conv->parts.len = conv->children.len = 0;
    conv->tools.len = conv->losses.len = conv->misfits.len = conv->repeats.len = 0;
    conv->switches.len = 0;
    pl_mem_clear(&conv->settings, sizeof conv->settings);
    pl_mem_clear(&conv->answer, sizeof conv->answer);
    conv->list = NULL;
    conv->n_called = 0;
    conv->is_repaired = false;
    conv->status = PL_OK;
    conv->n_items = 0;
    conv->max_items = PL_CONV_MAX_ITEMS;
    conv->fates = pl_arena_zalloc(arena, doc->n_nodes, 1);
    conv->glance = pl_arena_alloc(arena, 1, sizeof *conv->glance);
    if (!conv->fates || !conv->glance)
        return PL_NOMEM;
    conv->glance->object = NULL;
    /* A call and its result are about twenty nodes; growing would copy the large parts again. */
    size_t n_least = doc->n_nodes / 16 < MOST_AT_ONCE ? doc->n_nodes / 16 : MOST_AT_ONCE;
    bool is_there = n_least < FEW || (pl_vec_reserve(&conv->messages, n_least) &&
                                      pl_vec_reserve(&conv->parts, n_least + n_least / 2));
    return is_there ? PL_OK : PL_NOMEM;
}

enum pl_status pl_conv_init(struct pl_conv *conv, struct pl_arena *arena,
                            const struct pl_json_doc *doc)
{
    *conv = (struct pl_conv){0};
    return pl_conv_renew(conv, arena, doc);
}

void pl_conv_init_lists(struct pl_conv *conv)
{
    memset(&conv->messages, 0, sizeof conv->messages);
    memset(&conv->parts, 0, sizeof conv->parts);
    memset(&conv->children, 0, sizeof conv->children);
    memset(&conv->tools, 0, sizeof conv->tools);
    memset(&conv->losses, 0, sizeof conv->losses);
    memset(&conv->misfits, 0, sizeof conv->misfits);
    memset(&conv->repeats, 0, sizeof conv->repeats);
    memset(&conv->switches, 0, sizeof conv->switches);
    conv->n_called = 0;
}

void pl_conv_deinit(struct pl_conv *conv)
{
    pl_vec_deinit(&conv->messages);
    pl_vec_deinit(&conv->parts);
    pl_vec_deinit(&conv->children);
    pl_vec_deinit(&conv->tools);
    pl_vec_deinit(&conv->losses);
    pl_vec_deinit(&conv->misfits);
    pl_vec_deinit(&conv->repeats);
    pl_vec_deinit(&conv->switches);
}

void pl_conv_limit(struct pl_conv *conv, size_t max_items)
{
    if (max_items && max_items < conv->max_items)
        conv->max_items = max_items;
}

enum pl_status pl_conv_check(const struct pl_conv *conv, struct pl_error *err)
{
    if (conv->status != PL_LIMIT)
        return conv->status;
    return pl_fail(err, PL_LIMIT,
                   "this conversation has more than %zu messages, parts and tools; send it in "
                   "parts",
                   conv->max_items);
}

/* Counts one more item; false when the limit is reached. */
static inline bool admits(struct pl_conv *conv)
{
    return conv->status == PL_OK && conv->n_items++ < conv->max_items;
}

static void run_out(struct pl_conv *conv)
{
    if (conv->status == PL_OK)
        conv->status = conv->n_items > conv->max_items ? PL_LIMIT : PL_NOMEM;
}

struct pl_message *pl_conv_add_message(struct pl_conv *conv, enum pl_role role,
                                       const struct pl_json_node *node, uint32_t element)
{
    struct pl_message *message = admits(conv) ? pl_vec_add(&conv->messages) : NULL;
    if (!message) {
        run_out(conv);
        pl_mem_clear(&conv->spare_message, sizeof conv->spare_message);
        return &conv->spare_message;
    }
    pl_mem_clear(message, sizeof *message);
    message->role = role;
    message->node = node;
    message->element = element;
    message->parts = (uint32_t)conv->parts.len;
    return message;
}

/* If `added` is NULL there is no room, and the part is discarded. */
static inline struct pl_part *begin_part(struct pl_conv *conv, struct pl_part *added,
                                         enum pl_part_kind kind, const struct pl_json_node *node)
{
    if (!added)
        run_out(conv);
    struct pl_part *part = added ? added : &conv->spare_part;
    pl_mem_clear(part, sizeof *part);
    part->kind = kind;
    part->node = node;
    return part;
}

struct pl_part *pl_conv_add_part(struct pl_conv *conv, enum pl_part_kind kind,
                                 const struct pl_json_node *node)
{
    struct pl_part *added = admits(conv) ? pl_vec_add(&conv->parts) : NULL;
    struct pl_part *part = begin_part(conv, added, kind, node);
    if (!added)
        return part;
    part->children = (uint32_t)conv->children.len;
    assert(conv->messages.len > 0);
    conv->messages.ptr[conv->messages.len - 1].n_parts++;
    return part;
}

struct pl_part *pl_conv_add_child(struct pl_conv *conv, enum pl_part_kind kind,
                                  const struct pl_json_node *node)
{
    struct pl_part *added = admits(conv) ? pl_vec_add(&conv->children) : NULL;
    struct pl_part *part = begin_part(conv, added, kind, node);
    if (!added)
        return part;
    assert(conv->parts.len > 0);
    conv->parts.ptr[conv->parts.len - 1].n_children++;
    return part;
}

struct pl_tool *pl_conv_add_tool(struct pl_conv *conv, const struct pl_json_node *node)
{
    struct pl_tool *tool = admits(conv) ? pl_vec_add(&conv->tools) : NULL;
    if (!tool) {
        run_out(conv);
        pl_mem_clear(&conv->spare_tool, sizeof conv->spare_tool);
        return &conv->spare_tool;
    }
    pl_mem_clear(tool, sizeof *tool);
    tool->node = node;
    return tool;
}

static void glance_at(struct pl_conv_glance *glance, const struct pl_json_node *object)
{
    const struct pl_json_node *end = pl_json_end(object);
    uint64_t keys = 0, shared = 0;
    for (const struct pl_json_node *k = pl_json_first(object); k < end;
         k = pl_json_next_member(k)) {
        uint32_t place = pl_json_key_hash_of(k) % 64;
        uint64_t bit = (uint64_t)1 << place;
        shared |= keys & bit;
        keys |= bit;
        glance->at[place] = k;
    }
    glance->object = object;
    glance->keys = keys;
    glance->shared = shared;
}

uint64_t pl_conv_keys(const struct pl_conv *conv, const struct pl_json_node *object)
{
    if (pl_json_kind(object) != PL_JSON_OBJECT)
        return 0;
    if (conv->glance->object != object)
        glance_at(conv->glance, object);
    return conv->glance->keys;
}

const struct pl_json_node *pl_conv_find(const struct pl_conv *conv,
                                        const struct pl_json_node *object, struct pl_str key,
                                        uint32_t hash)
{
    struct pl_conv_glance *glance = conv->glance;
    const struct pl_json_node *value = NULL;
    if (pl_json_kind(object) != PL_JSON_OBJECT)
        return NULL;
    if (glance->object != object) {
        glance_at(glance, object);
        if (!(glance->keys >> hash % 64 & 1))
            return NULL;
    }
    const struct pl_json_node *k = glance->at[hash % 64];
    if (glance->shared >> hash % 64 & 1)
        value = pl_json_get_hashed(conv->doc, object, key, hash);
    else if (pl_json_key_hash_of(k) == hash && pl_json_key_is(conv->doc, k, key))
        value = k + 1;
    return value && pl_json_kind(value) != PL_JSON_NULL ? value : NULL;
}

int pl_conv_word(const struct pl_conv *conv, const struct pl_json_node *node,
                 const char *const words[])
{
    for (int i = 0; words[i]; i++)
        if (pl_conv_says(conv, node, words[i]))
            return i;
    return -1;
}

/* `raw` is the string `node`, or a piece of it. */
static struct pl_str decoded(struct pl_conv *conv, const struct pl_json_node *node,
                             struct pl_str raw)
{
    if (!(node->tag & PL_JSON_ESCAPED))
        return raw;
    char *to = pl_arena_alloc(conv->arena, raw.len, 1);
    if (!to) {
        conv->status = PL_NOMEM;
        return (struct pl_str){0};
    }
    return (struct pl_str){to, pl_json_decode(to, raw)};
}

/* Joins pieces that are not cut from one string. */
static struct pl_str put_together(struct pl_conv *conv, struct pl_val val)
{
    PL_CLEANUP_BUF struct pl_buf whole;
    pl_buf_init(&whole, 0);
    for (size_t i = 0; i < val.n_pieces; i++)
        pl_buf_add(&whole, pl_conv_text(conv, val.pieces[i].text));
    struct pl_str text = pl_arena_dup(conv->arena, pl_buf_str(&whole));
    if (whole.status != PL_OK || !text.ptr)
        conv->status = PL_NOMEM;
    return text;
}

struct pl_str pl_conv_text_slowly(struct pl_conv *conv, struct pl_val val)
{
    switch (val.kind) {
    case PL_VAL_NONE:
        return (struct pl_str){0};
    case PL_VAL_NODE:
        if (pl_json_kind(val.node) != PL_JSON_STRING)
            return pl_json_span(conv->doc, val.node);
        return decoded(conv, val.node, pl_json_raw(conv->doc, val.node));
    case PL_VAL_SPAN:
        return decoded(conv, val.node, val.str);
    case PL_VAL_RUN:
        return val.node ? pl_conv_text(conv, pl_val_node(val.node)) : put_together(conv, val);
    default:
        return val.str;
    }
}

bool pl_conv_is_blank(struct pl_conv *conv, struct pl_val val)
{
    /* Fast path: one letter is enough, and nearly every text begins with one. */
    if (val.kind == PL_VAL_NODE && pl_json_kind(val.node) == PL_JSON_STRING && val.node->len > 2) {
        char first = *pl_json_raw(conv->doc, val.node).ptr;
        if (first != '\\' && !pl_ascii_is_space(first))
            return false;
    }
    struct pl_str text = pl_conv_text(conv, val);
    for (size_t i = 0; i < text.len; i++)
        if (!pl_ascii_is_space(text.ptr[i]))
            return false;
    return true;
}

bool pl_conv_is_hollow(struct pl_conv *conv, const struct pl_json_node *node)
{
    if (!node)
        return false;
    for (const struct pl_json_node *n = node, *end = pl_json_next(node); n < end; n++) {
        bool is_said = pl_json_kind(n) == PL_JSON_TRUE ||
                       (pl_json_kind(n) == PL_JSON_STRING && n->len > 2) ||
                       (pl_json_kind(n) == PL_JSON_NUMBER &&
                        !pl_str_eq(pl_json_span(conv->doc, n), PL_STR("0")));
        if (is_said && !(n->tag & PL_JSON_KEY))
            return false;
    }
    for (const struct pl_json_node *n = node, *end = pl_json_next(node); n < end; n++)
        if (pl_json_kind(n) != PL_JSON_NUMBER && !(n->tag & PL_JSON_KEY))
            pl_conv_know(conv, n);
    return true;
}

struct pl_str pl_conv_vprintf(struct pl_conv *conv, const char *format, va_list args)
{
    char few[256];
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(few, sizeof few, format, args);
    char *to = n >= 0 ? pl_arena_alloc(conv->arena, (size_t)n + 1, 1) : NULL;
    if (!to)
        conv->status = PL_NOMEM;
    else if ((size_t)n < sizeof few)
        memcpy(to, few, (size_t)n + 1);
    else
        vsnprintf(to, (size_t)n + 1, format, again);
    va_end(again);
    return (struct pl_str){to, to ? (size_t)n : 0};
}

struct pl_str pl_conv_printf(struct pl_conv *conv, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct pl_str text = pl_conv_vprintf(conv, format, args);
    va_end(args);
    return text;
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
    *ret_mime = mime.len ? (struct pl_val){.kind = PL_VAL_SPAN, .node = url.node, .str = mime}
                         : (struct pl_val){0};
    *ret_data = (struct pl_val){.kind = PL_VAL_SPAN,
                                .node = url.node,
                                .str = pl_str_slice(raw, (size_t)(comma + 1 - raw.ptr), raw.len)};
    return true;
}

/* "scheme://": base64 has no colon. */
static bool is_address(struct pl_str raw)
{
    size_t n = 0;
    while (n < raw.len && n < 32 &&
           ((raw.ptr[n] >= '0' && raw.ptr[n] <= '9') || strchr("+.-", raw.ptr[n]) ||
            ((raw.ptr[n] | 32) >= 'a' && (raw.ptr[n] | 32) <= 'z')))
        n++;
    struct pl_str rest = pl_str_slice(raw, n, raw.len);
    /* A JSON string may spell the slash as \/. */
    return n > 0 && (pl_str_starts(rest, PL_STR("://")) || pl_str_starts(rest, PL_STR(":\\/\\/")));
}

void pl_conv_take_data(struct pl_conv *conv, struct pl_val said, struct pl_part *to)
{
    struct pl_val mime;
    if (pl_conv_data_url(conv, said, &mime, &to->data)) {
        if (!pl_val_is_set(to->mime))
            to->mime = mime;
    } else if (said.kind == PL_VAL_NODE && pl_json_kind(said.node) == PL_JSON_STRING &&
               is_address(pl_json_raw(conv->doc, said.node))) {
        if (!pl_val_is_set(to->url))
            to->url = said;
    } else {
        to->data = said;
    }
}

const char *pl_part_media_word(enum pl_part_kind kind)
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
