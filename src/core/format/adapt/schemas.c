/* The top of a tool's schema. With allOf, all properties and requirements hold. With oneOf and
 * anyOf, a property has the schema of any alternative, and what all alternatives require is
 * required: a call that was valid stays valid. */
#include "format/adapt/schemas.h"

#include "base/map.h"
#include "format/gemini/schema.h"
#include "json/pointer.h"

enum { MAX_REFS = 8 };

/* A property, and its further schemas in other alternatives. */
struct property {
    const struct pl_json_node *key;
    const struct pl_json_node *first, *last; /* the first schema and the last different one */
    struct pl_buf others;                    /* owned; the different ones after the first */
};

struct flat {
    struct pl_conv *conv;
    const struct pl_json_doc *doc; /* of the schema */
    const struct pl_json_node *root;
    struct pl_map index; /* name -> index in `properties` + 1 */
    PL_VEC(struct property) properties;
    struct pl_map required; /* name -> 1 */
};

static const struct pl_json_node *member(const struct flat *f, const struct pl_json_node *object,
                                         const char *key)
{
    if (!pl_json_is(object, PL_JSON_OBJECT))
        return NULL;
    return pl_json_get(f->doc, object, pl_str_of(key));
}

static bool has_key(const struct pl_json_doc *doc, const struct pl_json_node *key,
                    const char *const words[])
{
    for (int i = 0; words[i]; i++)
        if (pl_json_key_is(doc, key, pl_str_of(words[i])))
            return true;
    return false;
}

/* The schema that an alternative refers to, if it does. */
static const struct pl_json_node *resolve(struct flat *f, const struct pl_json_node *schema)
{
    for (int i = 0; i < MAX_REFS && schema; i++) {
        const struct pl_json_node *ref = member(f, schema, "$ref");
        struct pl_str path, token;
        if (!pl_json_is(ref, PL_JSON_STRING))
            return schema;
        if (pl_json_text(f->conv->arena, f->doc, ref, &path) != PL_OK)
            return NULL;
        schema = pl_str_starts(path, PL_STR("#/")) ? f->root : NULL;
        path = pl_str_slice(path, 1, path.len);
        while (schema && pl_json_pointer_next(&path, &token))
            schema = pl_json_pointer_step(f->doc, schema, token);
    }
    return schema;
}

static void add_property(struct flat *f, const struct pl_json_node *key)
{
    bool is_new;
    struct pl_map_entry *entry = pl_map_put(&f->index, pl_json_span(f->doc, key), &is_new);
    struct pl_str text = pl_json_span(f->doc, key + 1);
    struct property made = {.key = key, .first = key + 1, .last = key + 1};
    pl_buf_init(&made.others, 0);
    if (!entry || (is_new && !pl_vec_push(&f->properties, made))) {
        f->conv->status = PL_NOMEM;
        return;
    }
    if (is_new) {
        entry->value = f->properties.len;
        return;
    }
    struct property *p = &f->properties.ptr[entry->value - 1];
    if (pl_str_eq(text, pl_json_span(f->doc, p->first)) ||
        pl_str_eq(text, pl_json_span(f->doc, p->last)))
        return;
    p->last = key + 1;
    pl_buf_addc(&p->others, ',');
    pl_buf_add(&p->others, text);
}

static void add_properties(struct flat *f, const struct pl_json_node *schema)
{
    const struct pl_json_node *list = member(f, schema, "properties");
    if (!pl_json_is(list, PL_JSON_OBJECT))
        return;
    for (const struct pl_json_node *k = pl_json_first_member(list);
         k < pl_json_end(list) && f->conv->status == PL_OK; k = pl_json_next_member(k))
        add_property(f, k);
}

/* Counts the names that a schema requires. */
static void count_required(struct flat *f, const struct pl_json_node *schema, struct pl_map *counts)
{
    const struct pl_json_node *list = member(f, schema, "required");
    bool is_new;
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
         e = pl_json_next(e)) {
        struct pl_map_entry *entry = pl_map_put(counts, pl_json_span(f->doc, e), &is_new);
        if (entry)
            entry->value++;
        else
            f->conv->status = PL_NOMEM;
    }
}

/* Adds the alternatives of a keyword. `is_all`: all of them hold. */
static void add_group(struct flat *f, const struct pl_json_node *list, bool is_all)
{
    struct pl_map counts = {0};
    uint32_t n = 0;
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *e = pl_json_first(list);
         e < pl_json_end(list) && f->conv->status == PL_OK; e = pl_json_next(e), n++) {
        const struct pl_json_node *schema = resolve(f, e);
        add_properties(f, schema);
        count_required(f, schema, is_all ? &f->required : &counts);
    }
    for (uint32_t i = 0; i < counts.n_entries && f->conv->status == PL_OK; i++) {
        bool is_new;
        if (counts.entries[i].value >= n &&
            !pl_map_put(&f->required, counts.entries[i].key, &is_new))
            f->conv->status = PL_NOMEM;
    }
    pl_map_deinit(&counts);
}

