/* From plain ops to fast ones.
 *
 * Keywords of a subschema are sorted by the kind of instance they apply to, so that a string never
 * runs an object's keywords. The kinds allowed by `type`, `const` and `enum` become one bit test.
 * All keywords about members become one pass over the members. A $ref without siblings disappears.
 * Explaining uses the plain ops, so nothing here needs to keep its keyword. */
#include "schema/compile_int.h"
#include "schema/lookup.h"

#define MAX_ALIAS_HOPS 64
#define REQUIRED_BITS  64 /* per pass over the members */

const uint8_t pl_class_types[PL_CLASS_COUNT] = {
    1 << PL_JSON_NULL | 1 << PL_JSON_FALSE | 1 << PL_JSON_TRUE,
    1 << PL_JSON_NUMBER,
    1 << PL_JSON_STRING,
    1 << PL_JSON_ARRAY,
    1 << PL_JSON_OBJECT,
};

static enum pl_status push(struct pl_compiler *c, uint8_t code, uint32_t a, uint32_t b, uint32_t cc)
{
    struct pl_fast op = {.code = code, .a = a, .b = b, .c = cc};
    return pl_vec_push(&c->schema->fast, op) ? PL_OK : pl_compile_nomem(c);
}

const struct pl_op *pl_compile_find_op(const struct pl_schema *s, uint32_t sub,
                                       enum pl_op_code code)
{
    const struct pl_sub_info *info = &s->infos.ptr[sub];
    for (uint32_t i = 0; i < info->n_ops; i++)
        if (s->ops.ptr[info->ops + i].code == code)
            return &s->ops.ptr[info->ops + i];
    return NULL;
}

/* The first value of a const or enum; *ret_end is after the last. */
static const struct pl_json_node *values_of(const struct pl_op *op,
                                            const struct pl_json_node **ret_end)
{
    const struct pl_json_node *value = op->key + 1;
    *ret_end = pl_json_next(value);
    return op->code == PL_OP_ENUM ? pl_json_first(value) : value;
}

uint32_t pl_optimise_alias(const struct pl_schema *s, uint32_t sub)
{
    for (int hop = 0; hop < MAX_ALIAS_HOPS; hop++) {
        const struct pl_sub_info *info = &s->infos.ptr[sub];
        const struct pl_op *ref = NULL;
        bool stands_alone = true;
        for (uint32_t i = 0; i < info->n_ops; i++) {
            const struct pl_op *op = &s->ops.ptr[info->ops + i];
            if (op->code == PL_OP_REF && !ref)
                ref = op;
            else if (op->code != PL_OP_ANNOTATE)
                stands_alone = false;
        }
        if (!ref || !stands_alone ||
            (s->needs_scope && s->subs.ptr[sub].resource != s->subs.ptr[ref->a].resource))
            break;
        sub = ref->a;
    }
    return sub;
}

/* The kinds that `type`, `const` and `enum` allow. */
static void fold_types(struct pl_schema *s, uint32_t sub)
{
    const struct pl_sub_info *info = &s->infos.ptr[sub];
    uint8_t *types = &s->subs.ptr[sub].types;
    for (uint32_t i = 0; i < info->n_ops; i++) {
        const struct pl_op *op = &s->ops.ptr[info->ops + i];
        uint8_t kinds = PL_SCHEMA_ALL_TYPES, integer = 0;
        if (op->code == PL_OP_TYPE) {
            kinds = op->a & PL_SCHEMA_ALL_TYPES;
            integer = op->a & PL_SCHEMA_INTEGER;
        } else if (op->code == PL_OP_CONST || op->code == PL_OP_ENUM) {
            const struct pl_json_node *end, *value = values_of(op, &end);
            for (kinds = 0; value != end; value = pl_json_next(value))
                kinds |= (uint8_t)(1 << pl_json_kind(value));
        }
        *types = (uint8_t)((*types & kinds) | ((*types | integer) & PL_SCHEMA_INTEGER));
    }
}

/* The strings of a const or enum as a set. */
static enum pl_status build_set(struct pl_compiler *c, uint32_t doc, const struct pl_op *op,
                                uint32_t *ret_set)
{
    const struct pl_json_node *end, *value = values_of(op, &end);
    PL_CLEANUP_FREE struct pl_str *texts = pl_mem_alloc((size_t)op->b + 1, sizeof *texts);
    uint32_t n = 0;
    if (!texts)
        return pl_compile_nomem(c);
    for (; value != end; value = pl_json_next(value))
        if (pl_json_kind(value) == PL_JSON_STRING)
            TRY(pl_compile_text(c, doc, value, &texts[n++]));
    return pl_set_build(c->schema, texts, n, ret_set) == PL_OK ? PL_OK : pl_compile_nomem(c);
}

