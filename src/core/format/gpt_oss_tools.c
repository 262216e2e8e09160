/* gpt-oss: tools as the TypeScript its models were taught.
 *
 *     namespace functions {
 *
 *     // Gets the weather.
 *     type get_weather = (_: {
 *     // Where
 *     city: string,
 *     unit?: "c" | "f",
 *     }) => any;
 *
 *     } // namespace functions
 *
 * A schema is walked with a stack of work of its own: what is to be written next is on top. */
#include "format/gpt_oss.h"

#include "format/tool_name.h"
#include "json/text.h"

enum work_kind { WRITE, TYPE, FIELD };

struct work {
    enum work_kind kind;
    const char *words;                 /* WRITE */
    const struct pl_json_node *node;   /* TYPE: a schema; FIELD: the key of a property */
    const struct pl_json_node *object; /* FIELD: the schema it is a property of */
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

/* What was pushed since `from` is to be done in the order it was pushed. */
static void turn_round(struct script *s, size_t from)
{
    for (size_t to = s->stack.len; from + 1 < to; from++, to--) {
        struct work swap = s->stack.ptr[from];
        s->stack.ptr[from] = s->stack.ptr[to - 1];
        s->stack.ptr[to - 1] = swap;
    }
}

static void write_comment(struct script *s, const struct pl_json_node *text)
{
    if (!text || pl_json_kind(text) != PL_JSON_STRING)
        return;
    struct pl_str words = pl_conv_text(s->conv, pl_val_node(text));
    pl_buf_adds(s->to, "// ");
    for (size_t i = 0; i < words.len; i++) {
        pl_buf_addc(s->to, words.ptr[i]);
        if (words.ptr[i] == '\n')
            pl_buf_adds(s->to, "// ");
    }
    pl_buf_addc(s->to, '\n');
}

/* The values of an enum, or the alternatives of a union; a union is put in brackets only where
 * something follows it, so the caller does that. */
static void push_list(struct script *s, const struct pl_json_node *list, bool is_enum)
{
    size_t from = s->stack.len;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        if (n != pl_json_first(list))
            push_words(s, " | ");
        if (is_enum) {
            struct pl_str span = pl_json_span(s->conv->doc, n);
            push_words(s, pl_conv_printf(s->conv, "%.*s", PL_STR_ARG(span)).ptr);
        } else {
            push(s, (struct work){.kind = TYPE, .node = n});
        }
    }
    turn_round(s, from);
}

/* In small letters, or in capitals as Gemini has them. */
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
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_type(conv, type, types[i].lower, types[i].upper))
            return types[i].words;
    return "any";
}

static void push_object(struct script *s, const struct pl_json_node *schema,
                        const struct pl_json_node *properties)
{
    size_t from = s->stack.len;
    push_words(s, "{\n");
    for (const struct pl_json_node *key = pl_json_first_member(properties);
         key < pl_json_end(properties); key = pl_json_next_member(key))
        push(s, (struct work){.kind = FIELD, .node = key, .object = schema});
    push_words(s, "}");
    turn_round(s, from);
}

static bool is_list(const struct pl_json_node *n)
{
    return n && pl_json_kind(n) == PL_JSON_ARRAY && pl_json_count(n);
}

/* {"type":["string","null"]} */
static void push_types(struct script *s, const struct pl_json_node *types)
{
    size_t from = s->stack.len;
    for (const struct pl_json_node *n = pl_json_first(types); n < pl_json_end(types);
         n = pl_json_next(n)) {
        if (n != pl_json_first(types))
            push_words(s, " | ");
        push_words(s, plain_type(s->conv, n));
    }
    turn_round(s, from);
}

