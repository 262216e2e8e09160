/* Every keyword of the dialect: its vocabulary, the shape of its value and its op. The shapes
 * repeat the meta-schema: checking them here gives a specific message, without running a second
 * schema for each schema. They also tell the indexer where the subschemas are. */
#include "schema/compile_int.h"

#include "base/ascii.h"
#include "json/number.h"
#include "json/text.h"

#define EVERY   ((1 << PL_CLASS_COUNT) - 1)
#define TEXTS   (1 << PL_TEXT)
#define APPLIES PL_VOCAB_APPLICATOR
#define ASSERTS PL_VOCAB_VALIDATION

static const struct pl_keyword keywords[] = {
    {"$id", PL_VOCAB_CORE, PL_VALUE_ID, 0, 0, NULL},
    {"$schema", PL_VOCAB_CORE, PL_VALUE_STRING, 0, 0, NULL},
    {"$anchor", PL_VOCAB_CORE, PL_VALUE_ANCHOR, 0, 0, NULL},
    {"$dynamicAnchor", PL_VOCAB_CORE, PL_VALUE_ANCHOR, 0, 0, NULL},
    {"$vocabulary", PL_VOCAB_CORE, PL_VALUE_VOCABULARY, 0, 0, NULL},
    {"$comment", PL_VOCAB_CORE, PL_VALUE_STRING, 0, 0, NULL},
    {"$defs", PL_VOCAB_CORE, PL_VALUE_SCHEMA_MAP, 0, 0, NULL},
    {"definitions", PL_VOCAB_CORE, PL_VALUE_SCHEMA_MAP, 0, 0, NULL},
    {"$ref", PL_VOCAB_CORE, PL_VALUE_STRING, PL_OP_REF, 0, pl_emit_ref},
    {"$dynamicRef", PL_VOCAB_CORE, PL_VALUE_STRING, PL_OP_DYNAMIC_REF, 0, pl_emit_dynamic_ref},

    {"allOf", APPLIES, PL_VALUE_SCHEMAS, PL_OP_ALL_OF, 0, pl_emit_schemas},
    {"anyOf", APPLIES, PL_VALUE_SCHEMAS, PL_OP_ANY_OF, 0, pl_emit_schemas},
    {"oneOf", APPLIES, PL_VALUE_SCHEMAS, PL_OP_ONE_OF, 0, pl_emit_schemas},
    {"not", APPLIES, PL_VALUE_SCHEMA, PL_OP_NOT, 0, pl_emit_schema},
    {"if", APPLIES, PL_VALUE_SCHEMA, PL_OP_IF, 0, pl_emit_if},
    {"then", APPLIES, PL_VALUE_SCHEMA, 0, 0, NULL},
    {"else", APPLIES, PL_VALUE_SCHEMA, 0, 0, NULL},
    {"dependentSchemas", APPLIES, PL_VALUE_SCHEMA_MAP, PL_OP_DEPENDENCIES, 0, pl_emit_dependencies},
    {"dependencies", APPLIES, PL_VALUE_DEPENDENCIES, PL_OP_DEPENDENCIES, 0, pl_emit_dependencies},
    {"properties", APPLIES, PL_VALUE_SCHEMA_MAP, PL_OP_PROPERTIES, 0, pl_emit_properties},
    {"patternProperties", APPLIES, PL_VALUE_SCHEMA_MAP, PL_OP_PATTERN_MEMBERS, 0,
     pl_emit_pattern_members},
    {"additionalProperties", APPLIES, PL_VALUE_SCHEMA, PL_OP_OTHER_MEMBERS, 0, pl_emit_schema},
    {"propertyNames", APPLIES, PL_VALUE_SCHEMA, PL_OP_MEMBER_NAMES, 0, pl_emit_schema},
    {"prefixItems", APPLIES, PL_VALUE_SCHEMAS, PL_OP_PREFIX_ITEMS, 0, pl_emit_schemas},
    {"items", APPLIES, PL_VALUE_SCHEMA, PL_OP_ITEMS, 0, pl_emit_items},
    {"contains", APPLIES, PL_VALUE_SCHEMA, PL_OP_CONTAINS, 0, pl_emit_contains},

    {"type", ASSERTS, PL_VALUE_TYPES, PL_OP_TYPE, 0, pl_emit_type},
    {"const", ASSERTS, PL_VALUE_ANY, PL_OP_CONST, 0, pl_emit_values},
    {"enum", ASSERTS, PL_VALUE_ARRAY, PL_OP_ENUM, 0, pl_emit_values},
    {"minimum", ASSERTS, PL_VALUE_NUMBER, PL_OP_MINIMUM, 0, pl_emit_limit},
    {"maximum", ASSERTS, PL_VALUE_NUMBER, PL_OP_MAXIMUM, 0, pl_emit_limit},
    {"exclusiveMinimum", ASSERTS, PL_VALUE_NUMBER, PL_OP_ABOVE, 0, pl_emit_limit},
    {"exclusiveMaximum", ASSERTS, PL_VALUE_NUMBER, PL_OP_BELOW, 0, pl_emit_limit},
    {"multipleOf", ASSERTS, PL_VALUE_POSITIVE, PL_OP_MULTIPLE, 0, pl_emit_limit},
    {"minLength", ASSERTS, PL_VALUE_COUNT, PL_OP_MIN_LENGTH, 0, pl_emit_count},
    {"maxLength", ASSERTS, PL_VALUE_COUNT, PL_OP_MAX_LENGTH, 0, pl_emit_count},
    {"pattern", ASSERTS, PL_VALUE_STRING, PL_OP_PATTERN, 0, pl_emit_pattern},
    {"minItems", ASSERTS, PL_VALUE_COUNT, PL_OP_MIN_ITEMS, 0, pl_emit_count},
    {"maxItems", ASSERTS, PL_VALUE_COUNT, PL_OP_MAX_ITEMS, 0, pl_emit_count},
    {"uniqueItems", ASSERTS, PL_VALUE_BOOL, PL_OP_UNIQUE, 0, pl_emit_unique},
    {"minContains", ASSERTS, PL_VALUE_COUNT, 0, 0, NULL},
    {"maxContains", ASSERTS, PL_VALUE_COUNT, 0, 0, NULL},
    {"minProperties", ASSERTS, PL_VALUE_COUNT, PL_OP_MIN_MEMBERS, 0, pl_emit_count},
    {"maxProperties", ASSERTS, PL_VALUE_COUNT, PL_OP_MAX_MEMBERS, 0, pl_emit_count},
    {"required", ASSERTS, PL_VALUE_NAMES, PL_OP_REQUIRED, 0, pl_emit_required},
    {"dependentRequired", ASSERTS, PL_VALUE_NAMES_MAP, PL_OP_DEPENDENCIES, 0, pl_emit_dependencies},

    {"format", PL_VOCAB_FORMAT, PL_VALUE_STRING, PL_OP_FORMAT, TEXTS, pl_emit_format},

    {"title", PL_VOCAB_META_DATA, PL_VALUE_STRING, 0, EVERY, pl_emit_annotation},
    {"description", PL_VOCAB_META_DATA, PL_VALUE_STRING, 0, EVERY, pl_emit_annotation},
    {"default", PL_VOCAB_META_DATA, PL_VALUE_ANY, 0, EVERY, pl_emit_annotation},
    {"deprecated", PL_VOCAB_META_DATA, PL_VALUE_BOOL, 0, EVERY, pl_emit_annotation},
    {"readOnly", PL_VOCAB_META_DATA, PL_VALUE_BOOL, 0, EVERY, pl_emit_annotation},
    {"writeOnly", PL_VOCAB_META_DATA, PL_VALUE_BOOL, 0, EVERY, pl_emit_annotation},
    {"examples", PL_VOCAB_META_DATA, PL_VALUE_ARRAY, 0, EVERY, pl_emit_annotation},

    {"contentEncoding", PL_VOCAB_CONTENT, PL_VALUE_STRING, 0, TEXTS, pl_emit_annotation},
    {"contentMediaType", PL_VOCAB_CONTENT, PL_VALUE_STRING, 0, TEXTS, pl_emit_annotation},
    {"contentSchema", PL_VOCAB_CONTENT, PL_VALUE_SCHEMA, 0, TEXTS, pl_emit_annotation},

    /* Last, because they depend on what the others have evaluated. */
    {"unevaluatedProperties", PL_VOCAB_UNEVALUATED, PL_VALUE_SCHEMA, PL_OP_LEFT_MEMBERS, 0,
     pl_emit_schema},
    {"unevaluatedItems", PL_VOCAB_UNEVALUATED, PL_VALUE_SCHEMA, PL_OP_LEFT_ITEMS, 0,
     pl_emit_schema},
};

