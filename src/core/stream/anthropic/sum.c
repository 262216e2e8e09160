/* anthropic streams, added up: message_start is the message, every content block is added to it,
 * message_delta has the last values. */
#include "stream/anthropic/anthropic_int.h"

#include "stream/pick.h"
#include "stream/sum.h"

/* The open block of an index. Its input comes as pieces of JSON text. */
static struct pl_anthropic_sum_block *block_of(struct pl_anthropic_sum *state, int64_t index)
{
    for (size_t i = state->n_open; i-- > 0;)
        if (state->open[i].index == index)
            return &state->open[i];
    return NULL;
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Members of a block or a delta whose text grows. */
static const struct pl_sum_kind texts[] = {
    PL_SUM_KIND("text", PL_SUM_TEXT),         PL_SUM_KIND("thinking", PL_SUM_TEXT),
    PL_SUM_KIND("signature", PL_SUM_TEXT),    PL_SUM_KIND("data", PL_SUM_TEXT),
    PL_SUM_KIND("partial_json", PL_SUM_TEXT), PL_SUM_KIND("type", PL_SUM_TEXT),
    PL_SUM_KIND("citations", PL_SUM_LIST),
};

static void start_block(struct pl_sum *sum, const struct pl_json_doc *doc, int64_t index,
                        const struct pl_json_node *block)
{
    struct pl_anthropic_sum *state = sum->state;
    if (state->n_open == PL_ANTHROPIC_MAX_OPEN) {
        sum->trees.status = PL_LIMIT;
        return;
    }
    struct pl_tree *tree = pl_tree_copy(&sum->trees, doc, block);
    pl_tree_push(&sum->trees,
                 pl_tree_need(&sum->trees, sum->answer, PL_STR("content"), PL_TREE_ARRAY), tree);
    state->open[state->n_open++] = (struct pl_anthropic_sum_block){
        .index = index, .tree = tree, .input = pl_tree_new(&sum->trees, PL_TREE_TEXT)};
    for (const struct pl_json_node *k = pl_json_first_member(block); k < pl_json_end(block);
         k = pl_json_next_member(k))
        if (!pl_sum_fits(sum, texts, COUNT(texts), tree, pl_json_raw(doc, k), k + 1))
            pl_tree_remove(tree, pl_json_raw(doc, k));
}

/* The pieces are JSON text of a value; if they are not JSON, they stay a string. */
static void end_input(struct pl_sum *sum, const struct pl_anthropic_sum_block *block)
{
    struct pl_json_opts opts = {.allows_duplicate_keys = true, .allows_lone_surrogates = true};
    struct pl_str raw = pl_tree_raw(&sum->trees, block->input);
    struct pl_json_doc doc;
    if (!raw.len)
        return;
    char *text = pl_arena_alloc(&sum->event, raw.len + 1, 1);
    if (!text) {
        sum->trees.status = PL_NOMEM;
        return;
    }
    enum pl_status status = pl_json_parse(
        &sum->event, (struct pl_str){text, pl_json_decode(text, raw)}, &opts, &doc, NULL);
    if (status == PL_NOMEM)
        sum->trees.status = PL_NOMEM;
    pl_tree_set(&sum->trees, block->tree, PL_STR("input"),
                status == PL_OK ? pl_tree_copy(&sum->trees, &doc, doc.root) : block->input);
}

static void stop_block(struct pl_sum *sum, struct pl_anthropic_sum_block *block)
{
    struct pl_anthropic_sum *state = sum->state;
    end_input(sum, block);
    state->n_open--;
    memmove(block, block + 1, (size_t)(state->open + state->n_open - block) * sizeof *block);
}

static void add_delta(struct pl_sum *sum, struct pl_anthropic_sum_block *block,
                      const struct pl_json_doc *doc, const struct pl_json_node *delta)
{
    for (const struct pl_json_node *k = pl_json_first_member(delta); k < pl_json_end(delta);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        bool is_text = pl_json_kind(k + 1) == PL_JSON_STRING;
        struct pl_tree *old = pl_tree_get_kind(block->tree, key, PL_TREE_TEXT);
        bool fits = pl_sum_fits(sum, texts, COUNT(texts), block->tree, key, k + 1);
        if (!fits || pl_str_eq(key, PL_STR("type")))
            continue;
        if (is_text && pl_str_eq(key, PL_STR("partial_json")))
            pl_tree_say(&sum->trees, block->input, pl_json_raw(doc, k + 1));
        else if (pl_str_eq(key, PL_STR("citation")))
            pl_tree_push(&sum->trees,
                         pl_tree_need(&sum->trees, block->tree, PL_STR("citations"), PL_TREE_ARRAY),
                         pl_tree_copy(&sum->trees, doc, k + 1));
        else if (is_text && old)
            pl_tree_say(&sum->trees, old, pl_json_raw(doc, k + 1));
        else
            pl_sum_keep(sum, block->tree, key, doc, k + 1);
    }
}

/* ---- events ---- */

static void take_block_event(struct pl_sum *sum, struct pl_str type, const struct pl_json_doc *doc)
{
    const struct pl_json_node *number = pl_json_get(doc, doc->root, PL_STR("index"));
    const struct pl_json_node *block = pl_json_get(doc, doc->root, PL_STR("content_block"));
    const struct pl_json_node *delta = pl_json_get(doc, doc->root, PL_STR("delta"));
    int64_t index = pl_pick_count(doc, number);
    struct pl_anthropic_sum_block *open = block_of(sum->state, index);
    if (pl_str_eq(type, PL_STR("content_block_start")) && pl_json_is(block, PL_JSON_OBJECT))
        start_block(sum, doc, index, block);
    else if (open && pl_str_eq(type, PL_STR("content_block_stop")))
        stop_block(sum, open);
    else if (open && pl_json_is(delta, PL_JSON_OBJECT))
        add_delta(sum, open, doc, delta);
    else
        pl_sum_stray(sum, PL_LOSS_DROPPED, "no content block is open for", type, "%s", "");
}

static void keep_members(struct pl_sum *sum, const struct pl_json_doc *doc,
                         const struct pl_json_node *object)
{
    if (!object)
        return;
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k))
        pl_sum_keep(sum, sum->answer, pl_json_raw(doc, k), doc, k + 1);
}

