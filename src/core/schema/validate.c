/* Checking an instance: the fast program, yes or no, at the first failure.
 *
 * A subschema costs a bit test for the kind of the instance and a walk over the few ops that speak
 * about that kind. The interpreter calls itself where a subschema applies another; `depth` bounds
 * that, and `steps` bounds the whole, so no schema and no instance can make it hang. `track` names
 * the set of evaluated children of the instance at hand (unevaluated.h), 0 nearly always. */
#include "schema/assert.h"
#include "schema/lookup.h"
#include "schema/unevaluated.h"

#define COLD __attribute__((noinline, cold))

static bool check_sub(struct pl_schema_run *run, uint32_t index, const struct pl_json_node *n,
                      uint32_t track);

/* A child of the instance against a subschema of which types and shape are at hand. */
static inline bool check_value(struct pl_schema_run *run, uint8_t types, uint8_t shape,
                               uint32_t sub, const struct pl_json_node *n)
{
    if (!(types >> pl_json_kind(n) & 1))
        return false;
    if (shape == PL_SHAPE_TYPE)
        return true;
    if (shape == PL_SHAPE_SET)
        return pl_run_set_find(run, run->schema->subs.ptr[sub].set, n) != PL_SCHEMA_NONE;
    if (shape == PL_SHAPE_INTEGER && (n->tag & PL_JSON_INTEGER))
        return true;
    return check_sub(run, sub, n, 0);
}

static inline bool check_child(struct pl_schema_run *run, uint32_t sub,
                               const struct pl_json_node *n)
{
    const struct pl_sub *s = &run->schema->subs.ptr[sub];
    return check_value(run, s->types, s->shape, sub, n);
}

/* What looking up the members of an object costs: more where names of the schema share a hash. */
static inline bool spend_members(struct pl_schema_run *run, const struct pl_object *object,
                                 uint32_t count)
{
    uint64_t cost = (uint64_t)count * object->table.n_probe;
    return pl_run_spend(run, cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX);
}

/* Members found by name, nothing else to say about them: the usual object. */
static __attribute__((noinline)) bool check_object(struct pl_schema_run *run,
                                                   const struct pl_object *object,
                                                   const struct pl_json_node *n)
{
    uint32_t count = pl_json_count(n);
    uint64_t seen = 0;
    if (count < object->least || count > object->most || !spend_members(run, object, count))
        return false;
    const struct pl_json_doc *doc = run->doc;
    for (const struct pl_json_node *key = pl_json_first(n), *end = pl_json_end(n); key != end;
         key = pl_json_next_member(key)) {
        const struct pl_slot *slot = pl_object_find(object, doc, key);
        if (slot) {
            seen |= (uint64_t)slot->is_required << slot->bit;
            if (!check_value(run, slot->types, slot->shape, slot->sub, key + 1))
                return false;
        } else if (object->other != PL_SCHEMA_NONE && !check_child(run, object->other, key + 1)) {
            return false;
        }
    }
    return seen == object->required;
}

/* One member against everything: its name, its property, each pattern, and what is left. */
static bool check_member(struct pl_schema_run *run, const struct pl_object *object,
                         const struct pl_json_node *key, uint64_t *seen, bool *ret_is_evaluated)
{
    const struct pl_schema *s = run->schema;
    const struct pl_slot *slot = pl_object_find(object, run->doc, key);
    bool is_known = slot && slot->prop != PL_SCHEMA_NONE;
    if (slot)
        *seen |= (uint64_t)slot->is_required << slot->bit;
    if (object->names != PL_SCHEMA_NONE && !check_child(run, object->names, key))
        return false;
    if (is_known && !check_child(run, slot->sub, key + 1))
        return false;
    for (uint32_t i = 0; i < object->n_patterns; i++) {
        const struct pl_pattern *pattern = &s->patterns.ptr[object->patterns + i];
        if (!pl_assert_pattern(run, pattern->regex, key))
            continue;
        is_known = true;
        if (!check_child(run, pattern->sub, key + 1))
            return false;
    }
    *ret_is_evaluated = is_known || object->other != PL_SCHEMA_NONE;
    return is_known || object->other == PL_SCHEMA_NONE || check_child(run, object->other, key + 1);
}