const struct pl_keyword pl_keyword_unknown = {"", 0, PL_VALUE_ANY, 0, EVERY, pl_emit_annotation};

const struct pl_keyword *pl_keyword_find(struct pl_str name, uint32_t vocabs)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (pl_str_eq(name, pl_str_of(keywords[i].name)))
            return keywords[i].vocab & vocabs ? &keywords[i] : NULL;
    return NULL;
}

/* The expected shape; NULL if n is an array of strings without repetition. */
static const char *names_problem(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    if (pl_json_kind(n) != PL_JSON_ARRAY)
        return "an array of strings";
    for (const struct pl_json_node *e = pl_json_first(n); e != pl_json_end(n); e = pl_json_next(e))
        if (pl_json_kind(e) != PL_JSON_STRING)
            return "an array of strings";
    uint32_t count = pl_json_count(n);
    if (count > 512) /* a repeated name in a long list only costs a slot: not worth a sort */
        return NULL;
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (pl_json_text_same(doc, n + 1 + i, doc, n + 1 + j))
                return "an array without repeated names";
    return NULL;
}

static const char *types_problem(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    static const char expected[] = "one of \"null\", \"boolean\", \"number\", \"integer\", "
                                   "\"string\", \"array\", \"object\", or an array of them";
    static const char *const names[] = {"null",   "boolean", "number", "integer",
                                        "string", "array",   "object"};
    bool is_list = pl_json_kind(n) == PL_JSON_ARRAY;
    if (is_list && (!pl_json_count(n) || names_problem(doc, n)))
        return expected;
    const struct pl_json_node *end = is_list ? pl_json_end(n) : n + 1;
    for (const struct pl_json_node *e = n + is_list; e != end; e++) {
        bool is_known = false;
        for (size_t i = 0; pl_json_kind(e) == PL_JSON_STRING && i < 7; i++)
            is_known |= pl_json_text_is(doc, e, pl_str_of(names[i]));
        if (!is_known)
            return expected;
    }
    return NULL;
}