/* The shape that follows from the keywords alone; fuse.c adds those that follow from the fast
 * ops. */
static enum pl_status find_shape(struct pl_compiler *c, uint32_t sub)
{
    struct pl_schema *s = c->schema;
    const struct pl_sub_info *info = &s->infos.ptr[sub];
    const uint8_t literals = pl_class_types[PL_LITERAL];
    const struct pl_op *values = NULL;
    uint32_t n_values = 0;
    s->subs.ptr[sub].test = (struct pl_test){.sub = sub, .types = s->subs.ptr[sub].types};
    for (uint32_t i = 0; i < info->n_ops; i++) {
        const struct pl_op *op = &s->ops.ptr[info->ops + i];
        if (op->code == PL_OP_CONST || op->code == PL_OP_ENUM) {
            values = op;
            n_values++;
        } else if (op->code != PL_OP_ANNOTATE && op->code != PL_OP_TYPE) {
            return PL_OK;
        }
    }
    uint8_t types = s->subs.ptr[sub].types;
    struct pl_test *test = &s->subs.ptr[sub].test;
    if (!values)
        test->shape = types & PL_SCHEMA_INTEGER ? PL_SHAPE_INTEGER : PL_SHAPE_TYPE;
    else if (!(types & PL_SCHEMA_ALL_TYPES & ~literals))
        test->shape = PL_SHAPE_TYPE;
    if (values && n_values == 1 && types == 1 << PL_JSON_STRING) {
        uint32_t set;
        TRY(build_set(c, info->doc, values, &set));
        test->shape = PL_SHAPE_SET;
        test->to.index = set;
    }
    return PL_OK;
}

/* ---- members ---- */

struct entry {
    uint32_t name;
    uint32_t prop; /* its prop, or none */
    bool is_required;
    uint8_t bit;
};

struct entries {
    PL_VEC(struct entry) list;
    struct pl_map by_name; /* name -> index + 1 */
};

static void entries_deinit(struct entries *e)
{
    pl_vec_deinit(&e->list);
    pl_map_deinit(&e->by_name);
}

static struct entry *add_entry(struct pl_schema *s, struct entries *e, uint32_t name)
{
    bool is_new;
    struct pl_map_entry *at = pl_map_put(&e->by_name, s->names.ptr[name].text, &is_new);
    if (!at)
        return NULL;
    if (is_new) {
        if (!pl_vec_push(&e->list, (struct entry){name, PL_SCHEMA_NONE, false, 0}))
            return NULL;
        at->value = e->list.len;
    }
    return &e->list.ptr[at->value - 1];
}

static void fill_slot(const struct pl_schema *s, const struct pl_object *object,
                      const struct entry *entry, struct pl_slot *slot)
{
    const struct pl_name *name = &s->names.ptr[entry->name];
    uint32_t sub = entry->prop == PL_SCHEMA_NONE
                       ? object->other
                       : pl_optimise_alias(s, s->props.ptr[entry->prop].sub);
    *slot = (struct pl_slot){
        .name = pl_spelling_of(name->text, name->hash << 8 | PL_JSON_KEY | PL_JSON_STRING),
        .test = {.sub = sub,
                 .types = PL_SCHEMA_ALL_TYPES,
                 .passes = PL_SCHEMA_ALL_TYPES,
                 .shape = PL_SHAPE_TYPE},
        .required = (uint64_t)entry->is_required << entry->bit,
        .prop = entry->prop};
}

static const struct pl_slot free_slot = {.test.sub = PL_SCHEMA_NONE, .prop = PL_SCHEMA_NONE};

