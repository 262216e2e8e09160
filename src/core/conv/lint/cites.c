/* Lint of citations (seed 001, A.4): every anchor <cite id="…"/> has an entry in the message's
 * metadata.citation_map, every entry an anchor; a box is x1 < x2, y1 < y2, a page counts from 1. */
#include "conv/lint/lint_int.h"

#include "base/map.h"
#include "conv/cite.h"
#include "json/reach.h"
#include "json/text.h"

/* Adds the anchors of a message to `seen` and reports those without an entry in the map. */
static void lint_anchors(struct pl_lint *lint, const struct pl_message *message,
                         const struct pl_json_node *map, struct pl_json_reach *reach,
                         struct pl_map *seen)
{
    struct pl_conv *conv = lint->conv;
    for (uint32_t k = 0; k < message->n_parts && conv->status == PL_OK; k++) {
        const struct pl_part *part = &pl_conv_parts(conv, message)[k];
        if (part->kind != PL_PART_TEXT)
            continue;
        struct pl_str text = pl_conv_text(conv, part->text), tag, id;
        for (size_t at = 0; pl_cite_next(text, &at, &tag, &id);) {
            bool is_new;
            if (!pl_map_put(seen, id, &is_new)) {
                conv->status = PL_NOMEM;
                return;
            }
            if (!is_new || (map && pl_json_reach_member(reach, map, id)))
                continue;
            pl_lint_add(lint, "cite.unknown", PL_SEVERITY_WARNING,
                        part->text.node ? part->text.node : pl_lint_node(message, part),
                        "the anchor \"%.*s\" has no entry in citation_map; it is shown as text",
                        (int)(id.len < 80 ? id.len : 80), id.ptr);
        }
    }
}

static void lint_entry(struct pl_lint *lint, struct pl_str id, const struct pl_json_node *entry,
                       const struct pl_map *seen)
{
    struct pl_conv *conv = lint->conv;
    int n_id = (int)(id.len < 80 ? id.len : 80);
    if (!pl_map_get(seen, id))
        pl_lint_add(lint, "cite.unused", PL_SEVERITY_WARNING, entry,
                    "the source \"%.*s\" is not cited; add <cite id=\"%.*s\"/> or remove the "
                    "source",
                    n_id, id.ptr, n_id, id.ptr);
    const struct pl_json_node *location = pl_conv_node(conv, entry, "location");
    const struct pl_json_node *box = pl_conv_node(conv, location, "bbox");
    const struct pl_json_node *page = pl_conv_node(conv, location, "page_number");
    if (box && !pl_cite_is_box(conv->doc, box))
        pl_lint_add(lint, "cite.bbox", PL_SEVERITY_ERROR, box,
                    "a bbox is [x1, y1, x2, y2] with x1 < x2 and y1 < y2");
    if (page && !pl_cite_is_page(conv->doc, page))
        pl_lint_add(lint, "cite.page", PL_SEVERITY_ERROR, page, "page_number counts from 1");
}

void pl_lint_cites(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    PL_CLEANUP_REACH struct pl_json_reach reach;
    pl_json_reach_init(&reach, conv->doc, conv->arena);
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        const struct pl_message *message = &conv->messages.ptr[i];
        struct pl_map seen = {0};
        const struct pl_json_node *map = pl_cite_map(conv, message);
        if (map && pl_json_kind(map) != PL_JSON_OBJECT)
            map = NULL;
        lint_anchors(lint, message, map, &reach, &seen);
        const struct pl_json_node *end = map ? pl_json_end(map) : NULL;
        for (const struct pl_json_node *key = map ? pl_json_first_member(map) : NULL;
             map && key < end && conv->status == PL_OK; key = pl_json_next_member(key)) {
            struct pl_str id;
            if (pl_json_text(conv->arena, conv->doc, key, &id) != PL_OK)
                conv->status = PL_NOMEM;
            else
                lint_entry(lint, id, key + 1, &seen);
        }
        pl_map_deinit(&seen);
        if (conv->status == PL_OK)
            conv->status = reach.status;
    }
}