static const char *anchor_problem(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    static const char expected[] = "a name of letters, digits, '-', '_' and '.' that does not "
                                   "begin with a digit, '-' or '.'";
    struct pl_str s = pl_json_raw(doc, n);
    if (pl_json_kind(n) != PL_JSON_STRING || !s.len)
        return expected;
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.ptr[i];
        bool is_start = pl_ascii_is_letter(ch) || ch == '_';
        if (!is_start && (i == 0 || !(pl_ascii_is_digit(ch) || ch == '-' || ch == '.')))
            return expected;
    }
    return NULL;
}

static bool is_schema(const struct pl_json_node *n)
{
    enum pl_json_kind kind = pl_json_kind(n);
    return kind == PL_JSON_OBJECT || kind == PL_JSON_TRUE || kind == PL_JSON_FALSE;
}

/* Checks each value of an object. */
static const char *map_problem(const struct pl_json_doc *doc, const struct pl_json_node *n,
                               enum pl_value_shape shape)
{
    if (pl_json_kind(n) != PL_JSON_OBJECT)
        return "an object";
    for (const struct pl_json_node *k = pl_json_first(n); k != pl_json_end(n);
         k = pl_json_next_member(k)) {
        enum pl_json_kind kind = pl_json_kind(k + 1);
        if (shape == PL_VALUE_VOCABULARY && kind != PL_JSON_TRUE && kind != PL_JSON_FALSE)
            return "an object whose values are true or false";
        if (shape == PL_VALUE_NAMES_MAP && names_problem(doc, k + 1))
            return "an object whose values are arrays of different strings";
        if (shape == PL_VALUE_DEPENDENCIES && !is_schema(k + 1) && names_problem(doc, k + 1))
            return "an object whose values are schemas or arrays of different strings";
    }
    return NULL;
}

