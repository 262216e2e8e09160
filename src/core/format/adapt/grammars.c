/* Structured outputs of Anthropic: additionalProperties must be false in every object, and there
 * are no bounds of numbers, texts, lists and objects (but minItems 0 and 1). Its SDK rewrites
 * schemas in the same way (lib/transform-json-schema). Recursive schemas stay: no finite one says
 * the same. */
#include "format/adapt/grammars.h"

#include "format/gemini/schema.h"
#include "json/edit/edit.h"

struct grammar {
    struct pl_conv *conv;
    const struct pl_json_node *source; /* the schema in the document; NULL: it was in a dialect, or
                                          is flattened (schemas.h) */
    struct pl_json_doc doc;            /* of a copy of the schema */
    char *text;                        /* of the copy */
    struct pl_json_edit edit;
    PL_VEC(const struct pl_json_node *) todo; /* owned; schemas to look at */
    bool is_input;                            /* the input of a tool: its root is an object */
    bool is_changed;
};

static bool is_key(const struct grammar *g, const struct pl_json_node *key,
                   const char *const words[])
{
    for (int i = 0; words[i]; i++)
        if (pl_json_key_is(&g->doc, key, pl_str_of(words[i])))
            return true;
    return false;
}

static void look_at(struct grammar *g, const struct pl_json_node *schema)
{
    if (pl_json_is(schema, PL_JSON_OBJECT) && !pl_vec_push(&g->todo, schema))
        g->conv->status = PL_NOMEM;
}

static void look_at_all(struct grammar *g, const struct pl_json_node *list)
{
    if (pl_json_is(list, PL_JSON_OBJECT))
        for (const struct pl_json_node *k = pl_json_first_member(list); k < pl_json_end(list);
             k = pl_json_next_member(k))
            look_at(g, k + 1);
    else if (pl_json_is(list, PL_JSON_ARRAY))
        for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
             e = pl_json_next(e))
            look_at(g, e);
}

/* Reports a value of the copy at its place in the source. */
static void report(struct grammar *g, enum pl_loss_code code, const struct pl_json_node *at,
                   const char *why)
{
    g->is_changed = true;
    if (g->source)
        pl_conv_loss(g->conv, code, g->source + (at - g->doc.root), "%s", why);
}

static bool is_refused(const struct grammar *g, const struct pl_json_node *key)
{
    static const char *const bounds[] = {"minimum",          "maximum",       "exclusiveMinimum",
                                         "exclusiveMaximum", "multipleOf",    "minLength",
                                         "maxLength",        "maxItems",      "uniqueItems",
                                         "minProperties",    "maxProperties", NULL};
    static const char *const least[] = {"minItems", NULL};
    struct pl_str number = pl_json_span(&g->doc, key + 1);
    if (is_key(g, key, least))
        return !pl_str_eq(number, PL_STR("0")) && !pl_str_eq(number, PL_STR("1"));
    return is_key(g, key, bounds);
}

static bool says_object(const struct grammar *g, const struct pl_json_node *type)
{
    return type && pl_str_eq(pl_json_span(&g->doc, type), PL_STR("\"object\""));
}

/* The input of a tool is an object; the writer says the same of schemas that stay as they are. */
static enum pl_status require_object(struct grammar *g)
{
    const struct pl_json_node *type = pl_json_get(&g->doc, g->doc.root, PL_STR("type"));
    struct pl_str object = PL_STR("\"object\"");
    if (!g->is_input || says_object(g, type))
        return PL_OK;
    if (type) {
        report(g, PL_LOSS_APPROXIMATED, type,
               "the input of a tool is an object at Anthropic; the type is written as \"object\"");
        return pl_json_edit_set_node(&g->edit, type, object, NULL);
    }
    report(g, PL_LOSS_SYNTHESISED, g->doc.root,
           "Anthropic requires the type of an input schema; it is \"object\"");
    return pl_json_edit_insert_before(&g->edit, g->doc.root, NULL, PL_STR("type"), object, NULL);
}

/* Closes an object: the schema says all its members. */
static enum pl_status close_object(struct grammar *g, const struct pl_json_node *schema)
{
    struct pl_str closed = PL_STR("false");
    const struct pl_json_node *more = pl_json_get(&g->doc, schema, PL_STR("additionalProperties"));
    const struct pl_json_node *type = pl_json_get(&g->doc, schema, PL_STR("type"));
    bool is_object = (g->is_input && schema == g->doc.root) || says_object(g, type) ||
                     pl_json_get(&g->doc, schema, PL_STR("properties"));
    if (!is_object || pl_json_is(more, PL_JSON_FALSE))
        return PL_OK;
    report(g, more ? PL_LOSS_APPROXIMATED : PL_LOSS_SYNTHESISED, more ? more : schema,
           "Anthropic accepts only objects without additional properties");
    if (more)
        return pl_json_edit_set_node(&g->edit, more, closed, NULL);
    return pl_json_edit_insert_before(&g->edit, schema, NULL, PL_STR("additionalProperties"),
                                      closed, NULL);
}

