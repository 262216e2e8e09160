/* Reading envelopes. Text and variables become text in place; memory, skills and tools without a
 * schema become text by template 1: a heading, a blank line, one line per item. Calls and results
 * are paired by callId, or without one by order within the tool's name. */
#include "format/envelope/envelope_int.h"

#include "conv/call_ids.h"
#include "json/text.h"

struct reading {
    struct pl_conv *conv;
    const struct pl_json_node *message;
    uint32_t element;
    enum pl_role role;
    bool is_speaking; /* the last message belongs to this one, is not a result, and may grow */
    enum pl_role speaker;
    bool is_answering; /* the last message is a result of a message of role tool, and may grow */
    bool has_messages; /* id and time are written */
};

static void add_message(struct reading *r, enum pl_role role)
{
    struct pl_message *m = pl_conv_add_message(r->conv, role, r->message, r->element);
    if (!r->has_messages) {
        m->id = pl_conv_get(r->conv, r->message, "id", PL_WANT_STRING);
        m->created_at = pl_conv_get(r->conv, r->message, "timestamp", PL_WANT_TIME);
        r->has_messages = true;
    }
}

/* Adds a part to the speaker's message, or to the result before it. */
static struct pl_part *add_part(struct reading *r, enum pl_part_kind kind,
                                const struct pl_json_node *segment)
{
    if (r->is_answering)
        return pl_conv_add_child(r->conv, kind, segment);
    enum pl_role role = kind == PL_PART_CALL ? PL_ROLE_ASSISTANT : r->role;
    /* Text in a tool's message before any result is for the model, not from a tool. */
    if (role == PL_ROLE_TOOL)
        role = PL_ROLE_USER;
    if (!r->is_speaking || r->speaker != role) {
        add_message(r, role);
        r->is_speaking = true;
        r->speaker = role;
    }
    return pl_conv_add_part(r->conv, kind, segment);
}

static void read_text(struct reading *r, const struct pl_json_node *segment)
{
    add_part(r, PL_PART_TEXT, segment)->text =
        pl_conv_get(r->conv, segment, "content", PL_WANT_STRING);
}

/* charCount repeats the length of the text. */
static void know_count(struct pl_conv *conv, const struct pl_json_node *segment)
{
    const struct pl_json_node *content = pl_conv_node(conv, segment, "content");
    const struct pl_json_node *count = pl_conv_node(conv, segment, "charCount");
    if (pl_json_is(content, PL_JSON_STRING) && pl_json_is(count, PL_JSON_NUMBER) &&
        pl_envelope_count_fits(conv, count, content, NULL))
        pl_conv_know(conv, count);
}

static void read_long_text(struct reading *r, const struct pl_json_node *segment)
{
    read_text(r, segment);
    know_count(r->conv, segment);
}

/* --- variables ------------------------------------------------------------------------------- */

static bool is_variable(const struct pl_conv *conv, const struct pl_json_node *segment)
{
    return pl_conv_says(conv, pl_conv_node(conv, segment, "kind"), "static_var");
}

static bool is_words(const struct pl_conv *conv, const struct pl_json_node *segment)
{
    static const char *const kinds[] = {"text", "long_text", "system_prompt", "static_var", NULL};
    return pl_conv_word(conv, pl_conv_node(conv, segment, "kind"), kinds) >= 0;
}

/* The number of segments from here on that form one text: a variable is part of a sentence, with
 * the text before and after it. 1 for a text of its own, 0 for other segments. */
static size_t count_run(const struct pl_conv *conv, const struct pl_json_node *segment,
                        const struct pl_json_node *end)
{
    size_t n = is_words(conv, segment);
    while (n) {
        const struct pl_json_node *next = pl_json_next(segment);
        bool is_glued = next < end && is_words(conv, next) &&
                        (is_variable(conv, segment) || is_variable(conv, next));
        if (!is_glued)
            break;
        segment = next;
        n++;
    }
    return n;
}

static struct pl_piece piece_of(struct pl_conv *conv, const struct pl_json_node *segment)
{
    bool is_var = is_variable(conv, segment);
    struct pl_piece piece = {
        .text = pl_conv_get(conv, segment, is_var ? "value" : "content", PL_WANT_STRING),
        .node = segment,
    };
    if (is_var) {
        piece.name = pl_conv_get(conv, segment, "name", PL_WANT_STRING);
        piece.about = pl_conv_get(conv, segment, "description", PL_WANT_STRING);
    }
    return piece;
}

