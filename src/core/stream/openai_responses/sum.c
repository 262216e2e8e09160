/* Responses streams, added up. The last event has the whole response, and the `done` of each item
 * has the whole item. So deltas count only where these are missing: when the stream broke off, or
 * when a server's last event is empty. Content that is only in a delta is a stray. */
#include "stream/openai_responses/read_int.h"

#include "stream/pick.h"
#include "stream/sum.h"

static struct pl_str raw_of(const struct pl_json_doc *doc, const char *key)
{
    return pl_pick_raw(doc, pl_json_get(doc, doc->root, pl_str_of(key)));
}

static int64_t count_of(const struct pl_json_doc *doc, const char *key)
{
    return pl_pick_count(doc, pl_json_get(doc, doc->root, pl_str_of(key)));
}

/* ---- items ---- */

static struct pl_tree *items_of(struct pl_sum *sum)
{
    struct pl_responses_sum *state = sum->state;
    if (!state->items)
        state->items = pl_tree_new(&sum->trees, PL_TREE_ARRAY);
    return state->items;
}

/* Index of an event's item in the list of items; -1: not found. */
static int64_t item_at(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    struct pl_tree *items = items_of(sum);
    int64_t index = count_of(doc, "output_index");
    struct pl_str id = raw_of(doc, "item_id");
    if (index >= 0 || !items)
        return items && index < items->n ? index : -1;
    for (uint32_t i = items->n; i-- > 0;)
        if (id.len && pl_tree_is(pl_tree_get(items->kids[i], PL_STR("id")), id))
            return i;
    return (int64_t)items->n - 1;
}

/* Keeps members that the deltas of a part had and the complete part lacks. */
static void keep_said(struct pl_sum *sum, const struct pl_tree *before, struct pl_tree *now)
{
    static const struct pl_str lists[] = {{"annotations", 11}, {"logprobs", 8}};
    const struct pl_tree *old = pl_tree_get_kind(before, PL_STR("content"), PL_TREE_ARRAY);
    const struct pl_tree *parts = pl_tree_get_kind(now, PL_STR("content"), PL_TREE_ARRAY);
    for (uint32_t i = 0; old && parts && i < old->n && i < parts->n; i++)
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
            struct pl_tree *said = pl_tree_get_kind(old->kids[i], lists[k], PL_TREE_ARRAY);
            const struct pl_tree *is = pl_tree_get_kind(parts->kids[i], lists[k], PL_TREE_ARRAY);
            if (said && said->n && !(is && is->n))
                pl_tree_set(&sum->trees, parts->kids[i], lists[k], said);
        }
}

static void take_item(struct pl_sum *sum, const struct pl_json_doc *doc, bool is_new)
{
    const struct pl_json_node *item = pl_json_get(doc, doc->root, PL_STR("item"));
    struct pl_tree *items = items_of(sum);
    if (!pl_json_is(item, PL_JSON_OBJECT) || !items)
        return;
    int64_t index = count_of(doc, "output_index"), at = index;
    struct pl_tree *made = pl_tree_copy(&sum->trees, doc, item);
    if (index < 0)
        at = is_new ? (int64_t)items->n : item_at(sum, doc);
    if (at < 0 || at >= items->n || !made) {
        pl_tree_push(&sum->trees, items, made);
        return;
    }
    keep_said(sum, items->kids[at], made);
    made->parent = items;
    made->at = (uint32_t)at;
    items->kids[at] = made;
}

/* ---- parts and deltas ---- */

/* The n-th object in a list of an item, made if missing. */
static struct pl_tree *part_at(struct pl_sum *sum, struct pl_tree *item, struct pl_str list_key,
                               int64_t at)
{
    struct pl_tree *list = pl_tree_need(&sum->trees, item, list_key, PL_TREE_ARRAY);
    if (!list)
        return NULL;
    if (at < 0 || at >= list->n) {
        pl_tree_push(&sum->trees, list, pl_tree_new(&sum->trees, PL_TREE_OBJECT));
        at = (int64_t)list->n - 1;
    }
    return at >= 0 ? list->kids[at] : NULL;
}

/* Where the text of a delta type goes in the item. */
struct words_at {
    struct pl_str event, list, type, key;
    const char *index;
};
#define AT(event, list, type, key, index)                                                          \
    {                                                                                              \
        {event, sizeof(event) - 1}, {list, sizeof(list) - 1}, {type, sizeof(type) - 1},            \
            {key, sizeof(key) - 1}, index                                                          \
    }