/* Appends an object with a slot for each entry. */
static enum pl_status add_object(struct pl_compiler *c, struct pl_object *object,
                                 const struct entries *e)
{
    struct pl_schema *s = c->schema;
    uint32_t n = (uint32_t)e->list.len;
    PL_CLEANUP_FREE uint32_t *hashes = pl_mem_alloc((size_t)n + 1, 2 * sizeof *hashes);
    if (!hashes)
        return pl_compile_nomem(c);
    uint32_t *slot_of = hashes + n;
    for (uint32_t i = 0; i < n; i++)
        hashes[i] = s->names.ptr[e->list.ptr[i].name].hash;
    if (pl_schema_table_plan(hashes, n, n + 1, &object->table, slot_of) != PL_OK)
        return pl_compile_nomem(c);
    object->table.first = (uint32_t)s->slots.len;
    for (uint32_t i = 0; i <= object->table.mask; i++)
        if (!pl_vec_push(&s->slots, free_slot))
            return pl_compile_nomem(c);
    for (uint32_t i = 0; i < n; i++)
        fill_slot(s, object, &e->list.ptr[i], &s->slots.ptr[object->table.first + slot_of[i]]);
    return pl_vec_push(&s->objects, *object) ? PL_OK : pl_compile_nomem(c);
}

/* Assigns bits to up to 64 required names, starting at `from`. */
static enum pl_status require(struct pl_compiler *c, struct entries *e, struct pl_object *object,
                              const struct pl_op *required, uint32_t from)
{
    uint8_t n_bits = 0;
    for (uint32_t i = from; i < required->b && i < from + REQUIRED_BITS; i++) {
        struct entry *entry = add_entry(c->schema, e, required->a + i);
        if (!entry)
            return pl_compile_nomem(c);
        if (!entry->is_required)
            entry->bit = n_bits++;
        entry->is_required = true;
        object->required |= (uint64_t)1 << entry->bit;
    }
    if (object->least < n_bits)
        object->least = n_bits;
    return PL_OK;
}

static uint32_t alias_of(const struct pl_schema *s, const struct pl_op *op)
{
    return op ? pl_optimise_alias(s, op->a) : PL_SCHEMA_NONE;
}

/* All keywords about members as one op; more than 64 required names need further passes. */
static enum pl_status push_object(struct pl_compiler *c, uint32_t sub, struct entries *e)
{
    struct pl_schema *s = c->schema;
    const struct pl_op *props = pl_compile_find_op(s, sub, PL_OP_PROPERTIES);
    const struct pl_op *patterns = pl_compile_find_op(s, sub, PL_OP_PATTERN_MEMBERS);
    const struct pl_op *required = pl_compile_find_op(s, sub, PL_OP_REQUIRED);
    const struct pl_op *least = pl_compile_find_op(s, sub, PL_OP_MIN_MEMBERS);
    const struct pl_op *most = pl_compile_find_op(s, sub, PL_OP_MAX_MEMBERS);
    struct pl_object object = {.least = least ? least->a : 0,
                               .most = most ? most->a : UINT32_MAX,
                               .other =
                                   alias_of(s, pl_compile_find_op(s, sub, PL_OP_OTHER_MEMBERS)),
                               .names = alias_of(s, pl_compile_find_op(s, sub, PL_OP_MEMBER_NAMES)),
                               .patterns = patterns ? patterns->a : 0,
                               .n_patterns = patterns ? patterns->b : 0};
    for (uint32_t i = 0; props && i < props->b; i++) {
        struct entry *entry = add_entry(s, e, s->props.ptr[props->a + i].name);
        if (!entry)
            return pl_compile_nomem(c);
        entry->prop = props->a + i;
    }
    if (required)
        TRY(require(c, e, &object, required, 0));
    bool is_full = object.names != PL_SCHEMA_NONE || object.n_patterns;
    s->infos.ptr[sub].object = (uint32_t)s->objects.len;
    TRY(add_object(c, &object, e));
    return push(c, is_full ? PL_FAST_OBJECT_FULL : PL_FAST_OBJECT, (uint32_t)s->objects.len - 1, 0,
                0);
}

static enum pl_status push_members(struct pl_compiler *c, uint32_t sub)
{
    static const uint8_t codes[] = {PL_OP_PROPERTIES,   PL_OP_PATTERN_MEMBERS, PL_OP_OTHER_MEMBERS,
                                    PL_OP_MEMBER_NAMES, PL_OP_REQUIRED,        PL_OP_MIN_MEMBERS,
                                    PL_OP_MAX_MEMBERS};
    bool has_any = false;
    for (size_t i = 0; i < sizeof codes; i++)
        has_any |= pl_compile_find_op(c->schema, sub, codes[i]) != NULL;
    if (!has_any)
        return PL_OK;
    struct entries e = {0};
    enum pl_status status = push_object(c, sub, &e);
    entries_deinit(&e);
    const struct pl_op *required = pl_compile_find_op(c->schema, sub, PL_OP_REQUIRED);
    for (uint32_t i = REQUIRED_BITS; status == PL_OK && required && i < required->b;
         i += REQUIRED_BITS) {
        struct pl_object more = {
            .most = UINT32_MAX, .other = PL_SCHEMA_NONE, .names = PL_SCHEMA_NONE};
        struct entries names = {0};
        status = require(c, &names, &more, required, i);
        if (status == PL_OK)
            status = add_object(c, &more, &names);
        entries_deinit(&names);
        if (status == PL_OK)
            status = push(c, PL_FAST_OBJECT, (uint32_t)c->schema->objects.len - 1, 0, 0);
    }
    return status;
}