/* Members that are not part of the prompt: the kind, and whether a person has folded the
 * segment. */
static void know_frame(struct pl_conv *conv, const struct pl_json_node *segment)
{
    pl_conv_know(conv, pl_conv_node(conv, segment, "kind"));
    pl_conv_know(conv, pl_conv_node(conv, segment, "collapsed"));
}

/* Reads n segments as one text; returns the last of them. */
static const struct pl_json_node *read_run(struct reading *r, const struct pl_json_node *segment,
                                           size_t n)
{
    struct pl_conv *conv = r->conv;
    const struct pl_json_node *first = segment, *last = segment;
    struct pl_piece *pieces = pl_arena_alloc(conv->arena, n, sizeof *pieces);
    if (!pieces) {
        conv->status = PL_NOMEM;
        return segment;
    }
    size_t n_said = 0;
    for (size_t i = 0; i < n; i++, segment = pl_json_next(segment)) {
        know_frame(conv, segment);
        know_count(conv, segment);
        pieces[n_said] = piece_of(conv, segment);
        n_said += pl_val_is_set(pieces[n_said].text);
        last = segment;
    }
    add_part(r, PL_PART_TEXT, first)->text =
        n_said ? (struct pl_val){.kind = PL_VAL_RUN, .pieces = pieces, .n_pieces = n_said}
               : (struct pl_val){0};
    return last;
}

/* Template 1 of the segments that are lists: "## Heading\n\n- name: words\n- name: words". */
static const struct list_template {
    const char *heading, *name, *words, *more;
} memory_template = {"## Memory", "title", "content", NULL},
  skills_template = {"## Skills", "name", "description", NULL},
  tools_template = {"## Tools", "name", "description", "parameters"};

/* The schema of a tool's input: its own member, or the parameters if they are a schema, not a
 * description. */
static struct pl_val schema_of(struct pl_conv *conv, const struct pl_json_node *item)
{
    struct pl_val schema = pl_conv_get(conv, item, "schema", PL_WANT_OBJECT);
    const struct pl_json_node *parameters = pl_conv_node(conv, item, "parameters");
    if (pl_val_is_set(schema) || !parameters)
        return schema;
    if (pl_json_is(parameters, PL_JSON_OBJECT))
        return pl_val_node(parameters);
    struct pl_str text = pl_conv_text(conv, pl_val_node(parameters));
    struct pl_json_doc doc;
    if (!text.len || text.ptr[0] != '{' ||
        pl_json_parse(conv->arena, text, &pl_json_any, &doc, NULL) != PL_OK ||
        !(pl_json_get(&doc, doc.root, PL_STR("type")) ||
          pl_json_get(&doc, doc.root, PL_STR("properties"))))
        return (struct pl_val){0};
    return (struct pl_val){.kind = PL_VAL_JSON, .node = parameters, .str = text};
}

static bool is_callable(struct pl_conv *conv, const struct pl_json_node *item)
{
    return pl_json_is(item, PL_JSON_OBJECT) && pl_val_is_set(schema_of(conv, item));
}

/* Writes a member of an item that its line holds. */
static struct pl_str say_member(struct pl_conv *conv, const struct pl_json_node *item,
                                const char *key)
{
    struct pl_val val = key ? pl_conv_get(conv, item, key, PL_WANT_ANY) : (struct pl_val){0};
    pl_conv_know(conv, val.node);
    return pl_conv_text(conv, val);
}

static void add_item(struct pl_conv *conv, struct pl_buf *text, const struct list_template *t,
                     const struct pl_json_node *item)
{
    pl_buf_adds(text, "\n- ");
    pl_buf_add(text, say_member(conv, item, t->name));
    struct pl_str words = say_member(conv, item, t->words);
    if (words.len) {
        pl_buf_adds(text, ": ");
        pl_buf_add(text, words);
    }
    struct pl_str more = say_member(conv, item, t->more);
    if (more.len) {
        pl_buf_adds(text, "\n  ");
        pl_buf_add(text, more);
    }
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED, item,
                 "written as text under the heading \"%s\" (template 1)", t->heading);
}

