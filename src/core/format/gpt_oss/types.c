/* gpt-oss: a JSON Schema as the TypeScript that openai/harmony makes of it.
 *
 *     {
 *     // Where
 *     city: string,
 *     unit?: "c" | "f", // default: c
 *     }
 *
 * Comments, spaces and line ends are harmony's, even where they look odd: a nested object is
 * described twice, and only the first line of a description has the marks of a comment. Where
 * harmony has nothing but `any` (anyOf, const, a list of values without a type, properties without
 * one) the type is written as TypeScript has it.
 *
 * An explicit stack walks the schema: the top entry is written next. */
#include "format/gpt_oss/gpt_oss_int.h"

#include "base/vec.h"
#include "json/write.h"

enum work_kind { WRITE, TYPE, FIELD, VARIANT, NULLABLE, DEFAULT, REMARK, CLOSE };

struct work {
    enum work_kind kind;
    bool is_first;                     /* VARIANT */
    unsigned indent;                   /* spaces */
    size_t from;                       /* NULLABLE: start of the type */
    const char *words;                 /* WRITE */
    const struct pl_json_node *node;   /* a schema; FIELD: the key of a property */
    const struct pl_json_node *object; /* FIELD, VARIANT: the enclosing schema; NULL: none */
};

struct script {
    struct pl_conv *conv;
    struct pl_buf *to;
    PL_VEC(struct work) stack;
};

static void push(struct script *s, struct work work)
{
    if (!pl_vec_push(&s->stack, work))
        s->conv->status = PL_NOMEM;
}

static void push_words(struct script *s, const char *words)
{
    push(s, (struct work){.kind = WRITE, .words = words});
}

/* Reverses the entries pushed since `from`, so that they are processed in order. */
static void turn_round(struct script *s, size_t from)
{
    for (size_t to = s->stack.len; from + 1 < to; from++, to--) {
        struct work swap = s->stack.ptr[from];
        s->stack.ptr[from] = s->stack.ptr[to - 1];
        s->stack.ptr[to - 1] = swap;
    }
}

static void put_indent(struct script *s, unsigned n)
{
    while (n--)
        pl_buf_addc(s->to, ' ');
}

/* ---- looking at a schema ---- */

static const struct pl_json_node *string_in(struct script *s, const struct pl_json_node *schema,
                                            const char *key)
{
    return pl_json_member(s->conv->doc, schema, key, PL_JSON_STRING);
}

static const struct pl_json_node *list_in(struct script *s, const struct pl_json_node *schema,
                                          const char *key)
{
    return pl_json_member(s->conv->doc, schema, key, PL_JSON_ARRAY);
}

static const struct pl_json_node *values_in(struct script *s, const struct pl_json_node *schema)
{
    const struct pl_json_node *n = list_in(s, schema, "enum");
    return n && pl_json_count(n) ? n : NULL;
}

static bool is_nullable(struct script *s, const struct pl_json_node *schema)
{
    const struct pl_json_node *n = pl_json_get(s->conv->doc, schema, PL_STR("nullable"));
    return n && pl_json_kind(n) == PL_JSON_TRUE;
}

static bool is_required(struct script *s, const struct pl_json_node *object,
                        const struct pl_json_node *key)
{
    const struct pl_json_node *required = list_in(s, object, "required");
    if (!required)
        return false;
    for (const struct pl_json_node *n = pl_json_first(required); n < pl_json_end(required);
         n = pl_json_next(n))
        if (pl_json_kind(n) == PL_JSON_STRING &&
            pl_json_text_same(s->conv->doc, n, s->conv->doc, key))
            return true;
    return false;
}

/* ---- comments ---- */

static void put_text(struct script *s, const struct pl_json_node *string)
{
    pl_buf_add(s->to, pl_conv_text(s->conv, pl_val_node(string)));
}

static void put_comment(struct script *s, unsigned indent, const struct pl_json_node *string)
{
    if (!string)
        return;
    put_indent(s, indent);
    pl_buf_adds(s->to, "// ");
    put_text(s, string);
    pl_buf_addc(s->to, '\n');
}