static void put_properties(struct flat *f, struct pl_buf *to)
{
    pl_buf_adds(to, ",\"properties\":{");
    for (size_t i = 0; i < f->properties.len; i++) {
        const struct property *p = &f->properties.ptr[i];
        if (i)
            pl_buf_addc(to, ',');
        pl_buf_add(to, pl_json_span(f->doc, p->key));
        pl_buf_adds(to, p->others.len ? ":{\"anyOf\":[" : ":");
        pl_buf_add(to, pl_json_span(f->doc, p->first));
        pl_buf_add(to, pl_buf_str(&p->others));
        if (p->others.len)
            pl_buf_adds(to, "]}");
        if (p->others.status != PL_OK)
            f->conv->status = PL_NOMEM;
    }
    pl_buf_addc(to, '}');
}

static void put_flat(struct flat *f, struct pl_buf *to)
{
    static const char *const apart[] = {"type", "properties", "required", "oneOf", "anyOf", "allOf",
                                        "not",  "enum",       "const",    "$ref",  NULL};
    pl_buf_adds(to, "{\"type\":\"object\"");
    for (const struct pl_json_node *k = pl_json_first_member(f->root); k < pl_json_end(f->root);
         k = pl_json_next_member(k)) {
        if (has_key(f->doc, k, apart))
            continue;
        pl_buf_addc(to, ',');
        pl_buf_add(to, pl_json_span(f->doc, k));
        pl_buf_addc(to, ':');
        pl_buf_add(to, pl_json_span(f->doc, k + 1));
    }
    put_properties(f, to);
    for (uint32_t i = 0; i < f->required.n_entries; i++) {
        pl_buf_adds(to, i ? "," : ",\"required\":[");
        pl_buf_add(to, f->required.entries[i].key);
    }
    pl_buf_adds(to, f->required.n_entries ? "]}" : "}");
}

static void flatten(struct flat *f, struct pl_buf *to)
{
    if (member(f, f->root, "$ref")) {
        const struct pl_json_node *target = resolve(f, f->root);
        add_properties(f, target);
        count_required(f, target, &f->required);
    }
    add_properties(f, f->root);
    count_required(f, f->root, &f->required);
    add_group(f, member(f, f->root, "allOf"), true);
    add_group(f, member(f, f->root, "anyOf"), false);
    add_group(f, member(f, f->root, "oneOf"), false);
    put_flat(f, to);
    for (size_t i = 0; i < f->properties.len; i++)
        pl_buf_deinit(&f->properties.ptr[i].others);
    pl_vec_deinit(&f->properties);
    pl_map_deinit(&f->index);
    pl_map_deinit(&f->required);
}

/* What the target refuses at the top of a schema. */
enum fault { FAULT_NONE, FAULT_TYPE, FAULT_ALTERNATIVES };

static enum fault fault_of(const struct pl_conv *conv, const struct pl_tool *tool)
{
    static const char *const words[] = {"oneOf", "anyOf", "allOf", "not", "enum", "$ref", NULL};
    const struct pl_json_node *schema = tool->schema.node;
    if (tool->is_hosted || tool->is_custom || tool->schema.kind != PL_VAL_NODE ||
        !pl_json_is(schema, PL_JSON_OBJECT))
        return FAULT_NONE;
    for (const struct pl_json_node *k = pl_json_first_member(schema); k < pl_json_end(schema);
         k = pl_json_next_member(k))
        if (has_key(conv->doc, k, words))
            return FAULT_ALTERNATIVES;
    const struct pl_json_node *type = pl_conv_node(conv, schema, "type");
    bool is_object = pl_conv_says(conv, type, tool->is_openapi_schema ? "OBJECT" : "object") ||
                     pl_conv_says(conv, type, "object");
    return is_object ? FAULT_NONE : FAULT_TYPE;
}

static enum pl_status make_flat(struct pl_conv *conv, struct pl_tool *tool, struct pl_buf *to)
{
    struct flat f = {.conv = conv, .doc = conv->doc, .root = tool->schema.node};
    struct pl_json_doc json;
    struct pl_val text;
    if (tool->is_openapi_schema) {
        if (!pl_gemini_schema_to_json(conv, tool->schema, &text))
            return conv->status;
        enum pl_status status = pl_json_parse(conv->arena, text.str, &pl_json_made, &json, NULL);
        if (status != PL_OK)
            return status;
        f.doc = &json;
        f.root = json.root;
    }
    flatten(&f, to);
    return conv->status == PL_OK ? to->status : conv->status;
}

