/* JSON Pointer (RFC 6901). Tokens are matched against keys byte by byte, both still escaped, so a
 * lookup needs no memory. */
#include "json/pointer.h"
#include "base/text/decimal.h"
#include "json/text.h"

#include <assert.h>

bool pl_json_pointer_next(struct pl_str *pointer, struct pl_str *ret_token)
{
    if (!pointer->len)
        return false;
    struct pl_str rest = {pointer->ptr + 1, pointer->len - 1};
    const char *slash = rest.len ? memchr(rest.ptr, '/', rest.len) : NULL;
    size_t n = slash ? (size_t)(slash - rest.ptr) : rest.len;
    *ret_token = (struct pl_str){rest.ptr, n};
    *pointer = (struct pl_str){rest.ptr + n, rest.len - n};
    return true;
}

/* The decoded byte at token[*at], or -1 at the end. */
static int token_byte(struct pl_str token, size_t *at)
{
    if (*at >= token.len)
        return -1;
    unsigned char c = (unsigned char)token.ptr[(*at)++];
    if (c != '~' || *at >= token.len)
        return c;
    return token.ptr[(*at)++] == '0' ? '~' : '/';
}

bool pl_json_pointer_token_is(struct pl_str token, struct pl_str text)
{
    size_t at = 0;
    for (size_t i = 0; i < text.len; i++)
        if (token_byte(token, &at) != (unsigned char)text.ptr[i])
            return false;
    return at == token.len;
}

bool pl_json_pointer_index(struct pl_str token, uint32_t *ret_index)
{
    if (!token.len || token.len > 10 || (token.len > 1 && token.ptr[0] == '0'))
        return false;
    uint64_t index = 0;
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] < '0' || token.ptr[i] > '9')
            return false;
        index = index * 10 + (unsigned)(token.ptr[i] - '0');
    }
    if (index > UINT32_MAX)
        return false;
    *ret_index = (uint32_t)index;
    return true;
}

bool pl_json_pointer_is_valid(struct pl_str pointer)
{
    if (pointer.len && pointer.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < pointer.len; i++)
        if (pointer.ptr[i] == '~' &&
            (i + 1 == pointer.len || (pointer.ptr[i + 1] != '0' && pointer.ptr[i + 1] != '1')))
            return false;
    return true;
}

static void add_byte(struct pl_buf *to, char c)
{
    if (c == '~')
        pl_buf_add(to, PL_STR("~0"));
    else if (c == '/')
        pl_buf_add(to, PL_STR("~1"));
    else
        pl_buf_addc(to, c);
}

void pl_json_pointer_add(struct pl_buf *to, struct pl_str text)
{
    size_t from = 0;
    pl_buf_addc(to, '/');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '~' && text.ptr[i] != '/')
            continue;
        pl_buf_add(to, pl_str_slice(text, from, i));
        add_byte(to, text.ptr[i]);
        from = i + 1;
    }
    pl_buf_add(to, pl_str_slice(text, from, text.len));
}

void pl_json_pointer_add_index(struct pl_buf *to, uint32_t index)
{
    char *at = pl_buf_reserve(to, 1 + PL_DECIMAL_MOST);
    if (!at)
        return;
    *at = '/';
    to->len += 1 + pl_decimal_put(at + 1, index);
}

static bool token_names(struct pl_str token, const struct pl_json_doc *doc,
                        const struct pl_json_node *key)
{
    struct pl_json_walk walk = pl_json_walk(doc, key);
    size_t at = 0;
    int byte;
    do {
        byte = pl_json_walk_next(&walk);
        if (token_byte(token, &at) != byte)
            return false;
    } while (byte >= 0);
    return true;
}

static const struct pl_json_node *
find_member(const struct pl_json_doc *doc, const struct pl_json_node *object, struct pl_str token)
{
    if (!token.len || !memchr(token.ptr, '~', token.len))
        return pl_json_get(doc, object, token);
    const struct pl_json_node *found = NULL;
    for (const struct pl_json_node *key = pl_json_first(object); key < pl_json_end(object);
         key = pl_json_next_member(key))
        if (token_names(token, doc, key))
            found = key + 1;
    return found;
}

static const struct pl_json_node *find_element(const struct pl_json_node *array,
                                               struct pl_str token)
{
    uint32_t index;
    if (!pl_json_pointer_index(token, &index) || index >= pl_json_count(array))
        return NULL;
    const struct pl_json_node *element = pl_json_first(array);
    while (index--)
        element = pl_json_next(element);
    return element;
}

const struct pl_json_node *pl_json_pointer_step(const struct pl_json_doc *doc,
                                                const struct pl_json_node *from,
                                                struct pl_str token)
{
    if (pl_json_kind(from) == PL_JSON_OBJECT)
        return find_member(doc, from, token);
    return pl_json_kind(from) == PL_JSON_ARRAY ? find_element(from, token) : NULL;
}

int pl_json_pointer_shown(struct pl_str token)
{
    size_t n = token.len > 100 ? 100 : token.len;
    while (n > 0 && n < token.len && ((unsigned char)token.ptr[n] & 0xC0) == 0x80)
        n--;
    return (int)n;
}

