/* One conversion on the way home, and the bytes of its source that it used. */
#include "carry/home/home_int.h"

#include "base/sort.h"
#include "format/convert.h"
#include "format/adapt/fit.h"
#include "format/source.h"
#include "json/text.h"

/* Running out of memory may look like a document that cannot be read or written. */
static enum pl_status settle(const struct pl_leg *leg, enum pl_status status)
{
    bool is_out = leg->conv.status == PL_NOMEM || leg->out.status == PL_NOMEM;
    return is_out ? PL_NOMEM : status;
}

enum pl_status pl_leg_read(struct pl_leg *leg, const struct pl_home *home,
                           const struct pl_conversion *conversion, struct pl_str text,
                           struct pl_error *err)
{
    leg->text = text;
    leg->made = (struct pl_json_doc){0};
    leg->labels = (struct pl_labels){0};
    leg->has_labels = false;
    leg->conv.status = PL_OK;
    pl_buf_clear(&leg->out);
    leg->out.max = pl_convert_most(text.len);
    pl_writer_renew(&leg->writer, &leg->conv, &leg->out);
    pl_writer_keep_links(&leg->writer, PL_LINKS_ALL);
    enum pl_status status = pl_source_parse(home->arena, text, &leg->doc, err);
    if (status == PL_OK)
        status = pl_conv_renew(&leg->conv, home->arena, &leg->doc);
    if (status != PL_OK)
        return status;
    pl_conv_limit(&leg->conv, home->max_items);
    status = conversion->from->read(&leg->conv, conversion->kind, err);
    if (status == PL_OK || leg->conv.status == PL_LIMIT)
        status = pl_conv_check(&leg->conv, err);
    return settle(leg, status);
}

enum pl_status pl_leg_write(struct pl_leg *leg, const struct pl_home *home,
                            const struct pl_conversion *conversion, struct pl_str text,
                            struct pl_error *err)
{
    enum pl_status status = pl_leg_read(leg, home, conversion, text, err);
    /* Most targets are about as long as their source, and have half as many links as it has nodes:
     * growing would copy them again and again. */
    (void)pl_buf_reserve(&leg->out, text.len + text.len / 4);
    if (status == PL_OK && !pl_vec_reserve(&leg->writer.links, leg->doc.n_nodes / 2 + (size_t)1))
        status = PL_NOMEM;
    if (status == PL_OK)
        status = pl_format_prepare(&leg->conv, conversion, err);
    if (status == PL_OK)
        status = conversion->to->write(&leg->writer, conversion, err);
    if (status == PL_OK)
        status = leg->conv.status != PL_OK ? leg->conv.status : leg->out.status;
    return settle(leg, status);
}

size_t pl_leg_link_at(const struct pl_leg *leg, uint32_t off)
{
    size_t low = 0, high = leg->writer.links.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (leg->writer.links.ptr[middle].at < off)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the value at `off` of the output comes from the source. */
static bool has_link(const struct pl_leg *leg, uint32_t off)
{
    size_t low = pl_leg_link_at(leg, off);
    return low < leg->writer.links.len && leg->writer.links.ptr[low].at == off;
}

/* The id of a message is a label, and that of a call is none: its result refers to it. */
static void find_labels_of(struct pl_leg *leg, const struct pl_json_node *object, bool *is_label)
{
    const struct pl_json_doc *doc = &leg->made;
    for (const struct pl_json_node *key = pl_json_first(object); key < pl_json_end(object);
         key = pl_json_next_member(key)) {
        unsigned name = pl_label_name(doc, key);
        if (!name || pl_json_is_container(key + 1) || has_link(leg, key[1].off))
            continue;
        if (!(name & PL_LABEL_IDS) || pl_json_member(doc, object, "role", PL_JSON_STRING))
            is_label[key + 1 - doc->root] = leg->has_labels = true;
    }
}

static enum pl_status find_labels(struct pl_leg *leg, struct pl_arena *arena)
{
    const struct pl_json_doc *doc = &leg->made;
    bool *is_label = pl_arena_zalloc(arena, doc->n_nodes + (size_t)1, sizeof *is_label);
    for (uint32_t i = 0; is_label && i < doc->n_nodes; i++)
        if (pl_json_kind(doc->root + i) == PL_JSON_OBJECT)
            find_labels_of(leg, doc->root + i, is_label);
    leg->labels = (struct pl_labels){.is_label = is_label};
    return is_label ? PL_OK : PL_NOMEM;
}

enum pl_status pl_leg_parse(struct pl_leg *leg, const struct pl_home *home, struct pl_error *err)
{
    enum pl_status status =
        pl_json_parse(home->arena, pl_buf_str(&leg->out), &pl_json_made, &leg->made, err);
    return status == PL_OK ? find_labels(leg, home->arena) : status;
}

enum pl_status pl_leg_run(struct pl_leg *leg, const struct pl_home *home,
                          const struct pl_conversion *conversion, struct pl_str text,
                          struct pl_error *err)
{
    enum pl_status status = pl_leg_write(leg, home, conversion, text, err);
    return status == PL_OK ? pl_leg_parse(leg, home, err) : status;
}

static int by_value(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

enum pl_status pl_home_find_said(struct pl_home_said *said, struct pl_arena *arena,
                                 const struct pl_leg *leg)
{
    size_t n = leg->writer.links.len;
    const void **order = pl_arena_alloc(arena, 2 * n + 1, sizeof *order);
    uint32_t *offsets = pl_arena_alloc(arena, n + 1, sizeof *offsets);
    if (!order || !offsets)
        return PL_NOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = &leg->writer.links.ptr[i].off;
    pl_sort(order, order + n, n, by_value, NULL);
    for (size_t i = 0; i < n; i++)
        offsets[i] = *(const uint32_t *)order[i];
    *said = (struct pl_home_said){offsets, n};
    return PL_OK;
}

bool pl_home_is_said(const void *ctx, uint32_t off, uint32_t len)
{
    const struct pl_home_said *said = ctx;
    size_t low = 0, high = said->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (said->offsets[middle] < off)
            low = middle + 1;
        else
            high = middle;
    }
    return low < said->n && said->offsets[low] < (uint64_t)off + len;
}
