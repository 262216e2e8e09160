/* Checks the parts of a result for the page around the conversation: _meta.ui, a card, and
 * _meta.bridge, an action (seed 003, "Tool _meta"; schemas/tool-result.json has the same rules).
 * Errors are the tool's fault and are reported to the model: a card that shows nothing, or two
 * things, is useless. */
#include "session/session_int.h"

#include "json/number.h"
#include "json/text.h"

#include <stdio.h>

enum { MIN_HEIGHT = 40, MAX_HEIGHT = 2000 };

static const struct pl_json_node *member(const struct pl_json_doc *doc,
                                         const struct pl_json_node *object, const char *key)
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(key));
    return n && pl_json_kind(n) != PL_JSON_NULL ? n : NULL;
}

/* A string that is not empty. */
static bool is_text(const struct pl_json_node *n)
{
    return pl_json_is(n, PL_JSON_STRING) && n->len > 2;
}

static bool is_height(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    int64_t height = 0;
    return pl_json_is(n, PL_JSON_NUMBER) && pl_json_number_int64(pl_json_span(doc, n), &height) &&
           height >= MIN_HEIGHT && height <= MAX_HEIGHT;
}

static bool is_target(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    return pl_json_is(n, PL_JSON_STRING) && (pl_json_text_is(doc, n, PL_STR("inline")) ||
                                             pl_json_text_is(doc, n, PL_STR("preview")));
}

static const char *wrong_with_card(const struct pl_json_doc *doc, const struct pl_json_node *ui)
{
    if (pl_json_kind(ui) != PL_JSON_OBJECT)
        return "\"/_meta/ui\" must be an object";
    const struct pl_json_node *html = member(doc, ui, "resourceHTML");
    const struct pl_json_node *uri = member(doc, ui, "resourceUri");
    const struct pl_json_node *height = member(doc, ui, "height"),
                              *title = member(doc, ui, "title");
    if (!html == !uri)
        return "\"/_meta/ui\" must have exactly one of resourceHTML and resourceUri";
    if (!is_text(html ? html : uri))
        return "\"/_meta/ui\": resourceHTML or resourceUri must be a string that is not empty";
    if (!is_target(doc, pl_json_get(doc, ui, PL_STR("target"))))
        return "\"/_meta/ui/target\" must be inline or preview";
    if (height && !is_height(doc, height))
        return "\"/_meta/ui/height\" must be a whole number of pixels from 40 to 2000";
    return title && pl_json_kind(title) != PL_JSON_STRING ? "\"/_meta/ui/title\" must be a string"
                                                          : NULL;
}

static const char *wrong_with_action(const struct pl_json_doc *doc,
                                     const struct pl_json_node *bridge)
{
    bool is_good = pl_json_kind(bridge) == PL_JSON_OBJECT &&
                   is_text(pl_json_get(doc, bridge, PL_STR("action")));
    return is_good ? NULL : "\"/_meta/bridge\" must be an object with an action, a string";
}

bool pl_meta_is_wrong(const struct pl_json_doc *result, char ret_wrong[PL_META_WRONG])
{
    const struct pl_json_node *meta = pl_json_is(result->root, PL_JSON_OBJECT)
                                          ? pl_json_get(result, result->root, PL_STR("_meta"))
                                          : NULL;
    const char *wrong = NULL;
    if (!meta)
        return false;
    if (pl_json_kind(meta) != PL_JSON_OBJECT) {
        wrong = "\"/_meta\" must be an object";
    } else {
        const struct pl_json_node *ui = pl_json_get(result, meta, PL_STR("ui"));
        const struct pl_json_node *bridge = pl_json_get(result, meta, PL_STR("bridge"));
        wrong = ui ? wrong_with_card(result, ui) : NULL;
        wrong = !wrong && bridge ? wrong_with_action(result, bridge) : wrong;
    }
    if (wrong)
        snprintf(ret_wrong, PL_META_WRONG, "The result of the tool is wrong: %s. Nothing is shown.",
                 wrong);
    return wrong;
}
