/* Checks an instance: runs the fast program, yes or no, and stops at the first failure.
 *
 * A value costs a bit test for its kind, which decides most. For the others the test of their
 * subschema (struct pl_test) selects the next check: the members, the items, a set, or, for a
 * subschema of several ops, a walk over the few that apply to that kind. The interpreter calls
 * itself where a subschema applies another; `depth` bounds that, and `steps` bounds the whole, so
 * no schema and no instance can make it hang. `track` is the set of evaluated children of the
 * current instance (unevaluated.h), nearly always 0. */
#include "schema/assert.h"
#include "schema/lookup.h"
#include "schema/unevaluated.h"

#define COLD __attribute__((noinline, cold))

static bool check_sub(struct pl_schema_run *run, uint32_t index, const struct pl_json_node *n,
                      uint32_t track);

static bool check_shape(struct pl_schema_run *run, const struct pl_test *test,
                        const struct pl_json_node *n);

/* A value that is not tracked. */
static inline bool check_value(struct pl_schema_run *run, const struct pl_test *test,
                               const struct pl_json_node *n)
{
    return __builtin_expect(test->passes >> pl_json_kind(n) & 1, 1) || check_shape(run, test, n);
}

static inline bool check_child(struct pl_schema_run *run, uint32_t sub,
                               const struct pl_json_node *n)
{
    return check_value(run, &run->schema->subs.ptr[sub].test, n);
}

/* Another subschema for the same instance. */
static inline bool check_in_place(struct pl_schema_run *run, uint32_t sub,
                                  const struct pl_json_node *n, uint32_t track)
{
    return track ? check_sub(run, sub, n, track) : check_child(run, sub, n);
}

/* Counts a frame and n children. The caller removes the frame. */
static inline bool enter(struct pl_schema_run *run, uint64_t n)
{
    if (__builtin_expect(run->steps <= n || run->depth >= PL_SCHEMA_MAX_DEPTH, 0))
        return pl_run_stop(run, PL_LIMIT);
    run->steps -= (uint32_t)n + 1;
    run->depth++;
    return true;
}

/* The cost of looking up the members of an object: higher if names of the schema share a hash. */
static inline uint64_t cost_of(const struct pl_object *object, const struct pl_json_node *n)
{
    return (uint64_t)pl_json_count(n) * object->table.n_probe;
}

static inline bool has_right_size(const struct pl_object *object, const struct pl_json_node *n)
{
    return pl_json_count(n) >= object->least && pl_json_count(n) <= object->most;
}

/* The member values that a ladder needs. */
struct notes {
    const struct pl_json_node *value[PL_SCHEMA_MAX_NOTES]; /* by pl_slot.note; NULL: missing */
    bool is_repeated;                                      /* one of them occurs twice */
};

static inline void take_note(struct notes *notes, uint8_t note, const struct pl_json_node *value)
{
    if (!note)
        return;
    notes->is_repeated |= notes->value[note] != NULL;
    notes->value[note] = value;
}

/* Members found by name, without other checks: the usual object. */
static inline __attribute__((always_inline)) bool check_members(struct pl_schema_run *run,
                                                                const struct pl_object *object,
                                                                const struct pl_json_node *n,
                                                                struct notes *notes)
{
    const struct pl_json_doc *doc = run->doc;
    uint64_t seen = 0;
    for (const struct pl_json_node *key = pl_json_first(n), *end = pl_json_end(n); key != end;
         key = pl_json_next_member(key)) {
        const struct pl_slot *slot = pl_object_find(object, doc, key);
        if (slot) {
            seen |= slot->required;
            if (notes)
                take_note(notes, slot->note, key + 1);
            if (!check_value(run, &slot->test, key + 1))
                return false;
        } else if (object->other != PL_SCHEMA_NONE && !check_child(run, object->other, key + 1)) {
            return false;
        }
    }
    return seen == object->required;
}

static __attribute__((noinline)) bool check_object(struct pl_schema_run *run,
                                                   const struct pl_object *object,
                                                   const struct pl_json_node *n)
{
    if (!has_right_size(object, n) || !enter(run, cost_of(object, n)))
        return false;
    bool is_valid = check_members(run, object, n, NULL);
    run->depth--;
    return is_valid;
}

