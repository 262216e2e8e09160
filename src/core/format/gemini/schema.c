/* Gemini's schema dialect and JSON Schema. Both directions walk the schema with an explicit stack
 * (a schema may nest as deep as a document), and write as they go.
 *
 * A frame is in one of three places: among the keywords of a schema, the named schemas of
 * `properties`, or the schemas of `anyOf`. Only the first place has keywords: a property with the
 * name "type" or "$id" is a name like any other. */
#include "format/gemini/schema.h"

#include "json/pointer.h"
#include "json/text.h"

enum place { IN_SCHEMA, IN_NAMES, IN_LIST };

struct frame {
    enum place place;
    const struct pl_json_node *at, *end; /* the next member or element */
    const struct pl_json_node *object;   /* IN_SCHEMA: the schema of these keywords */
    const struct pl_json_node *base;     /* IN_SCHEMA: the schema that refers to `object`; its
                                            keywords win */
    bool is_nullable;                    /* from the schema of this frame */
};

struct walk {
    struct pl_writer *w;
    const struct pl_json_node *root;
    PL_VEC(struct frame) stack; /* owned */
    uint32_t n_refs;            /* inlined so far */
};

/* A schema may refer to one definition from many places; at most this many are inlined. */
#define MAX_REFS 256

static const struct pl_json_node *member(const struct walk *k, const struct pl_json_node *object,
                                         const char *key)
{
    return pl_conv_node(k->w->conv, object, key);
}

/* Copies a value. A value that is in the output already (a definition used twice) is written
 * without a link: the way home needs a single link. */
static void put(struct walk *k, const struct pl_json_node *value)
{
    if (pl_conv_fate_of(k->w->conv, value) == PL_FATE_SAID)
        pl_w_raw(k->w, pl_json_span(k->w->conv->doc, value));
    else
        pl_w_value(k->w, pl_val_node(value));
}

static void put_key(struct walk *k, const struct pl_json_node *key)
{
    pl_w_key_str(k->w, pl_conv_text(k->w->conv, pl_val_node(key)));
}

/* Marks values that the other dialect spells differently: a type, a type of a list, an order, a
 * bound. */
static void know(struct walk *k, const struct pl_json_node *node)
{
    pl_conv_know_all(k->w->conv, node);
}

static struct frame *top(struct walk *k)
{
    return &k->stack.ptr[k->stack.len - 1];
}

static void push(struct walk *k, enum place place, const struct pl_json_node *of, bool is_nullable)
{
    struct frame frame = {.place = place,
                          .at = pl_json_first(of),
                          .end = pl_json_end(of),
                          .object = place == IN_SCHEMA ? of : NULL,
                          .is_nullable = is_nullable};
    if (!pl_vec_push(&k->stack, frame))
        k->w->conv->status = PL_NOMEM;
    else
        pl_w_open(k->w, place == IN_LIST ? '[' : '{');
}

/* The types of both sides, at the same index. */
static const char *const upper_types[] = {"STRING", "NUMBER", "INTEGER", "BOOLEAN",
                                          "ARRAY",  "OBJECT", "NULL",    NULL};
static const char *const lower_types[] = {"string", "number", "integer", "boolean",
                                          "array",  "object", "null",    NULL};

/* ---- the dialect as JSON Schema ---- */

enum dialect_word {
    D_TYPE,
    D_NULLABLE,
    D_NAMES,
    D_SCHEMA,
    D_LIST,
    D_COUNT,
    D_ORDER,
    D_ENUM,
    D_EXAMPLE
};

/* Keywords with their own rule; all others are the same on both sides. The second spelling is also
 * accepted by protocol buffers. */
static const struct {
    const char *word, *also;
    enum dialect_word rule;
    const char *json;
} dialect_words[] = {
    {"type", "type", D_TYPE, "type"},
    {"nullable", "nullable", D_NULLABLE, NULL},
    {"properties", "properties", D_NAMES, "properties"},
    {"items", "items", D_SCHEMA, "items"},
    {"anyOf", "any_of", D_LIST, "anyOf"},
    {"minItems", "min_items", D_COUNT, "minItems"},
    {"maxItems", "max_items", D_COUNT, "maxItems"},
    {"minLength", "min_length", D_COUNT, "minLength"},
    {"maxLength", "max_length", D_COUNT, "maxLength"},
    {"minProperties", "min_properties", D_COUNT, "minProperties"},
    {"maxProperties", "max_properties", D_COUNT, "maxProperties"},
    {"propertyOrdering", "property_ordering", D_ORDER, NULL},
    {"enum", "enum", D_ENUM, "enum"},
    {"example", "example", D_EXAMPLE, "examples"},
};

