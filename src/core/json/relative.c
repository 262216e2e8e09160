/* Splits a relative pointer into its three parts, then walks. Going up is walking down again from
 * the root, to a smaller depth. */
#include "json/relative.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "json/pointer.h"

struct relative {
    uint32_t n_up;
    int64_t shift;       /* in elements of an array; 0: none */
    bool asks_for_place; /* ends with # */
    struct pl_str down;
};

/* The place of a value in its container. The root has no container. */
struct place {
    const struct pl_json_node *node, *container, *key;
    uint32_t index;
};

/* Takes digits without a leading zero off *text; false if there are none. A number larger than any
 * document is clamped. */
static bool take_number(struct pl_str *text, uint32_t *ret_number)
{
    uint64_t number = 0;
    size_t n = 0;
    for (; n < text->len && pl_ascii_is_digit(text->ptr[n]); n++) {
        number = number * 10 + (unsigned)(text->ptr[n] - '0');
        number = number > UINT32_MAX ? UINT32_MAX : number;
    }
    if (n == 0 || (n > 1 && text->ptr[0] == '0'))
        return false;
    *text = pl_str_slice(*text, n, text->len);
    *ret_number = (uint32_t)number;
    return true;
}

static bool read_relative(struct pl_str text, struct relative *ret)
{
    *ret = (struct relative){0};
    if (!take_number(&text, &ret->n_up))
        return false;
    if (text.len && (text.ptr[0] == '+' || text.ptr[0] == '-')) {
        bool is_back = text.ptr[0] == '-';
        uint32_t n;
        text = pl_str_slice(text, 1, text.len);
        if (!take_number(&text, &n) || n == 0)
            return false;
        ret->shift = is_back ? -(int64_t)n : (int64_t)n;
    }
    ret->asks_for_place = pl_str_eq(text, PL_STR("#"));
    ret->down = text;
    return ret->asks_for_place || pl_json_pointer_is_valid(text);
}

/* The value at most `depth` steps from the root on the way to `node`; *ret_n is the number of
 * steps. */
static struct place walk_towards(const struct pl_json_doc *doc, const struct pl_json_node *node,
                                 uint32_t depth, uint32_t *ret_n)
{
    struct place at = {.node = doc->root};
    uint32_t n = 0;
    for (; at.node != node && n < depth; n++) {
        at.container = at.node;
        const struct pl_json_node *child = pl_json_child_towards(at.node, node, &at.index);
        at.key = child->tag & PL_JSON_KEY ? child : NULL;
        at.node = at.key ? child + 1 : child;
    }
    *ret_n = n;
    return at;
}

static enum pl_status blame(enum pl_status status, const struct pl_json_doc *doc,
                            const struct pl_json_node *node, struct pl_error *err)
{
    pl_json_pointer_blame(err, doc, node);
    return status;
}

/* Moves to the element `shift` further in the array. */
static enum pl_status shift_place(const struct pl_json_doc *doc, struct place *at, int64_t shift,
                                  struct pl_error *err)
{
    if (!at->container || at->key)
        return blame(pl_fail(err, PL_NOT_FOUND,
                             "%+lld needs an element of an array, and this is %s", (long long)shift,
                             at->key ? "a member of an object" : "the whole document"),
                     doc, at->node, err);
    int64_t index = (int64_t)at->index + shift;
    uint32_t count = pl_json_count(at->container);
    if (index < 0 || index >= count)
        return blame(pl_fail(err, PL_NOT_FOUND,
                             "the array there has %u elements, so there is no index %lld", count,
                             (long long)index),
                     doc, at->container, err);
    at->node = shift > 0 ? at->node : pl_json_first(at->container);
    for (int64_t n = shift > 0 ? shift : index; n > 0; n--)
        at->node = pl_json_next(at->node);
    at->index = (uint32_t)index;
    return PL_OK;
}

static enum pl_status tell_place(const struct pl_json_doc *doc, const struct place *at,
                                 struct pl_json_found *ret_found, struct pl_error *err)
{
    if (!at->container)
        return blame(
            pl_fail(err, PL_NOT_FOUND, "the whole document has neither a name nor an index"), doc,
            at->node, err);
    *ret_found = at->key ? (struct pl_json_found){PL_JSON_FOUND_KEY, at->key, 0}
                         : (struct pl_json_found){PL_JSON_FOUND_INDEX, NULL, at->index};
    return PL_OK;
}

enum pl_status pl_json_relative_get(const struct pl_json_doc *doc, const struct pl_json_node *from,
                                    struct pl_str pointer, struct pl_json_found *ret_found,
                                    struct pl_error *err)
{
    struct relative relative;
    uint32_t depth;
    if (!read_relative(pointer, &relative))
        return pl_fail(err, PL_SYNTAX,
                       "\"%.*s\" is not a relative JSON Pointer: write the number of levels to go "
                       "up, then +1 or -1 for a neighbour in an array, then # or a JSON Pointer",
                       pl_json_pointer_shown(pointer), pointer.ptr ? pointer.ptr : "");
    if (from->tag & PL_JSON_KEY)
        from++;
    (void)walk_towards(doc, from, UINT32_MAX, &depth);
    if (relative.n_up > depth)
        return blame(pl_fail(err, PL_NOT_FOUND,
                             "it goes up %u levels, but this value is %u levels below the top",
                             relative.n_up, depth),
                     doc, from, err);
    struct place at = walk_towards(doc, from, depth - relative.n_up, &depth);
    enum pl_status status = relative.shift ? shift_place(doc, &at, relative.shift, err) : PL_OK;
    if (status != PL_OK)
        return status;
    if (relative.asks_for_place)
        return tell_place(doc, &at, ret_found, err);
    const struct pl_json_node *node;
    status = pl_json_pointer_get_from(doc, at.node, relative.down, &node, err);
    if (status == PL_OK)
        *ret_found = (struct pl_json_found){PL_JSON_FOUND_VALUE, node, 0};
    return status;
}
