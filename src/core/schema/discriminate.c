/* Finds a discriminator: a member that selects the branch.
 *
 * oneOf and anyOf: if every branch is an object that requires the member K with one of a few
 * strings, and no two branches allow the same string, then only the branch that allows the
 * instance's K can hold. Looking up K and running that branch gives the same answer as trying all.
 *
 * allOf of if/then/else: if every condition is "K is one of these strings", and no string is in two
 * conditions, then at most one condition holds for an object that has K. (Without K all conditions
 * hold unless they require it: the general code handles that case.) */
#include "schema/compile_int.h"
#include "schema/lookup.h"

#define MAX_NAMES 16 /* tried for a oneOf; each one examines every branch */

/* The discriminator values, each with the number of its branch. */
struct texts {
    PL_VEC(struct pl_str) list;
    PL_VEC(uint32_t) branches; /* branch of each text */
    uint32_t n_literals[PL_JSON_TRUE + 1];
    uint32_t literal[PL_JSON_TRUE + 1]; /* branch by kind, if n_literals is not 0 */
};

static void texts_deinit(struct texts *t)
{
    pl_vec_deinit(&t->list);
    pl_vec_deinit(&t->branches);
}

/* Whether a subschema only allows a few strings, or some of null, false and true. */
static bool is_choice(const struct pl_sub *sub)
{
    const uint8_t literals = 1 << PL_JSON_NULL | 1 << PL_JSON_FALSE | 1 << PL_JSON_TRUE;
    return sub->test.shape == PL_SHAPE_SET ||
           (sub->test.shape == PL_SHAPE_TYPE && sub->types && !(sub->types & ~literals));
}

/* The subschema of property `name` if it is a choice; or none. */
static uint32_t choice_property(const struct pl_schema *s, uint32_t sub, const struct pl_name *name)
{
    const struct pl_op *props = pl_compile_find_op(s, sub, PL_OP_PROPERTIES);
    for (uint32_t i = 0; props && i < props->b; i++) {
        const struct pl_prop *prop = &s->props.ptr[props->a + i];
        if (s->names.ptr[prop->name].hash != name->hash ||
            !pl_str_eq(s->names.ptr[prop->name].text, name->text))
            continue;
        uint32_t target = pl_optimise_alias(s, prop->sub);
        return is_choice(&s->subs.ptr[target]) ? target : PL_SCHEMA_NONE;
    }
    return PL_SCHEMA_NONE;
}

static bool requires(const struct pl_schema *s, uint32_t sub, const struct pl_name *name)
{
    const struct pl_op *required = pl_compile_find_op(s, sub, PL_OP_REQUIRED);
    for (uint32_t i = 0; required && i < required->b; i++)
        if (pl_str_eq(s->names.ptr[required->a + i].text, name->text))
            return true;
    return false;
}

/* Adds the values of a choice for `branch`. */
static enum pl_status add_texts(struct pl_compiler *c, uint32_t sub, uint32_t branch,
                                struct texts *t)
{
    const struct pl_schema *s = c->schema;
    for (int kind = 0; kind <= PL_JSON_TRUE; kind++)
        if (s->subs.ptr[sub].types >> kind & 1) {
            t->n_literals[kind]++;
            t->literal[kind] = branch;
        }
    if (s->subs.ptr[sub].test.shape != PL_SHAPE_SET)
        return PL_OK;
    const struct pl_set *set = &s->sets.ptr[s->subs.ptr[sub].test.to.index];
    for (uint32_t i = 0; i <= set->table.mask; i++) {
        const struct pl_spelling *name = &s->set_slots.ptr[set->table.first + i].name;
        struct pl_str text = pl_spelling_text(name);
        if (name->text && (!pl_vec_push(&t->list, text) || !pl_vec_push(&t->branches, branch)))
            return pl_compile_nomem(c);
    }
    return PL_OK;
}

