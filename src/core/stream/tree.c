/* Nodes and pieces of strings, all in one arena. Adding to a string appends a piece. */
#include "stream/tree.h"

struct pl_tree_piece {
    struct pl_tree_piece *next;
    struct pl_str raw; /* arena */
};

static void *alloc(struct pl_trees *t, size_t size)
{
    void *memory = pl_arena_zalloc(&t->arena, 1, size);
    if (!memory)
        t->status = PL_NOMEM;
    return memory;
}

static struct pl_str dup(struct pl_trees *t, struct pl_str text)
{
    struct pl_str copy = pl_arena_dup(&t->arena, text);
    if (text.len && !copy.ptr)
        t->status = PL_NOMEM;
    return copy;
}

/* ---- making ---- */

struct pl_tree *pl_tree_new(struct pl_trees *t, enum pl_tree_kind kind)
{
    struct pl_tree *tree = alloc(t, sizeof *tree);
    if (tree)
        tree->kind = kind;
    return tree;
}

struct pl_tree *pl_tree_literal(struct pl_trees *t, struct pl_str json)
{
    struct pl_tree *tree = pl_tree_new(t, PL_TREE_LITERAL);
    if (tree)
        tree->literal = dup(t, json);
    return tree;
}

struct pl_tree *pl_tree_text(struct pl_trees *t, struct pl_str raw)
{
    struct pl_tree *tree = pl_tree_new(t, PL_TREE_TEXT);
    pl_tree_say(t, tree, raw);
    return tree;
}

void pl_tree_say(struct pl_trees *t, struct pl_tree *text, struct pl_str raw)
{
    if (!text || text->kind != PL_TREE_TEXT || !raw.len)
        return;
    struct pl_tree_piece *piece = alloc(t, sizeof *piece);
    if (!piece)
        return;
    piece->raw = dup(t, raw);
    if (text->last)
        text->last->next = piece;
    else
        text->first = piece;
    text->last = piece;
}

static void add_kid(struct pl_trees *t, struct pl_tree *parent, struct pl_tree *kid)
{
    if (!parent || !kid)
        return;
    if (parent->n == parent->cap) {
        uint32_t cap = parent->cap ? 2 * parent->cap : 4;
        struct pl_tree **kids =
            pl_arena_grow(&t->arena, parent->kids, parent->n * sizeof *kids, cap * sizeof *kids);
        if (!kids) {
            t->status = PL_NOMEM;
            return;
        }
        parent->kids = kids;
        parent->cap = cap;
    }
    kid->parent = parent;
    kid->at = parent->n;
    parent->kids[parent->n++] = kid;
}

static struct pl_tree *copy_one(struct pl_trees *t, const struct pl_json_doc *doc,
                                const struct pl_json_node *n)
{
    switch (pl_json_kind(n)) {
    case PL_JSON_ARRAY:
        return pl_tree_new(t, PL_TREE_ARRAY);
    case PL_JSON_OBJECT:
        return pl_tree_new(t, PL_TREE_OBJECT);
    case PL_JSON_STRING:
        return pl_tree_text(t, pl_json_raw(doc, n));
    default:
        return pl_tree_literal(t, pl_json_span(doc, n));
    }
}

/* Nodes are in document order: a container ends where the next node is after its end. */
struct pl_tree *pl_tree_copy(struct pl_trees *t, const struct pl_json_doc *doc,
                             const struct pl_json_node *node)
{
    struct pl_tree *top = copy_one(t, doc, node), *in = top;
    const struct pl_json_node *ends[64 + 1], *end = node + node->skip;
    size_t depth = 0;
    ends[0] = end;
    if (!top || !pl_json_is_container(node))
        return top;
    for (const struct pl_json_node *n = node + 1; n < end && t->status == PL_OK; n++) {
        while (n == ends[depth]) {
            in = in->parent;
            depth--;
        }
        struct pl_str key = {0};
        if (n->tag & PL_JSON_KEY)
            key = dup(t, pl_json_raw(doc, n++));
        struct pl_tree *kid = copy_one(t, doc, n);
        if (!kid)
            break;
        kid->key = key;
        add_kid(t, in, kid);
        if (!pl_json_is_container(n) || n->skip == 1)
            continue;
        if (depth + 1 == sizeof ends / sizeof *ends) {
            t->status = PL_LIMIT;
            break;
        }
        ends[++depth] = n + n->skip;
        in = kid;
    }
    return top;
}

/* ---- members ---- */

struct pl_tree *pl_tree_get(const struct pl_tree *object, struct pl_str key)
{
    if (!object || object->kind != PL_TREE_OBJECT)
        return NULL;
    for (uint32_t i = object->n; i-- > 0;)
        if (pl_str_eq(object->kids[i]->key, key))
            return object->kids[i];
    return NULL;
}

struct pl_tree *pl_tree_get_kind(const struct pl_tree *object, struct pl_str key,
                                 enum pl_tree_kind kind)
{
    struct pl_tree *value = pl_tree_get(object, key);
    return value && value->kind == kind ? value : NULL;
}

void pl_tree_set(struct pl_trees *t, struct pl_tree *object, struct pl_str key,
                 struct pl_tree *value)
{
    if (!object || !value || object->kind != PL_TREE_OBJECT)
        return;
    struct pl_tree *old = pl_tree_get(object, key);
    if (old) {
        value->key = old->key;
        value->parent = object;
        value->at = old->at;
        object->kids[old->at] = value;
        return;
    }
    if (object->n >= PL_TREE_MAX_MEMBERS) {
        t->status = PL_LIMIT;
        return;
    }
    value->key = dup(t, key);
    add_kid(t, object, value);
}