/* ---- other classes ---- */

static enum pl_status push_dependencies(struct pl_compiler *c, uint32_t sub)
{
    const struct pl_sub_info *info = &c->schema->infos.ptr[sub];
    for (uint32_t i = 0; i < info->n_ops; i++) {
        const struct pl_op op = c->schema->ops.ptr[info->ops + i];
        for (uint32_t d = 0; op.code == PL_OP_DEPENDENCIES && d < op.b; d++)
            TRY(push(c, PL_FAST_DEPENDENCY, op.a + d, 0, 0));
    }
    return PL_OK;
}

/* Appends the aliases of a list of subs; *ret_first is the first of them. */
static enum pl_status alias_list(struct pl_compiler *c, const struct pl_op *op, uint32_t *ret_first)
{
    struct pl_schema *s = c->schema;
    uint32_t from = op->a, n = op->b;
    *ret_first = (uint32_t)s->lists.len;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t sub = pl_optimise_alias(s, s->lists.ptr[from + i]);
        if (!pl_vec_push(&s->lists, sub))
            return pl_compile_nomem(c);
    }
    return PL_OK;
}

static enum pl_status push_items(struct pl_compiler *c, uint32_t sub)
{
    const struct pl_schema *s = c->schema;
    const struct pl_op *least = pl_compile_find_op(s, sub, PL_OP_MIN_ITEMS);
    const struct pl_op *most = pl_compile_find_op(s, sub, PL_OP_MAX_ITEMS);
    const struct pl_op *prefix = pl_compile_find_op(s, sub, PL_OP_PREFIX_ITEMS);
    const struct pl_op *items = pl_compile_find_op(s, sub, PL_OP_ITEMS);
    const struct pl_op *contains = pl_compile_find_op(s, sub, PL_OP_CONTAINS);
    uint32_t first = 0;
    if (least || most)
        TRY(push(c, PL_FAST_COUNT, least ? least->a : 0, most ? most->a : UINT32_MAX, 0));
    if (prefix)
        TRY(alias_list(c, prefix, &first));
    if (prefix || items)
        TRY(push(c, PL_FAST_ARRAY, first, prefix ? prefix->b : 0, alias_of(s, items)));
    if (contains)
        TRY(push(c, PL_OP_CONTAINS, alias_of(s, contains), contains->b, contains->c));
    if (pl_compile_find_op(s, sub, PL_OP_UNIQUE))
        TRY(push(c, PL_OP_UNIQUE, 0, 0, 0));
    return PL_OK;
}

/* const and enum: strings become a set, other values are compared one by one. Literals are already
 * decided by their kind. */
static enum pl_status push_values(struct pl_compiler *c, uint32_t sub, enum pl_class class)
{
    struct pl_schema *s = c->schema;
    const struct pl_sub_info info = s->infos.ptr[sub];
    for (uint32_t i = 0; class != PL_LITERAL && i < info.n_ops; i++) {
        const struct pl_op *op = &s->ops.ptr[info.ops + i];
        if (op->code != PL_OP_CONST && op->code != PL_OP_ENUM)
            continue;
        if (class == PL_TEXT) {
            const struct pl_test *test = &s->subs.ptr[sub].test;
            uint32_t set = (uint32_t)test->to.index;
            if (test->shape != PL_SHAPE_SET)
                TRY(build_set(c, info.doc, op, &set));
            TRY(push(c, PL_FAST_SET, set, 0, 0));
            continue;
        }
        uint32_t first = (uint32_t)s->values.len;
        const struct pl_json_node *end, *value = values_of(op, &end);
        for (; value != end; value = pl_json_next(value))
            if (pl_class_of(value) == class &&
                !pl_vec_push(&s->values, (struct pl_value){info.doc, value}))
                return pl_compile_nomem(c);
        TRY(push(c, PL_FAST_VALUES, first, (uint32_t)s->values.len - first, 0));
    }
    return PL_OK;
}