/* Whole steps only: half a step would name something else. */
static void point_at(struct pl_error *err, const struct pl_buf *pointer)
{
    static const char dots[] = "/…";
    size_t n = pointer->len;
    if (n >= sizeof err->pointer || pointer->status != PL_OK) {
        const size_t most = sizeof err->pointer - sizeof dots;
        n = n - 1 < most ? n - 1 : most;
        while (n > 0 && pointer->ptr[n] != '/')
            n--;
        memcpy(err->pointer + n, dots, sizeof dots);
    } else {
        err->pointer[n] = 0;
    }
    memcpy(err->pointer, pointer->ptr, n);
}

void pl_json_pointer_blame(struct pl_error *err, const struct pl_json_doc *doc,
                           const struct pl_json_node *node)
{
    if (!err)
        return;
    /* Reporting allocates nothing. A longer pointer is cut anyway. */
    char space[2 * sizeof err->pointer];
    struct pl_buf pointer = {.ptr = space, .cap = sizeof space, .max = sizeof space};
    pl_json_pointer_of(&pointer, doc, node);
    pl_error_locate(err, doc->text, node->off);
    point_at(err, &pointer);
}

/* Reports the step that failed. */
static enum pl_status lost(const struct pl_json_doc *doc, const struct pl_json_node *at,
                           struct pl_str token, struct pl_error *err)
{
    if (!err)
        return PL_NOT_FOUND;
    int cut = pl_json_pointer_shown(token);
    const char *where = at == doc->root ? "at the top" : "there";
    uint32_t index;
    if (pl_json_kind(at) == PL_JSON_OBJECT)
        (void)pl_fail(err, PL_NOT_FOUND, "the object %s has no member \"%.*s\"", where, cut,
                      token.ptr);
    else if (pl_json_kind(at) != PL_JSON_ARRAY)
        (void)pl_fail(err, PL_NOT_FOUND, "\"%.*s\" does not exist: the value %s is a %s", cut,
                      token.ptr, where, pl_json_kind_name(pl_json_kind(at)));
    else if (pl_json_pointer_index(token, &index))
        (void)pl_fail(err, PL_NOT_FOUND, "the array %s has %u elements, so there is no index %u",
                      where, pl_json_count(at), index);
    else
        (void)pl_fail(err, PL_NOT_FOUND,
                      "\"%.*s\" is not an index of the array %s; use digits without leading zeros",
                      cut, token.ptr, where);
    pl_json_pointer_blame(err, doc, at);
    return PL_NOT_FOUND;
}

enum pl_status pl_json_pointer_get_from(const struct pl_json_doc *doc,
                                        const struct pl_json_node *from, struct pl_str pointer,
                                        const struct pl_json_node **ret_node, struct pl_error *err)
{
    if (!pl_json_pointer_is_valid(pointer))
        return pl_fail(err, PL_SYNTAX,
                       "\"%.*s\" is not a JSON Pointer: start with / and write ~ as ~0, / as ~1",
                       pl_json_pointer_shown(pointer), pointer.ptr);
    const struct pl_json_node *at = from;
    struct pl_str token;
    while (pl_json_pointer_next(&pointer, &token)) {
        const struct pl_json_node *next = pl_json_pointer_step(doc, at, token);
        if (!next)
            return lost(doc, at, token, err);
        at = next;
    }
    *ret_node = at;
    return PL_OK;
}

enum pl_status pl_json_pointer_get(const struct pl_json_doc *doc, struct pl_str pointer,
                                   const struct pl_json_node **ret_node, struct pl_error *err)
{
    return pl_json_pointer_get_from(doc, doc->root, pointer, ret_node, err);
}

const struct pl_json_node *pl_json_child_towards(const struct pl_json_node *container,
                                                 const struct pl_json_node *node,
                                                 uint32_t *ret_index)
{
    const struct pl_json_node *child = pl_json_first(container);
    uint32_t index = 0;
    if (pl_json_kind(container) == PL_JSON_ARRAY)
        for (; node >= pl_json_next(child); index++)
            child = pl_json_next(child);
    else
        for (; node >= pl_json_next_member(child); index++)
            child = pl_json_next_member(child);
    *ret_index = index;
    return child;
}

/* The child of `container` whose subtree holds `node`; adds its step to the pointer. */
static const struct pl_json_node *step_towards(struct pl_buf *to, const struct pl_json_doc *doc,
                                               const struct pl_json_node *container,
                                               const struct pl_json_node *node)
{
    uint32_t index;
    const struct pl_json_node *child = pl_json_child_towards(container, node, &index);
    if (pl_json_kind(container) == PL_JSON_ARRAY) {
        pl_json_pointer_add_index(to, index);
        return child;
    }
    if (!(child->tag & PL_JSON_ESCAPED)) {
        pl_json_pointer_add(to, pl_json_raw(doc, child));
        return node == child ? child : child + 1;
    }
    pl_buf_addc(to, '/');
    struct pl_json_walk walk = pl_json_walk(doc, child);
    for (int byte; (byte = pl_json_walk_next(&walk)) >= 0;)
        add_byte(to, (char)byte);
    return node == child ? child : child + 1;
}

void pl_json_pointer_of(struct pl_buf *to, const struct pl_json_doc *doc,
                        const struct pl_json_node *node)
{
    assert(node >= doc->root && node < doc->root + doc->n_nodes);
    for (const struct pl_json_node *at = doc->root; at != node;)
        at = step_towards(to, doc, at, node);
}