static bool check_object_full(struct pl_schema_run *run, const struct pl_object *object,
                              const struct pl_json_node *n, uint32_t track)
{
    uint32_t count = pl_json_count(n), i = 0;
    uint64_t seen = 0;
    if (count < object->least || count > object->most || !spend_members(run, object, count))
        return false;
    for (const struct pl_json_node *key = pl_json_first(n), *end = pl_json_end(n); key != end;
         key = pl_json_next_member(key), i++) {
        bool is_evaluated;
        if (!check_member(run, object, key, &seen, &is_evaluated))
            return false;
        if (is_evaluated)
            pl_bits_mark(run, track, i);
    }
    return seen == object->required && run->status == PL_OK;
}

static __attribute__((noinline)) bool check_array(struct pl_schema_run *run,
                                                  const struct pl_fast *op,
                                                  const struct pl_json_node *n, uint32_t track)
{
    const uint32_t *prefix = run->schema->lists.ptr + op->a;
    const struct pl_json_node *e = pl_json_first(n), *end = pl_json_end(n);
    uint32_t i = 0;
    if (!pl_run_spend(run, pl_json_count(n)))
        return false;
    for (; i < op->b && e != end; i++, e = pl_json_next(e)) {
        if (!check_child(run, prefix[i], e))
            return false;
        pl_bits_mark(run, track, i);
    }
    if (op->c == PL_SCHEMA_NONE)
        return true;
    const struct pl_sub items = run->schema->subs.ptr[op->c];
    for (; e != end; i++, e = pl_json_next(e)) {
        if (!check_value(run, items.types, items.shape, op->c, e))
            return false;
        if (track)
            pl_bits_mark(run, track, i);
    }
    return true;
}

static bool check_contains(struct pl_schema_run *run, const struct pl_fast *op,
                           const struct pl_json_node *n, uint32_t track)
{
    uint32_t n_found = 0, i = 0;
    if (!pl_run_spend(run, pl_json_count(n)))
        return false;
    for (const struct pl_json_node *e = pl_json_first(n), *end = pl_json_end(n); e != end;
         e = pl_json_next(e), i++) {
        if (!check_child(run, op->a, e))
            continue;
        pl_bits_mark(run, track, i);
        if (++n_found > op->c)
            return false;
        if (!track && n_found >= op->b && op->c == UINT32_MAX)
            return true;
    }
    return n_found >= op->b;
}

/* A branch that may fail: what it evaluated counts only if it holds. */
static COLD bool check_tracked(struct pl_schema_run *run, uint32_t sub,
                               const struct pl_json_node *n, uint32_t track)
{
    uint32_t saved = pl_bits_save(run, track, n);
    if (!saved)
        return false;
    bool is_valid = check_sub(run, sub, n, track);
    pl_bits_settle(run, saved, track, n, is_valid);
    return is_valid;
}

static inline bool check_branch(struct pl_schema_run *run, uint32_t sub,
                                const struct pl_json_node *n, uint32_t track)
{
    return track ? check_tracked(run, sub, n, track) : check_sub(run, sub, n, 0);
}

/* How many of the branches hold, counting no further than `enough`; with tracking all must be
 * tried, for each that holds adds to what is evaluated. */
static uint32_t count_branches(struct pl_schema_run *run, const struct pl_fast *op,
                               const struct pl_json_node *n, uint32_t track, uint32_t enough)
{
    const uint32_t *subs = run->schema->lists.ptr + op->a;
    uint32_t n_valid = 0;
    for (uint32_t i = 0; i < op->b && (track || n_valid < enough); i++)
        n_valid += check_branch(run, subs[i], n, track);
    return n_valid;
}

static bool check_if(struct pl_schema_run *run, uint32_t condition, uint32_t then, uint32_t other,
                     const struct pl_json_node *n, uint32_t track)
{
    uint32_t next = check_branch(run, condition, n, track) ? then : other;
    return next == PL_SCHEMA_NONE || check_sub(run, next, n, track);
}

static __attribute__((noinline)) bool check_switch(struct pl_schema_run *run,
                                                   const struct pl_fast *op,
                                                   const struct pl_json_node *n, uint32_t track)
{
    const struct pl_schema *s = run->schema;
    const struct pl_switch *sw = &s->switches.ptr[op->a];
    if (pl_json_kind(n) != PL_JSON_OBJECT || !pl_run_spend(run, pl_json_count(n)))
        return false;
    const struct pl_json_node *value = pl_member_find(run->doc, n, &s->names.ptr[sw->name]);
    if (!value || pl_json_kind(value) != PL_JSON_STRING)
        return false;
    uint32_t id = pl_run_set_find(run, sw->set, value);
    if (id == PL_SCHEMA_NONE)
        return false;
    return check_sub(run, s->lists.ptr[op->b + s->lists.ptr[sw->branches + id]], n, track);
}

