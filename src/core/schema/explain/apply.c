/* Explains the keywords that apply subschemas. The keyword location already ends in the keyword; a
 * function here appends the rest (the branch, the property) and removes it again. */
#include "schema/explain/explain_int.h"

#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"
#include "schema/assert.h"
#include "schema/lookup.h"
#include "schema/unevaluated.h"

struct at {
    struct pl_explain *x;
    uint32_t sub; /* the subschema of the keyword */
    uint32_t doc;
    const struct pl_op *op;
    const struct pl_json_node *n;
    uint32_t track;
};

/* A branch that may fail: its evaluated children count only if it holds. */
static bool explain_branch(const struct at *at, uint32_t sub)
{
    if (!at->track)
        return pl_explain_sub(at->x, sub, at->n, 0);
    uint32_t saved = pl_bits_save(at->x->run, at->track, at->n);
    if (!saved)
        return false;
    bool is_valid = pl_explain_sub(at->x, sub, at->n, at->track);
    pl_bits_settle(at->x->run, saved, at->track, at->n, is_valid);
    return is_valid;
}

/* The same for branch i of a list, which has its own location. */
static bool explain_listed(const struct at *at, uint32_t i)
{
    size_t mark = pl_explain_push_index(&at->x->keyword, i);
    bool is_valid = explain_branch(at, at->x->run->schema->lists.ptr[at->op->a + i]);
    at->x->keyword.len = mark;
    return is_valid;
}

static bool explain_member(const struct at *at, uint32_t sub, const struct pl_json_node *key)
{
    size_t mark = pl_explain_push_member(at->x, key);
    bool is_valid = pl_explain_sub(at->x, sub, key + 1, 0);
    at->x->instance.len = mark;
    return is_valid;
}

static bool explain_item(const struct at *at, uint32_t sub, const struct pl_json_node *item,
                         uint32_t i)
{
    size_t mark = pl_explain_push_index(&at->x->instance, i);
    bool is_valid = pl_explain_sub(at->x, sub, item, 0);
    at->x->instance.len = mark;
    return is_valid;
}

static void annotate_literal(const struct at *at, const char *json)
{
    pl_buf_clear(&at->x->value);
    pl_buf_adds(&at->x->value, json);
    pl_explain_annotate(at->x, at->sub, at->op, at->n);
}

/* Adds a list (written as "[a,b", or empty) as annotation. */
static void annotate_list(const struct at *at, const struct pl_buf *list)
{
    struct pl_buf *value = &at->x->value;
    pl_buf_clear(value);
    pl_buf_add(value, list->len ? pl_buf_str(list) : PL_STR("["));
    pl_buf_addc(value, ']');
    if (list->status != PL_OK)
        value->status = list->status;
    pl_explain_annotate(at->x, at->sub, at->op, at->n);
}

static void add_member_name(const struct at *at, struct pl_buf *list,
                            const struct pl_json_node *key)
{
    if (!at->x->wants_annotations)
        return;
    pl_buf_addc(list, list->len ? ',' : '[');
    pl_buf_add(list, pl_json_span(at->x->run->doc, key));
}

/* ---- in place ---- */

static bool explain_ref(const struct at *at)
{
    uint32_t target = at->op->a;
    if (at->op->code == PL_OP_DYNAMIC_REF && at->op->b != PL_SCHEMA_NONE)
        target = pl_run_dynamic(at->x->run, at->op->b, target);
    return pl_explain_sub(at->x, target, at->n, at->track);
}

static bool requires(const struct pl_schema *s, uint32_t sub, const struct pl_name *name)
{
    const struct pl_sub_info *info = &s->infos.ptr[sub];
    for (uint32_t i = 0; i < info->n_ops; i++) {
        const struct pl_op *op = &s->ops.ptr[info->ops + i];
        for (uint32_t k = 0; op->code == PL_OP_REQUIRED && k < op->b; k++)
            if (pl_str_eq(s->names.ptr[op->a + k].text, name->text))
                return true;
    }
    return false;
}