static void put_examples(struct script *s, unsigned indent, const struct pl_json_node *list)
{
    if (!list || !pl_json_count(list))
        return;
    put_indent(s, indent);
    pl_buf_adds(s->to, "// Examples:\n");
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        if (pl_json_kind(n) != PL_JSON_STRING)
            continue;
        put_indent(s, indent);
        pl_buf_adds(s->to, "// - \"");
        put_text(s, n);
        pl_buf_adds(s->to, "\"\n");
    }
}

/* "default: …": a string in quotes, except for a value of an enum. */
static void put_default(struct script *s, const struct pl_json_node *schema, bool quotes_values)
{
    const struct pl_json_node *value = pl_json_get(s->conv->doc, schema, PL_STR("default"));
    pl_buf_adds(s->to, "default: ");
    if (pl_json_kind(value) != PL_JSON_STRING) {
        pl_json_write_min(s->to, s->conv->doc, value);
        return;
    }
    const char *quote = quotes_values || !values_in(s, schema) ? "\"" : "";
    pl_buf_adds(s->to, quote);
    put_text(s, value);
    pl_buf_adds(s->to, quote);
}

static bool has_default(struct script *s, const struct pl_json_node *schema)
{
    return pl_json_get(s->conv->doc, schema, PL_STR("default"));
}

/* ---- types ---- */

/* In lower case, or in upper case as at Gemini. */
static bool is_type(const struct pl_conv *conv, const struct pl_json_node *type, const char *lower,
                    const char *upper)
{
    return pl_conv_says(conv, type, lower) || pl_conv_says(conv, type, upper);
}

static const char *plain_type(const struct pl_conv *conv, const struct pl_json_node *type)
{
    static const struct {
        const char *lower, *upper, *words;
    } types[] = {
        {"string", "STRING", "string"},   {"number", "NUMBER", "number"},
        {"integer", "INTEGER", "number"}, {"boolean", "BOOLEAN", "boolean"},
        {"null", "NULL", "null"},         {"object", "OBJECT", "object"},
        {"array", "ARRAY", "array"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_type(conv, type, types[i].lower, types[i].upper))
            return types[i].words;
    return "any";
}

/* {"type":["string","null"]} */
static void put_types(struct script *s, const struct pl_json_node *types)
{
    for (const struct pl_json_node *n = pl_json_first(types); n < pl_json_end(types);
         n = pl_json_next(n)) {
        pl_buf_adds(s->to, n != pl_json_first(types) ? " | " : "");
        pl_buf_adds(s->to, plain_type(s->conv, n));
    }
}

/* The values of an enum; only strings if the type is string. False if there are none. */
static bool put_values(struct script *s, const struct pl_json_node *values, bool wants_strings)
{
    bool has_any = false;
    for (const struct pl_json_node *n = pl_json_first(values); n < pl_json_end(values);
         n = pl_json_next(n)) {
        bool is_string = pl_json_kind(n) == PL_JSON_STRING;
        if (wants_strings && !is_string)
            continue;
        pl_buf_adds(s->to, has_any ? " | " : "");
        has_any = true;
        if (!is_string) {
            pl_json_write_min(s->to, s->conv->doc, n);
            continue;
        }
        pl_buf_addc(s->to, '"');
        put_text(s, n);
        pl_buf_addc(s->to, '"');
    }
    return has_any;
}

/* anyOf on one line. */
static void push_any(struct script *s, const struct pl_json_node *list, unsigned indent)
{
    size_t from = s->stack.len;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        if (n != pl_json_first(list))
            push_words(s, " | ");
        push(s, (struct work){.kind = TYPE, .node = n, .indent = indent});
    }
    turn_round(s, from);
}

/* oneOf, one alternative per line; `property` is the schema of its field. */
static void push_variants(struct script *s, const struct pl_json_node *list,
                          const struct pl_json_node *property, unsigned indent)
{
    size_t from = s->stack.len;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        push(s, (struct work){.kind = VARIANT,
                              .node = n,
                              .object = property,
                              .indent = indent,
                              .is_first = n == pl_json_first(list)});
    turn_round(s, from);
}