/* Every rung for itself. */
static COLD bool climb_ladder(struct pl_schema_run *run, const struct pl_switch *sw,
                              const struct pl_json_node *n, uint32_t track)
{
    const uint32_t *rung = run->schema->lists.ptr + sw->rungs;
    for (uint32_t i = 0; i < sw->n_rungs; i++, rung += PL_RUNG_SIZE)
        if (!check_if(run, rung[PL_RUNG_IF], rung[PL_RUNG_THEN], rung[PL_RUNG_ELSE], n, track))
            return false;
    return true;
}

static bool check_ladder(struct pl_schema_run *run, const struct pl_fast *op,
                         const struct pl_json_node *n, uint32_t track)
{
    const struct pl_schema *s = run->schema;
    const struct pl_switch *sw = &s->switches.ptr[op->a];
    const uint32_t *rungs = s->lists.ptr + sw->rungs;
    if (!pl_run_spend(run, pl_json_count(n)))
        return false;
    const struct pl_json_node *value = pl_member_find(run->doc, n, &s->names.ptr[sw->name]);
    if (!value || track)
        return climb_ladder(run, sw, n, track);
    uint32_t id = PL_SCHEMA_NONE, meant = PL_SCHEMA_NONE;
    if (pl_json_kind(value) == PL_JSON_STRING)
        id = pl_run_set_find(run, sw->set, value);
    if (id != PL_SCHEMA_NONE) {
        meant = s->lists.ptr[sw->branches + id];
        uint32_t then = rungs[meant * PL_RUNG_SIZE + PL_RUNG_THEN];
        if (then != PL_SCHEMA_NONE && !check_sub(run, then, n, 0))
            return false;
    }
    for (uint32_t i = 0; sw->has_else && i < sw->n_rungs; i++) {
        uint32_t other = rungs[i * PL_RUNG_SIZE + PL_RUNG_ELSE];
        if (i != meant && other != PL_SCHEMA_NONE && !check_sub(run, other, n, 0))
            return false;
    }
    return true;
}

static bool check_dependency(struct pl_schema_run *run, const struct pl_dep *dep,
                             const struct pl_json_node *n, uint32_t track)
{
    if (!pl_run_spend(run, 1 + pl_json_count(n) / 8) || !pl_assert_names(run, dep, n))
        return false;
    if (dep->sub == PL_SCHEMA_NONE ||
        !pl_member_find(run->doc, n, &run->schema->names.ptr[dep->name]))
        return true;
    return check_sub(run, dep->sub, n, track);
}

static bool check_left(struct pl_schema_run *run, const struct pl_fast *op,
                       const struct pl_json_node *n, uint32_t track)
{
    bool is_object = op->code == PL_OP_LEFT_MEMBERS;
    const struct pl_json_node *e = pl_json_first(n), *end = pl_json_end(n);
    if (!pl_run_spend(run, pl_json_count(n)))
        return false;
    for (uint32_t i = 0; e != end; i++, e = is_object ? pl_json_next_member(e) : pl_json_next(e)) {
        if (pl_bits_has(run, track, i))
            continue;
        if (!check_child(run, op->a, e + is_object))
            return false;
        pl_bits_mark(run, track, i);
    }
    return true;
}

static bool check_values(struct pl_schema_run *run, const struct pl_fast *op,
                         const struct pl_json_node *n)
{
    const struct pl_value *values = run->schema->values.ptr + op->a;
    for (uint32_t i = 0; i < op->b; i++)
        if (pl_assert_equal(run, values[i].doc, values[i].node, n))
            return true;
    return false;
}

static inline bool check_count(const struct pl_fast *op, const struct pl_json_node *n)
{
    return pl_json_count(n) >= op->a && pl_json_count(n) <= op->b;
}

