/* The last step of compiling: optimises across subschemas, once each has its fast ops.
 *
 *     ladders   an object with a ladder notes, in its one pass over the members, the values that
 *               the rungs test; a rung that only tests members needs no second pass
 *     shapes    a subschema of one op gets a test that leads directly to that op
 *     trust     a branch that a switch selects does not check the deciding member again
 *     pointers  indexes of the inner loop become pointers: nothing is appended any more */
#include "schema/compile_int.h"
#include "schema/lookup.h"

#define MAX_TRUSTED 64 /* maximum slots in a member table that is copied for a branch */
#define MAX_LOOKED  32 /* maximum slots in the member table of a rung */

/* ---- ladders ---- */

static struct pl_slot *slot_of(const struct pl_schema *s, const struct pl_schema_table *table,
                               struct pl_str text, uint32_t hash)
{
    uint32_t at = pl_schema_table_start(table, hash);
    for (uint32_t probe = table->n_probe; probe; probe--) {
        struct pl_slot *slot = &s->slots.ptr[table->first + at];
        if (slot->name.text && pl_str_eq(pl_spelling_text(&slot->name), text))
            return slot;
        at = (at + 1) & table->mask;
    }
    return NULL;
}

/* The object whose ladder is being fused, and the number of its members with a note. */
struct noting {
    const struct pl_schema_table *table;
    uint8_t n_notes;
};

/* The note of a member, assigned if it has none; 0 if no slot or no note is left. */
static uint8_t note_of(const struct pl_schema *s, struct noting *noting, struct pl_str text,
                       uint32_t hash)
{
    struct pl_slot *slot = slot_of(s, noting->table, text, hash);
    if (!slot)
        return 0;
    if (!slot->note && noting->n_notes + 1 < PL_SCHEMA_MAX_NOTES)
        slot->note = ++noting->n_notes;
    return slot->note;
}

/* Appends a look; *ret_is_noted if the member has a note. */
static enum pl_status add_look(struct pl_compiler *c, struct noting *noting, struct pl_str text,
                               uint32_t hash, struct pl_schema_look look, bool *ret_is_noted)
{
    look.note = note_of(c->schema, noting, text, hash);
    *ret_is_noted = look.note != 0;
    return !look.note || pl_vec_push(&c->schema->looks, look) ? PL_OK : pl_compile_nomem(c);
}

/* Whether an object has only keywords about members it names. */
static bool is_lookable(const struct pl_object *object)
{
    return object->other == PL_SCHEMA_NONE && object->most == UINT32_MAX &&
           object->least <= (uint32_t)__builtin_popcountll(object->required) &&
           object->table.mask < MAX_LOOKED;
}

/* Appends the looks that replace one op of a rung; *ret_is_done if they replace it entirely. */
static enum pl_status look_at_op(struct pl_compiler *c, struct noting *noting, struct pl_fast op,
                                 bool *ret_is_done)
{
    const struct pl_schema *s = c->schema;
    struct pl_schema_look look = {.test = {.sub = PL_SCHEMA_NONE, .shape = PL_SHAPE_TYPE}};
    *ret_is_done = false;
    if (op.code == PL_FAST_ABSENT) {
        const struct pl_name *name = &s->names.ptr[op.a]; /* `look` allows no type at all */
        return add_look(c, noting, name->text, name->hash, look, ret_is_done);
    }
    if (op.code != PL_FAST_OBJECT || !is_lookable(&s->objects.ptr[op.a]))
        return PL_OK;
    const struct pl_schema_table *table = &s->objects.ptr[op.a].table;
    bool is_noted = true;
    for (uint32_t i = 0; is_noted && i <= table->mask; i++) {
        const struct pl_slot *slot = &s->slots.ptr[table->first + i];
        struct pl_str text = pl_spelling_text(&slot->name);
        look.test = slot->test;
        look.is_required = slot->required != 0;
        if (text.ptr)
            TRY(add_look(c, noting, text, slot->name.tag >> 8, look, &is_noted));
    }
    *ret_is_done = is_noted;
    return PL_OK;
}