/* A ladder on a missing member: all conditions hold because it is missing. If the missing member is
 * itself an error, the errors of the rungs are noise. */
static bool is_ladder_lost(const struct at *at)
{
    const struct pl_schema *s = at->x->run->schema;
    if (at->op->c == PL_SCHEMA_NONE || pl_json_kind(at->n) != PL_JSON_OBJECT ||
        !pl_run_spend(at->x->run, 1 + pl_json_count(at->n) / 8))
        return false;
    const struct pl_name *name = &s->names.ptr[s->switches.ptr[at->op->c].name];
    return !pl_member_find(at->x->run->doc, at->n, name) && requires(s, at->sub, name);
}

static bool explain_all_of(const struct at *at)
{
    bool is_valid = true;
    struct pl_mark mark = pl_explain_mark(at->x);
    for (uint32_t i = 0; i < at->op->b; i++) {
        size_t place = pl_explain_push_index(&at->x->keyword, i);
        is_valid &=
            pl_explain_sub(at->x, at->x->run->schema->lists.ptr[at->op->a + i], at->n, at->track);
        at->x->keyword.len = place;
    }
    if (!is_valid && is_ladder_lost(at))
        pl_explain_rewind(at->x, mark);
    return is_valid;
}

/* The distance between a branch and the instance: a wrong type is farthest, then errors about the
 * instance itself, then errors inside it. */
static uint32_t distance(const struct at *at, uint32_t branch, size_t from)
{
    const struct pl_schema *s = at->x->run->schema;
    uint32_t score = 0;
    for (uint32_t hop = 0; hop < 16; hop++) {
        const struct pl_sub_info *info = &s->infos.ptr[branch];
        if (!(s->subs.ptr[branch].types >> pl_json_kind(at->n) & 1))
            return UINT32_MAX;
        if (info->n_ops != 1 || s->ops.ptr[info->ops].code != PL_OP_REF)
            break;
        branch = s->ops.ptr[info->ops].a;
    }
    for (size_t i = from; i < at->x->records.len; i++)
        score += at->x->records.ptr[i].n_instance == at->x->instance.len ? 1000 : 1;
    return score;
}

/* No branch holds: the errors of the nearest branch may explain why. The records of the best branch
 * so far are after `mark`. */
static bool explain_failed_branches(const struct at *at)
{
    struct pl_explain *x = at->x;
    struct pl_mark mark = pl_explain_mark(x);
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < at->op->b && x->run->status == PL_OK; i++) {
        struct pl_mark before = pl_explain_mark(x);
        explain_listed(at, i);
        uint32_t score = distance(at, x->run->schema->lists.ptr[at->op->a + i], before.n_records);
        if (score >= best) {
            pl_explain_rewind(x, before);
        } else {
            pl_explain_cut(x, mark, before);
            best = score;
        }
    }
    if (best == UINT32_MAX)
        return pl_explain_error(x, PL_SAY_NO_BRANCH_TYPE, at->sub, at->op, at->n, 0);
    return pl_explain_error(x, PL_SAY_NO_BRANCH, at->sub, at->op, at->n, 0);
}

/* The discriminator is wrong: reports one error for it instead of one per branch. */
static bool explain_undecided(const struct at *at, const struct pl_json_node *value)
{
    struct pl_explain *x = at->x;
    const struct pl_schema *s = x->run->schema;
    const struct pl_name *name = &s->names.ptr[s->switches.ptr[at->op->c].name];
    if (pl_json_kind(at->n) != PL_JSON_OBJECT)
        return pl_explain_error(x, PL_SAY_SWITCH_TYPE, at->sub, at->op, at->n, at->op->c);
    if (!value)
        return pl_explain_error(x, PL_SAY_SWITCH_MISSING, at->sub, at->op, at->n, at->op->c);
    size_t mark = x->instance.len;
    pl_json_pointer_add(&x->instance, name->text);
    pl_explain_error(x, PL_SAY_SWITCH_VALUE, at->sub, at->op, value, at->op->c);
    x->instance.len = mark;
    return false;
}