static const char *number_problem(const struct pl_json_doc *doc, const struct pl_json_node *n,
                                  enum pl_value_shape shape)
{
    if (pl_json_kind(n) != PL_JSON_NUMBER)
        return shape == PL_VALUE_COUNT ? "a whole number, 0 or more" : "a number";
    struct pl_str span = pl_json_span(doc, n);
    if (shape == PL_VALUE_POSITIVE && pl_json_number_cmp(span, PL_STR("0")) <= 0)
        return "a number greater than 0";
    if (shape == PL_VALUE_COUNT &&
        (!pl_json_number_is_integer(span) || pl_json_number_cmp(span, PL_STR("0")) < 0))
        return "a whole number, 0 or more";
    return NULL;
}

static const char *id_problem(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    if (pl_json_kind(n) != PL_JSON_STRING)
        return "a URI reference";
    struct pl_str s = pl_json_raw(doc, n);
    const char *hash = s.len ? memchr(s.ptr, '#', s.len) : NULL;
    return hash && hash != s.ptr + s.len - 1 ? "a URI reference without a fragment; use $anchor"
                                             : NULL;
}

/* The shape that the value should have had; NULL: it is right. Members of arrays and maps of
 * schemas are checked when the indexer reaches them. */
static const char *problem_of(const struct pl_json_doc *doc, enum pl_value_shape shape,
                              const struct pl_json_node *n)
{
    enum pl_json_kind kind = pl_json_kind(n);
    switch (shape) {
    case PL_VALUE_BOOL:
        return kind == PL_JSON_TRUE || kind == PL_JSON_FALSE ? NULL : "true or false";
    case PL_VALUE_STRING:
        return kind == PL_JSON_STRING ? NULL : "a string";
    case PL_VALUE_ID:
        return id_problem(doc, n);
    case PL_VALUE_ANCHOR:
        return anchor_problem(doc, n);
    case PL_VALUE_NUMBER:
    case PL_VALUE_POSITIVE:
    case PL_VALUE_COUNT:
        return number_problem(doc, n, shape);
    case PL_VALUE_ARRAY:
        return kind == PL_JSON_ARRAY ? NULL : "an array";
    case PL_VALUE_TYPES:
        return types_problem(doc, n);
    case PL_VALUE_NAMES:
        return names_problem(doc, n);
    case PL_VALUE_SCHEMA:
        return is_schema(n) ? NULL : "a schema: an object, true or false";
    case PL_VALUE_SCHEMAS:
        return kind == PL_JSON_ARRAY && pl_json_count(n) ? NULL : "an array of at least one schema";
    case PL_VALUE_SCHEMA_MAP:
    case PL_VALUE_NAMES_MAP:
    case PL_VALUE_DEPENDENCIES:
    case PL_VALUE_VOCABULARY:
        return map_problem(doc, n, shape);
    case PL_VALUE_ANY:
        break;
    }
    return NULL;
}

enum pl_status pl_keyword_check(struct pl_compiler *c, uint32_t doc,
                                const struct pl_keyword *keyword, const struct pl_json_node *key)
{
    const char *expected =
        problem_of(&c->schema->docs.ptr[doc].json, (enum pl_value_shape)keyword->shape, key + 1);
    if (!expected)
        return PL_OK;
    return pl_compile_fail(c, doc, key + 1, PL_INVALID, "\"%s\" must be %s", keyword->name,
                           expected);
}