static int dialect_word(struct walk *k, const struct pl_json_node *key)
{
    for (size_t i = 0; i < sizeof dialect_words / sizeof *dialect_words; i++)
        if (pl_conv_says(k->w->conv, key, dialect_words[i].word) ||
            pl_conv_says(k->w->conv, key, dialect_words[i].also))
            return (int)i;
    return -1;
}

static bool says_nullable(struct walk *k, const struct pl_json_node *schema)
{
    const struct pl_json_node *n = member(k, schema, "nullable");
    return n && pl_json_kind(n) == PL_JSON_TRUE;
}

static void put_lower_type(struct walk *k, const struct pl_json_node *type, bool is_nullable)
{
    int i = pl_conv_word(k->w->conv, type, upper_types);
    if (pl_conv_says(k->w->conv, type, "TYPE_UNSPECIFIED")) {
        know(k, type);
        return;
    }
    pl_w_key(k->w, "type");
    if (is_nullable)
        pl_w_open(k->w, '[');
    if (i >= 0)
        pl_w_word(k->w, lower_types[i]);
    else
        put(k, type);
    know(k, type);
    if (is_nullable) {
        pl_w_word(k->w, "null");
        pl_w_close(k->w, ']');
    }
}

/* int64 is a string in the JSON of protocol buffers; in JSON Schema a limit is a number. */
static void put_count(struct walk *k, const struct pl_json_node *value)
{
    struct pl_str raw = pl_json_is(value, PL_JSON_STRING) ? pl_json_raw(k->w->conv->doc, value)
                                                          : (struct pl_str){0};
    bool is_digits = raw.len > 0 && (raw.ptr[0] != '0' || raw.len == 1);
    for (size_t i = 0; i < raw.len; i++)
        is_digits &= raw.ptr[i] >= '0' && raw.ptr[i] <= '9';
    if (is_digits) {
        pl_w_raw(k->w, raw);
        know(k, value);
    } else {
        put(k, value);
    }
}

/* If the properties already have this order, nothing is lost; otherwise the list gets no fate. */
static void know_order(struct walk *k, const struct pl_json_node *order,
                       const struct pl_json_node *names)
{
    if (!pl_json_is(order, PL_JSON_ARRAY) || !pl_json_is(names, PL_JSON_OBJECT) ||
        pl_json_count(order) != pl_json_count(names))
        return;
    const struct pl_json_doc *doc = k->w->conv->doc;
    const struct pl_json_node *name = pl_json_first(names);
    for (const struct pl_json_node *o = pl_json_first(order); o < pl_json_end(order);
         o = pl_json_next(o), name = pl_json_next_member(name))
        if (!pl_json_is(o, PL_JSON_STRING) || !pl_json_text_same(doc, o, doc, name))
            return;
    know(k, order);
}

static void put_nullable_enum(struct walk *k, const struct pl_json_node *value)
{
    pl_w_open(k->w, '[');
    for (const struct pl_json_node *e = pl_json_first(value); e < pl_json_end(value);
         e = pl_json_next(e))
        put(k, e);
    pl_w_null(k->w);
    pl_w_close(k->w, ']');
}

static void json_keyword(struct walk *k, const struct pl_json_node *key, bool is_nullable,
                         const struct pl_json_node *schema)
{
    const struct pl_json_node *value = key + 1;
    int i = dialect_word(k, key);
    enum dialect_word rule = i >= 0 ? dialect_words[i].rule : D_SCHEMA;
    if (i < 0) {
        put_key(k, key);
        put(k, value);
        return;
    }
    if (rule == D_TYPE) {
        put_lower_type(k, value, is_nullable);
        return;
    }
    if (rule == D_NULLABLE) {
        know(k, value);
        return;
    }
    if (rule == D_ORDER) {
        know_order(k, value, member(k, schema, "properties"));
        return;
    }
    pl_w_key(k->w, dialect_words[i].json);
    if (rule == D_NAMES && pl_json_is(value, PL_JSON_OBJECT)) {
        push(k, IN_NAMES, value, false);
    } else if (rule == D_SCHEMA && pl_json_is(value, PL_JSON_OBJECT)) {
        push(k, IN_SCHEMA, value, says_nullable(k, value));
    } else if (rule == D_LIST && pl_json_is(value, PL_JSON_ARRAY)) {
        push(k, IN_LIST, value, is_nullable);
    } else if (rule == D_COUNT) {
        put_count(k, value);
    } else if (rule == D_ENUM && is_nullable && pl_json_is(value, PL_JSON_ARRAY)) {
        put_nullable_enum(k, value);
    } else if (rule == D_EXAMPLE) {
        pl_w_open(k->w, '[');
        put(k, value);
        pl_w_close(k->w, ']');
    } else {
        put(k, value);
    }
}