/* Reports only the errors of the selected branch. */
static bool explain_switch(const struct at *at)
{
    struct pl_schema_run *run = at->x->run;
    const struct pl_schema *s = run->schema;
    const struct pl_switch *sw = &s->switches.ptr[at->op->c];
    const struct pl_json_node *value = NULL;
    if (pl_json_kind(at->n) == PL_JSON_OBJECT && pl_run_spend(run, 1 + pl_json_count(at->n) / 8))
        value = pl_member_find(run->doc, at->n, &s->names.ptr[sw->name]);
    uint32_t branch = value ? pl_run_branch(run, sw, value) : PL_SCHEMA_NONE;
    return branch == PL_SCHEMA_NONE ? explain_undecided(at, value) : explain_listed(at, branch);
}

static bool explain_any_of(const struct at *at)
{
    struct pl_explain *x = at->x;
    bool is_one_of = at->op->code == PL_OP_ONE_OF;
    uint32_t n_valid = 0;
    struct pl_mark mark = pl_explain_mark(x);
    if (at->op->c != PL_SCHEMA_NONE)
        return explain_switch(at);
    for (uint32_t i = 0; i < at->op->b; i++)
        n_valid += explain_listed(at, i);
    if (!x->wants_annotations)
        pl_explain_rewind(x, mark);
    if (n_valid == 1 || (n_valid && !is_one_of))
        return true;
    if (n_valid)
        return pl_explain_error(x, PL_SAY_MANY_BRANCHES, at->sub, at->op, at->n, n_valid);
    return x->wants_annotations ? false : explain_failed_branches(at);
}

static bool explain_not(const struct at *at)
{
    struct pl_mark mark = pl_explain_mark(at->x);
    bool is_valid = pl_explain_sub(at->x, at->op->a, at->n, 0);
    pl_explain_rewind(at->x, mark);
    return !is_valid || pl_explain_error(at->x, PL_SAY_NOT, at->sub, at->op, at->n, 0);
}

/* Replaces the keyword `from` at the end of the keyword location by `to`. */
static void rename_keyword(struct pl_explain *x, const char *from, const char *to)
{
    if (x->keyword.status != PL_OK) /* the location is lost already, and so is the report */
        return;
    x->keyword.len -= strlen(from);
    pl_buf_adds(&x->keyword, to);
}

static bool explain_if(const struct at *at)
{
    struct pl_explain *x = at->x;
    struct pl_mark mark = pl_explain_mark(x);
    bool holds = explain_branch(at, at->op->a);
    if (!x->wants_annotations)
        pl_explain_rewind(x, mark);
    uint32_t next = holds ? at->op->b : at->op->c;
    if (next == PL_SCHEMA_NONE)
        return true;
    /* `then` and `else` are siblings of `if`, not below it. */
    rename_keyword(x, "if", holds ? "then" : "else");
    bool is_valid = pl_explain_sub(x, next, at->n, at->track);
    rename_keyword(x, holds ? "then" : "else", "if");
    return is_valid;
}

static bool explain_dependencies(const struct at *at)
{
    struct pl_explain *x = at->x;
    const struct pl_schema *s = x->run->schema;
    bool is_valid = true;
    if (pl_json_kind(at->n) != PL_JSON_OBJECT)
        return true;
    for (uint32_t i = 0; i < at->op->b; i++) {
        const struct pl_dep *dep = &s->deps.ptr[at->op->a + i];
        if (!pl_run_spend(x->run, 1 + pl_json_count(at->n) / 8))
            return false;
        if (!pl_member_find(x->run->doc, at->n, &s->names.ptr[dep->name]))
            continue;
        if (!pl_assert_names(x->run, dep, at->n))
            is_valid = pl_explain_error(x, PL_SAY_DEPENDENT, at->sub, at->op, at->n, at->op->a + i);
        if (dep->sub == PL_SCHEMA_NONE)
            continue;
        size_t mark = pl_explain_push(x, &x->keyword, at->doc, dep->key);
        is_valid &= pl_explain_sub(x, dep->sub, at->n, at->track);
        x->keyword.len = mark;
    }
    return is_valid;
}