static void push_object(struct script *s, const struct pl_json_node *schema, unsigned indent)
{
    const struct pl_json_node *properties = pl_json_get(s->conv->doc, schema, PL_STR("properties"));
    size_t from = s->stack.len;
    put_comment(s, indent, string_in(s, schema, "description"));
    pl_buf_adds(s->to, "{\n");
    if (properties && pl_json_kind(properties) == PL_JSON_OBJECT)
        for (const struct pl_json_node *key = pl_json_first_member(properties);
             key < pl_json_end(properties); key = pl_json_next_member(key))
            push(s, (struct work){.kind = FIELD, .node = key, .object = schema, .indent = indent});
    push(s, (struct work){.kind = CLOSE, .indent = indent});
    turn_round(s, from);
}

static void push_array(struct script *s, const struct pl_json_node *schema, unsigned indent)
{
    const struct pl_json_node *items = pl_json_get(s->conv->doc, schema, PL_STR("items"));
    if (!items) {
        pl_buf_adds(s->to, "Array<any>");
        return;
    }
    push_words(s, "[]");
    push(s, (struct work){.kind = TYPE, .node = items, .indent = indent});
}

/* A schema without a type. */
static void write_untyped(struct script *s, const struct pl_json_node *schema, unsigned indent)
{
    const struct pl_json_doc *doc = s->conv->doc;
    const struct pl_json_node *any = list_in(s, schema, "anyOf"), *values = values_in(s, schema);
    const struct pl_json_node *only = pl_json_get(doc, schema, PL_STR("const"));
    if (any && pl_json_count(any))
        push_any(s, any, indent);
    else if (values)
        put_values(s, values, false);
    else if (only)
        pl_json_write_min(s->to, doc, only);
    else if (pl_json_get(doc, schema, PL_STR("properties")))
        push_object(s, schema, indent);
    else
        pl_buf_adds(s->to, "any");
}

static void write_type(struct script *s, const struct pl_json_node *schema, unsigned indent)
{
    const struct pl_conv *conv = s->conv;
    const struct pl_json_node *one = list_in(s, schema, "oneOf");
    const struct pl_json_node *types = list_in(s, schema, "type");
    const struct pl_json_node *type = string_in(s, schema, "type");
    const struct pl_json_node *values = values_in(s, schema);
    if (one)
        push_variants(s, one, NULL, indent);
    else if (types && pl_json_count(types))
        put_types(s, types);
    else if (!type)
        write_untyped(s, schema, indent);
    else if (is_type(conv, type, "object", "OBJECT"))
        push_object(s, schema, indent);
    else if (is_type(conv, type, "array", "ARRAY"))
        push_array(s, schema, indent);
    else if (is_type(conv, type, "null", "NULL"))
        pl_buf_adds(s->to, "null");
    else if (!values || !is_type(conv, type, "string", "STRING") || !put_values(s, values, true))
        pl_buf_adds(s->to, plain_type(conv, type));
}

/* Pushes a type, and null if the schema allows it. */
static void push_type(struct script *s, const struct pl_json_node *schema, unsigned indent)
{
    if (is_nullable(s, schema))
        push(s, (struct work){.kind = NULLABLE, .from = s->to->len});
    push(s, (struct work){.kind = TYPE, .node = schema, .indent = indent});
}

static void write_nullable(struct script *s, size_t from)
{
    struct pl_str type = pl_str_slice(pl_buf_str(s->to), from, s->to->len);
    for (size_t i = 0; i + 4 <= type.len; i++)
        if (memcmp(type.ptr + i, "null", 4) == 0)
            return;
    pl_buf_adds(s->to, " | null");
}

/* ---- fields ---- */

static bool says_same(struct script *s, const struct pl_json_node *a, const struct pl_json_node *b)
{
    return a && b && pl_json_text_same(s->conv->doc, a, s->conv->doc, b);
}

/* Whether the description of a field comes above it, not after its first alternative. */
static bool is_described_above(struct script *s, const struct pl_json_node *property)
{
    const struct pl_json_node *list = list_in(s, property, "oneOf");
    const struct pl_json_node *own = string_in(s, property, "description");
    const struct pl_json_node *first =
        pl_json_count(list) ? string_in(s, pl_json_first(list), "description") : NULL;
    return own && !says_same(s, own, first);
}