static void write_type(struct script *s, const struct pl_json_node *schema)
{
    struct pl_conv *conv = s->conv;
    const struct pl_json_node *type = pl_conv_node(conv, schema, "type");
    const struct pl_json_node *values = pl_conv_node(conv, schema, "enum");
    const struct pl_json_node *any = pl_conv_node(conv, schema, "anyOf");
    const struct pl_json_node *one = pl_conv_node(conv, schema, "oneOf");
    const struct pl_json_node *properties = pl_conv_node(conv, schema, "properties");
    const struct pl_json_node *items = pl_conv_node(conv, schema, "items");
    if (is_list(values)) {
        push_list(s, values, true);
    } else if (is_list(any) || is_list(one)) {
        push_list(s, is_list(any) ? any : one, false);
    } else if (properties && pl_json_kind(properties) == PL_JSON_OBJECT) {
        push_object(s, schema, properties);
    } else if (is_type(conv, type, "array", "ARRAY")) {
        push_words(s, ">");
        if (items)
            push(s, (struct work){.kind = TYPE, .node = items});
        else
            push_words(s, "any");
        push_words(s, "Array<");
    } else if (is_list(type)) {
        push_types(s, type);
    } else {
        pl_buf_adds(s->to, plain_type(conv, type));
    }
}

static bool is_required(struct pl_conv *conv, const struct pl_json_node *object,
                        const struct pl_json_node *key)
{
    const struct pl_json_node *required = pl_conv_node(conv, object, "required");
    if (!is_list(required))
        return false;
    for (const struct pl_json_node *n = pl_json_first(required); n < pl_json_end(required);
         n = pl_json_next(n))
        if (pl_json_kind(n) == PL_JSON_STRING && pl_json_text_same(conv->doc, n, conv->doc, key))
            return true;
    return false;
}

static void write_field(struct script *s, const struct work *field)
{
    const struct pl_json_node *schema = field->node + 1;
    write_comment(s, pl_conv_node(s->conv, schema, "description"));
    pl_buf_add(s->to, pl_json_raw(s->conv->doc, field->node));
    pl_buf_adds(s->to, is_required(s->conv, field->object, field->node) ? ": " : "?: ");
    push_words(s, ",\n");
    push(s, (struct work){.kind = TYPE, .node = schema});
}

static void write_schema(struct script *s, const struct pl_json_node *schema)
{
    push(s, (struct work){.kind = TYPE, .node = schema});
    while (s->stack.len && s->conv->status == PL_OK) {
        struct work work = s->stack.ptr[--s->stack.len];
        if (work.kind == WRITE)
            pl_buf_adds(s->to, work.words);
        else if (work.kind == TYPE)
            write_type(s, work.node);
        else
            write_field(s, &work);
    }
}

static void write_tool(struct script *s, const struct pl_tool *tool)
{
    struct pl_conv *conv = s->conv;
    struct pl_str name = pl_tool_name(conv, tool->name, 64);
    write_comment(s, tool->description.node);
    pl_buf_addf(s->to, "type %.*s = (", PL_STR_ARG(name));
    const struct pl_json_node *properties = pl_conv_node(conv, tool->schema.node, "properties");
    if (properties && pl_json_is_container(properties) && pl_json_count(properties)) {
        pl_buf_adds(s->to, "_: ");
        write_schema(s, tool->schema.node);
    }
    pl_buf_adds(s->to, ") => any;\n\n");
    pl_conv_know(conv, tool->name.node);
    pl_conv_know(conv, tool->description.node);
    if (pl_val_is_set(tool->schema))
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, tool->schema.node,
                     "the schema is written as a type of TypeScript, without its other rules");
}

bool pl_gpt_oss_tools(struct pl_conv *conv, struct pl_buf *to)
{
    struct script s = {.conv = conv, .to = to};
    bool has_any = false;
    for (size_t i = 0; i < conv->tools.len && conv->status == PL_OK; i++) {
        const struct pl_tool *tool = &conv->tools.ptr[i];
        if (tool->is_hosted || tool->is_custom)
            continue;
        if (!has_any)
            pl_buf_adds(to, "# Tools\n\n## functions\n\nnamespace functions {\n\n");
        has_any = true;
        write_tool(&s, tool);
    }
    if (has_any)
        pl_buf_adds(to, "} // namespace functions");
    pl_vec_deinit(&s.stack);
    return has_any;
}