/* ---- members ---- */

static bool is_false(const struct pl_schema *s, uint32_t sub)
{
    return pl_json_kind(s->infos.ptr[sub].node) == PL_JSON_FALSE;
}

/* A member that no other keyword covers; `false` means that it is not allowed. */
static bool explain_other_member(const struct at *at, const struct pl_json_node *key)
{
    if (!is_false(at->x->run->schema, at->op->a))
        return explain_member(at, at->op->a, key);
    size_t mark = pl_explain_push_member(at->x, key);
    pl_explain_error(at->x, PL_SAY_UNEXPECTED_MEMBER, at->op->a, NULL, key, at->sub);
    at->x->instance.len = mark;
    return false;
}

static const struct pl_slot *find_property(const struct at *at, const struct pl_json_node *key)
{
    const struct pl_schema *s = at->x->run->schema;
    uint32_t object = s->infos.ptr[at->sub].object;
    const struct pl_slot *slot =
        object == PL_SCHEMA_NONE ? NULL
                                 : pl_object_find(&s->objects.ptr[object], at->x->run->doc, key);
    return slot && slot->prop != PL_SCHEMA_NONE ? slot : NULL;
}

/* Applies PROPERTIES to one member; *ret_is_known if it is a known property. */
static bool explain_property(const struct at *at, const struct pl_json_node *key,
                             bool *ret_is_known)
{
    const struct pl_schema *s = at->x->run->schema;
    const struct pl_slot *slot = find_property(at, key);
    *ret_is_known = slot != NULL;
    if (!slot)
        return true;
    size_t mark = at->x->keyword.len;
    pl_json_pointer_add(&at->x->keyword, pl_spelling_text(&slot->name));
    bool is_valid = explain_member(at, s->props.ptr[slot->prop].sub, key);
    at->x->keyword.len = mark;
    return is_valid;
}

static bool explain_patterns(const struct at *at, const struct pl_json_node *key,
                             bool *ret_is_known)
{
    struct pl_explain *x = at->x;
    bool is_valid = true;
    *ret_is_known = false;
    for (uint32_t i = 0; i < at->op->b; i++) {
        const struct pl_pattern *pattern = &x->run->schema->patterns.ptr[at->op->a + i];
        if (!pl_assert_pattern(x->run, pattern->regex, key))
            continue;
        *ret_is_known = true;
        size_t mark = pl_explain_push(x, &x->keyword, at->doc, pattern->key);
        is_valid &= explain_member(at, pattern->sub, key);
        x->keyword.len = mark;
    }
    return is_valid;
}

/* additionalProperties: a member that is in neither properties nor patternProperties of the same
 * schema. */
static bool explain_other(const struct at *at, const struct pl_json_node *key, bool *ret_is_known)
{
    struct pl_schema_run *run = at->x->run;
    const struct pl_sub_info *info = &run->schema->infos.ptr[at->sub];
    const struct pl_object *object = &run->schema->objects.ptr[info->object];
    bool is_known = find_property(at, key) != NULL;
    for (uint32_t i = 0; !is_known && i < object->n_patterns; i++)
        is_known =
            pl_assert_pattern(run, run->schema->patterns.ptr[object->patterns + i].regex, key);
    *ret_is_known = !is_known;
    return is_known || explain_other_member(at, key);
}

static bool explain_name(const struct at *at, const struct pl_json_node *key, bool *ret_is_known)
{
    size_t mark = pl_explain_push_member(at->x, key);
    bool is_valid = pl_explain_sub(at->x, at->op->a, key, 0);
    at->x->instance.len = mark;
    *ret_is_known = false;
    return is_valid;
}

typedef bool member_fn(const struct at *at, const struct pl_json_node *key, bool *ret_is_known);