static void json_step(struct walk *k)
{
    struct frame *f = top(k);
    if (f->at >= f->end) {
        if (f->place == IN_LIST && f->is_nullable)
            pl_w_raw(k->w, PL_STR("{\"type\":\"null\"}"));
        pl_w_close(k->w, f->place == IN_LIST ? ']' : '}');
        k->stack.len--;
        return;
    }
    const struct pl_json_node *at = f->at, *value = f->place == IN_LIST ? at : at + 1;
    f->at = f->place == IN_LIST ? pl_json_next(at) : pl_json_next_member(at);
    if (f->place == IN_SCHEMA) {
        json_keyword(k, at, f->is_nullable, f->object);
        return;
    }
    if (f->place == IN_NAMES)
        put_key(k, at);
    if (pl_json_is(value, PL_JSON_OBJECT))
        push(k, IN_SCHEMA, value, says_nullable(k, value));
    else
        put(k, value);
}

static bool goes_on(const struct walk *k)
{
    return k->stack.len > 0 && k->w->conv->status == PL_OK && k->w->out.buf->status == PL_OK;
}

void pl_gemini_schema_write_json(struct pl_writer *w, struct pl_val schema)
{
    if (schema.kind != PL_VAL_NODE || !pl_json_is(schema.node, PL_JSON_OBJECT)) {
        pl_w_value(w, schema);
        return;
    }
    struct walk k = {.w = w, .root = schema.node};
    push(&k, IN_SCHEMA, schema.node, says_nullable(&k, schema.node));
    while (goes_on(&k))
        json_step(&k);
    pl_vec_deinit(&k.stack);
}

void pl_gemini_schema_write_any(struct pl_writer *w, struct pl_val schema, bool is_openapi)
{
    if (is_openapi)
        pl_gemini_schema_write_json(w, schema);
    else
        pl_w_value(w, schema);
}

void pl_gemini_schema_opt_any(struct pl_writer *w, const char *key, struct pl_val schema,
                              bool is_openapi)
{
    if (!pl_val_is_set(schema))
        return;
    pl_w_key(w, key);
    pl_gemini_schema_write_any(w, schema, is_openapi);
}

bool pl_gemini_schema_to_json(struct pl_conv *conv, struct pl_val schema, struct pl_val *ret_json)
{
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    struct pl_writer w;
    pl_writer_init(&w, conv, &buf);
    pl_gemini_schema_write_json(&w, schema);
    pl_writer_deinit(&w);
    if (buf.status != PL_OK)
        conv->status = buf.status;
    struct pl_str json = pl_arena_dup(conv->arena, pl_buf_str(&buf));
    if (!json.ptr)
        conv->status = PL_NOMEM;
    if (conv->status != PL_OK)
        return false;
    *ret_json = pl_val_json(json);
    return true;
}

/* ---- JSON Schema as the dialect ---- */

enum json_word {
    J_SAME,
    J_TYPE,
    J_NAMES,
    J_SCHEMA,
    J_LIST,
    J_ENUM,
    J_CONST,
    J_BOUND,
    J_REF,
    J_ALL
};