/* Whether any value occurs twice. */
static enum pl_status has_repeated(struct pl_compiler *c, const struct texts *t, bool *ret_answer)
{
    struct pl_map seen = {0};
    bool is_new = true;
    enum pl_status status = PL_OK;
    for (int kind = 0; kind <= PL_JSON_TRUE; kind++)
        is_new &= t->n_literals[kind] < 2;
    for (size_t i = 0; i < t->list.len && is_new && status == PL_OK; i++)
        if (!pl_map_put(&seen, t->list.ptr[i], &is_new))
            status = pl_compile_nomem(c);
    pl_map_deinit(&seen);
    *ret_answer = !is_new;
    return status;
}

/* Appends a switch on `name` over the texts. */
static enum pl_status add_switch(struct pl_compiler *c, uint32_t name, const struct texts *t,
                                 struct pl_switch *sw)
{
    struct pl_schema *s = c->schema;
    sw->name = name;
    for (int kind = 0; kind <= PL_JSON_TRUE; kind++)
        sw->literal[kind] = t->n_literals[kind] ? t->literal[kind] : PL_SCHEMA_NONE;
    if (pl_set_build(s, t->list.ptr, (uint32_t)t->list.len, &sw->set) != PL_OK)
        return pl_compile_nomem(c);
    sw->branches = (uint32_t)s->lists.len;
    for (size_t i = 0; i < t->branches.len; i++)
        if (!pl_vec_push(&s->lists, t->branches.ptr[i]))
            return pl_compile_nomem(c);
    return pl_vec_push(&s->switches, *sw) ? PL_OK : pl_compile_nomem(c);
}

/* Tries one name for a oneOf or anyOf; *ret_is_done if it is a discriminator. */
static enum pl_status try_name(struct pl_compiler *c, struct pl_op *op, uint32_t name,
                               struct texts *t, bool *ret_is_done)
{
    const struct pl_schema *s = c->schema;
    const struct pl_name *text = &s->names.ptr[name];
    bool is_repeated;
    for (uint32_t i = 0; i < op->b; i++) {
        uint32_t branch = pl_optimise_alias(s, s->lists.ptr[op->a + i]);
        uint32_t values = choice_property(s, branch, text);
        if (s->subs.ptr[branch].types != 1 << PL_JSON_OBJECT || values == PL_SCHEMA_NONE ||
            !requires(s, branch, text))
            return PL_OK;
        TRY(add_texts(c, values, i, t));
    }
    TRY(has_repeated(c, t, &is_repeated));
    if (is_repeated)
        return PL_OK;
    struct pl_switch sw = {0};
    TRY(add_switch(c, name, t, &sw));
    op->c = (uint32_t)s->switches.len - 1;
    *ret_is_done = true;
    return PL_OK;
}

static enum pl_status find_switch(struct pl_compiler *c, struct pl_op *op)
{
    const struct pl_schema *s = c->schema;
    uint32_t first = pl_optimise_alias(s, s->lists.ptr[op->a]);
    const struct pl_op *required = pl_compile_find_op(s, first, PL_OP_REQUIRED);
    bool is_done = op->b < 2;
    for (uint32_t i = 0; !is_done && required && i < required->b && i < MAX_NAMES; i++) {
        struct texts t = {0};
        enum pl_status status = try_name(c, op, required->a + i, &t, &is_done);
        texts_deinit(&t);
        TRY(status);
    }
    return PL_OK;
}

/* The only op of a subschema apart from annotations, if it is an `if`. */
static const struct pl_op *only_if(const struct pl_schema *s, uint32_t sub)
{
    const struct pl_sub_info *info = &s->infos.ptr[sub];
    const struct pl_op *found = NULL;
    for (uint32_t i = 0; i < info->n_ops; i++) {
        const struct pl_op *op = &s->ops.ptr[info->ops + i];
        if (op->code == PL_OP_ANNOTATE)
            continue;
        if (found || op->code != PL_OP_IF)
            return NULL;
        found = op;
    }
    return found;
}