static bool explain_members(const struct at *at, member_fn *fn)
{
    struct pl_explain *x = at->x;
    bool is_valid = true;
    uint32_t i = 0;
    if (pl_json_kind(at->n) != PL_JSON_OBJECT)
        return true;
    if (!pl_run_spend(x->run, pl_json_count(at->n)))
        return false;
    PL_CLEANUP_BUF struct pl_buf names;
    pl_buf_init(&names, 0);
    for (const struct pl_json_node *key = pl_json_first(at->n), *end = pl_json_end(at->n);
         key != end; key = pl_json_next_member(key), i++) {
        bool is_known;
        is_valid &= fn(at, key, &is_known);
        if (!is_known)
            continue;
        pl_bits_mark(x->run, at->track, i);
        add_member_name(at, &names, key);
    }
    if (is_valid && fn != explain_name)
        annotate_list(at, &names);
    return is_valid && x->run->status == PL_OK;
}

static bool explain_left_members(const struct at *at)
{
    struct pl_explain *x = at->x;
    bool is_valid = true;
    uint32_t i = 0;
    PL_CLEANUP_BUF struct pl_buf names;
    pl_buf_init(&names, 0);
    if (pl_json_kind(at->n) != PL_JSON_OBJECT)
        return true;
    for (const struct pl_json_node *key = pl_json_first(at->n), *end = pl_json_end(at->n);
         key != end; key = pl_json_next_member(key), i++) {
        if (!pl_run_spend(x->run, 1))
            return false;
        if (pl_bits_has(x->run, at->track, i))
            continue;
        is_valid &= explain_other_member(at, key);
        pl_bits_mark(x->run, at->track, i);
        add_member_name(at, &names, key);
    }
    if (is_valid && names.len)
        annotate_list(at, &names);
    return is_valid;
}

/* ---- items ---- */

static bool explain_prefix_items(const struct at *at)
{
    struct pl_explain *x = at->x;
    bool is_valid = true;
    uint32_t i = 0;
    if (pl_json_kind(at->n) != PL_JSON_ARRAY)
        return true;
    const struct pl_json_node *e = pl_json_first(at->n), *end = pl_json_end(at->n);
    for (; i < at->op->b && e != end; i++, e = pl_json_next(e)) {
        size_t mark = pl_explain_push_index(&x->keyword, i);
        is_valid &= explain_item(at, x->run->schema->lists.ptr[at->op->a + i], e, i);
        x->keyword.len = mark;
        pl_bits_mark(x->run, at->track, i);
    }
    if (is_valid && i) {
        pl_buf_clear(&x->value);
        if (e == end)
            pl_buf_adds(&x->value, "true");
        else
            pl_buf_addf(&x->value, "%u", i - 1);
        pl_explain_annotate(x, at->sub, at->op, at->n);
    }
    return is_valid;
}

/* An item that no other keyword covers; `false` means too many items. */
static bool explain_other_item(const struct at *at, const struct pl_json_node *item, uint32_t i)
{
    if (!is_false(at->x->run->schema, at->op->a))
        return explain_item(at, at->op->a, item, i);
    size_t mark = pl_explain_push_index(&at->x->instance, i);
    pl_explain_error(at->x, PL_SAY_UNEXPECTED_ITEM, at->op->a, NULL, item, 0);
    at->x->instance.len = mark;
    return false;
}

/* items and unevaluatedItems: all remaining items. */
static bool explain_items(const struct at *at)
{
    struct pl_explain *x = at->x;
    bool is_valid = true, is_left = at->op->code == PL_OP_LEFT_ITEMS, has_any = false;
    uint32_t i = 0;
    if (pl_json_kind(at->n) != PL_JSON_ARRAY)
        return true;
    if (!pl_run_spend(x->run, pl_json_count(at->n)))
        return false;
    for (const struct pl_json_node *e = pl_json_first(at->n), *end = pl_json_end(at->n); e != end;
         e = pl_json_next(e), i++) {
        if (is_left ? pl_bits_has(x->run, at->track, i) : i < at->op->b)
            continue;
        is_valid &= explain_other_item(at, e, i);
        pl_bits_mark(x->run, at->track, i);
        has_any = true;
    }
    if (is_valid && has_any)
        annotate_literal(at, "true");
    return is_valid;
}