/* Checks one member against everything: its name, its property, each pattern, and the rest. */
static bool check_member(struct pl_schema_run *run, const struct pl_object *object,
                         const struct pl_json_node *key, uint64_t *seen, bool *ret_is_evaluated)
{
    const struct pl_schema *s = run->schema;
    const struct pl_slot *slot = pl_object_find(object, run->doc, key);
    bool is_known = slot && slot->prop != PL_SCHEMA_NONE;
    if (slot)
        *seen |= slot->required;
    if (object->names != PL_SCHEMA_NONE && !check_child(run, object->names, key))
        return false;
    if (is_known && !check_value(run, &slot->test, key + 1))
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
    uint32_t i = 0;
    uint64_t seen = 0;
    uint64_t cost = cost_of(object, n);
    if (!has_right_size(object, n) ||
        !pl_run_spend(run, cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX))
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

/* Checks the items from `e` on with one subschema. */
static inline bool check_items(struct pl_schema_run *run, const struct pl_test *items,
                               const struct pl_json_node *e, const struct pl_json_node *end)
{
    for (; e != end; e = pl_json_next(e))
        if (!check_value(run, items, e))
            return false;
    return true;
}

static __attribute__((noinline)) bool check_array(struct pl_schema_run *run,
                                                  const struct pl_fast *op,
                                                  const struct pl_json_node *n, uint32_t track)
{
    const struct pl_schema *s = run->schema;
    const uint32_t *prefix = s->lists.ptr + op->a;
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
    for (; track && i < pl_json_count(n); i++) /* if one fails, its branch drops the marks */
        pl_bits_mark(run, track, i);
    return check_items(run, &s->subs.ptr[op->c].test, e, end);
}

static __attribute__((noinline)) bool check_list_deep(struct pl_schema_run *run,
                                                      const struct pl_test *items,
                                                      const struct pl_json_node *e,
                                                      const struct pl_json_node *end)
{
    run->depth++;
    bool is_valid = check_items(run, items, e, end);
    run->depth--;
    return is_valid;
}

/* An array of PL_SHAPE_LIST. Makes no call as long as types decide the items. */
static __attribute__((noinline)) bool
check_list(struct pl_schema_run *run, const struct pl_array *array, const struct pl_json_node *n)
{
    uint32_t count = pl_json_count(n), passes = array->items.passes;
    if (count < array->least || count > array->most)
        return false;
    if (__builtin_expect(run->steps <= count || run->depth >= PL_SCHEMA_MAX_DEPTH, 0))
        return pl_run_stop(run, PL_LIMIT);
    run->steps -= count + 1;
    for (const struct pl_json_node *e = pl_json_first(n), *end = pl_json_end(n); e != end;
         e = pl_json_next(e))
        if (!(passes >> pl_json_kind(e) & 1))
            return check_list_deep(run, &array->items, e, end);
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

/* A branch that may fail: its evaluated children count only if it holds. */
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

/* Counts the branches that hold, up to `enough`. With tracking all branches must be tried, since
 * each that holds adds evaluated children. */
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

/* Whether all values of the discriminator select the same branch as the last one. It occurs more
 * than once only if the parser allowed that. */
static bool is_branch_meant(struct pl_schema_run *run, const struct pl_switch *sw,
                            const struct pl_json_node *n, const struct pl_json_node *last,
                            uint32_t branch)
{
    const struct pl_name *name = &run->schema->names.ptr[sw->name];
    for (const struct pl_json_node *k = pl_json_first(n); k + 1 != last; k = pl_json_next_member(k))
        if (pl_member_is(run->doc, k, name) && pl_run_branch(run, sw, k + 1) != branch)
            return false;
    return true;
}

static __attribute__((noinline)) bool check_switch(struct pl_schema_run *run,
                                                   const struct pl_fast *op,
                                                   const struct pl_json_node *n, uint32_t track)
{
    const struct pl_schema *s = run->schema;
    const struct pl_switch *sw = &s->switches.ptr[op->a];
    if (pl_json_kind(n) != PL_JSON_OBJECT || !enter(run, pl_json_count(n)))
        return false;
    const struct pl_json_node *value = pl_member_find(run->doc, n, &s->names.ptr[sw->name]);
    uint32_t branch = value ? pl_run_branch(run, sw, value) : PL_SCHEMA_NONE;
    bool is_valid = false;
    if (branch != PL_SCHEMA_NONE && is_branch_meant(run, sw, n, value, branch))
        is_valid = check_in_place(run, s->lists.ptr[op->b + branch], n, track);
    run->depth--;
    return is_valid;
}

/* Runs every rung. */
static COLD bool climb_ladder(struct pl_schema_run *run, const struct pl_switch *sw,
                              const struct pl_json_node *n, uint32_t track)
{
    const uint32_t *rung = run->schema->lists.ptr + sw->rungs;
    for (uint32_t i = 0; i < sw->n_rungs; i++, rung += PL_RUNG_SIZE)
        if (!check_if(run, rung[PL_RUNG_IF], rung[PL_RUNG_THEN], rung[PL_RUNG_ELSE], n, track))
            return false;
    return true;
}

/* Checks a rung whose `then` only tests members. */
static inline bool check_looks(struct pl_schema_run *run, const struct pl_schema_look *looks,
                               uint32_t n, const struct notes *notes)
{
    if (!pl_run_spend(run, n))
        return false;
    for (const struct pl_schema_look *look = looks; look != looks + n; look++) {
        const struct pl_json_node *value = notes->value[look->note];
        if (value ? !check_value(run, &look->test, value) : look->is_required)
            return false;
    }
    return true;
}

static inline bool check_rung(struct pl_schema_run *run, const uint32_t *rung,
                              const struct pl_json_node *n, const struct notes *notes)
{
    if (notes && rung[PL_RUNG_LOOKS] != PL_SCHEMA_NONE)
        return check_looks(run, run->schema->looks.ptr + rung[PL_RUNG_LOOKS], rung[PL_RUNG_N_LOOKS],
                           notes);
    return rung[PL_RUNG_THEN] == PL_SCHEMA_NONE || check_child(run, rung[PL_RUNG_THEN], n);
}

/* Runs the rung that `value` selects, and the `else` of the others. */
static inline bool take_rungs(struct pl_schema_run *run, const struct pl_switch *sw,
                              const struct pl_json_node *value, const struct pl_json_node *n,
                              const struct notes *notes)
{
    const uint32_t *rungs = run->schema->lists.ptr + sw->rungs;
    uint32_t meant = pl_run_branch(run, sw, value);
    if (meant != PL_SCHEMA_NONE && !check_rung(run, rungs + meant * PL_RUNG_SIZE, n, notes))
        return false;
    for (uint32_t i = 0; sw->has_else && i < sw->n_rungs; i++) {
        uint32_t other = rungs[i * PL_RUNG_SIZE + PL_RUNG_ELSE];
        if (i != meant && other != PL_SCHEMA_NONE && !check_child(run, other, n))
            return false;
    }
    return true;
}

static COLD bool check_ladder(struct pl_schema_run *run, const struct pl_switch *sw,
                              const struct pl_json_node *n, uint32_t track)
{
    if (!pl_run_spend(run, pl_json_count(n)))
        return false;
    const struct pl_json_node *value =
        pl_member_find(run->doc, n, &run->schema->names.ptr[sw->name]);
    if (!value || track || !is_branch_meant(run, sw, n, value, pl_run_branch(run, sw, value)))
        return climb_ladder(run, sw, n, track);
    return take_rungs(run, sw, value, n, NULL);
}

/* An object and its ladder in one pass. */
static __attribute__((noinline)) bool check_object_ladder(struct pl_schema_run *run,
                                                          const struct pl_object *object,
                                                          const struct pl_json_node *n)
{
    const struct pl_switch *sw = &run->schema->switches.ptr[object->ladder];
    struct notes notes = {0};
    if (!has_right_size(object, n) || !enter(run, cost_of(object, n)))
        return false;
    bool is_valid = check_members(run, object, n, &notes);
    if (is_valid) {
        const struct pl_json_node *value = notes.value[PL_SCHEMA_DECIDING];
        is_valid = value && !notes.is_repeated ? take_rungs(run, sw, value, n, &notes)
                                               : check_ladder(run, sw, n, 0);
    }
    run->depth--;
    return is_valid;
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
        return check_in_place(run, op->a, n, track);
    case PL_FAST_OBJECT:
    case PL_FAST_OBJECT_FULL:
        return check_object_full(run, &s->objects.ptr[op->a], n, track);
    case PL_FAST_SET:
        return pl_run_set_find(run, &s->sets.ptr[op->a], n) != PL_SCHEMA_NONE;
    case PL_FAST_VALUES:
        return check_values(run, op, n);
    case PL_FAST_LENGTH:
        return pl_assert_length(run, op->a, op->b, n);
    case PL_FAST_LADDER:
        return check_ladder(run, &s->switches.ptr[op->a], n, track);
    case PL_FAST_OBJECT_LADDER: /* tracked */
        return check_object_full(run, &s->objects.ptr[op->a], n, track) &&
               check_ladder(run, &s->switches.ptr[s->objects.ptr[op->a].ladder], n, track);
    case PL_FAST_ABSENT:
        return pl_run_spend(run, pl_json_count(n)) &&
               !pl_member_find(run->doc, n, &s->names.ptr[op->a]);
    case PL_FAST_DEPENDENCY:
        return check_dependency(run, &s->deps.ptr[op->a], n, track);
    default:
        return pl_run_stop(run, PL_INTERNAL);
    }
}

/* Ops that a test may run without a subschema around them. */
static inline bool has_own_frame(const struct pl_fast *op, uint32_t track)
{
    return op->code == PL_FAST_SWITCH ||
           (!track && (op->code == PL_FAST_OBJECT || op->code == PL_FAST_OBJECT_LADDER));
}

/* Runs such an op inside a subschema, with the subschema's frame. */
static inline bool check_framed(struct pl_schema_run *run, const struct pl_fast *op,
                                const struct pl_json_node *n, uint32_t track)
{
    const struct pl_object *objects = run->schema->objects.ptr;
    bool is_valid;
    run->depth--;
    run->steps++;
    if (op->code == PL_FAST_OBJECT)
        is_valid = check_object(run, &objects[op->a], n);
    else if (op->code == PL_FAST_OBJECT_LADDER)
        is_valid = check_object_ladder(run, &objects[op->a], n);
    else
        is_valid = check_switch(run, op, n, track);
    run->depth++;
    return is_valid;
}

/* Handles the ops of nearly every subschema; the others take a call. */
static inline __attribute__((always_inline)) bool check_ops(struct pl_schema_run *run,
                                                            uint32_t first, uint32_t end,
                                                            const struct pl_json_node *n,
                                                            uint32_t track)
{
    const struct pl_schema *s = run->schema;
    for (uint32_t i = first; i < end; i++) {
        const struct pl_fast *op = &s->fast.ptr[i];
        bool is_valid;
        /* In order of frequency: a processor predicts a chain of tests better than one indirect
         * jump. */
        if (has_own_frame(op, track))
            is_valid = check_framed(run, op, n, track);
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

/* A subschema that tracks evaluated children, or that a $dynamicRef may search. */
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
    if (!(sub->test.types >> pl_json_kind(n) & 1))
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

static __attribute__((noinline)) bool check_set(struct pl_schema_run *run, const struct pl_set *set,
                                                const struct pl_json_node *n)
{
    return pl_run_set_find(run, set, n) != PL_SCHEMA_NONE;
}

/* A number; only short whole numbers are compared here. */
static __attribute__((noinline)) bool
check_range(struct pl_schema_run *run, const struct pl_test *test, const struct pl_json_node *n)
{
    int64_t value;
    if (!pl_small_integer(run->doc, n, &value))
        return check_sub(run, test->sub, n, 0);
    return value >= test->to.range->least && value <= test->to.range->most;
}

/* A value that its type does not decide. From PL_SHAPE_RANGE on, an allowed kind that does not pass
 * by itself is the kind that the shape checks. Every exit is a tail call: this is the dispatcher of
 * the interpreter and has no frame. */
static __attribute__((noinline)) bool
check_shape(struct pl_schema_run *run, const struct pl_test *test, const struct pl_json_node *n)
{
    if (!(test->types >> pl_json_kind(n) & 1))
        return false;
    switch (test->shape) {
    case PL_SHAPE_SET:
        return check_set(run, test->to.set, n);
    case PL_SHAPE_INTEGER:
        return (n->tag & PL_JSON_INTEGER) || check_sub(run, test->sub, n, 0);
    case PL_SHAPE_RANGE:
        return check_range(run, test, n);
    case PL_SHAPE_LIST:
        return check_list(run, test->to.array, n);
    case PL_SHAPE_RECORD:
        return check_object(run, test->to.object, n);
    case PL_SHAPE_LADDER:
        return check_object_ladder(run, test->to.object, n);
    case PL_SHAPE_SWITCH:
        return check_switch(run, test->to.op, n, 0);
    default:
        return check_sub(run, test->sub, n, 0);
    }
}

enum pl_status pl_schema_check(struct pl_schema_run *run, const struct pl_json_doc *doc,
                               const struct pl_json_node *node, bool *ret_is_valid)
{
    pl_run_begin(run, doc);
    bool is_valid = check_child(run, run->schema->root, node);
    if (run->status == PL_OK)
        *ret_is_valid = is_valid;
    return run->status;
}