/* Lets a rung use noted members, if its `then` does nothing else. */
static enum pl_status fuse_rung(struct pl_compiler *c, struct noting *noting, uint32_t rung)
{
    struct pl_schema *s = c->schema;
    uint32_t then = s->lists.ptr[rung + PL_RUNG_THEN];
    if (then == PL_SCHEMA_NONE || s->subs.ptr[then].flags ||
        !(s->subs.ptr[then].types >> PL_JSON_OBJECT & 1))
        return PL_OK;
    size_t first = s->looks.len;
    const uint32_t *ops = s->subs.ptr[then].fast + PL_RECORD;
    bool is_done = true;
    for (uint32_t i = ops[0]; is_done && i < ops[1]; i++)
        TRY(look_at_op(c, noting, s->fast.ptr[i], &is_done));
    if (!is_done) {
        s->looks.len = first;
        return PL_OK;
    }
    s->lists.ptr[rung + PL_RUNG_LOOKS] = (uint32_t)first;
    s->lists.ptr[rung + PL_RUNG_N_LOOKS] = (uint32_t)(s->looks.len - first);
    return PL_OK;
}

/* Fuses members and ladder into one op, if they are adjacent and the object names the deciding
 * member. */
static enum pl_status fuse_ladder(struct pl_compiler *c, uint32_t sub)
{
    struct pl_schema *s = c->schema;
    uint32_t *ops = s->subs.ptr[sub].fast + PL_RECORD;
    struct pl_fast *op = s->fast.ptr + ops[0], *end = s->fast.ptr + ops[1];
    if (end - op < 2 || op[0].code != PL_FAST_OBJECT || op[1].code != PL_FAST_LADDER)
        return PL_OK;
    struct pl_object *object = &s->objects.ptr[op[0].a];
    struct noting noting = {.table = &object->table};
    const struct pl_switch *sw = &s->switches.ptr[op[1].a];
    const struct pl_name *name = &s->names.ptr[sw->name];
    if (note_of(s, &noting, name->text, name->hash) != PL_SCHEMA_DECIDING)
        return PL_OK;
    for (uint32_t i = 0; i < sw->n_rungs; i++)
        TRY(fuse_rung(c, &noting, sw->rungs + i * PL_RUNG_SIZE));
    op[0].code = PL_FAST_OBJECT_LADDER;
    object->ladder = op[1].a;
    for (op++; op + 1 < end; op++)
        op[0] = op[1];
    ops[1]--;
    return PL_OK;
}

/* ---- shapes ---- */

/* Whole numbers between small limits are compared as machine integers; other spellings take the
 * slow path. */
static enum pl_status shape_number(struct pl_compiler *c, struct pl_sub *sub)
{
    struct pl_schema *s = c->schema;
    struct pl_range range = {INT64_MIN, INT64_MAX};
    for (uint32_t i = sub->fast[PL_NUMERIC]; i < sub->fast[PL_NUMERIC + 1]; i++) {
        struct pl_fast op = s->fast.ptr[i];
        if (op.code == PL_OP_TYPE)
            continue;
        if (op.code < PL_OP_MINIMUM || op.code > PL_OP_BELOW || !s->limits.ptr[op.a].is_small)
            return PL_OK;
        int64_t value = s->limits.ptr[op.a].value;
        if (__builtin_add_overflow(value, (op.code == PL_OP_ABOVE) - (op.code == PL_OP_BELOW),
                                   &value))
            return PL_OK;
        bool is_least = op.code == PL_OP_MINIMUM || op.code == PL_OP_ABOVE;
        if (is_least && value > range.least)
            range.least = value;
        if (!is_least && value < range.most)
            range.most = value;
    }
    sub->test.shape = PL_SHAPE_RANGE;
    sub->test.to.index = s->ranges.len;
    return pl_vec_push(&s->ranges, range) ? PL_OK : pl_compile_nomem(c);
}

static enum pl_status shape_list(struct pl_compiler *c, struct pl_sub *sub)
{
    struct pl_schema *s = c->schema;
    const struct pl_fast *op = &s->fast.ptr[sub->fast[PL_LIST]];
    const struct pl_fast *end = &s->fast.ptr[sub->fast[PL_LIST + 1]];
    struct pl_array array = {.most = UINT32_MAX};
    if (op->code == PL_FAST_COUNT) {
        array.least = op->a;
        array.most = op->b;
        op++;
    }
    if (end - op != 1 || op->code != PL_FAST_ARRAY || op->b || op->c == PL_SCHEMA_NONE)
        return PL_OK;
    array.items.sub = op->c;
    sub->test.shape = PL_SHAPE_LIST;
    sub->test.to.index = s->arrays.len;
    return pl_vec_push(&s->arrays, array) ? PL_OK : pl_compile_nomem(c);
}