/* Names minContains or maxContains instead of contains if that one failed. */
static bool explain_contained(const struct at *at, const char *name, enum pl_say say, uint32_t n)
{
    struct pl_explain *x = at->x;
    const struct pl_schema *s = x->run->schema;
    const struct pl_json_doc *doc = &s->docs.ptr[at->doc].json;
    const struct pl_json_node *value =
        pl_json_get(doc, s->infos.ptr[at->sub].node, pl_str_of(name));
    size_t n_records = x->records.len;
    if (value)
        rename_keyword(x, "contains", name);
    pl_explain_error(x, say, at->sub, at->op, at->n, n);
    if (value) {
        if (x->records.len > n_records)
            x->records.ptr[n_records].key = value - 1;
        rename_keyword(x, name, "contains");
    }
    return false;
}

static bool explain_contains(const struct at *at)
{
    struct pl_explain *x = at->x;
    uint32_t n_found = 0, i = 0;
    if (pl_json_kind(at->n) != PL_JSON_ARRAY)
        return true;
    PL_CLEANUP_BUF struct pl_buf found;
    pl_buf_init(&found, 0);
    for (const struct pl_json_node *e = pl_json_first(at->n), *end = pl_json_end(at->n); e != end;
         e = pl_json_next(e), i++) {
        struct pl_mark mark = pl_explain_mark(x);
        bool is_valid = explain_item(at, at->op->a, e, i);
        if (!x->wants_annotations)
            pl_explain_rewind(x, mark);
        if (!is_valid)
            continue;
        pl_bits_mark(x->run, at->track, i);
        n_found++;
        pl_buf_addf(&found, "%c%u", found.len ? ',' : '[', i);
    }
    if (n_found < at->op->b)
        return explain_contained(at, "minContains", PL_SAY_FEW_CONTAINED, n_found);
    if (n_found > at->op->c)
        return explain_contained(at, "maxContains", PL_SAY_MANY_CONTAINED, n_found);
    annotate_list(at, &found);
    return true;
}

bool pl_explain_apply(struct pl_explain *x, uint32_t sub, const struct pl_op *op,
                      const struct pl_json_node *n, uint32_t track)
{
    struct at at = {x, sub, x->run->schema->infos.ptr[sub].doc, op, n, track};
    switch (op->code) {
    case PL_OP_DEPENDENCIES:
        return explain_dependencies(&at);
    case PL_OP_REF:
    case PL_OP_DYNAMIC_REF:
        return explain_ref(&at);
    case PL_OP_ALL_OF:
        return explain_all_of(&at);
    case PL_OP_ANY_OF:
    case PL_OP_ONE_OF:
        return explain_any_of(&at);
    case PL_OP_NOT:
        return explain_not(&at);
    case PL_OP_IF:
        return explain_if(&at);
    case PL_OP_PROPERTIES:
        return explain_members(&at, explain_property);
    case PL_OP_PATTERN_MEMBERS:
        return explain_members(&at, explain_patterns);
    case PL_OP_OTHER_MEMBERS:
        return explain_members(&at, explain_other);
    case PL_OP_MEMBER_NAMES:
        return explain_members(&at, explain_name);
    case PL_OP_PREFIX_ITEMS:
        return explain_prefix_items(&at);
    case PL_OP_ITEMS:
    case PL_OP_LEFT_ITEMS:
        return explain_items(&at);
    case PL_OP_CONTAINS:
        return explain_contains(&at);
    case PL_OP_LEFT_MEMBERS:
        return explain_left_members(&at);
    default:
        return pl_run_stop(x->run, PL_INTERNAL);
    }
}
