/* Turns, seed 003: an array of TurnProjection, a session's history as its clients see it. This file
 * detects it; reading and writing are in read.c and write.c. */
#include "format/turns/turns_int.h"

static bool is_turn(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    const struct pl_json_node *blocks = pl_json_get(doc, n, PL_STR("blocks"));
    return blocks && pl_json_kind(blocks) == PL_JSON_ARRAY &&
           (pl_json_get(doc, n, PL_STR("turn_id")) || pl_json_get(doc, n, PL_STR("kind")) ||
            pl_json_get(doc, n, PL_STR("role")));
}

static int detect(const struct pl_json_doc *doc)
{
    const struct pl_json_node *root = doc->root;
    if (pl_json_kind(root) == PL_JSON_ARRAY && pl_json_count(root))
        return is_turn(doc, pl_json_first(root)) ? 98 : 0;
    return is_turn(doc, root) ? 90 : 0;
}

const struct pl_format pl_format_turns = {
    .name = "turns",
    .title = "turns of a session (seed 003)",
    .list_key = "",
    .is_vendor = false,
    .has_error_flag = true,
    .detect = detect,
    .read = pl_turns_read,
    .write = pl_turns_write,
};