static void shape_record(const struct pl_schema *s, struct pl_sub *sub)
{
    uint32_t first = sub->fast[PL_RECORD];
    struct pl_fast op = s->fast.ptr[first];
    if (sub->fast[PL_RECORD + 1] - first != 1)
        return;
    if (op.code == PL_FAST_OBJECT || op.code == PL_FAST_OBJECT_LADDER) {
        sub->test.shape = op.code == PL_FAST_OBJECT ? PL_SHAPE_RECORD : PL_SHAPE_LADDER;
        sub->test.to.index = op.a;
    } else if (op.code == PL_FAST_SWITCH) {
        sub->test.shape = PL_SHAPE_SWITCH;
        sub->test.to.index = first;
    }
}

/* Only objects pass a switch. */
static void narrow_types(const struct pl_schema *s, struct pl_sub *sub)
{
    for (int class = 0; class < PL_RECORD; class ++)
        for (uint32_t i = sub->fast[class]; i < sub->fast[class + 1]; i++)
            if (s->fast.ptr[i].code == PL_FAST_SWITCH)
                sub->test.types &= (uint8_t)~pl_class_types[class];
}

/* For classes with ops, the ops decide; for the others, the type decides. If at most one class has
 * ops, a shortcut may be possible. */
static enum pl_status find_test(struct pl_compiler *c, struct pl_sub *sub)
{
    int busy = PL_CLASS_COUNT, n_busy = 0;
    narrow_types(c->schema, sub);
    sub->test.passes = sub->test.types;
    for (int class = 0; class < PL_CLASS_COUNT; class ++)
        if (sub->fast[class] != sub->fast[class + 1] && (sub->test.types & pl_class_types[class])) {
            sub->test.passes &= (uint8_t)~pl_class_types[class];
            busy = class;
            n_busy++;
        }
    if (sub->flags || sub->test.shape != PL_SHAPE_GENERAL || n_busy > 1)
        return PL_OK;
    switch (busy) {
    case PL_NUMERIC:
        return shape_number(c, sub);
    case PL_LIST:
        return shape_list(c, sub);
    case PL_RECORD:
        shape_record(c->schema, sub);
        return PL_OK;
    case PL_CLASS_COUNT:
        sub->test.shape = PL_SHAPE_TYPE;
        return PL_OK;
    default:
        return PL_OK;
    }
}

static void copy_test(const struct pl_schema *s, struct pl_test *test)
{
    if (test->sub != PL_SCHEMA_NONE)
        *test = s->subs.ptr[test->sub].test;
}

/* Copies the tests to the places where values are found. */
static void copy_tests(struct pl_schema *s)
{
    for (size_t i = 0; i < s->slots.len; i++)
        copy_test(s, &s->slots.ptr[i].test);
    for (size_t i = 0; i < s->looks.len; i++)
        copy_test(s, &s->looks.ptr[i].test);
    for (size_t i = 0; i < s->arrays.len; i++)
        copy_test(s, &s->arrays.ptr[i].items);
}

/* ---- trust ---- */

/* Appends a copy of an object in which only the type of member `name` is checked. */
static enum pl_status trust_member(struct pl_compiler *c, struct pl_object object, uint32_t name)
{
    struct pl_schema *s = c->schema;
    uint32_t from = object.table.first;
    object.table.first = (uint32_t)s->slots.len;
    for (uint32_t i = 0; i <= object.table.mask; i++) {
        struct pl_slot slot = s->slots.ptr[from + i];
        struct pl_str text = pl_spelling_text(&slot.name);
        if (text.ptr && pl_str_eq(text, s->names.ptr[name].text))
            slot.test.passes = slot.test.types;
        if (!pl_vec_push(&s->slots, slot))
            return pl_compile_nomem(c);
    }
    return pl_vec_push(&s->objects, object) ? PL_OK : pl_compile_nomem(c);
}

/* A copy of a branch for use when its discriminator is known to be right. Only if the branch begins
 * with its members; otherwise the branch itself. */
