/* Explains: runs the plain program, every keyword, with its locations.
 *
 * The instance is walked once for errors. If there are none it is walked again for annotations. In
 * both walks the records form a stack: the records of a branch are removed if the branch turns out
 * not to matter. */
#include "schema/explain/explain_int.h"

#include "json/text.h"
#include "schema/assert.h"
#include "schema/lookup.h"
#include "schema/unevaluated.h"
#include "json/write.h"

/* The class of instances that a leaf assertion applies to. */
static const struct {
    uint8_t class; /* PL_CLASS_COUNT: all */
    uint8_t say;
} leaves[PL_OP_COUNT] = {
    [PL_OP_TYPE] = {PL_CLASS_COUNT, PL_SAY_TYPE},
    [PL_OP_CONST] = {PL_CLASS_COUNT, PL_SAY_CONST},
    [PL_OP_ENUM] = {PL_CLASS_COUNT, PL_SAY_ENUM},
    [PL_OP_MINIMUM] = {PL_NUMERIC, PL_SAY_MINIMUM},
    [PL_OP_MAXIMUM] = {PL_NUMERIC, PL_SAY_MAXIMUM},
    [PL_OP_ABOVE] = {PL_NUMERIC, PL_SAY_ABOVE},
    [PL_OP_BELOW] = {PL_NUMERIC, PL_SAY_BELOW},
    [PL_OP_MULTIPLE] = {PL_NUMERIC, PL_SAY_MULTIPLE},
    [PL_OP_MIN_LENGTH] = {PL_TEXT, PL_SAY_MIN_LENGTH},
    [PL_OP_MAX_LENGTH] = {PL_TEXT, PL_SAY_MAX_LENGTH},
    [PL_OP_PATTERN] = {PL_TEXT, PL_SAY_PATTERN},
    [PL_OP_FORMAT] = {PL_TEXT, PL_SAY_FORMAT},
    [PL_OP_MIN_ITEMS] = {PL_LIST, PL_SAY_MIN_ITEMS},
    [PL_OP_MAX_ITEMS] = {PL_LIST, PL_SAY_MAX_ITEMS},
    [PL_OP_UNIQUE] = {PL_LIST, PL_SAY_UNIQUE},
    [PL_OP_MIN_MEMBERS] = {PL_RECORD, PL_SAY_MIN_MEMBERS},
    [PL_OP_MAX_MEMBERS] = {PL_RECORD, PL_SAY_MAX_MEMBERS},
    [PL_OP_REQUIRED] = {PL_RECORD, PL_SAY_REQUIRED},
};

static bool has_value(struct pl_schema_run *run, uint32_t doc, const struct pl_op *op,
                      const struct pl_json_node *n)
{
    const struct pl_json_node *value = op->key + 1, *end = pl_json_next(value);
    if (op->code == PL_OP_CONST)
        return pl_assert_equal(run, doc, value, n);
    for (value = pl_json_first(value); value != end; value = pl_json_next(value))
        if (pl_assert_equal(run, doc, value, n))
            return true;
    return false;
}

/* The index of the first required name that is missing; op->b if none is missing. */
static uint32_t first_missing(struct pl_schema_run *run, const struct pl_op *op,
                              const struct pl_json_node *n)
{
    uint32_t i = 0;
    while (i < op->b && pl_run_spend(run, 1 + pl_json_count(n) / 8) &&
           pl_member_find(run->doc, n, &run->schema->names.ptr[op->a + i]))
        i++;
    return i;
}

static bool leaf_holds(struct pl_schema_run *run, uint32_t doc, const struct pl_op *op,
                       const struct pl_json_node *n)
{
    switch (op->code) {
    case PL_OP_TYPE:
        return pl_assert_types(run, op->a, n);
    case PL_OP_CONST:
    case PL_OP_ENUM:
        return has_value(run, doc, op, n);
    case PL_OP_MIN_LENGTH:
        return pl_assert_length(run, op->a, UINT32_MAX, n);
    case PL_OP_MAX_LENGTH:
        return pl_assert_length(run, 0, op->a, n);
    case PL_OP_PATTERN:
        return pl_assert_pattern(run, op->a, n);
    case PL_OP_FORMAT:
        return pl_assert_format(run, op->a, n);
    case PL_OP_UNIQUE:
        return pl_assert_unique(run, n);
    case PL_OP_MIN_ITEMS:
    case PL_OP_MIN_MEMBERS:
        return pl_json_count(n) >= op->a;
    case PL_OP_MAX_ITEMS:
    case PL_OP_MAX_MEMBERS:
        return pl_json_count(n) <= op->a;
    case PL_OP_REQUIRED:
        return first_missing(run, op, n) == op->b;
    default:
        return pl_assert_number(run, op->code, op->a, n);
    }
}

