/* Duplicate members of an edited target. The last one counts, so the others were not restored, and
 * comparing values cannot show it. Duplicates of the source that the target copied are not
 * edits. */
#include "carry/home/home_int.h"

#include "base/map.h"
#include "json/parse/lenient.h"
#include "json/text.h"

struct twice {
    struct pl_arena *arena;
    struct pl_map copied; /* owned; the texts of such members in the converted result */
    struct pl_conv *conv; /* of the target; NULL while `copied` is filled */
};

/* Visits a member that a later one of the same name replaces. */
static enum pl_status visit(struct twice *t, const struct pl_json_doc *doc,
                            const struct pl_json_node *key)
{
    const struct pl_json_node *value = key + 1;
    struct pl_str text = pl_str_slice(doc->text, key->off, (size_t)value->off + value->len);
    bool is_new = false;
    if (!t->conv)
        return pl_map_put(&t->copied, text, &is_new) ? PL_OK : PL_NOMEM;
    if (!pl_map_get(&t->copied, text))
        pl_conv_loss(t->conv, PL_LOSS_DROPPED, value,
                     "its name is there twice in this object, and the last one counts");
    return t->conv->status;
}

static enum pl_status visit_object(struct twice *t, const struct pl_json_doc *doc,
                                   const struct pl_json_node *object)
{
    struct pl_map last = {0}; /* name -> its last key so far, as an offset from the root */
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *key = pl_json_first_member(object);
         key < pl_json_end(object) && status == PL_OK; key = pl_json_next_member(key)) {
        struct pl_str name;
        bool is_new = false;
        status = pl_json_text(t->arena, doc, key, &name);
        struct pl_map_entry *entry = status == PL_OK ? pl_map_put(&last, name, &is_new) : NULL;
        if (status == PL_OK && !entry)
            status = PL_NOMEM;
        if (status == PL_OK && !is_new)
            status = visit(t, doc, doc->root + entry->value);
        if (status == PL_OK)
            entry->value = (uint64_t)(key - doc->root);
    }
    pl_map_deinit(&last);
    return status;
}

/* Whether a note, of a list in text order, is inside this value. */
static bool has_note(const struct pl_json_notes *notes, const struct pl_json_node *n)
{
    uint32_t low = 0, high = notes->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (notes->items[middle].off < n->off)
            low = middle + 1;
        else
            high = middle;
    }
    return low < notes->len && notes->items[low].off - n->off < n->len;
}

static enum pl_status visit_all(struct twice *t, const struct pl_json_doc *doc)
{
    struct pl_json_notes notes;
    enum pl_status status = pl_json_find_duplicates(t->arena, doc, &notes, NULL);
    for (uint32_t i = 0; status == PL_OK && notes.len && i < doc->n_nodes; i++)
        if (pl_json_kind(doc->root + i) == PL_JSON_OBJECT && has_note(&notes, doc->root + i))
            status = visit_object(t, doc, doc->root + i);
    return status;
}

enum pl_status pl_home_report_twice(struct pl_conv *conv, struct pl_arena *arena,
                                    const struct pl_json_doc *there)
{
    struct twice t = {.arena = arena};
    enum pl_status status = visit_all(&t, there);
    t.conv = conv;
    if (status == PL_OK)
        status = visit_all(&t, conv->doc);
    pl_map_deinit(&t.copied);
    return status;
}