static enum pl_status trust_branch(struct pl_compiler *c, uint32_t branch, uint32_t name,
                                   uint32_t *ret_sub)
{
    struct pl_schema *s = c->schema;
    struct pl_sub copy = s->subs.ptr[branch];
    struct pl_sub_info info = s->infos.ptr[branch];
    uint32_t first = copy.fast[PL_RECORD], end = copy.fast[PL_RECORD + 1];
    *ret_sub = branch;
    if (copy.flags || first == end ||
        (s->fast.ptr[first].code != PL_FAST_OBJECT &&
         s->fast.ptr[first].code != PL_FAST_OBJECT_LADDER) ||
        s->objects.ptr[s->fast.ptr[first].a].table.mask >= MAX_TRUSTED)
        return PL_OK;
    TRY(trust_member(c, s->objects.ptr[s->fast.ptr[first].a], name));
    for (int class = 0; class <= PL_RECORD; class ++)
        copy.fast[class] = (uint32_t)s->fast.len; /* only objects reach this */
    for (uint32_t i = first; i < end; i++) {
        struct pl_fast op = s->fast.ptr[i];
        if (!pl_vec_push(&s->fast, op))
            return pl_compile_nomem(c);
    }
    copy.fast[PL_CLASS_COUNT] = (uint32_t)s->fast.len;
    s->fast.ptr[copy.fast[PL_RECORD]].a = (uint32_t)s->objects.len - 1;
    copy.test.sub = (uint32_t)s->subs.len;
    if (copy.test.shape != PL_SHAPE_GENERAL)
        copy.test.to.index = s->objects.len - 1;
    *ret_sub = (uint32_t)s->subs.len;
    return pl_vec_push(&s->subs, copy) && pl_vec_push(&s->infos, info) ? PL_OK
                                                                       : pl_compile_nomem(c);
}

/* Makes every switch use branches that do not check the discriminator again. */
static enum pl_status trust_switches(struct pl_compiler *c)
{
    struct pl_schema *s = c->schema;
    size_t n_subs = s->subs.len;
    for (size_t i = 0; i < n_subs; i++) {
        const struct pl_sub sub = s->subs.ptr[i];
        for (uint32_t f = sub.fast[PL_RECORD]; f < sub.fast[PL_RECORD + 1]; f++) {
            struct pl_fast op = s->fast.ptr[f];
            for (uint32_t b = 0; op.code == PL_FAST_SWITCH && b < op.c; b++) {
                uint32_t trusted;
                TRY(trust_branch(c, s->lists.ptr[op.b + b], s->switches.ptr[op.a].name, &trusted));
                s->lists.ptr[op.b + b] = trusted;
            }
        }
    }
    return PL_OK;
}

/* ---- pointers ---- */

static void set_target(const struct pl_schema *s, struct pl_test *test)
{
    size_t index = test->to.index;
    switch (test->shape) {
    case PL_SHAPE_SET:
        test->to.set = &s->sets.ptr[index];
        break;
    case PL_SHAPE_RANGE:
        test->to.range = &s->ranges.ptr[index];
        break;
    case PL_SHAPE_LIST:
        test->to.array = &s->arrays.ptr[index];
        break;
    case PL_SHAPE_RECORD:
    case PL_SHAPE_LADDER:
        test->to.object = &s->objects.ptr[index];
        break;
    case PL_SHAPE_SWITCH:
        test->to.op = &s->fast.ptr[index];
        break;
    default: /* needs none */
        break;
    }
}

static void set_pointers(struct pl_schema *s)
{
    for (size_t i = 0; i < s->objects.len; i++)
        s->objects.ptr[i].slots = s->slots.ptr + s->objects.ptr[i].table.first;
    for (size_t i = 0; i < s->sets.len; i++)
        s->sets.ptr[i].slots = s->set_slots.ptr + s->sets.ptr[i].table.first;
    for (size_t i = 0; i < s->subs.len; i++)
        set_target(s, &s->subs.ptr[i].test);
    for (size_t i = 0; i < s->slots.len; i++)
        set_target(s, &s->slots.ptr[i].test);
    for (size_t i = 0; i < s->looks.len; i++)
        set_target(s, &s->looks.ptr[i].test);
    for (size_t i = 0; i < s->arrays.len; i++)
        set_target(s, &s->arrays.ptr[i].items);
}

enum pl_status pl_fuse(struct pl_compiler *c)
{
    struct pl_schema *s = c->schema;
    for (uint32_t i = 0; i < s->subs.len; i++)
        TRY(fuse_ladder(c, i));
    for (uint32_t i = 0; i < s->subs.len; i++)
        TRY(find_test(c, &s->subs.ptr[i]));
    copy_tests(s);
    TRY(trust_switches(c));
    set_pointers(s);
    return PL_OK;
}