static __attribute__((noinline)) bool check_op(struct pl_schema_run *run, const struct pl_fast *op,
                                               const struct pl_json_node *n, uint32_t track)
{
    const struct pl_schema *s = run->schema;
    switch (op->code) {
    case PL_OP_TYPE:
        return pl_assert_types(run, op->a, n);
    case PL_OP_MINIMUM:
    case PL_OP_MAXIMUM:
    case PL_OP_ABOVE:
    case PL_OP_BELOW:
    case PL_OP_MULTIPLE:
        return pl_assert_number(run, op->code, op->a, n);
    case PL_OP_PATTERN:
        return pl_assert_pattern(run, op->a, n);
    case PL_OP_FORMAT:
        return pl_assert_format(run, op->a, n);
    case PL_OP_UNIQUE:
        return pl_assert_unique(run, n);
    case PL_OP_DYNAMIC_REF:
        return check_sub(run, pl_run_dynamic(run, op->b, op->a), n, track);
    case PL_OP_ANY_OF:
        return count_branches(run, op, n, track, 1) > 0;
    case PL_OP_ONE_OF:
        return count_branches(run, op, n, track, 2) == 1;
    case PL_OP_NOT:
        return !check_sub(run, op->a, n, 0);
    case PL_OP_IF:
        return check_if(run, op->a, op->b, op->c, n, track);
    case PL_OP_CONTAINS:
        return check_contains(run, op, n, track);
    case PL_OP_LEFT_MEMBERS:
    case PL_OP_LEFT_ITEMS:
        return check_left(run, op, n, track);
    case PL_OP_REF:
        return check_sub(run, op->a, n, track);
    case PL_FAST_OBJECT:
    case PL_FAST_OBJECT_FULL:
        return check_object_full(run, &s->objects.ptr[op->a], n, track);
    case PL_FAST_SET:
        return pl_run_set_find(run, op->a, n) != PL_SCHEMA_NONE;
    case PL_FAST_VALUES:
        return check_values(run, op, n);
    case PL_FAST_LENGTH:
        return pl_assert_length(run, op->a, op->b, n);
    case PL_FAST_LADDER:
        return check_ladder(run, op, n, track);
    case PL_FAST_DEPENDENCY:
        return check_dependency(run, &s->deps.ptr[op->a], n, track);
    default:
        return pl_run_stop(run, PL_INTERNAL);
    }
}

/* The ops of nearly every subschema are handled here, the others a call away. */
static inline __attribute__((always_inline)) bool check_ops(struct pl_schema_run *run,
                                                            uint32_t first, uint32_t end,
                                                            const struct pl_json_node *n,
                                                            uint32_t track)
{
    const struct pl_schema *s = run->schema;
    for (uint32_t i = first; i < end; i++) {
        const struct pl_fast *op = &s->fast.ptr[i];
        bool is_valid;
        /* In the order of how often they are met: a processor predicts a chain of tests better than
         * one jump to anywhere. */
        if (op->code == PL_FAST_OBJECT && !track)
            is_valid = check_object(run, &s->objects.ptr[op->a], n);
        else if (op->code == PL_FAST_SWITCH)
            is_valid = check_switch(run, op, n, track);
        else if (op->code == PL_FAST_COUNT)
            is_valid = check_count(op, n);
        else if (op->code == PL_FAST_ARRAY)
            is_valid = check_array(run, op, n, track);
        else
            is_valid = check_op(run, op, n, track);
        if (!is_valid)
            return false;
    }
    return true;
}

/* A subschema that looks at what is evaluated, or that a $dynamicRef may look back to. */
static COLD bool check_special(struct pl_schema_run *run, const struct pl_sub *sub, uint32_t first,
                               uint32_t end, const struct pl_json_node *n, uint32_t track)
{
    uint32_t n_scope = run->n_scope, outer = track;
    pl_run_enter(run, sub);
    bool has_set = (sub->flags & PL_SUB_TRACKS) && pl_json_is_container(n);
    if (has_set)
        track = pl_bits_push(run, n);
    bool is_valid = (!has_set || track) && check_ops(run, first, end, n, track);
    if (has_set && track)
        pl_bits_pop(run, track, is_valid ? outer : 0, n);
    run->n_scope = n_scope;
    return is_valid;
}

static bool check_sub(struct pl_schema_run *run, uint32_t index, const struct pl_json_node *n,
                      uint32_t track)
{
    const struct pl_sub *sub = &run->schema->subs.ptr[index];
    if (!(sub->types >> pl_json_kind(n) & 1))
        return false;
    enum pl_class class = pl_class_of(n);
    uint32_t first = sub->fast[class], end = sub->fast[class + 1];
    if (first == end)
        return true;
    if (run->depth >= PL_SCHEMA_MAX_DEPTH || !run->steps)
        return pl_run_stop(run, PL_LIMIT);
    run->depth++;
    run->steps--;
    bool is_valid = sub->flags ? check_special(run, sub, first, end, n, track)
                               : check_ops(run, first, end, n, track);
    run->depth--;
    return is_valid;
}

enum pl_status pl_schema_check(struct pl_schema_run *run, const struct pl_json_doc *doc,
                               const struct pl_json_node *node, bool *ret_is_valid)
{
    pl_run_begin(run, doc);
    bool is_valid = check_sub(run, run->schema->root, node, 0);
    if (run->status == PL_OK)
        *ret_is_valid = is_valid;
    return run->status;
}
