/* Patches, added up: a turn in the format `turns`. */
#include "stream/sum.h"

#include "stream/pick.h"

static struct pl_str raw_of(const struct pl_json_doc *doc, const struct pl_json_node *object,
                            const char *key)
{
    return pl_pick_raw(doc, object ? pl_json_get(doc, object, pl_str_of(key)) : NULL);
}

static struct pl_tree *turn_of(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    if (!sum->answer)
        return NULL;
    if (sum->answer->kind == PL_TREE_ARRAY)
        return sum->answer->n ? sum->answer->kids[0] : NULL;
    struct pl_tree *turn = pl_tree_new(&sum->trees, PL_TREE_OBJECT);
    static const struct pl_str made[][2] = {{{"kind", 4}, {"message", 7}},
                                            {{"role", 4}, {"assistant", 9}}};
    static const struct pl_str taken[] = {{"turn_id", 7}, {"loop_id", 7}};
    sum->answer = pl_tree_new(&sum->trees, PL_TREE_ARRAY);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        const struct pl_json_node *value = pl_json_get(doc, doc->root, taken[i]);
        if (value)
            pl_sum_keep(sum, turn, taken[i], doc, value);
    }
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        pl_tree_set(&sum->trees, turn, made[i][0], pl_tree_text(&sum->trees, made[i][1]));
    pl_tree_need(&sum->trees, turn, PL_STR("blocks"), PL_TREE_ARRAY);
    pl_tree_push(&sum->trees, sum->answer, turn);
    return turn;
}

/* Continues a text, or adds a new block. */
static void add_content(struct pl_sum *sum, struct pl_tree *turn, const struct pl_json_doc *doc,
                        const struct pl_json_node *data)
{
    struct pl_tree *blocks = pl_tree_get_kind(turn, PL_STR("blocks"), PL_TREE_ARRAY);
    struct pl_tree *last = blocks && blocks->n ? blocks->kids[blocks->n - 1] : NULL;
    const struct pl_json_node *delta = pl_json_get(doc, data, PL_STR("text_delta"));
    const struct pl_json_node *content = pl_json_get(doc, data, PL_STR("content"));
    struct pl_str type = raw_of(doc, data, "type");
    bool is_more = last && delta && pl_tree_is(pl_tree_get(last, PL_STR("type")), type);
    struct pl_tree *block = is_more ? last : pl_tree_new(&sum->trees, PL_TREE_OBJECT);
    for (const struct pl_json_node *k = pl_json_first_member(data); k < pl_json_end(data);
         k = pl_json_next_member(k))
        if (k + 1 != delta && k + 1 != content)
            pl_sum_keep(sum, block, pl_json_raw(doc, k), doc, k + 1);
    struct pl_tree *said = pl_tree_get_kind(block, PL_STR("content"), PL_TREE_TEXT);
    if (content)
        pl_sum_keep(sum, block, PL_STR("content"), doc, content);
    else if (said)
        pl_tree_say(&sum->trees, said, pl_pick_raw(doc, delta));
    else if (delta)
        pl_sum_keep(sum, block, PL_STR("content"), doc, delta);
    if (!is_more)
        pl_tree_push(&sum->trees, blocks, block);
}

/* A call may be repeated with more arguments. */
static void add_call(struct pl_sum *sum, struct pl_tree *turn, const struct pl_json_doc *doc,
                     const struct pl_json_node *data)
{
    struct pl_tree *calls = pl_tree_need(&sum->trees, turn, PL_STR("tool_calls"), PL_TREE_ARRAY);
    struct pl_tree *blocks = pl_tree_get_kind(turn, PL_STR("blocks"), PL_TREE_ARRAY);
    const struct pl_json_node *id = pl_json_get(doc, data, PL_STR("id"));
    const struct pl_json_node *name = pl_json_get(doc, data, PL_STR("tool_name"));
    struct pl_tree *call = NULL;
    for (uint32_t i = 0; calls && i < calls->n && !call; i++)
        if (pl_tree_is(pl_tree_get(calls->kids[i], PL_STR("id")), pl_pick_raw(doc, id)))
            call = calls->kids[i];
    if (!call) {
        struct pl_tree *block = pl_tree_new(&sum->trees, PL_TREE_OBJECT);
        pl_tree_set(&sum->trees, block, PL_STR("type"),
                    pl_tree_text(&sum->trees, PL_STR("tool_use")));
        if (id)
            pl_sum_keep(sum, block, PL_STR("tool_call_id"), doc, id);
        if (name)
            pl_sum_keep(sum, block, PL_STR("tool_name"), doc, name);
        pl_tree_push(&sum->trees, blocks, block);
        call = pl_tree_new(&sum->trees, PL_TREE_OBJECT);
        pl_tree_push(&sum->trees, calls, call);
    }
    for (const struct pl_json_node *k = pl_json_first_member(data); k < pl_json_end(data);
         k = pl_json_next_member(k))
        pl_sum_keep(sum, call, pl_json_raw(doc, k), doc, k + 1);
}

static void set_status(struct pl_sum *sum, struct pl_tree *turn, const struct pl_json_doc *doc,
                       const struct pl_json_node *data)
{
    struct pl_str status = raw_of(doc, data, "status");
    for (const struct pl_json_node *k = pl_json_first_member(data); k < pl_json_end(data);
         k = pl_json_next_member(k))
        pl_sum_keep(sum, turn, pl_json_raw(doc, k), doc, k + 1);
    sum->is_failed =
        pl_str_eq(status, PL_STR("failed")) || pl_str_eq(status, PL_STR("interrupted"));
    sum->is_over = sum->is_failed || pl_str_eq(status, PL_STR("completed"));
}

void pl_patches_sum(struct pl_sum *sum, const struct pl_json_doc *doc)
{
    struct pl_tree *turn = turn_of(sum, doc);
    const struct pl_json_node *data = pl_json_get(doc, doc->root, PL_STR("data"));
    struct pl_str type = raw_of(doc, doc->root, "patch_type");
    if (data && !pl_json_is(data, PL_JSON_OBJECT))
        pl_sum_refuse(sum, turn, PL_STR("data"));
    if (!pl_json_is(data, PL_JSON_OBJECT) || !turn)
        return;
    if (pl_str_eq(type, PL_STR("add_content")))
        add_content(sum, turn, doc, data);
    else if (pl_str_eq(type, PL_STR("add_tool_call")))
        add_call(sum, turn, doc, data);
    else if (pl_str_eq(type, PL_STR("set_status")))
        set_status(sum, turn, doc, data);
    else
        pl_sum_stray(sum, PL_LOSS_DROPPED, "a turn of the model has no place for the patch", type,
                     "/0");
}