/* An answer starts once. Another answer before the end of the first ends the sum with an error. A
 * duplicate start is ignored. */
static void start_message(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    const struct pl_json_node *message = pl_json_get(doc, doc->root, PL_STR("message"));
    const struct pl_json_node *id =
        pl_json_is(message, PL_JSON_OBJECT) ? pl_json_get(doc, message, PL_STR("id")) : NULL;
    struct pl_tree *before = pl_tree_get(sum->answer, PL_STR("id"));
    if (before && !pl_tree_is(before, pl_pick_raw(doc, id))) {
        sum->is_over = true;
        sum->n_after++;
        return;
    }
    if (!before)
        keep_members(sum, doc, message);
}

/* Keeps the members of an event beside the one that its type names. */
static void keep_beside(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    static const struct pl_sum_kind own[] = {
        PL_SUM_KIND("type", PL_SUM_TEXT),    PL_SUM_KIND("index", PL_SUM_NUMBER),
        PL_SUM_KIND("delta", PL_SUM_OBJECT), PL_SUM_KIND("content_block", PL_SUM_OBJECT),
        PL_SUM_KIND("p", PL_SUM_TEXT),       PL_SUM_KIND("message", PL_SUM_OBJECT)};
    for (const struct pl_json_node *k = pl_json_first_member(doc->root); k < pl_json_end(doc->root);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(doc, k);
        bool is_own = !pl_sum_fits(sum, own, COUNT(own), sum->answer, key, k + 1);
        for (size_t i = 0; i < COUNT(own); i++)
            is_own |= pl_str_eq(key, own[i].key);
        if (!is_own)
            pl_sum_keep(sum, sum->answer, key, doc, k + 1);
    }
}

void pl_anthropic_sum(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    struct pl_str type = pl_pick_raw(doc, pl_json_get(doc, doc->root, PL_STR("type")));
    if (!type.len)
        type = sum->type;
    keep_beside(sum, doc);
    if (pl_str_starts(type, PL_STR("content_block_")))
        take_block_event(sum, type, doc);
    else if (pl_str_eq(type, PL_STR("message_start")))
        start_message(sum, doc);
    else if (pl_str_eq(type, PL_STR("message_delta")))
        keep_members(sum, doc, pl_json_get(doc, doc->root, PL_STR("delta")));
    else if (pl_str_eq(type, PL_STR("message_stop")))
        sum->is_over = true;
    else if (pl_str_eq(type, PL_STR("error")) || pl_json_get(doc, doc->root, PL_STR("error")))
        sum->is_over = sum->is_failed = true;
    else if (!pl_str_eq(type, PL_STR("ping")))
        pl_sum_stray(sum, PL_LOSS_DROPPED, "an answer has no place for the event", type, "%s", "");
}

/* A stream that broke off leaves its blocks open: close them. */
void pl_anthropic_sum_end(struct pl_sum *sum)
{
    struct pl_anthropic_sum *state = sum->state;
    while (state->n_open)
        stop_block(sum, &state->open[0]);
}