static void flatten_tool(struct pl_conv *conv, struct pl_tool *tool, enum fault fault)
{
    PL_CLEANUP_BUF struct pl_buf text;
    const struct pl_json_node *schema = tool->schema.node;
    pl_buf_init(&text, 0);
    enum pl_status status = make_flat(conv, tool, &text);
    struct pl_str kept =
        status == PL_OK ? pl_arena_dup(conv->arena, pl_buf_str(&text)) : (struct pl_str){0};
    if (!kept.ptr) {
        conv->status = PL_NOMEM;
        return;
    }
    const struct pl_json_node *type = pl_conv_node(conv, schema, "type");
    if (!tool->is_openapi_schema) /* a dialect has its fates from the translation */
        pl_conv_know_all(conv, schema);
    if (fault == FAULT_ALTERNATIVES)
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, schema,
                     "at its top, the schema of a tool is an object without alternatives; its "
                     "properties are listed together");
    else
        pl_conv_loss(conv, type ? PL_LOSS_APPROXIMATED : PL_LOSS_SYNTHESISED, type ? type : schema,
                     "the input of a tool is an object");
    const struct pl_json_node *nullable = pl_conv_node(conv, schema, "nullable");
    if (tool->is_openapi_schema && nullable)
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, nullable, "the input of a tool is not null");
    tool->schema = pl_val_json(kept);
    tool->is_openapi_schema = false;
    tool->is_changed = conv->settings.is_changed = true;
}

/* --- strict tools ---------------------------------------------------------------------------- */

struct walk {
    const struct pl_json_doc *doc;
    PL_VEC(const struct pl_json_node *) todo; /* owned; schemas to look at */
    bool is_full;                             /* out of memory */
};

static void look_at(struct walk *w, const struct pl_json_node *schema)
{
    if (pl_json_is(schema, PL_JSON_OBJECT) && !pl_vec_push(&w->todo, schema))
        w->is_full = true;
}

static void look_at_all(struct walk *w, const struct pl_json_node *list)
{
    if (pl_json_is(list, PL_JSON_OBJECT))
        for (const struct pl_json_node *k = pl_json_first_member(list); k < pl_json_end(list);
             k = pl_json_next_member(k))
            look_at(w, k + 1);
    else if (pl_json_is(list, PL_JSON_ARRAY))
        for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
             e = pl_json_next(e))
            look_at(w, e);
}

/* Whether a schema is one that OpenAI accepts as strict; lists the schemas in it. */
static bool is_strict(struct walk *w, const struct pl_json_node *schema)
{
    static const char *const refused[] = {"oneOf", "allOf", "not", "if", "patternProperties", NULL};
    static const char *const inner[] = {"properties", "anyOf", "$defs", "definitions", NULL};
    uint32_t n_properties = 0, n_required = 0;
    bool is_closed = true;
    for (const struct pl_json_node *k = pl_json_first_member(schema); k < pl_json_end(schema);
         k = pl_json_next_member(k)) {
        if (has_key(w->doc, k, refused))
            return false;
        if (pl_json_key_is(w->doc, k, PL_STR("properties"))) {
            n_properties = pl_json_count(k + 1);
            is_closed = false;
        }
        if (pl_json_key_is(w->doc, k, PL_STR("required")))
            n_required = pl_json_count(k + 1);
        if (pl_json_key_is(w->doc, k, PL_STR("items")))
            look_at(w, k + 1);
        if (has_key(w->doc, k, inner))
            look_at_all(w, k + 1);
    }
    const struct pl_json_node *more = pl_json_get(w->doc, schema, PL_STR("additionalProperties"));
    return n_required >= n_properties && (is_closed || pl_json_is(more, PL_JSON_FALSE));
}

/* Anthropic is strict with optional properties too; OpenAI is not. */
static void check_strict(struct pl_conv *conv, struct pl_tool *tool)
{
    struct walk w = {.doc = conv->doc};
    bool fits = true;
    if (!pl_json_is(tool->strict.node, PL_JSON_TRUE))
        return;
    if (tool->schema.kind == PL_VAL_NODE)
        look_at(&w, tool->schema.node);
    else
        fits = false; /* it was flattened */
    while (w.todo.len && fits && !w.is_full)
        fits = is_strict(&w, w.todo.ptr[--w.todo.len]);
    pl_vec_deinit(&w.todo);
    if (w.is_full)
        conv->status = PL_NOMEM;
    if (fits)
        return;
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED, tool->strict.node,
                 "OpenAI is strict only if all properties are required and no others are allowed");
    tool->strict = pl_val_json(PL_STR("false"));
}

void pl_format_flatten(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    bool is_openais =
        conversion->to == &pl_format_openai_chat || conversion->to == &pl_format_openai_responses;
    bool is_anthropics = conversion->to == &pl_format_anthropic;
    /* Servers that are compatible with Chat Completions accept more. */
    bool is_due = is_anthropics || (is_openais && conversion->from != conversion->to);
    if (!is_due || conversion->kind == PL_KIND_RESPONSE)
        return;
    for (size_t i = 0; i < conv->tools.len && conv->status == PL_OK; i++) {
        struct pl_tool *tool = &conv->tools.ptr[i];
        enum fault fault = fault_of(conv, tool);
        /* Anthropic's writer sees to the type in every mode. */
        if (fault == FAULT_ALTERNATIVES ||
            (fault == FAULT_TYPE && (!is_anthropics || tool->is_openapi_schema)))
            flatten_tool(conv, tool, fault);
        if (is_openais && conversion->from != conversion->to)
            check_strict(conv, tool);
    }
}