/* The keywords of JSON Schema that the dialect supports. */
static const struct {
    const char *word;
    enum json_word rule;
    const char *dialect;
} json_words[] = {
    {"type", J_TYPE, "type"},
    {"format", J_SAME, "format"},
    {"title", J_SAME, "title"},
    {"description", J_SAME, "description"},
    {"enum", J_ENUM, "enum"},
    {"const", J_CONST, "enum"},
    {"items", J_SCHEMA, "items"},
    {"properties", J_NAMES, "properties"},
    {"required", J_SAME, "required"},
    {"minItems", J_SAME, "minItems"},
    {"maxItems", J_SAME, "maxItems"},
    {"minLength", J_SAME, "minLength"},
    {"maxLength", J_SAME, "maxLength"},
    {"minProperties", J_SAME, "minProperties"},
    {"maxProperties", J_SAME, "maxProperties"},
    {"minimum", J_SAME, "minimum"},
    {"maximum", J_SAME, "maximum"},
    {"exclusiveMinimum", J_BOUND, "minimum"},
    {"exclusiveMaximum", J_BOUND, "maximum"},
    {"pattern", J_SAME, "pattern"},
    {"default", J_SAME, "default"},
    {"example", J_SAME, "example"},
    {"nullable", J_SAME, "nullable"},
    {"propertyOrdering", J_SAME, "propertyOrdering"},
    {"anyOf", J_LIST, "anyOf"},
    {"oneOf", J_LIST, "anyOf"},
    {"allOf", J_ALL, NULL},
    {"$ref", J_REF, NULL},
};

static bool is_null_schema(struct walk *k, const struct pl_json_node *schema)
{
    return pl_json_is(schema, PL_JSON_OBJECT) &&
           pl_conv_says(k->w->conv, member(k, schema, "type"), "null");
}

/* Whether an element is null, or a schema of null alone. */
static bool has_null(struct walk *k, const struct pl_json_node *list)
{
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return false;
    for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
         e = pl_json_next(e))
        if (pl_json_kind(e) == PL_JSON_NULL || pl_conv_says(k->w->conv, e, "null") ||
            is_null_schema(k, e))
            return true;
    return false;
}

/* An enum without a type allows null if it lists null. */
static bool lists_null(struct walk *k, const struct pl_json_node *schema)
{
    const struct pl_json_node *list = member(k, schema, "enum");
    if (!pl_json_is(list, PL_JSON_ARRAY) || member(k, schema, "type"))
        return false;
    for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
         e = pl_json_next(e))
        if (pl_json_kind(e) == PL_JSON_NULL)
            return true;
    return false;
}

static bool allows_null(struct walk *k, const struct pl_json_node *schema)
{
    return !member(k, schema, "nullable") &&
           (has_null(k, member(k, schema, "type")) || has_null(k, member(k, schema, "anyOf")) ||
            has_null(k, member(k, schema, "oneOf")) || lists_null(k, schema));
}

/* The target of "#/$defs/Name" in this schema; NULL if it points elsewhere. */
static const struct pl_json_node *referred(struct walk *k, const struct pl_json_node *ref)
{
    struct pl_str rest = pl_conv_text(k->w->conv, pl_val_node(ref)), token;
    if (!pl_json_is(ref, PL_JSON_STRING) || !pl_str_starts(rest, PL_STR("#/")))
        return NULL;
    rest = pl_str_slice(rest, 1, rest.len);
    const struct pl_json_node *at = k->root;
    while (at && pl_json_pointer_next(&rest, &token))
        at = pl_json_pointer_step(k->w->conv->doc, at, token);
    return pl_json_is(at, PL_JSON_OBJECT) ? at : NULL;
}

static bool is_being_written(const struct walk *k, const struct pl_json_node *schema)
{
    for (size_t i = 0; i < k->stack.len; i++)
        if (k->stack.ptr[i].object == schema)
            return true;
    return false;
}

/* The schema that this one extends: the target of its $ref, or the only schema of its allOf. */
static const struct pl_json_node *base_of(struct walk *k, const struct pl_json_node *schema)
{
    const struct pl_json_node *ref = member(k, schema, "$ref"), *all = member(k, schema, "allOf");
    if (!ref && pl_json_is(all, PL_JSON_ARRAY) && pl_json_count(all) == 1 &&
        pl_json_is(pl_json_first(all), PL_JSON_OBJECT))
        return pl_json_first(all);
    const struct pl_json_node *target = ref ? referred(k, ref) : NULL;
    while (target && pl_json_count(target) == 1 && member(k, target, "$ref") &&
           k->n_refs++ < MAX_REFS) {
        know(k, member(k, target, "$ref"));
        target = referred(k, member(k, target, "$ref"));
    }
    if (!target)
        return NULL;
    if (is_being_written(k, target) || k->n_refs++ >= MAX_REFS) {
        pl_conv_loss(k->w->conv, PL_LOSS_APPROXIMATED, ref,
                     "Gemini's schemas cannot be recursive; any object is allowed here");
        pl_w_key_word(k->w, "type", "OBJECT");
        return NULL;
    }
    know(k, ref);
    return target;
}