static void put_key(struct script *s, const struct work *field)
{
    put_indent(s, field->indent);
    put_text(s, field->node);
    pl_buf_adds(s->to, is_required(s, field->object, field->node) ? ":" : "?:");
}

static void write_choice(struct script *s, const struct work *field,
                         const struct pl_json_node *property, const struct pl_json_node *one)
{
    if (is_described_above(s, property))
        put_comment(s, field->indent, string_in(s, property, "description"));
    if (has_default(s, property)) {
        put_indent(s, field->indent);
        pl_buf_adds(s->to, "// ");
        put_default(s, property, false);
        pl_buf_addc(s->to, '\n');
    }
    put_key(s, field);
    pl_buf_addc(s->to, '\n');
    push(s, (struct work){.kind = WRITE, .indent = field->indent, .words = ",\n"});
    push_variants(s, one, property, field->indent);
}

static void write_field(struct script *s, const struct work *field)
{
    const struct pl_json_node *property = field->node + 1;
    const struct pl_json_node *title = string_in(s, property, "title");
    const struct pl_json_node *one = list_in(s, property, "oneOf");
    if (title) {
        put_comment(s, field->indent, title);
        put_indent(s, field->indent);
        pl_buf_adds(s->to, "//\n");
    }
    if (!one)
        put_comment(s, field->indent, string_in(s, property, "description"));
    put_examples(s, field->indent, list_in(s, property, "examples"));
    if (one) {
        write_choice(s, field, property, one);
        return;
    }
    put_key(s, field);
    pl_buf_addc(s->to, ' ');
    push_words(s, "\n");
    if (has_default(s, property))
        push(s, (struct work){.kind = DEFAULT, .node = property});
    push_words(s, ",");
    push_type(s, property, field->indent + 4);
}

/* One alternative of a oneOf. */
static void write_variant(struct script *s, const struct work *v)
{
    if (!v->object)
        pl_buf_addc(s->to, '\n');
    put_indent(s, v->indent);
    pl_buf_adds(s->to, " | ");
    if (v->object)
        push_words(s, "\n");
    struct work remark = *v;
    remark.kind = REMARK;
    push(s, remark);
    push_type(s, v->node, v->indent + 3);
}

/* The comment after an alternative. */
static void write_remark(struct script *s, const struct work *v)
{
    const struct pl_json_node *words = string_in(s, v->node, "description");
    if (v->object && ((v->is_first && is_described_above(s, v->object)) ||
                      says_same(s, words, string_in(s, v->object, "description"))))
        words = NULL;
    bool has_value = has_default(s, v->node);
    pl_buf_adds(s->to, words || has_value ? " // " : "");
    if (words)
        put_text(s, words);
    pl_buf_adds(s->to, words && has_value ? " " : "");
    if (has_value)
        put_default(s, v->node, !v->object);
}

static void do_work(struct script *s, const struct work *work)
{
    switch (work->kind) {
    case WRITE:
        put_indent(s, work->indent);
        pl_buf_adds(s->to, work->words);
        break;
    case TYPE:
        write_type(s, work->node, work->indent);
        break;
    case FIELD:
        write_field(s, work);
        break;
    case VARIANT:
        write_variant(s, work);
        break;
    case NULLABLE:
        write_nullable(s, work->from);
        break;
    case DEFAULT:
        pl_buf_adds(s->to, " // ");
        put_default(s, work->node, false);
        break;
    case REMARK:
        write_remark(s, work);
        break;
    case CLOSE:
        put_indent(s, work->indent);
        pl_buf_addc(s->to, '}');
        break;
    }
}

void pl_gpt_oss_type(struct pl_conv *conv, struct pl_buf *to, const struct pl_json_node *schema)
{
    struct script s = {.conv = conv, .to = to};
    push(&s, (struct work){.kind = TYPE, .node = schema});
    while (s.stack.len && conv->status == PL_OK && to->status == PL_OK) {
        struct work work = s.stack.ptr[--s.stack.len];
        do_work(&s, &work);
    }
    pl_vec_deinit(&s.stack);
}