/* Leaf assertions that are the same in both forms. */
static enum pl_status push_leaves(struct pl_compiler *c, uint32_t sub, uint8_t first, uint8_t last)
{
    const struct pl_sub_info info = c->schema->infos.ptr[sub];
    for (uint32_t i = 0; i < info.n_ops; i++) {
        const struct pl_op op = c->schema->ops.ptr[info.ops + i];
        if (op.code >= first && op.code <= last)
            TRY(push(c, op.code, op.a, op.b, op.c));
    }
    return PL_OK;
}

static enum pl_status push_text(struct pl_compiler *c, uint32_t sub)
{
    const struct pl_op *least = pl_compile_find_op(c->schema, sub, PL_OP_MIN_LENGTH);
    const struct pl_op *most = pl_compile_find_op(c->schema, sub, PL_OP_MAX_LENGTH);
    if (least || most)
        TRY(push(c, PL_FAST_LENGTH, least ? least->a : 0, most ? most->a : UINT32_MAX, 0));
    return push_leaves(c, sub, PL_OP_PATTERN, PL_OP_FORMAT);
}

static enum pl_status push_own(struct pl_compiler *c, uint32_t sub, enum pl_class class)
{
    TRY(push_values(c, sub, class));
    if (class == PL_NUMERIC && (c->schema->subs.ptr[sub].types & PL_SCHEMA_INTEGER))
        TRY(push(c, PL_OP_TYPE, c->schema->subs.ptr[sub].types, 0, 0));
    if (class == PL_NUMERIC)
        return push_leaves(c, sub, PL_OP_MINIMUM, PL_OP_MULTIPLE);
    if (class == PL_TEXT)
        return push_text(c, sub);
    if (class == PL_LIST)
        return push_items(c, sub);
    if (class == PL_RECORD) {
        TRY(push_members(c, sub));
        return push_dependencies(c, sub);
    }
    return PL_OK;
}

/* Skips a reference to a subschema that accepts every instance of the class. */
static enum pl_status push_ref(struct pl_compiler *c, uint32_t sub, enum pl_class class)
{
    sub = pl_optimise_alias(c->schema, sub);
    const struct pl_sub *target = &c->schema->subs.ptr[sub];
    if (target->test.shape == PL_SHAPE_TYPE &&
        (target->types & pl_class_types[class]) == pl_class_types[class])
        return PL_OK;
    return push(c, PL_OP_REF, sub, 0, 0);
}

/* allOf is its branches one after another; the rungs of a ladder become one op. */
static enum pl_status push_all_of(struct pl_compiler *c, const struct pl_op *op,
                                  enum pl_class class)
{
    const struct pl_schema *s = c->schema;
    const struct pl_switch *ladder =
        op->c == PL_SCHEMA_NONE || class != PL_RECORD ? NULL : &s->switches.ptr[op->c];
    for (uint32_t i = 0; i < op->b; i++) {
        bool is_rung = false;
        for (uint32_t r = 0; ladder && r < ladder->n_rungs; r++)
            is_rung |= s->lists.ptr[ladder->rungs + PL_RUNG_SIZE * r + PL_RUNG_BRANCH] == i;
        if (!is_rung)
            TRY(push_ref(c, s->lists.ptr[op->a + i], class));
    }
    return ladder ? push(c, PL_FAST_LADDER, op->c, 0, 0) : PL_OK;
}

static uint32_t alias_or_none(const struct pl_schema *s, uint32_t sub)
{
    return sub == PL_SCHEMA_NONE ? sub : pl_optimise_alias(s, sub);
}

/* The only name that a subschema requires, if that is its only keyword; or none. */
static uint32_t only_required(const struct pl_schema *s, uint32_t sub)
{
    const struct pl_sub_info *info = &s->infos.ptr[sub];
    uint32_t name = PL_SCHEMA_NONE;
    for (uint32_t i = 0; i < info->n_ops; i++) {
        const struct pl_op *op = &s->ops.ptr[info->ops + i];
        if (op->code == PL_OP_ANNOTATE)
            continue;
        if (op->code != PL_OP_REQUIRED || op->b != 1 || name != PL_SCHEMA_NONE)
            return PL_SCHEMA_NONE;
        name = op->a;
    }
    return name;
}