static void read_list(struct reading *r, const struct pl_json_node *segment,
                      const struct list_template *t)
{
    struct pl_conv *conv = r->conv;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, t->heading);
    struct pl_val said = pl_conv_get(conv, segment, "description", PL_WANT_STRING);
    struct pl_str description = pl_conv_text(conv, said);
    if (description.len) {
        pl_buf_adds(&text, "\n\n");
        pl_buf_add(&text, description);
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, said.node,
                     "written as text under the heading \"%s\" (template 1)", t->heading);
    }
    pl_buf_addc(&text, '\n');
    const struct pl_json_node *items = pl_conv_member(conv, segment, "items", PL_WANT_ARRAY);
    if (pl_json_is(items, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(items); n < pl_json_end(items);
             n = pl_json_next(n))
            if (t != &tools_template || !is_callable(conv, n))
                add_item(conv, &text, t, n);
    struct pl_str copy = pl_arena_dup(conv->arena, pl_buf_str(&text));
    if (text.status != PL_OK || !copy.ptr) {
        conv->status = PL_NOMEM;
        return;
    }
    add_part(r, PL_PART_TEXT, segment)->text = pl_val_text(copy);
}

static void read_memory(struct reading *r, const struct pl_json_node *segment)
{
    read_list(r, segment, &memory_template);
}

static void read_skills(struct reading *r, const struct pl_json_node *segment)
{
    read_list(r, segment, &skills_template);
}

/* Tools with a schema can be called; the others can only be described. */
static void read_tools(struct reading *r, const struct pl_json_node *segment)
{
    struct pl_conv *conv = r->conv;
    const struct pl_json_node *items = pl_conv_member(conv, segment, "items", PL_WANT_ARRAY);
    if (!pl_json_is(items, PL_JSON_ARRAY))
        return;
    bool is_told = false;
    const struct pl_json_node *end = pl_json_end(items);
    for (const struct pl_json_node *n = pl_json_first(items); n < end; n = pl_json_next(n)) {
        if (!is_callable(conv, n)) {
            is_told = true;
            continue;
        }
        struct pl_tool *tool = pl_conv_add_tool(conv, n);
        tool->name = pl_conv_get(conv, n, "name", PL_WANT_STRING);
        tool->description = pl_conv_get(conv, n, "description", PL_WANT_STRING);
        tool->schema = schema_of(conv, n);
        if (tool->schema.kind == PL_VAL_JSON)
            pl_conv_loss(conv, PL_LOSS_MOVED, tool->schema.node,
                         "the text is a JSON Schema; the tool is declared with it");
    }
    if (is_told || !pl_json_count(items))
        read_list(r, segment, &tools_template);
}

static void read_call(struct reading *r, const struct pl_json_node *segment)
{
    r->is_answering = false;
    struct pl_part *part = add_part(r, PL_PART_CALL, segment);
    part->id = pl_conv_get(r->conv, segment, "callId", PL_WANT_STRING);
    part->name = pl_conv_get(r->conv, segment, "toolName", PL_WANT_STRING);
    part->args = pl_conv_get(r->conv, segment, "arguments", PL_WANT_ANY);
}

static void read_result(struct reading *r, const struct pl_json_node *segment)
{
    struct pl_conv *conv = r->conv;
    add_message(r, PL_ROLE_TOOL);
    r->is_speaking = false;
    r->is_answering = r->role == PL_ROLE_TOOL;
    struct pl_part *part = pl_conv_add_part(conv, PL_PART_RESULT, segment);
    part->id = pl_conv_get(conv, segment, "callId", PL_WANT_STRING);
    part->name = pl_conv_get(conv, segment, "toolName", PL_WANT_STRING);
    const struct pl_json_node *success = pl_conv_member(conv, segment, "success", PL_WANT_BOOL);
    if (pl_json_is(success, PL_JSON_FALSE))
        part->is_error = (struct pl_flag){true, true, pl_val_node(success)};
    else
        pl_conv_know(conv, success);
    struct pl_val result = pl_conv_get(conv, segment, "result", PL_WANT_ANY);
    if (pl_val_is_set(result))
        pl_conv_add_child(conv, PL_PART_TEXT, NULL)->text = result;
}

static void read_document(struct reading *r, const struct pl_json_node *segment)
{
    struct pl_part *part = add_part(r, PL_PART_FILE, segment);
    part->name = pl_conv_get(r->conv, segment, "fileName", PL_WANT_STRING);
    part->mime = pl_conv_get(r->conv, segment, "mimeType", PL_WANT_STRING);
    part->text = pl_conv_get(r->conv, segment, "parsedContent", PL_WANT_STRING);
    if (!pl_val_is_set(part->text))
        part->text = pl_conv_get(r->conv, segment, "snippet", PL_WANT_STRING);
}