static enum pl_status fit_schema(struct grammar *g, const struct pl_json_node *schema)
{
    static const char *const inner[] = {"properties", "anyOf",       "oneOf", "allOf",
                                        "$defs",      "definitions", NULL};
    static const char *const one_of[] = {"oneOf", NULL}, *const items[] = {"items", NULL};
    enum pl_status status = close_object(g, schema);
    for (const struct pl_json_node *k = pl_json_first_member(schema);
         k < pl_json_end(schema) && status == PL_OK; k = pl_json_next_member(k)) {
        if (is_key(g, k, inner))
            look_at_all(g, k + 1);
        else if (is_key(g, k, items))
            look_at(g, k + 1);
        if (is_key(g, k, one_of) && !pl_json_get(&g->doc, schema, PL_STR("anyOf")) &&
            !(k->tag & PL_JSON_ESCAPED)) {
            report(g, PL_LOSS_APPROXIMATED, k + 1, "oneOf is written as anyOf");
            memcpy(g->text + k->off, "\"anyOf\"", k->len);
        }
        if (!is_refused(g, k))
            continue;
        report(g, PL_LOSS_DROPPED, k + 1, "Anthropic accepts no such bound in this schema");
        status = pl_json_edit_remove_node(&g->edit, schema, k, NULL);
    }
    return status;
}

/* The schema as JSON; nothing if it is not an object. */
static struct pl_str text_of(struct pl_conv *conv, const struct pl_val *schema, bool is_openapi)
{
    struct pl_val json = *schema;
    if (schema->kind == PL_VAL_JSON)
        return schema->str;
    if (!pl_json_is(schema->node, PL_JSON_OBJECT))
        return (struct pl_str){0};
    if (!is_openapi)
        return pl_json_span(conv->doc, schema->node);
    return pl_gemini_schema_to_json(conv, *schema, &json) ? json.str : (struct pl_str){0};
}

/* Rewrites a schema in place. `tool`: it is the input of this tool; NULL: of the answer. */
static void fit(struct pl_conv *conv, struct pl_val *schema, bool *is_openapi,
                const struct pl_tool *tool)
{
    bool is_said = schema->kind == PL_VAL_NODE && !*is_openapi;
    struct grammar g = {
        .conv = conv, .source = is_said ? schema->node : NULL, .is_input = tool != NULL};
    const struct pl_json_node *node = schema->node;
    PL_CLEANUP_BUF struct pl_buf out;
    struct pl_str text = text_of(conv, schema, *is_openapi);
    if (!text.len)
        return;
    pl_buf_init(&out, 0);
    struct pl_str copy = pl_arena_dup(conv->arena, text);
    g.text = (char *)(uintptr_t)copy.ptr;
    enum pl_status status =
        copy.ptr ? pl_json_parse(conv->arena, copy, &pl_json_made, &g.doc, NULL) : PL_NOMEM;
    pl_json_edit_init(&g.edit, conv->arena, &g.doc);
    if (status == PL_OK && g.source && g.doc.n_nodes != node->skip)
        status = PL_INTERNAL;
    if (status == PL_OK)
        status = require_object(&g);
    if (status == PL_OK)
        look_at(&g, g.doc.root);
    while (status == PL_OK && conv->status == PL_OK && g.todo.len)
        status = fit_schema(&g, g.todo.ptr[--g.todo.len]);
    if (status == PL_OK && g.is_changed)
        status = pl_json_edit_write(&g.edit, &out);
    struct pl_str made = {0};
    if (status == PL_OK && g.is_changed)
        made = pl_arena_dup(conv->arena, pl_buf_str(&out));
    if (status == PL_NOMEM || (g.is_changed && !made.ptr))
        conv->status = PL_NOMEM;
    if (status == PL_OK && g.is_changed && conv->status == PL_OK) {
        if (g.source)
            pl_conv_know_all(conv, node);
        else
            pl_conv_loss(conv, PL_LOSS_APPROXIMATED,
                         node   ? node
                         : tool ? tool->node
                                : NULL,
                         "Anthropic accepts no bounds and no open objects in this schema");
        *schema = pl_val_json(made);
        *is_openapi = false;
    }
    pl_json_edit_deinit(&g.edit);
    pl_vec_deinit(&g.todo);
}

void pl_format_fit_grammars(struct pl_conv *conv, const struct pl_conversion *conversion)
{
    struct pl_settings *s = &conv->settings;
    if (conversion->to != &pl_format_anthropic || conversion->from == conversion->to ||
        conversion->kind == PL_KIND_RESPONSE)
        return;
    if (s->output == PL_OUTPUT_SCHEMA)
        fit(conv, &s->output_schema, &s->is_openapi_output, NULL);
    for (size_t i = 0; i < conv->tools.len && conv->status == PL_OK; i++) {
        struct pl_tool *tool = &conv->tools.ptr[i];
        if (pl_json_is(tool->strict.node, PL_JSON_TRUE) && !tool->is_hosted)
            fit(conv, &tool->schema, &tool->is_openapi_schema, tool);
    }
}