/* An annotation is the keyword's own value. */
static void annotate(struct pl_explain *x, uint32_t sub, const struct pl_op *op,
                     const struct pl_json_node *n)
{
    const struct pl_schema *s = x->run->schema;
    if (!x->wants_annotations)
        return;
    pl_buf_clear(&x->value);
    pl_json_write_min(&x->value, &s->docs.ptr[s->infos.ptr[sub].doc].json, op->key + 1);
    pl_explain_annotate(x, sub, op, n);
}

static bool explain_op(struct pl_explain *x, uint32_t sub, const struct pl_op *op,
                       const struct pl_json_node *n, uint32_t track)
{
    const struct pl_schema *s = x->run->schema;
    uint32_t doc = s->infos.ptr[sub].doc;
    enum pl_class class = pl_class_of(n);
    bool is_valid = true;
    size_t mark = pl_explain_push(x, &x->keyword, doc, op->key);
    if (op->code == PL_OP_ANNOTATE) {
        if (op->a >> class & 1)
            annotate(x, sub, op, n);
    } else if (op->code >= PL_OP_DEPENDENCIES) {
        is_valid = pl_explain_apply(x, sub, op, n, track);
    } else if (leaves[op->code].class == PL_CLASS_COUNT || leaves[op->code].class == class) {
        is_valid = leaf_holds(x->run, doc, op, n);
        if (!is_valid)
            pl_explain_error(x, leaves[op->code].say, sub, op, n,
                             op->code == PL_OP_REQUIRED ? first_missing(x->run, op, n) : 0);
        else if (op->code == PL_OP_FORMAT)
            annotate(x, sub, op, n);
    }
    x->keyword.len = mark;
    return is_valid;
}

/* All ops. The unevaluated keywords run only if everything else holds; otherwise they would repeat
 * its errors. */
static bool explain_ops(struct pl_explain *x, uint32_t index, const struct pl_json_node *n,
                        uint32_t track)
{
    const struct pl_schema *s = x->run->schema;
    const struct pl_sub_info *info = &s->infos.ptr[index];
    bool is_valid = true;
    if (pl_json_kind(info->node) == PL_JSON_FALSE)
        return pl_explain_error(x, PL_SAY_FALSE, index, NULL, n, 0);
    for (uint32_t i = 0; i < info->n_ops; i++) {
        const struct pl_op *op = &s->ops.ptr[info->ops + i];
        bool is_left = op->code == PL_OP_LEFT_MEMBERS || op->code == PL_OP_LEFT_ITEMS;
        if (!is_left || is_valid)
            is_valid &= explain_op(x, index, op, n, track);
    }
    return is_valid;
}

bool pl_explain_sub(struct pl_explain *x, uint32_t index, const struct pl_json_node *n,
                    uint32_t track)
{
    struct pl_schema_run *run = x->run;
    const struct pl_sub *sub = &run->schema->subs.ptr[index];
    struct pl_mark mark = pl_explain_mark(x);
    uint32_t n_scope = run->n_scope, outer = track;
    if (run->depth >= PL_SCHEMA_MAX_DEPTH || !run->steps)
        return pl_run_stop(run, PL_LIMIT);
    run->depth++;
    run->steps--;
    pl_run_enter(run, sub);
    bool has_set = (sub->flags & PL_SUB_TRACKS) && pl_json_is_container(n);
    if (has_set)
        track = pl_bits_push(run, n);
    bool is_valid = (!has_set || track) && explain_ops(x, index, n, track);
    if (has_set && track)
        pl_bits_pop(run, track, is_valid ? outer : 0, n);
    if (!is_valid && x->wants_annotations)
        pl_explain_rewind(x, mark);
    run->n_scope = n_scope;
    run->depth--;
    return is_valid;
}

static enum pl_status walk(struct pl_explain *x, const struct pl_json_doc *doc,
                           const struct pl_json_node *node, bool *ret_is_valid)
{
    pl_run_begin(x->run, doc);
    *ret_is_valid = pl_explain_sub(x, x->run->schema->root, node, 0);
    return x->run->status;
}

static void explain_deinit(struct pl_explain *x)
{
    pl_buf_deinit(&x->instance);
    pl_buf_deinit(&x->keyword);
    pl_buf_deinit(&x->text);
    pl_buf_deinit(&x->value);
    pl_vec_deinit(&x->records);
}

enum pl_status pl_schema_explain(struct pl_schema_run *run, struct pl_arena *arena,
                                 const struct pl_json_doc *doc, const struct pl_json_node *node,
                                 enum pl_schema_lang lang, struct pl_schema_report *ret_report)
{
    struct pl_explain x = {.run = run, .arena = arena, .lang = lang};
    bool is_valid = false;
    pl_buf_init(&x.instance, 0);
    pl_buf_init(&x.keyword, 0);
    pl_buf_init(&x.text, 0);
    pl_buf_init(&x.value, 0);
    enum pl_status status = walk(&x, doc, node, &is_valid);
    if (status == PL_OK && is_valid) {
        x.wants_annotations = true;
        status = walk(&x, doc, node, &is_valid);
    }
    if (status == PL_OK)
        status = pl_explain_finish(&x, is_valid, ret_report);
    explain_deinit(&x);
    return status;
}