static enum pl_status push_not(struct pl_compiler *c, uint32_t sub, enum pl_class class)
{
    sub = pl_optimise_alias(c->schema, sub);
    uint32_t name = class == PL_RECORD ? only_required(c->schema, sub) : PL_SCHEMA_NONE;
    if (name != PL_SCHEMA_NONE)
        return push(c, PL_FAST_ABSENT, name, 0, 0);
    return push(c, PL_OP_NOT, sub, 0, 0);
}

/* The keywords that apply subschemas to the instance itself. */
static enum pl_status push_in_place(struct pl_compiler *c, const struct pl_op *op,
                                    enum pl_class class)
{
    const struct pl_schema *s = c->schema;
    uint32_t first;
    switch (op->code) {
    case PL_OP_REF:
        return push_ref(c, op->a, class);
    case PL_OP_DYNAMIC_REF:
        if (op->b == PL_SCHEMA_NONE)
            return push_ref(c, op->a, class);
        return push(c, op->code, pl_optimise_alias(s, op->a), op->b, 0);
    case PL_OP_ALL_OF:
        return push_all_of(c, op, class);
    case PL_OP_ANY_OF:
    case PL_OP_ONE_OF:
        TRY(alias_list(c, op, &first));
        if (op->c != PL_SCHEMA_NONE)
            return push(c, PL_FAST_SWITCH, op->c, first, op->b);
        return push(c, op->code, first, op->b, 0);
    case PL_OP_NOT:
        return push_not(c, op->a, class);
    case PL_OP_IF:
        return push(c, op->code, pl_optimise_alias(s, op->a), alias_or_none(s, op->b),
                    alias_or_none(s, op->c));
    default:
        return PL_OK;
    }
}

/* The ops for one class of instances. */
static enum pl_status build_class(struct pl_compiler *c, uint32_t sub, enum pl_class class)
{
    const struct pl_sub_info info = c->schema->infos.ptr[sub];
    TRY(push_own(c, sub, class));
    for (uint32_t i = 0; i < info.n_ops; i++) {
        const struct pl_op op = c->schema->ops.ptr[info.ops + i];
        TRY(push_in_place(c, &op, class));
    }
    uint8_t left = class == PL_LIST ? PL_OP_LEFT_ITEMS : PL_OP_LEFT_MEMBERS;
    const struct pl_op *op = pl_compile_find_op(c->schema, sub, left);
    if (op && (class == PL_LIST || class == PL_RECORD))
        TRY(push(c, left, alias_of(c->schema, op), 0, 0));
    return PL_OK;
}

static enum pl_status build_fast(struct pl_compiler *c, uint32_t sub)
{
    struct pl_schema *s = c->schema;
    for (int class = 0; class < PL_CLASS_COUNT; class ++) {
        s->subs.ptr[sub].fast[class] = (uint32_t)s->fast.len;
        /* Explaining needs the member table even if the fast program never reaches it. */
        uint32_t mark = (uint32_t)s->fast.len;
        bool is_possible = s->subs.ptr[sub].types & pl_class_types[class];
        if (is_possible)
            TRY(build_class(c, sub, (enum pl_class) class));
        else if (class == PL_RECORD)
            TRY(push_members(c, sub));
        if (!is_possible)
            s->fast.len = mark;
    }
    s->subs.ptr[sub].fast[PL_CLASS_COUNT] = (uint32_t)s->fast.len;
    return PL_OK;
}

enum pl_status pl_optimise(struct pl_compiler *c)
{
    struct pl_schema *s = c->schema;
    for (uint32_t i = 0; i < s->subs.len; i++) {
        fold_types(s, i);
        TRY(find_shape(c, i));
        if (pl_compile_find_op(s, i, PL_OP_LEFT_MEMBERS) ||
            pl_compile_find_op(s, i, PL_OP_LEFT_ITEMS))
            s->subs.ptr[i].flags |= PL_SUB_TRACKS;
        if (s->needs_scope)
            s->subs.ptr[i].flags |= PL_SUB_ENTERS;
        s->needs_bits |= s->subs.ptr[i].flags & PL_SUB_TRACKS;
    }
    for (uint32_t i = 0; i < s->subs.len; i++)
        TRY(pl_discriminate(c, i));
    for (uint32_t i = 0; i < s->subs.len; i++)
        TRY(build_fast(c, i));
    return pl_fuse(c);
}
