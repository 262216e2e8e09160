/* The items that fill a context: each text, call, result and tool, with an estimate of its own
 * tokens. Their sum differs from the request, which has frames around them; the counts per kind
 * are exact. */
#include "http/json_members.h"
#include "json/text.h"
#include "service/sessions/view/view.h"
#include "tokens/tokens.h"

enum { MAX_ITEMS = 10, LABEL = 80, LONG_TEXT = 2000 };

struct item {
    struct pl_str turn_id, tool_call_id, label; /* arena; empty: not set */
    uint64_t n_tokens;
};

struct pl_context_items {
    struct item items[PL_SEGMENT_KIND_COUNT][MAX_ITEMS]; /* largest first */
    size_t n[PL_SEGMENT_KIND_COUNT];
};

struct gathering {
    struct pl_arena *arena;
    struct pl_count_rule rule;
    struct pl_context_items *to;
    const struct pl_json_doc *doc;
    struct pl_str turn_id;
    enum pl_status status;
};

/* The beginning of a text, on one line. */
static struct pl_str label_of(struct pl_str text)
{
    while (text.len && (unsigned char)text.ptr[0] <= ' ')
        text = pl_str_slice(text, 1, text.len);
    size_t n = 0;
    while (n < text.len && n < LABEL && text.ptr[n] != '\n')
        n++;
    while (n < text.len && ((unsigned char)text.ptr[n] & 0xC0) == 0x80)
        n++;
    return pl_str_slice(text, 0, n);
}

static void add(struct gathering *g, enum pl_segment_kind kind, struct pl_str call_id,
                struct pl_str label, struct pl_str text)
{
    struct pl_tally tally = {0};
    struct pl_context_items *to = g->to;
    if (g->status == PL_OK)
        g->status = pl_count_text(&g->rule, text, &tally.by[PL_TALLY_MESSAGES]);
    struct item item = {g->turn_id, call_id, label, pl_tally_total(&g->rule, &tally)};
    size_t at = to->n[kind] < MAX_ITEMS ? to->n[kind]++ : MAX_ITEMS;
    while (at > 0 && to->items[kind][at - 1].n_tokens < item.n_tokens) {
        if (at < MAX_ITEMS)
            to->items[kind][at] = to->items[kind][at - 1];
        at--;
    }
    if (at < MAX_ITEMS)
        to->items[kind][at] = item;
}

static struct pl_str text_of(struct gathering *g, const struct pl_json_node *object,
                             const char *name)
{
    struct pl_str text = {0};
    const struct pl_json_node *node = pl_json_member(g->doc, object, name, PL_JSON_STRING);
    if (node && pl_json_text(g->arena, g->doc, node, &text) != PL_OK)
        g->status = PL_NOMEM;
    return text;
}

static void add_call(struct gathering *g, const struct pl_json_node *call)
{
    struct pl_str id = text_of(g, call, "id"), name = text_of(g, call, "display_name");
    const struct pl_json_node *result = pl_json_get(g->doc, call, PL_STR("result"));
    if (!name.len)
        name = text_of(g, call, "tool_name");
    add(g, PL_SEGMENT_TOOL_CALL_REQUEST, id, name, text_of(g, call, "arguments"));
    if (result && pl_json_kind(result) != PL_JSON_NULL)
        add(g, PL_SEGMENT_TOOL_CALL_RESULT, id, name, pl_json_span(g->doc, result));
}

static void add_block(struct gathering *g, const struct pl_json_node *block, bool is_system)
{
    const struct pl_json_node *content = pl_json_get(g->doc, block, PL_STR("content"));
    struct pl_str type = text_of(g, block, "type"), text = text_of(g, block, "content");
    if (pl_str_eq(type, PL_STR("media")) && content)
        add(g, PL_SEGMENT_MEDIA, (struct pl_str){0}, PL_STR("media"), PL_STR(""));
    else if (text.len)
        add(g,
            is_system              ? PL_SEGMENT_SYSTEM_PROMPT
            : text.len > LONG_TEXT ? PL_SEGMENT_LONG_TEXT
                                   : PL_SEGMENT_TEXT,
            (struct pl_str){0}, label_of(text), text);
}

