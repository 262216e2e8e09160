/* Editing: the input is a line of operations, then a document. The result must be JSON and equal to
 * the value that a naive model computes child by child. Everything outside the changes must be
 * unchanged, byte by byte.
 *
 *     s3 r5 b1\n[1, 2, {"a": 3}]       set node 3, remove node 5, insert before node 1
 *
 * Letters: s set, r remove, b insert before, a insert after, e append into, f prepend into. */
#include "json/edit/edit.h"
#include "json/equal.h"
#include "json/parse/lenient.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_OPS = 12, MAX_NODES = 400 };

struct op {
    char kind;
    const struct pl_json_node *parent, *node; /* node is NULL: the end for e, the start for f */
};

struct model {
    struct pl_json_doc doc;
    const struct pl_json_node *parents[MAX_NODES];
    struct op ops[MAX_OPS];
    int n_ops;
};

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static bool is_object(const struct pl_json_node *n)
{
    return pl_json_kind(n) == PL_JSON_OBJECT;
}

static void find_parents(struct model *m)
{
    for (uint32_t i = 0; i < m->doc.n_nodes; i++) {
        const struct pl_json_node *n = m->doc.root + i;
        if (!pl_json_is_container(n))
            continue;
        for (const struct pl_json_node *c = pl_json_first(n); c < pl_json_end(n);
             c = pl_json_next(c))
            m->parents[c - m->doc.root] = n;
    }
}

/* Returns the key of a member, even if its value is given. */
static const struct pl_json_node *child_of(const struct model *m, const struct pl_json_node *n)
{
    const struct pl_json_node *parent = m->parents[n - m->doc.root];
    return parent && is_object(parent) && !(n->tag & PL_JSON_KEY) ? n - 1 : n;
}

static void read_ops(struct model *m, struct pl_str line)
{
    for (size_t i = 0; i + 1 < line.len && m->n_ops < MAX_OPS; i += 3) {
        const struct pl_json_node *n =
            m->doc.root + (unsigned char)line.ptr[i + 1] % m->doc.n_nodes;
        const struct pl_json_node *parent = m->parents[n - m->doc.root];
        char kind = line.ptr[i];
        bool is_into = kind == 'e' || kind == 'f';
        if (kind == 's' && !(n->tag & PL_JSON_KEY))
            m->ops[m->n_ops++] = (struct op){kind, parent, n};
        else if ((kind == 'r' || kind == 'b' || kind == 'a') && parent)
            m->ops[m->n_ops++] = (struct op){kind, parent, child_of(m, n)};
        else if (is_into && pl_json_is_container(n))
            m->ops[m->n_ops++] = (struct op){kind, n, NULL};
    }
}

/* The new value of operation i and, in an object, its name. */
static struct pl_str value_of(int i)
{
    static const char *const values[] = {"\"new\"", "[]", "{\"x\":0}", "-1.5", "null", "[1,2]"};
    return pl_str_of(values[i % 6]);
}

static struct pl_str name_of(int i)
{
    static const char names[MAX_OPS][4] = {"n0", "n1", "n2", "n3", "n4",  "n5",
                                           "n6", "n7", "n8", "n9", "n10", "n11"};
    return pl_str_of(names[i]);
}

static enum pl_status apply(struct pl_json_edit *edit, const struct op *op, int i)
{
    switch (op->kind) {
    case 's':
        return pl_json_edit_set_node(edit, op->node, value_of(i), NULL);
    case 'r':
        return pl_json_edit_remove_node(edit, op->parent, op->node, NULL);
    case 'b':
    case 'e':
        return pl_json_edit_insert_before(edit, op->parent, op->node, name_of(i), value_of(i),
                                          NULL);
    default:
        return pl_json_edit_insert_after(edit, op->parent, op->node, name_of(i), value_of(i), NULL);
    }
}

static const struct pl_json_node *after(const struct pl_json_node *n)
{
    return n->tag & PL_JSON_KEY ? pl_json_next_member(n) : pl_json_next(n);
}

/* The place of an insert: the child after it, or the end. NULL for other operations. */
static const struct pl_json_node *place_of(const struct op *op)
{
    switch (op->kind) {
    case 'b':
        return op->node;
    case 'a':
        return after(op->node);
    case 'e':
        return pl_json_end(op->parent);
    case 'f':
        return pl_json_first(op->parent);
    default:
        return NULL;
    }
}

static int find_op(const struct model *m, char kind, const struct pl_json_node *n)
{
    for (int i = 0; i < m->n_ops; i++)
        if (m->ops[i].kind == kind && m->ops[i].node == n)
            return i;
    return -1;
}

static void separate(struct pl_buf *to)
{
    char last = to->ptr[to->len - 1];
    if (last != '[' && last != '{')
        pl_buf_addc(to, ',');
}

static void model_inserts(struct pl_buf *to, const struct model *m,
                          const struct pl_json_node *parent, const struct pl_json_node *place)
{
    for (int i = 0; i < m->n_ops; i++) {
        if (m->ops[i].parent != parent || place_of(&m->ops[i]) != place)
            continue;
        separate(to);
        if (is_object(parent)) {
            pl_buf_addc(to, '"');
            pl_buf_add(to, name_of(i));
            pl_buf_adds(to, "\":");
        }
        pl_buf_add(to, value_of(i));
    }
}