static const struct words_at places[] = {
    AT("response.output_text.delta", "content", "output_text", "text", "content_index"),
    AT("response.refusal.delta", "content", "refusal", "refusal", "content_index"),
    AT("response.reasoning_text.delta", "content", "reasoning_text", "text", "content_index"),
    AT("response.reasoning_summary_text.delta", "summary", "summary_text", "text", "summary_index"),
    AT("response.function_call_arguments.delta", "", "", "arguments", NULL),
    AT("response.custom_tool_call_input.delta", "", "", "input", NULL),
    AT("response.mcp_call_arguments.delta", "", "", "arguments", NULL),
    AT("response.code_interpreter_call_code.delta", "", "", "code", NULL),
};

static const struct words_at *place_of(struct pl_str event)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (pl_str_eq(places[i].event, event))
            return &places[i];
    return NULL;
}

static void say_part(struct pl_sum *sum, const struct pl_json_doc *doc, struct pl_tree *item,
                     const struct words_at *at, struct pl_str words)
{
    const struct pl_json_node *logprobs = pl_json_get(doc, doc->root, PL_STR("logprobs"));
    struct pl_tree *to =
        at->list.len ? part_at(sum, item, at->list, count_of(doc, at->index)) : item;
    if (at->list.len && !pl_tree_get(to, PL_STR("type")))
        pl_tree_set(&sum->trees, to, PL_STR("type"), pl_tree_text(&sum->trees, at->type));
    pl_tree_say(&sum->trees, pl_tree_need(&sum->trees, to, at->key, PL_TREE_TEXT), words);
    if (!pl_json_is(logprobs, PL_JSON_ARRAY) || !pl_json_count(logprobs))
        return;
    struct pl_tree *list = pl_tree_need(&sum->trees, to, PL_STR("logprobs"), PL_TREE_ARRAY);
    for (const struct pl_json_node *n = pl_json_first(logprobs); n < pl_json_end(logprobs);
         n = pl_json_next(n))
        pl_tree_push(&sum->trees, list, pl_tree_copy(&sum->trees, doc, n));
}

/* Collects delta text of one type for one place. At the end, some event must have that text
 * whole. */
static void note_words(struct pl_sum *sum, const struct pl_json_doc *doc, struct pl_str type,
                       int64_t at, struct pl_str words)
{
    struct pl_responses_sum *state = sum->state;
    int64_t sub = count_of(doc, "content_index") >= 0   ? count_of(doc, "content_index")
                  : count_of(doc, "summary_index") >= 0 ? count_of(doc, "summary_index")
                                                        : count_of(doc, "command_index");
    struct pl_responses_run *run = NULL;
    /* A few parallel calls may alternate. */
    for (size_t i = state->n_runs; i-- > 0 && i + 64 >= state->n_runs && !run;)
        if (state->runs[i].item == at && state->runs[i].sub == sub &&
            pl_str_eq(state->runs[i].type, type))
            run = &state->runs[i];
    if (!run) {
        if (state->n_runs == PL_RESPONSES_SUM_MAX_RUNS) {
            sum->trees.status = PL_LIMIT;
            return;
        }
        run = &state->runs[state->n_runs++];
        *run = (struct pl_responses_run){.item = at,
                                         .sub = sub,
                                         .type = pl_arena_dup(&sum->trees.arena, type),
                                         .words = pl_tree_new(&sum->trees, PL_TREE_TEXT)};
    }
    pl_tree_say(&sum->trees, run->words, words);
}

static void take_delta(struct pl_sum *sum, const struct pl_json_doc *doc, struct pl_str type)
{
    const struct words_at *place = place_of(type);
    struct pl_str words = raw_of(doc, "delta");
    int64_t at = item_at(sum, doc);
    if (!words.len)
        return;
    if (at < 0) {
        /* Some servers never announce an item. */
        pl_tree_push(&sum->trees, items_of(sum), pl_tree_new(&sum->trees, PL_TREE_OBJECT));
        at = items_of(sum) ? (int64_t)items_of(sum)->n - 1 : -1;
    }
    if (at < 0)
        return;
    struct pl_tree *item = items_of(sum)->kids[at];
    if (place && !pl_tree_get(item, PL_STR("type")))
        pl_tree_set(&sum->trees, item, PL_STR("type"),
                    pl_tree_text(&sum->trees,
                                 place->list.len ? PL_STR("message") : PL_STR("function_call")));
    if (place)
        say_part(sum, doc, item, place, words);
    note_words(sum, doc, type, at, words);
}