static void add_all(struct gathering *g, const struct pl_json_node *object, const char *name,
                    bool is_system)
{
    const struct pl_json_node *list = pl_json_member(g->doc, object, name, PL_JSON_ARRAY);
    bool is_calls = strcmp(name, "tool_calls") == 0;
    if (!list)
        return;
    for (const struct pl_json_node *one = pl_json_first(list); one < pl_json_end(list);
         one = pl_json_next(one)) {
        if (pl_json_kind(one) != PL_JSON_OBJECT)
            continue;
        if (is_calls)
            add_call(g, one);
        else
            add_block(g, one, is_system);
    }
}

static void add_turn(struct gathering *g, const struct pl_json_node *turn)
{
    const struct pl_json_node *role = pl_json_get(g->doc, turn, PL_STR("role"));
    g->turn_id = text_of(g, turn, "turn_id");
    add_all(g, turn, "blocks", role && pl_json_text_is(g->doc, role, PL_STR("system")));
    add_all(g, turn, "tool_calls", false);
}

static void add_tool(struct gathering *g, const struct pl_json_node *tool)
{
    g->turn_id = (struct pl_str){0};
    add(g, PL_SEGMENT_TOOL_OVERVIEW, (struct pl_str){0}, text_of(g, tool, "name"),
        pl_json_span(g->doc, tool));
}

static void add_memory(struct gathering *g, const struct pl_json_node *memory)
{
    struct pl_str text = text_of(g, memory, "content");
    g->turn_id = (struct pl_str){0};
    add(g, PL_SEGMENT_MEMORY, (struct pl_str){0}, label_of(text), text);
}

static void go_through(struct gathering *g, struct pl_str json,
                       void (*each)(struct gathering *g, const struct pl_json_node *one))
{
    struct pl_json_doc doc;
    if (!json.len || g->status != PL_OK)
        return;
    g->status = pl_json_parse(g->arena, json, &pl_json_own, &doc, NULL);
    g->doc = &doc;
    bool is_list = g->status == PL_OK && pl_json_kind(doc.root) == PL_JSON_ARRAY;
    for (const struct pl_json_node *one = is_list ? pl_json_first(doc.root) : NULL;
         is_list && one < pl_json_end(doc.root) && g->status == PL_OK; one = pl_json_next(one))
        if (pl_json_kind(one) == PL_JSON_OBJECT)
            each(g, one);
    g->doc = NULL;
}

enum pl_status pl_context_items_read(struct pl_arena *arena, const struct pl_request *request,
                                     const struct pl_counted *counted,
                                     struct pl_context_items **ret_items, struct pl_error *err)
{
    struct pl_tokens *tokens = NULL;
    struct pl_context_items *items = pl_arena_zalloc(arena, 1, sizeof *items);
    if (!items)
        return PL_NOMEM;
    struct gathering g = {.arena = arena, .to = items, .rule.counting = counted->counting};
    g.status = pl_tokens_create(counted->counting.encoding, &tokens);
    g.rule.tokens = tokens;
    if (g.status == PL_OK && request->system_prompt.len)
        add(&g, PL_SEGMENT_SYSTEM_PROMPT, (struct pl_str){0}, label_of(request->system_prompt),
            request->system_prompt);
    go_through(&g, request->turns, add_turn);
    go_through(&g, request->tools, add_tool);
    if (request->recall.n)
        go_through(&g, request->recall.refs, add_memory);
    pl_tokens_destroy(tokens);
    if (g.status != PL_OK)
        return pl_fail(err, g.status, "out of memory while the context was counted");
    *ret_items = items;
    return PL_OK;
}

void pl_context_items_write(struct pl_json_out *out, const struct pl_context_items *items,
                            enum pl_segment_kind kind)
{
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < items->n[kind]; i++) {
        const struct item *item = &items->items[kind][i];
        pl_json_out_open(out, '{');
        pl_put_text(out, "turn_id", item->turn_id.len ? item->turn_id : (struct pl_str){0});
        pl_put_text(out, "tool_call_id",
                    item->tool_call_id.len ? item->tool_call_id : (struct pl_str){0});
        pl_put_text(out, "label", item->label.len ? item->label : PL_STR(""));
        pl_put_int(out, "tokens", (int64_t)item->n_tokens);
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
}
