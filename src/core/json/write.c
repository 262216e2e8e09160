/* Writes a tree as text. Scalars are copied from the source; a document without white space between
 * its tokens is copied whole. Closing brackets come from an explicit stack, not from recursion. */
#include "json/write.h"

#include "base/vec.h"

/* An open container: the end of its nodes and its closing bracket. */
struct open {
    const struct pl_json_node *end;
    char close;
};

enum { FEW = 64 };

struct open_stack {
    struct open few[FEW];
    PL_VEC(struct open) more;
    uint32_t depth;
};

static bool push(struct open_stack *stack, struct open open)
{
    if (stack->depth++ < FEW) {
        stack->few[stack->depth - 1] = open;
        return true;
    }
    return pl_vec_push(&stack->more, open);
}

static struct open *top(struct open_stack *stack)
{
    return stack->depth > FEW ? &stack->more.ptr[stack->depth - 1 - FEW]
                              : &stack->few[stack->depth - 1];
}

static void pop(struct open_stack *stack)
{
    if (stack->depth-- > FEW)
        stack->more.len--;
}

static void new_line(struct pl_buf *to, uint32_t depth)
{
    pl_buf_addc(to, '\n');
    pl_buf_fill(to, ' ', (size_t)depth * 2);
}

/* Both layouts in one walk over the nodes in document order. */
static void write_tree(struct pl_buf *to, const struct pl_json_doc *doc,
                       const struct pl_json_node *n, bool is_pretty)
{
    __attribute__((uninitialized)) struct open_stack stack;
    stack.depth = 0;
    stack.more.ptr = NULL;
    stack.more.len = stack.more.cap = 0;
    const struct pl_json_node *end = pl_json_next(n);
    while (n < end) {
        bool is_open = pl_json_is_container(n) && n->skip > 1;
        struct pl_str span = pl_json_span(doc, n);
        if (is_open)
            span.len = 1;
        else if (pl_json_is_container(n))
            span = pl_json_kind(n) == PL_JSON_OBJECT ? PL_STR("{}") : PL_STR("[]");
        pl_buf_add(to, span);
        if (is_open) {
            char close = pl_json_kind(n) == PL_JSON_OBJECT ? '}' : ']';
            if (!push(&stack, (struct open){pl_json_end(n), close})) {
                to->status = PL_NOMEM;
                break;
            }
        }
        bool is_key = n->tag & PL_JSON_KEY;
        n++;
        if (is_key) {
            pl_buf_add(to, is_pretty ? PL_STR(": ") : PL_STR(":"));
            continue;
        }
        bool is_first = is_open;
        while (stack.depth && top(&stack)->end == n) {
            if (is_pretty)
                new_line(to, stack.depth - 1);
            pl_buf_addc(to, top(&stack)->close);
            pop(&stack);
        }
        if (n < end && !is_first)
            pl_buf_addc(to, ',');
        if (n < end && is_pretty)
            new_line(to, stack.depth);
    }
    pl_vec_deinit(&stack.more);
}

void pl_json_write_min(struct pl_buf *to, const struct pl_json_doc *doc,
                       const struct pl_json_node *n)
{
    /* The only white space is around the root: the span has none to remove. */
    if (doc->n_space == doc->text.len - doc->root->len)
        pl_buf_add(to, pl_json_span(doc, n));
    else
        write_tree(to, doc, n, false);
}

void pl_json_write_pretty(struct pl_buf *to, const struct pl_json_doc *doc,
                          const struct pl_json_node *n)
{
    write_tree(to, doc, n, true);
}