static void take_part(struct pl_sum *sum, const struct pl_json_doc *doc, struct pl_str type)
{
    const struct pl_json_node *part = pl_json_get(doc, doc->root, PL_STR("part"));
    bool is_summary = pl_str_starts(type, PL_STR("response.reasoning_summary_part"));
    int64_t item = item_at(sum, doc);
    int64_t at = count_of(doc, is_summary ? "summary_index" : "content_index");
    if (item < 0 || !pl_json_is(part, PL_JSON_OBJECT))
        return;
    struct pl_tree *to = part_at(sum, items_of(sum)->kids[item],
                                 is_summary ? PL_STR("summary") : PL_STR("content"), at);
    for (const struct pl_json_node *k = pl_json_first_member(part); k < pl_json_end(part);
         k = pl_json_next_member(k)) {
        bool is_empty = (k + 1)->len <= 2 || (pl_json_is_container(k + 1) && (k + 1)->skip == 1);
        if (!is_empty || !pl_tree_get(to, pl_json_raw(doc, k)))
            pl_sum_keep(sum, to, pl_json_raw(doc, k), doc, k + 1);
    }
}

static void take_annotation(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    const struct pl_json_node *annotation = pl_json_get(doc, doc->root, PL_STR("annotation"));
    int64_t item = item_at(sum, doc);
    if (item < 0 || !annotation) {
        pl_sum_stray(sum, PL_LOSS_DROPPED, "an annotation belongs to no item", (struct pl_str){0},
                     "/output");
        return;
    }
    struct pl_tree *part =
        part_at(sum, items_of(sum)->kids[item], PL_STR("content"), count_of(doc, "content_index"));
    pl_tree_push(&sum->trees, pl_tree_need(&sum->trees, part, PL_STR("annotations"), PL_TREE_ARRAY),
                 pl_tree_copy(&sum->trees, doc, annotation));
}

/* ---- events ---- */

/* Members that are in the item or the response anyway, or only identify them. */
static const struct pl_sum_kind grammar[] = {
    PL_SUM_KIND("type", PL_SUM_TEXT),
    PL_SUM_KIND("item_id", PL_SUM_TEXT),
    PL_SUM_KIND("output_index", PL_SUM_NUMBER),
    PL_SUM_KIND("content_index", PL_SUM_NUMBER),
    PL_SUM_KIND("summary_index", PL_SUM_NUMBER),
    PL_SUM_KIND("delta", PL_SUM_TEXT),
    PL_SUM_KIND("item", PL_SUM_OBJECT),
    PL_SUM_KIND("part", PL_SUM_OBJECT),
    PL_SUM_KIND("response", PL_SUM_OBJECT),
    PL_SUM_KIND("sequence_number", PL_SUM_NUMBER),
    PL_SUM_KIND("text", PL_SUM_TEXT),
    PL_SUM_KIND("arguments", PL_SUM_TEXT),
    PL_SUM_KIND("input", PL_SUM_TEXT),
    PL_SUM_KIND("refusal", PL_SUM_TEXT),
    PL_SUM_KIND("obfuscation", PL_SUM_TEXT),
    PL_SUM_KIND("annotation", PL_SUM_OBJECT),
    PL_SUM_KIND("code", PL_SUM_TEXT),
    PL_SUM_KIND("annotation_index", PL_SUM_NUMBER),
    PL_SUM_KIND("logprobs", PL_SUM_LIST),
    PL_SUM_KIND("command_index", PL_SUM_NUMBER),
    PL_SUM_KIND("diff", PL_SUM_TEXT),
    PL_SUM_KIND("command", PL_SUM_TEXT),
    PL_SUM_KIND("output", PL_SUM_LIST | PL_SUM_TEXT | PL_SUM_OBJECT),
    PL_SUM_KIND("partial_image_index", PL_SUM_NUMBER),
};

static bool is_grammar(struct pl_str key)
{
    for (size_t i = 0; i < sizeof grammar / sizeof *grammar; i++)
        if (pl_str_eq(key, grammar[i].key))
            return true;
    return false;
}