static void put_nullable(struct walk *k)
{
    pl_w_key(k->w, "nullable");
    pl_w_bool(k->w, true);
}

static void push_dialect(struct walk *k, const struct pl_json_node *schema)
{
    push(k, IN_SCHEMA, schema, false);
    if (k->w->conv->status == PL_OK && allows_null(k, schema))
        put_nullable(k);
}

/* One type (besides null) is written as one; several become a list of schemas. */
static void put_upper_type(struct walk *k, const struct pl_json_node *type,
                           const struct pl_json_node *schema)
{
    bool is_list = pl_json_is(type, PL_JSON_ARRAY);
    const struct pl_json_node *first = is_list ? pl_json_first(type) : type;
    const struct pl_json_node *end = is_list ? pl_json_end(type) : type + 1;
    uint32_t n = 0;
    for (const struct pl_json_node *t = first; t < end; t = pl_json_next(t))
        n += pl_json_is(t, PL_JSON_STRING) && (!is_list || !pl_conv_says(k->w->conv, t, "null"));
    bool is_choice = n > 1 && !member(k, schema, "anyOf") && !member(k, schema, "oneOf");
    if (n > 1 && !is_choice)
        pl_conv_loss(k->w->conv, PL_LOSS_APPROXIMATED, type,
                     "only one type is possible next to anyOf; the first is used");
    if (is_choice) {
        pl_w_key(k->w, "anyOf");
        pl_w_open(k->w, '[');
    }
    know(k, type);
    bool is_said = n == 0;
    for (const struct pl_json_node *t = first; t < end && !(is_said && !is_choice);
         t = pl_json_next(t)) {
        int i = pl_conv_word(k->w->conv, t, lower_types);
        if (!pl_json_is(t, PL_JSON_STRING) || (is_list && pl_conv_says(k->w->conv, t, "null")))
            continue;
        if (is_choice)
            pl_w_open(k->w, '{');
        pl_w_key(k->w, "type");
        if (i >= 0)
            pl_w_word(k->w, upper_types[i]);
        else
            put(k, t);
        if (is_choice)
            pl_w_close(k->w, '}');
        is_said = true;
    }
    if (is_choice)
        pl_w_close(k->w, ']');
}

/* The dialect requires the type of an enum; JSON Schema does not. */
static void put_string_type(struct walk *k, const struct pl_json_node *schema)
{
    if (!member(k, schema, "type"))
        pl_w_key_word(k->w, "type", "STRING");
}

/* Enums of the dialect hold only strings; null is expressed by `nullable`. */
static void put_enum(struct walk *k, const struct pl_json_node *value,
                     const struct pl_json_node *schema)
{
    bool is_plain = pl_json_is(value, PL_JSON_ARRAY);
    for (const struct pl_json_node *e = is_plain ? pl_json_first(value) : value;
         is_plain && e < pl_json_end(value); e = pl_json_next(e))
        is_plain = pl_json_is(e, PL_JSON_STRING) || pl_json_kind(e) == PL_JSON_NULL;
    if (!is_plain)
        return;
    put_string_type(k, schema);
    pl_w_key(k->w, "enum");
    if (!has_null(k, value)) {
        put(k, value);
        return;
    }
    pl_w_open(k->w, '[');
    for (const struct pl_json_node *e = pl_json_first(value); e < pl_json_end(value);
         e = pl_json_next(e))
        if (pl_json_is(e, PL_JSON_STRING))
            put(k, e);
    pl_w_close(k->w, ']');
}

static void put_list(struct walk *k, const struct pl_json_node *key,
                     const struct pl_json_node *schema)
{
    const struct pl_json_node *value = key + 1;
    bool is_one_of = pl_conv_says(k->w->conv, key, "oneOf");
    if (!pl_json_is(value, PL_JSON_ARRAY) || (is_one_of && member(k, schema, "anyOf")))
        return;
    if (is_one_of)
        pl_conv_loss(k->w->conv, PL_LOSS_APPROXIMATED, value, "oneOf is written as anyOf");
    pl_w_key(k->w, "anyOf");
    push(k, IN_LIST, value, false);
}