/* The name that a condition tests, if it tests nothing else; or none. */
static uint32_t condition_name(const struct pl_schema *s, uint32_t sub)
{
    const struct pl_sub_info *info = &s->infos.ptr[sub];
    const struct pl_op *props = pl_compile_find_op(s, sub, PL_OP_PROPERTIES);
    if (!props || props->b != 1)
        return PL_SCHEMA_NONE;
    uint32_t name = s->props.ptr[props->a].name;
    for (uint32_t i = 0; i < info->n_ops; i++) {
        const struct pl_op *op = &s->ops.ptr[info->ops + i];
        bool is_type = op->code == PL_OP_TYPE && op->a == 1 << PL_JSON_OBJECT;
        bool is_same = op->code == PL_OP_REQUIRED && op->b == 1 &&
                       pl_str_eq(s->names.ptr[op->a].text, s->names.ptr[name].text);
        if (op != props && op->code != PL_OP_ANNOTATE && !is_type && !is_same)
            return PL_SCHEMA_NONE;
    }
    return name;
}

/* Appends branch i of an allOf as a rung if its condition tests `name` (or any name, while *name is
 * none). */
static enum pl_status add_rung(struct pl_compiler *c, const struct pl_op *op, uint32_t i,
                               uint32_t *name, struct texts *t, struct pl_switch *sw)
{
    struct pl_schema *s = c->schema;
    const struct pl_op *branch = only_if(s, pl_optimise_alias(s, s->lists.ptr[op->a + i]));
    uint32_t condition = branch ? pl_optimise_alias(s, branch->a) : PL_SCHEMA_NONE;
    uint32_t asks = branch ? condition_name(s, condition) : PL_SCHEMA_NONE;
    if (asks == PL_SCHEMA_NONE)
        return PL_OK;
    if (*name == PL_SCHEMA_NONE)
        *name = asks;
    uint32_t values = choice_property(s, condition, &s->names.ptr[*name]);
    if (values == PL_SCHEMA_NONE)
        return PL_OK;
    TRY(add_texts(c, values, sw->n_rungs, t));
    uint32_t rung[PL_RUNG_SIZE] = {
        condition,
        branch->b == PL_SCHEMA_NONE ? branch->b : pl_optimise_alias(s, branch->b),
        branch->c == PL_SCHEMA_NONE ? branch->c : pl_optimise_alias(s, branch->c),
        i,
        PL_SCHEMA_NONE,
        0};
    for (int w = 0; w < PL_RUNG_SIZE; w++)
        if (!pl_vec_push(&s->lists, rung[w]))
            return pl_compile_nomem(c);
    sw->has_else |= branch->c != PL_SCHEMA_NONE;
    sw->n_rungs++;
    return PL_OK;
}

static enum pl_status find_ladder(struct pl_compiler *c, struct pl_op *op, struct texts *t)
{
    struct pl_switch sw = {.rungs = (uint32_t)c->schema->lists.len};
    uint32_t name = PL_SCHEMA_NONE;
    bool is_repeated;
    for (uint32_t i = 0; i < op->b; i++)
        TRY(add_rung(c, op, i, &name, t, &sw));
    TRY(has_repeated(c, t, &is_repeated));
    if (sw.n_rungs < 2 || is_repeated)
        return PL_OK;
    TRY(add_switch(c, name, t, &sw));
    op->c = (uint32_t)c->schema->switches.len - 1;
    return PL_OK;
}

enum pl_status pl_discriminate(struct pl_compiler *c, uint32_t sub)
{
    const struct pl_sub_info *info = &c->schema->infos.ptr[sub];
    for (uint32_t i = 0; i < info->n_ops; i++) {
        struct pl_op *op = &c->schema->ops.ptr[info->ops + i];
        if (op->code == PL_OP_ANY_OF || op->code == PL_OP_ONE_OF)
            TRY(find_switch(c, op));
        if (op->code == PL_OP_ALL_OF && op->b > 1) {
            struct texts t = {0};
            enum pl_status status = find_ladder(c, op, &t);
            texts_deinit(&t);
            TRY(status);
        }
    }
    return PL_OK;
}