static void find_strays(struct pl_sum *sum, const struct pl_json_doc *doc, struct pl_str type)
{
    for (const struct pl_json_node *k = pl_json_first_member(doc->root); k < pl_json_end(doc->root);
         k = pl_json_next_member(k)) {
        bool fits = pl_sum_fits(sum, grammar, sizeof grammar / sizeof *grammar, sum->answer,
                                pl_json_raw(doc, k), k + 1);
        if (!fits || is_grammar(pl_json_raw(doc, k)) || pl_json_kind(k + 1) == PL_JSON_NULL)
            continue;
        int64_t item = item_at(sum, doc);
        if (!pl_json_get(doc, doc->root, PL_STR("output_index")) || item < 0)
            pl_sum_stray(sum, PL_LOSS_DROPPED, "an answer has no place for a member of the event",
                         type, "%s", "");
        else
            pl_sum_stray(sum, PL_LOSS_DROPPED, "an answer has no place for a member of the event",
                         type, "/output/%lld", (long long)item);
    }
}

static void take_response(struct pl_sum *sum, const struct pl_json_doc *doc, struct pl_str type)
{
    const struct pl_json_node *response = pl_json_get(doc, doc->root, PL_STR("response"));
    if (pl_json_is(response, PL_JSON_OBJECT))
        sum->answer = pl_tree_copy(&sum->trees, doc, response);
    bool is_failed = pl_str_eq(type, PL_STR("response.failed"));
    sum->is_over = is_failed || pl_str_eq(type, PL_STR("response.completed")) ||
                   pl_str_eq(type, PL_STR("response.incomplete"));
    sum->is_failed = is_failed;
}

void pl_responses_sum(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    struct pl_str type = raw_of(doc, "type");
    const struct pl_json_node *error = pl_json_get(doc, doc->root, PL_STR("error"));
    if (!type.len && !error)
        type = sum->type;
    if (pl_str_eq(type, PL_STR("error")) || (!type.len && error)) {
        pl_tree_set(
            &sum->trees, sum->answer, PL_STR("error"),
            pl_tree_copy(&sum->trees, doc, pl_json_is(error, PL_JSON_OBJECT) ? error : doc->root));
        sum->is_over = sum->is_failed = true;
        return;
    }
    if (pl_json_get(doc, doc->root, PL_STR("response")))
        take_response(sum, doc, type);
    else if (pl_str_eq(type, PL_STR("response.output_item.added")))
        take_item(sum, doc, true);
    else if (pl_str_eq(type, PL_STR("response.output_item.done")))
        take_item(sum, doc, false);
    else if (pl_json_get(doc, doc->root, PL_STR("part")))
        take_part(sum, doc, type);
    else if (pl_json_get(doc, doc->root, PL_STR("annotation")))
        take_annotation(sum, doc);
    else if (pl_json_get(doc, doc->root, PL_STR("delta")))
        take_delta(sum, doc, type);
    if (!pl_str_eq(type, PL_STR("ping")))
        find_strays(sum, doc, type);
}

/* ---- the end ---- */

static bool has_words(struct pl_sum *sum, const struct pl_tree *top, const struct pl_tree *words)
{
    struct pl_str raw = pl_tree_raw(&sum->trees, words);
    const struct pl_tree *at = top;
    while (at) {
        if (pl_tree_is(at, raw))
            return true;
        const struct pl_tree *next = at->n ? at->kids[0] : NULL;
        while (!next && at != top) {
            if (at->at + 1 < at->parent->n)
                next = at->parent->kids[at->at + 1];
            else
                at = at->parent;
        }
        at = next;
    }
    return false;
}

/* Lists the items that the response lacks: some servers list them only in events. */
static struct pl_tree *list_items(struct pl_sum *sum)
{
    struct pl_tree *items = items_of(sum);
    struct pl_tree *list = pl_tree_get_kind(sum->answer, PL_STR("output"), PL_TREE_ARRAY);
    if (!list || (items && items->n > list->n))
        pl_tree_set(&sum->trees, sum->answer, PL_STR("output"), items);
    else
        for (uint32_t i = 0; items && i < items->n; i++)
            keep_said(sum, items->kids[i], list->kids[i]);
    return pl_tree_get_kind(sum->answer, PL_STR("output"), PL_TREE_ARRAY);
}

void pl_responses_sum_end(struct pl_sum *sum)
{
    struct pl_responses_sum *state = sum->state;
    struct pl_tree *list = list_items(sum);
    for (size_t i = 0; i < state->n_runs; i++) {
        const struct pl_responses_run *run = &state->runs[i];
        const struct pl_tree *item = list && run->item < list->n ? list->kids[run->item] : NULL;
        if (!has_words(sum, item, run->words))
            pl_sum_stray(sum, PL_LOSS_DROPPED, "the item does not repeat the text of", run->type,
                         "/output/%lld", (long long)run->item);
    }
}