struct pl_tree *pl_tree_need(struct pl_trees *t, struct pl_tree *object, struct pl_str key,
                             enum pl_tree_kind kind)
{
    struct pl_tree *value = pl_tree_get_kind(object, key, kind);
    if (value || !object)
        return value;
    value = pl_tree_new(t, kind);
    pl_tree_set(t, object, key, value);
    return value && value->parent ? value : NULL;
}

void pl_tree_remove(struct pl_tree *object, struct pl_str key)
{
    const struct pl_tree *old = pl_tree_get(object, key);
    if (!old)
        return;
    object->n--;
    for (uint32_t i = old->at; i < object->n; i++) {
        object->kids[i] = object->kids[i + 1];
        object->kids[i]->at = i;
    }
}

void pl_tree_push(struct pl_trees *t, struct pl_tree *array, struct pl_tree *value)
{
    if (array && array->kind == PL_TREE_ARRAY)
        add_kid(t, array, value);
}

/* ---- asking ---- */

struct pl_str pl_tree_raw(struct pl_trees *t, const struct pl_tree *text)
{
    size_t len = 0;
    if (!text || text->kind != PL_TREE_TEXT)
        return (struct pl_str){0};
    if (text->first && !text->first->next)
        return text->first->raw;
    for (const struct pl_tree_piece *p = text->first; p; p = p->next)
        len += p->raw.len;
    char *all = pl_arena_alloc(&t->arena, len + 1, 1);
    if (!all) {
        t->status = PL_NOMEM;
        return (struct pl_str){0};
    }
    size_t at = 0;
    for (const struct pl_tree_piece *p = text->first; p; p = p->next) {
        memcpy(all + at, p->raw.ptr, p->raw.len);
        at += p->raw.len;
    }
    return (struct pl_str){all, len};
}

static void put_token(struct pl_buf *to, struct pl_str key)
{
    pl_buf_addc(to, '/');
    for (size_t i = 0; i < key.len; i++)
        if (key.ptr[i] == '~' || key.ptr[i] == '/')
            pl_buf_adds(to, key.ptr[i] == '~' ? "~0" : "~1");
        else
            pl_buf_addc(to, key.ptr[i]);
}

void pl_tree_point(struct pl_buf *to, const struct pl_tree *tree, struct pl_str key)
{
    enum { MAX_DEPTH = 32 };
    const struct pl_tree *path[MAX_DEPTH];
    size_t n = 0;
    for (; tree && tree->parent && n < MAX_DEPTH; tree = tree->parent)
        path[n++] = tree;
    while (n-- > 0)
        if (path[n]->parent->kind == PL_TREE_ARRAY)
            pl_buf_addf(to, "/%u", (unsigned)path[n]->at);
        else
            put_token(to, path[n]->key);
    if (key.len)
        put_token(to, key);
}

bool pl_tree_is_null(const struct pl_tree *tree)
{
    return tree && tree->kind == PL_TREE_LITERAL && pl_str_eq(tree->literal, PL_STR("null"));
}

bool pl_tree_is(const struct pl_tree *text, struct pl_str raw)
{
    size_t at = 0;
    if (!text || text->kind != PL_TREE_TEXT)
        return false;
    for (const struct pl_tree_piece *piece = text->first; piece; piece = piece->next) {
        if (!pl_str_starts(pl_str_slice(raw, at, raw.len), piece->raw))
            return false;
        at += piece->raw.len;
    }
    return at == raw.len;
}

static size_t blank_at_end(struct pl_str raw)
{
    if (raw.len && raw.ptr[raw.len - 1] == ' ')
        return 1;
    bool is_escape = raw.len > 1 && raw.ptr[raw.len - 2] == '\\';
    return is_escape && memchr("nrt", raw.ptr[raw.len - 1], 3) ? 2 : 0;
}

bool pl_tree_ends(const struct pl_tree *text, char end)
{
    struct pl_str last = text && text->last ? text->last->raw : (struct pl_str){0};
    for (size_t n; (n = blank_at_end(last)) > 0;)
        last.len -= n;
    return !last.len || last.ptr[last.len - 1] == end;
}

/* ---- writing ---- */

static void open(const struct pl_tree *tree, struct pl_buf *to)
{
    if (tree->kind == PL_TREE_LITERAL)
        pl_buf_add(to, tree->literal);
    else
        pl_buf_addc(to, tree->kind == PL_TREE_TEXT ? '"' : tree->kind == PL_TREE_ARRAY ? '[' : '{');
    for (const struct pl_tree_piece *p = tree->first; p; p = p->next)
        pl_buf_add(to, p->raw);
    if (tree->kind == PL_TREE_TEXT)
        pl_buf_addc(to, '"');
}

static void name(const struct pl_tree *tree, struct pl_buf *to)
{
    if (tree->at)
        pl_buf_addc(to, ',');
    if (tree->parent->kind != PL_TREE_OBJECT)
        return;
    pl_buf_addc(to, '"');
    pl_buf_add(to, tree->key);
    pl_buf_adds(to, "\":");
}

/* Go down into containers, and up again after the last child. */
void pl_tree_write(const struct pl_tree *top, struct pl_buf *to)
{
    const struct pl_tree *at = top;
    if (!top)
        return;
    open(at, to);
    for (;;) {
        const struct pl_tree *next = at->n ? at->kids[0] : NULL;
        while (!next) {
            if (at->kind == PL_TREE_ARRAY || at->kind == PL_TREE_OBJECT)
                pl_buf_addc(to, at->kind == PL_TREE_ARRAY ? ']' : '}');
            if (at == top)
                return;
            if (at->at + 1 < at->parent->n)
                next = at->parent->kids[at->at + 1];
            else
                at = at->parent;
        }
        at = next;
        name(at, to);
        open(at, to);
    }
}
