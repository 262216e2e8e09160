/* Values of the wrong type: a reader notes them and does not read them. */
#include "conv/conv.h"
#include "base/sort.h"
#include "json/number.h"

#include <assert.h>

static bool is_integer(const struct pl_json_doc *doc, const struct pl_json_node *node)
{
    if (pl_json_kind(node) != PL_JSON_NUMBER)
        return false;
    return (node->tag & PL_JSON_INTEGER) || pl_json_number_is_integer(pl_json_span(doc, node));
}

static bool holds_strings(const struct pl_json_node *node)
{
    if (pl_json_kind(node) != PL_JSON_ARRAY)
        return pl_json_kind(node) == PL_JSON_STRING;
    for (const struct pl_json_node *e = pl_json_first(node); e < pl_json_end(node);
         e = pl_json_next(e))
        if (pl_json_kind(e) != PL_JSON_STRING)
            return false;
    return true;
}

const struct pl_json_node *pl_conv_fit_slowly(struct pl_conv *conv, const struct pl_json_node *node,
                                              unsigned want)
{
    assert(want);
    if ((want & PL_WANT_INTEGER) && is_integer(conv->doc, node))
        return node;
    if ((want & PL_WANT_STRINGS) && holds_strings(node))
        return node;
    if (!pl_vec_push(&conv->misfits, (struct pl_misfit){node, want}))
        conv->status = PL_NOMEM;
    return NULL;
}

void pl_conv_take_flag(struct pl_conv *conv, const struct pl_json_node *object, const char *key,
                       struct pl_flag *to)
{
    const struct pl_json_node *n = pl_conv_member(conv, object, key, PL_WANT_BOOL);
    if (n)
        *to = (struct pl_flag){true, pl_json_kind(n) == PL_JSON_TRUE, pl_val_node(n)};
}

static const char *want_name(unsigned want)
{
    static const struct {
        unsigned want;
        const char *name;
    } names[] = {
        {PL_WANT_STRING, "a string"},
        {PL_WANT_NUMBER, "a number"},
        {PL_WANT_BOOL, "true or false"},
        {PL_WANT_ARRAY, "an array"},
        {PL_WANT_OBJECT, "an object"},
        {PL_WANT_INTEGER, "an integer"},
        {PL_WANT_STRINGS, "a string or an array of strings"},
        {PL_WANT_SCALAR, "a string or a number"},
        {PL_WANT_CONTENT, "a string or an array"},
        {PL_WANT_CHOICE, "a string or an object"},
        {PL_WANT_ARRAY | PL_WANT_OBJECT, "an array or an object"},
        {PL_WANT_STRING | PL_WANT_ARRAY | PL_WANT_OBJECT, "a string, an array or an object"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].want == want)
            return names[i].name;
    return "another type";
}

static const char *kind_name(enum pl_json_kind kind)
{
    static const char *const names[] = {
        [PL_JSON_NULL] = "null",        [PL_JSON_FALSE] = "false",     [PL_JSON_TRUE] = "true",
        [PL_JSON_NUMBER] = "a number",  [PL_JSON_STRING] = "a string", [PL_JSON_ARRAY] = "an array",
        [PL_JSON_OBJECT] = "an object",
    };
    return names[kind];
}

struct pl_str pl_misfit_detail(struct pl_conv *conv, const struct pl_misfit *misfit)
{
    enum pl_json_kind kind = pl_json_kind(misfit->node);
    return pl_conv_printf(conv, "expected %s, but found %s", want_name(misfit->want),
                          (misfit->want & PL_WANT_STRINGS) && kind == PL_JSON_ARRAY
                              ? "an array with something else in it"
                              : kind_name(kind));
}

static int by_place(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_misfit *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

bool pl_conv_sort_misfits(struct pl_conv *conv)
{
    size_t n = conv->misfits.len;
    struct pl_misfit *list = conv->misfits.ptr;
    size_t i = 1;
    while (i < n && list[i - 1].node < list[i].node)
        i++;
    if (i >= n)
        return true;
    const void **items = pl_arena_alloc(conv->arena, n, sizeof *items);
    const void **scratch = pl_arena_alloc(conv->arena, n, sizeof *scratch);
    struct pl_misfit *copy = pl_arena_alloc(conv->arena, n, sizeof *copy);
    if (!items || !scratch || !copy) {
        conv->status = PL_NOMEM;
        return false;
    }
    for (i = 0; i < n; i++) {
        copy[i] = list[i];
        items[i] = &copy[i];
    }
    pl_sort(items, scratch, n, by_place, NULL);
    conv->misfits.len = 0;
    for (i = 0; i < n; i++) {
        const struct pl_misfit *next = items[i];
        /* Readers ask for some members twice. */
        if (!conv->misfits.len || list[conv->misfits.len - 1].node != next->node)
            list[conv->misfits.len++] = *next;
    }
    return true;
}

const struct pl_misfit *pl_conv_misfit_at(const struct pl_conv *conv,
                                          const struct pl_json_node *node)
{
    size_t low = 0, high = conv->misfits.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pl_misfit *at = &conv->misfits.ptr[middle];
        if (at->node == node)
            return at;
        if (at->node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
