/* A place is told by the names of the members on the way to it. A name that is not in the table
 * leads to data. */
#include "carry/same.h"

#include "json/equal.h"
#include "json/text.h"

/* Names that lead to texts, in all formats. */
static const struct {
    const char *key;
    enum pl_same_place place;
    bool is_at_root; /* elsewhere the name is one of data: the `input` of a call */
} roads[] = {
    {"content", PL_SAME_TEXT, false},
    {"parts", PL_SAME_TEXT, false},
    {"output", PL_SAME_TEXT, false},
    {"messages", PL_SAME_ROAD, true},
    {"contents", PL_SAME_TEXT, true},
    {"input", PL_SAME_ROAD, true},
    {"system", PL_SAME_TEXT, true},
    {"systemInstruction", PL_SAME_TEXT, true},
    {"system_instruction", PL_SAME_TEXT, true},
    {"stop", PL_SAME_TEXT, false},
    {"config", PL_SAME_ROAD, true},
    {"settings", PL_SAME_ROAD, true},
    {"source", PL_SAME_ROAD, false},
    {"choices", PL_SAME_ROAD, true},
    {"message", PL_SAME_ROAD, false},
    {"candidates", PL_SAME_ROAD, true},
};

enum pl_same_place pl_same_inside(enum pl_same_place place, const struct pl_json_doc *doc,
                                  const struct pl_json_node *object, const struct pl_json_node *key)
{
    if (place == PL_SAME_DATA)
        return PL_SAME_DATA;
    for (size_t i = 0; i < sizeof roads / sizeof *roads; i++)
        if ((object == doc->root || !roads[i].is_at_root) &&
            pl_json_text_is(doc, key, pl_str_of(roads[i].key)))
            return roads[i].place;
    return PL_SAME_DATA;
}

bool pl_same_is_text_type(const struct pl_json_doc *doc, const struct pl_json_node *type)
{
    return pl_json_text_is(doc, type, PL_STR("text")) ||
           pl_json_text_is(doc, type, PL_STR("input_text")) ||
           pl_json_text_is(doc, type, PL_STR("output_text"));
}

const struct pl_json_node *pl_same_text(const struct pl_json_doc *doc, const struct pl_json_node *n,
                                        enum pl_same_place place)
{
    if (place != PL_SAME_TEXT)
        return NULL;
    if (pl_json_kind(n) == PL_JSON_ARRAY && pl_json_count(n) == 1)
        n = pl_json_first(n);
    if (pl_json_is(n, PL_JSON_STRING))
        return n;
    if (pl_json_kind(n) != PL_JSON_OBJECT)
        return NULL;
    const struct pl_json_node *text = NULL;
    for (const struct pl_json_node *key = pl_json_first(n); key < pl_json_end(n);
         key = pl_json_next_member(key)) {
        if (pl_json_text_is(doc, key, PL_STR("text")) && pl_json_is(key + 1, PL_JSON_STRING))
            text = key + 1;
        else if (!pl_json_text_is(doc, key, PL_STR("type")) || !pl_same_is_text_type(doc, key + 1))
            return NULL;
    }
    return text;
}

enum pl_status pl_same_check(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                             const struct pl_json_doc *b_doc, const struct pl_json_node *b,
                             enum pl_same_place place, bool *ret_is_same)
{
    *ret_is_same = !a && !b;
    if (!a || !b)
        return PL_OK;
    const struct pl_json_node *a_text = pl_same_text(a_doc, a, place),
                              *b_text = pl_same_text(b_doc, b, place);
    if (a_text && b_text) {
        *ret_is_same = pl_json_text_same(a_doc, a_text, b_doc, b_text);
        return PL_OK;
    }
    return pl_json_equal(a_doc, a, b_doc, b, ret_is_same);
}