static void read_media(struct reading *r, const struct pl_json_node *segment)
{
    static const char *const words[] = {"image", "audio", "video", NULL};
    static const enum pl_part_kind kinds[] = {PL_PART_IMAGE, PL_PART_AUDIO, PL_PART_VIDEO};
    const struct pl_json_node *type = pl_conv_member(r->conv, segment, "mediaType", PL_WANT_STRING);
    int word = pl_conv_word(r->conv, type, words);
    if (word < 0)
        return;
    pl_conv_know(r->conv, type);
    struct pl_part *part = add_part(r, kinds[word], segment);
    part->url = pl_conv_get(r->conv, segment, "url", PL_WANT_STRING);
    if (pl_conv_data_url(r->conv, part->url, &part->mime, &part->data))
        part->url = (struct pl_val){0};
}

static const struct {
    const char *kind;
    void (*read)(struct reading *r, const struct pl_json_node *segment);
} segment_kinds[] = {
    {"text", read_text},
    {"system_prompt", read_text},
    {"memory", read_memory},
    {"skills", read_skills},
    {"tool_overview", read_tools},
    {"tool_call_request", read_call},
    {"tool_call_result", read_result},
    {"document", read_document},
    {"long_text", read_long_text},
    {"media", read_media},
};

static void read_segment(struct reading *r, const struct pl_json_node *segment)
{
    const struct pl_json_node *kind = pl_conv_member(r->conv, segment, "kind", PL_WANT_STRING);
    for (size_t i = 0; i < sizeof segment_kinds / sizeof *segment_kinds; i++)
        if (pl_conv_says(r->conv, kind, segment_kinds[i].kind)) {
            know_frame(r->conv, segment);
            segment_kinds[i].read(r, segment);
            return;
        }
}

static void read_message(struct pl_conv *conv, const struct pl_json_node *n, uint32_t element)
{
    static const char *const words[] = {"system", "user", "assistant", "tool", NULL};
    static const enum pl_role roles[] = {PL_ROLE_SYSTEM, PL_ROLE_USER, PL_ROLE_ASSISTANT,
                                         PL_ROLE_TOOL};
    const struct pl_json_node *role = pl_conv_member(conv, n, "role", PL_WANT_STRING);
    const struct pl_json_node *segments = pl_conv_member(conv, n, "segments", PL_WANT_ARRAY);
    int word = pl_conv_word(conv, role, words);
    if (word >= 0)
        pl_conv_know(conv, role);
    struct reading r = {.conv = conv,
                        .message = n,
                        .element = element,
                        .role = word >= 0 ? roles[word] : PL_ROLE_USER};
    if (!pl_json_is(segments, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *s = pl_json_first(segments); s < pl_json_end(segments);
         s = pl_json_next(s)) {
        size_t n_run = count_run(conv, s, pl_json_end(segments));
        if (n_run > 1 || (n_run && is_variable(conv, s)))
            s = read_run(&r, s, n_run);
        else
            read_segment(&r, s);
    }
}

enum pl_status pl_envelope_read(struct pl_conv *conv, enum pl_format_kind kind,
                                struct pl_error *err)
{
    (void)kind;
    const struct pl_json_node *root = conv->doc->root;
    const struct pl_json_node *list = pl_conv_node(conv, root, "messages");
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return pl_fail(err, PL_INVALID,
                       "not an envelope: there must be an object whose member \"messages\" is an "
                       "array of messages with segments");
    const struct pl_json_node *version = pl_conv_node(conv, root, "version");
    if (pl_conv_says(conv, version, "1.0"))
        pl_conv_know(conv, version);
    conv->settings.model = pl_conv_get(conv, root, "model", PL_WANT_STRING);
    conv->list = list;
    uint32_t element = 0;
    for (const struct pl_json_node *n = pl_json_first(list);
         n < pl_json_end(list) && conv->status == PL_OK; n = pl_json_next(n), element++) {
        if (!pl_json_is(n, PL_JSON_OBJECT))
            return pl_fail(
                err, PL_INVALID,
                "message %u is not an object; a message is {\"id\":…,\"role\":…,\"segments\":[…]}",
                element);
        read_message(conv, n, element);
    }
    pl_conv_give_ids(conv);
    return conv->status;
}