/* Recursive and quadratic, which is fine for a model; the parser limits the depth. */
static void model_value(struct pl_buf *to, const struct model *m, const struct pl_json_node *n)
{
    int set = find_op(m, 's', n);
    if (set >= 0 || !pl_json_is_container(n)) {
        pl_buf_add(to, set >= 0 ? value_of(set) : pl_json_span(&m->doc, n));
        return;
    }
    pl_buf_addc(to, is_object(n) ? '{' : '[');
    const struct pl_json_node *child = pl_json_first(n);
    for (; child < pl_json_end(n); child = after(child)) {
        model_inserts(to, m, n, child);
        if (find_op(m, 'r', child) >= 0)
            continue;
        separate(to);
        if (is_object(n)) {
            pl_buf_add(to, pl_json_span(&m->doc, child));
            pl_buf_addc(to, ':');
        }
        model_value(to, m, is_object(n) ? child + 1 : child);
    }
    model_inserts(to, m, n, child);
    pl_buf_addc(to, is_object(n) ? '}' : ']');
}

/* True if `inner` is inside what `outer` replaces or removes. */
static bool is_inside(const struct op *inner, const struct op *outer)
{
    if (outer->kind != 's' && outer->kind != 'r')
        return false;
    const struct pl_json_node *start = outer->node, *end = after(outer->node);
    bool is_change = inner->kind == 's' || inner->kind == 'r';
    const struct pl_json_node *at = is_change ? inner->node : inner->parent;
    return at >= start && at < end;
}

static bool has_conflict(const struct model *m)
{
    for (int i = 0; i < m->n_ops; i++)
        for (int k = 0; k < m->n_ops; k++)
            if (i != k && is_inside(&m->ops[i], &m->ops[k]))
                return true;
    return false;
}

/* New names are n0 … n11. A document that already has one of them may refuse it. */
static bool has_new_name(const struct model *m)
{
    for (uint32_t i = 0; i < m->doc.n_nodes; i++)
        if (m->doc.root[i].tag & PL_JSON_KEY && m->doc.root[i].len > 3 &&
            m->doc.text.ptr[m->doc.root[i].off + 1] == 'n')
            return true;
    return false;
}

/* Every scalar outside the changes is in the output, in order. */
static void check_untouched(const struct model *m, struct pl_str out)
{
    size_t at = 0;
    for (uint32_t i = 0; i < m->doc.n_nodes; i++) {
        const struct pl_json_node *n = m->doc.root + i;
        const struct op here = {'s', NULL, n};
        bool is_touched = pl_json_is_container(n);
        for (int k = 0; k < m->n_ops && !is_touched; k++)
            is_touched = is_inside(&here, &m->ops[k]);
        if (is_touched)
            continue;
        struct pl_str span = pl_json_span(&m->doc, n);
        while (at + span.len <= out.len && memcmp(out.ptr + at, span.ptr, span.len) != 0)
            at++;
        must(at + span.len <= out.len);
        at += span.len;
    }
}

static void check(struct pl_arena *arena, struct model *m, bool is_lenient)
{
    struct pl_json_edit edit;
    struct pl_buf out, expected;
    pl_buf_init(&out, 0);
    pl_buf_init(&expected, 0);
    pl_json_edit_init(&edit, arena, &m->doc);
    for (int i = 0; i < m->n_ops; i++)
        must(apply(&edit, &m->ops[i], i) == PL_OK);
    enum pl_status status = pl_json_edit_write(&edit, &out);
    must(status == PL_OK || status == PL_CONFLICT);
    if (!has_new_name(m))
        must((status == PL_CONFLICT) == has_conflict(m));
    if (status == PL_OK) {
        struct pl_json_doc after_edit, modelled;
        struct pl_json_notes notes;
        struct pl_json_opts opts = {
            .max_depth = 200, .allows_duplicate_keys = true, .allows_lone_surrogates = true};
        bool is_equal;
        status = is_lenient ? pl_json_parse_lenient(arena, pl_buf_str(&out), &opts, &after_edit,
                                                    &notes, NULL)
                            : pl_json_parse(arena, pl_buf_str(&out), &opts, &after_edit, NULL);
        must(status == PL_OK);
        model_value(&expected, m, m->doc.root);
        must(pl_json_parse(arena, pl_buf_str(&expected), &opts, &modelled, NULL) == PL_OK);
        must(after_edit.n_nodes == modelled.n_nodes);
        must(pl_json_equal(&after_edit, after_edit.root, &modelled, modelled.root, &is_equal) ==
             PL_OK);
        must(is_equal);
        check_untouched(m, pl_buf_str(&out));
    }
    pl_json_edit_deinit(&edit);
    pl_buf_deinit(&out);
    pl_buf_deinit(&expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str all = {(const char *)data, size};
    const char *line_end = size ? memchr(data, '\n', size) : NULL;
    if (!line_end)
        return 0;
    size_t n_line = (size_t)(line_end - all.ptr);
    struct pl_str text = pl_str_slice(all, n_line + 1, size);
    struct pl_arena arena;
    struct model m = {0};
    struct pl_json_notes notes;
    pl_arena_init(&arena, 0);
    struct pl_json_opts opts = {.max_nodes = MAX_NODES};
    if (pl_json_parse_lenient(&arena, text, &opts, &m.doc, &notes, NULL) == PL_OK) {
        find_parents(&m);
        read_ops(&m, pl_str_slice(all, 0, n_line));
        if (notes.len == 0)
            check(&arena, &m, false);
        m.doc.text = text;
        check(&arena, &m, true);
    }
    pl_arena_deinit(&arena);
    return 0;
}
