/* A place is told by the names of the members on the way to it. A name that is not in the table
 * leads to data. */
#include "carry/same.h"

#include "base/overlap.h"
#include "json/equal.h"
#include "json/text.h"

/* Two values to compare. */
struct pair {
    const struct pl_json_doc *a_doc, *b_doc;
    const struct pl_json_node *a, *b;
};

#define WORD(literal)                                                                              \
    {                                                                                              \
        literal, sizeof literal - 1                                                                \
    }

/* Names that lead to texts, in all formats. */
static const struct {
    struct pl_str key;
    enum pl_same_place place;
    bool is_at_root; /* elsewhere the name is one of data: the `input` of a call */
} roads[] = {
    {WORD("content"), PL_SAME_TEXT, false},
    {WORD("parts"), PL_SAME_TEXT, false},
    {WORD("output"), PL_SAME_TEXT, false},
    {WORD("messages"), PL_SAME_ROAD, true},
    {WORD("contents"), PL_SAME_TEXT, true},
    {WORD("input"), PL_SAME_ROAD, true},
    {WORD("system"), PL_SAME_TEXT, true},
    {WORD("systemInstruction"), PL_SAME_TEXT, true},
    {WORD("system_instruction"), PL_SAME_TEXT, true},
    {WORD("stop"), PL_SAME_TEXT, false},
    {WORD("config"), PL_SAME_ROAD, true},
    {WORD("settings"), PL_SAME_ROAD, true},
    {WORD("source"), PL_SAME_ROAD, false},
    {WORD("choices"), PL_SAME_ROAD, true},
    {WORD("message"), PL_SAME_ROAD, false},
    {WORD("candidates"), PL_SAME_ROAD, true},
};

enum pl_same_place pl_same_inside(enum pl_same_place place, const struct pl_json_doc *doc,
                                  const struct pl_json_node *object, const struct pl_json_node *key)
{
    if (place == PL_SAME_DATA)
        return PL_SAME_DATA;
    for (size_t i = 0; i < sizeof roads / sizeof *roads; i++)
        if ((object == doc->root || !roads[i].is_at_root) && pl_json_key_is(doc, key, roads[i].key))
            return roads[i].place;
    return PL_SAME_DATA;
}

bool pl_same_is_text_type(const struct pl_json_doc *doc, const struct pl_json_node *type)
{
    return pl_json_key_is(doc, type, PL_STR("text")) ||
           pl_json_key_is(doc, type, PL_STR("input_text")) ||
           pl_json_key_is(doc, type, PL_STR("output_text"));
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
        if (pl_json_key_is(doc, key, PL_STR("text")) && pl_json_is(key + 1, PL_JSON_STRING))
            text = key + 1;
        else if (!pl_json_key_is(doc, key, PL_STR("type")) || !pl_same_is_text_type(doc, key + 1))
            return NULL;
    }
    return text;
}

struct pl_same_bytes pl_same_bytes_of(const struct pl_json_doc *a, const struct pl_json_doc *b)
{
    return (struct pl_same_bytes){pl_overlap_head(a->text, b->text),
                                  pl_overlap_tail(a->text, b->text)};
}

/* Whether both spans are the same bytes of what the texts share: at the same distance from the
 * beginning, or from the end. */
static bool is_shared(const struct pair *pair, const struct pl_same_bytes *bytes)
{
    const struct pl_json_node *a = pair->a, *b = pair->b;
    if (a->len != b->len)
        return false;
    if (a->off == b->off && (size_t)a->off + a->len <= bytes->head)
        return true;
    size_t a_left = pair->a_doc->text.len - a->off, b_left = pair->b_doc->text.len - b->off;
    return a_left == b_left && a_left <= bytes->tail;
}

static bool is_once(const struct pl_json_node *object, const struct pl_json_node *key)
{
    size_t n = 0;
    for (const struct pl_json_node *k = pl_json_first(object); k < pl_json_end(object);
         k = pl_json_next_member(k))
        n += pl_json_key_hash_of(k) == pl_json_key_hash_of(key);
    return n == 1;
}

static bool ends_before(const struct pl_json_node *n, size_t at)
{
    return (size_t)n->off + n->len <= at;
}

/* Moves both to the children that begin at the same byte and have the first byte that differs.
 * False: there are none, or the children before them do not tell that the containers differ. */
static bool enter(struct pair *pair, size_t head)
{
    bool is_object = pl_json_kind(pair->a) == PL_JSON_OBJECT;
    const struct pl_json_node *a = pair->a + 1, *b = pair->b + 1;
    const struct pl_json_node *a_end = pl_json_end(pair->a), *b_end = pl_json_end(pair->b);
    for (; a < a_end && b < b_end && a->off == b->off; a = pl_json_next(a), b = pl_json_next(b)) {
        const struct pl_json_node *a_key = a, *b_key = b;
        a += is_object;
        b += is_object;
        if (ends_before(a, head) && ends_before(b, head))
            continue;
        if (is_object && (!ends_before(a_key, head) || !ends_before(b_key, head) ||
                          !is_once(pair->a, a_key) || !is_once(pair->b, b_key)))
            return false;
        pair->a = a;
        pair->b = b;
        return a->off == b->off;
    }
    return false;
}

static bool is_plain(const struct pl_json_node *n)
{
    return pl_json_kind(n) == PL_JSON_STRING && !(n->tag & PL_JSON_ESCAPED);
}

/* Whether both certainly differ: on the way to the first byte that the texts do not share, every
 * container has the same place in both, down to a value that differs. False: unknown. */
static bool differs(struct pair pair, const struct pl_same_bytes *bytes)
{
    if (pair.a->off != pair.b->off || pair.a->off > bytes->head || ends_before(pair.a, bytes->head))
        return false;
    while (pl_json_is_container(pair.a) && pl_json_kind(pair.a) == pl_json_kind(pair.b))
        if (!enter(&pair, bytes->head))
            return false;
    if (is_plain(pair.a) && is_plain(pair.b))
        return true;
    bool is_same = false;
    return pl_json_equal(pair.a_doc, pair.a, pair.b_doc, pair.b, &is_same) == PL_OK && !is_same;
}

enum pl_status pl_same_check(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                             const struct pl_json_doc *b_doc, const struct pl_json_node *b,
                             enum pl_same_place place, const struct pl_same_bytes *bytes,
                             bool *ret_is_same)
{
    struct pair pair = {a_doc, b_doc, a, b};
    *ret_is_same = (!a && !b) || (a && b && bytes && is_shared(&pair, bytes));
    if (*ret_is_same || !a || !b)
        return PL_OK;
    const struct pl_json_node *a_text = pl_same_text(a_doc, a, place),
                              *b_text = pl_same_text(b_doc, b, place);
    if (a_text && b_text) {
        *ret_is_same = pl_json_text_same(a_doc, a_text, b_doc, b_text);
        return PL_OK;
    }
    if (bytes && pl_json_is_container(a) && differs(pair, bytes))
        return PL_OK;
    return pl_json_equal(a_doc, a, b_doc, b, ret_is_same);
}