static void dialect_keyword(struct walk *k, const struct pl_json_node *key, size_t i,
                            const struct pl_json_node *schema)
{
    const struct pl_json_node *value = key + 1;
    const char *word = json_words[i].dialect;
    switch (json_words[i].rule) {
    case J_TYPE:
        put_upper_type(k, value, schema);
        break;
    case J_ENUM:
        put_enum(k, value, schema);
        break;
    case J_CONST:
        if (pl_json_is(value, PL_JSON_STRING) && !member(k, schema, "enum")) {
            put_string_type(k, schema);
            pl_w_key(k->w, word);
            pl_w_open(k->w, '[');
            put(k, value);
            pl_w_close(k->w, ']');
        }
        break;
    case J_BOUND:
        if (pl_json_kind(value) == PL_JSON_NUMBER && !member(k, schema, word)) {
            pl_w_key(k->w, word);
            put(k, value);
            pl_conv_loss(k->w->conv, PL_LOSS_APPROXIMATED, value,
                         "Gemini's `%s` allows the bound itself", word);
        }
        break;
    case J_NAMES:
    case J_SCHEMA:
        if (!pl_json_is(value, PL_JSON_OBJECT))
            break;
        pl_w_key(k->w, word);
        if (json_words[i].rule == J_NAMES)
            push(k, IN_NAMES, value, false);
        else
            push_dialect(k, value);
        break;
    case J_LIST:
        put_list(k, key, schema);
        break;
    case J_SAME:
        pl_w_key(k->w, word);
        put(k, value);
        break;
    case J_REF:
    case J_ALL:
        break;
    }
}

/* Writes the next keyword of a schema. At its end, the schema that it extends is written into the
 * same object. */
static void schema_step(struct walk *k)
{
    struct frame *f = top(k);
    if (f->at >= f->end) {
        const struct pl_json_node *next = f->base ? NULL : base_of(k, f->object);
        if (!next) {
            pl_w_close(k->w, '}');
            k->stack.len--;
            return;
        }
        if (allows_null(k, next) && !allows_null(k, f->object))
            put_nullable(k);
        f->base = f->object;
        f->object = next;
        f->at = pl_json_first(next);
        f->end = pl_json_end(next);
        return;
    }
    const struct pl_json_node *key = f->at, *object = f->object;
    f->at = pl_json_next_member(key);
    for (size_t i = 0; i < sizeof json_words / sizeof *json_words; i++) {
        if (!pl_conv_says(k->w->conv, key, json_words[i].word))
            continue;
        if (!f->base || !member(k, f->base, json_words[i].word))
            dialect_keyword(k, key, i, object);
        return;
    }
}

static void dialect_step(struct walk *k)
{
    struct frame *f = top(k);
    if (f->place == IN_SCHEMA) {
        schema_step(k);
        return;
    }
    if (f->at >= f->end) {
        pl_w_close(k->w, f->place == IN_LIST ? ']' : '}');
        k->stack.len--;
        return;
    }
    const struct pl_json_node *at = f->at, *value = f->place == IN_LIST ? at : at + 1;
    bool is_list = f->place == IN_LIST;
    f->at = is_list ? pl_json_next(at) : pl_json_next_member(at);
    if (is_list && is_null_schema(k, value)) {
        know(k, value);
        return;
    }
    if (!is_list)
        put_key(k, at);
    if (pl_json_is(value, PL_JSON_OBJECT)) {
        push_dialect(k, value);
        return;
    }
    pl_w_raw(k->w, PL_STR("{}"));
    if (pl_json_kind(value) == PL_JSON_TRUE)
        know(k, value);
}

void pl_gemini_schema_write_dialect(struct pl_writer *w, struct pl_val schema)
{
    if (schema.kind != PL_VAL_NODE || !pl_json_is(schema.node, PL_JSON_OBJECT)) {
        pl_w_value(w, schema);
        return;
    }
    struct walk k = {.w = w, .root = schema.node};
    push_dialect(&k, schema.node);
    while (goes_on(&k))
        dialect_step(&k);
    pl_vec_deinit(&k.stack);
}
