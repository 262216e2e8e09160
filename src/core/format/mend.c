/* Assembles the output of a repair: the source's bytes for every element that was not repaired, the
 * writer's bytes for the others. The gaps between elements are the source's. */
#include "format/mend.h"

#include "format/graft.h"
#include "json/edit/edit.h"
#include "json/text.h"

/* An element of the source's list. */
struct element {
    const struct pl_json_node *node;
    bool is_changed, is_used;
    bool is_linked;  /* the writer copied something of it */
    bool is_present; /* a message of the conversation came from it */
};

struct mender {
    struct pl_conv *conv;
    const struct pl_writer *w;
    struct pl_str source;
    const struct pl_json_doc *fresh;
    struct pl_graft graft;
    struct element *elements; /* arena */
    uint32_t n_elements;
    size_t next_link;
    uint32_t reached; /* index after the last element that was copied from */
    bool is_list_changed;
    struct pl_buf list;  /* the elements, with their new text */
    struct pl_buf value; /* of a member, with its new text */
};

static bool list_elements(struct mender *m)
{
    struct pl_conv *conv = m->conv;
    m->n_elements = conv->list ? pl_json_count(conv->list) : 0;
    m->elements = pl_arena_zalloc(conv->arena, m->n_elements + 1, sizeof *m->elements);
    if (!m->elements)
        return false;
    const struct pl_json_node *e = conv->list ? pl_json_first(conv->list) : NULL;
    for (uint32_t i = 0; i < m->n_elements; i++, e = pl_json_next(e))
        m->elements[i].node = e;
    return true;
}

/* The element of the source that contains an offset, or NULL. */
static struct element *element_at(const struct mender *m, uint32_t off)
{
    uint32_t low = 0, high = m->n_elements;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct pl_json_node *node = m->elements[middle].node;
        if (off < node->off)
            high = middle;
        else if (off >= node->off + node->len)
            low = middle + 1;
        else
            return &m->elements[middle];
    }
    return NULL;
}

/* A message may come from several elements: its parts show which. */
static void mark_changed(struct mender *m, const struct pl_message *message)
{
    const struct pl_part *parts = pl_conv_parts(m->conv, message);
    if (message->element < m->n_elements)
        m->elements[message->element].is_changed = true;
    for (uint32_t i = 0; i < message->n_parts; i++) {
        struct element *element = parts[i].node ? element_at(m, parts[i].node->off) : NULL;
        if (element)
            element->is_changed = true;
    }
}

/* A repair that only removed messages marks none as changed. */
static void mark_elements(struct mender *m)
{
    m->is_list_changed = m->conv->is_repaired;
    for (size_t i = 0; i < m->w->links.len; i++) {
        struct element *element = element_at(m, m->w->links.ptr[i].off);
        if (element)
            element->is_linked = true;
    }
    for (size_t i = 0; i < m->conv->messages.len; i++) {
        const struct pl_message *message = &m->conv->messages.ptr[i];
        m->is_list_changed |= message->is_changed;
        if (message->element < m->n_elements)
            m->elements[message->element].is_present = true;
        if (message->is_changed)
            mark_changed(m, message);
    }
}

static bool have_one_role(const struct mender *m, const struct pl_json_node *made,
                          const struct pl_json_node *source)
{
    const struct pl_json_node *a = pl_json_get(m->fresh, made, PL_STR("role"));
    const struct pl_json_node *b = pl_json_get(m->conv->doc, source, PL_STR("role"));
    return !a == !b && (!a || pl_str_eq(pl_json_span(m->fresh, a), pl_json_span(m->conv->doc, b)));
}

/* The origin of an element in which nothing is copied: the element after the last one that was
 * copied from, if the writer copied nothing of it either. */
static struct element *silent_origin(struct mender *m, const struct pl_json_node *made)
{
    while (m->reached < m->n_elements && !m->elements[m->reached].is_present)
        m->reached++;
    struct element *next = m->reached < m->n_elements ? &m->elements[m->reached] : NULL;
    bool fits = next && !next->is_linked && !next->is_used &&
                pl_json_kind(made) == PL_JSON_OBJECT &&
                pl_json_kind(next->node) == PL_JSON_OBJECT && have_one_role(m, made, next->node);
    if (!fits)
        return NULL;
    m->reached++;
    next->is_used = true;
    return next->is_changed ? NULL : next;
}

/* The one element of the source that a new element came from; NULL if there is none or more than
 * one. Links are in output order. */
static struct element *origin_of(struct mender *m, const struct pl_json_node *made)
{
    struct element *origin = NULL;
    bool is_mixed = false, is_silent = true;
    for (; m->next_link < m->w->links.len; m->next_link++) {
        const struct pl_link *link = &m->w->links.ptr[m->next_link];
        if (link->at >= made->off + made->len)
            break;
        if (link->at < made->off)
            continue;
        struct element *element = element_at(m, link->off);
        is_silent = false;
        is_mixed |= !element || (origin && origin != element);
        origin = element;
        if (element && element - m->elements >= m->reached)
            m->reached = (uint32_t)(element - m->elements) + 1;
    }
    if (is_silent)
        return silent_origin(m, made);
    bool is_usable = origin && !is_mixed && !origin->is_changed && !origin->is_used;
    if (is_usable)
        origin->is_used = true;
    return is_usable ? origin : NULL;
}

static struct pl_str source_text(const struct mender *m, size_t from, size_t to)
{
    return pl_str_slice(m->source, from, to);
}

/* Keeps the bytes between two elements that were neighbours. */
static void put_gap(struct mender *m, const struct element *before, const struct element *now)
{
    if (before && now == before + 1)
        pl_buf_add(&m->list,
                   source_text(m, before->node->off + (size_t)before->node->len, now->node->off));
    else
        pl_buf_addc(&m->list, ',');
}

static enum pl_status put_list(struct mender *m, const struct pl_json_node *made)
{
    enum pl_status status = PL_OK;
    const struct element *before = NULL;
    bool is_first = true;
    pl_buf_addc(&m->list, '[');
    for (const struct pl_json_node *e = pl_json_first(made);
         e < pl_json_end(made) && status == PL_OK; e = pl_json_next(e), is_first = false) {
        const struct element *origin = origin_of(m, e);
        if (!is_first)
            put_gap(m, before, origin);
        if (origin)
            pl_buf_add(&m->list, source_text(m, origin->node->off,
                                             (size_t)origin->node->off + origin->node->len));
        else
            status = pl_graft_put(&m->graft, e, &m->list);
        if (origin)
            pl_conv_fate(m->conv, origin->node, PL_FATE_SAID);
        before = origin;
    }
    pl_buf_addc(&m->list, ']');
    return status == PL_OK ? m->list.status : status;
}

/* Whether the repair reported a loss inside this value. */
static bool is_repaired(const struct mender *m, const struct pl_json_node *value)
{
    for (size_t i = 0; i < m->conv->losses.len; i++) {
        const struct pl_json_node *at = m->conv->losses.ptr[i].node;
        if (at && at >= value && at < pl_json_next(value))
            return true;
    }
    return false;
}

/* Replaces repaired members of the source by those of the writer, or removes them. */
static enum pl_status mend_members(struct mender *m, struct pl_json_edit *edit)
{
    const struct pl_json_node *root = m->conv->doc->root;
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *key = pl_json_first_member(root);
         key < pl_json_end(root) && status == PL_OK; key = pl_json_next_member(key)) {
        if (key + 1 == m->conv->list)
            continue;
        if (!is_repaired(m, key + 1)) {
            pl_conv_fate(m->conv, key + 1, PL_FATE_SAID);
            continue;
        }
        struct pl_str name;
        status = pl_json_text(m->conv->arena, m->conv->doc, key, &name);
        const struct pl_json_node *now =
            status == PL_OK ? pl_json_get(m->fresh, m->fresh->root, name) : NULL;
        pl_buf_clear(&m->value);
        if (now)
            status = pl_graft_put(&m->graft, now, &m->value);
        if (now && status == PL_OK)
            status = pl_json_edit_set_node(edit, key + 1, pl_buf_str(&m->value), NULL);
        else if (status == PL_OK)
            status = pl_json_edit_remove_node(edit, root, key, NULL);
    }
    return status;
}

/* Adds members that the writer had to add. */
static enum pl_status add_members(struct mender *m, struct pl_json_edit *edit)
{
    const struct pl_json_node *root = m->fresh->root;
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *key = pl_json_first_member(root);
         key < pl_json_end(root) && status == PL_OK; key = pl_json_next_member(key)) {
        struct pl_str name;
        status = pl_json_text(m->conv->arena, m->fresh, key, &name);
        if (status == PL_OK && !pl_json_get(m->conv->doc, m->conv->doc->root, name))
            status = pl_json_edit_insert_before(edit, m->conv->doc->root, NULL, name,
                                                pl_json_span(m->fresh, key + 1), NULL);
    }
    return status;
}

static enum pl_status mend_document(struct mender *m, struct pl_json_edit *edit)
{
    enum pl_status status = PL_OK;
    if (m->is_list_changed && m->conv->list)
        status = pl_json_edit_set_node(edit, m->conv->list, pl_buf_str(&m->list), NULL);
    bool is_object = pl_json_kind(m->conv->doc->root) == PL_JSON_OBJECT &&
                     pl_json_kind(m->fresh->root) == PL_JSON_OBJECT;
    if (status == PL_OK && is_object)
        status = mend_members(m, edit);
    if (status == PL_OK && is_object)
        status = add_members(m, edit);
    return status;
}

/* Keeps only the writer's losses about members that it added to the document itself. */
static void keep_added(struct pl_conv *conv, size_t n_losses)
{
    size_t kept = n_losses;
    for (size_t i = n_losses; i < conv->losses.len; i++)
        if (conv->losses.ptr[i].code == PL_LOSS_SYNTHESISED &&
            conv->losses.ptr[i].node == conv->doc->root)
            conv->losses.ptr[kept++] = conv->losses.ptr[i];
    conv->losses.len = kept;
}

enum pl_status pl_mend_write(struct pl_buf *to, struct pl_writer *w, struct pl_str source,
                             const struct pl_json_doc *fresh, const struct pl_format *format,
                             size_t n_losses)
{
    struct mender m = {.conv = w->conv, .w = w, .source = source, .fresh = fresh};
    struct pl_json_doc doc = *w->conv->doc;
    struct pl_json_edit edit;
    doc.text = source; /* not the copy without comments */
    pl_buf_init(&m.list, 0);
    pl_buf_init(&m.value, 0);
    pl_json_edit_init(&edit, w->conv->arena, &doc);
    edit.trusts_values = true; /* they contain elements of the source, with comments */
    const struct pl_json_node *made = pl_format_list(format, fresh);
    keep_added(w->conv, n_losses);
    enum pl_status status = list_elements(&m) ? PL_OK : PL_NOMEM;
    if (status == PL_OK)
        mark_elements(&m);
    if (status == PL_OK)
        status = pl_graft_init(&m.graft, w, fresh);
    if (status == PL_OK && made && m.is_list_changed)
        status = put_list(&m, made);
    else if (m.conv->list)
        pl_conv_fate(m.conv, m.conv->list, PL_FATE_SAID);
    if (status == PL_OK)
        status = mend_document(&m, &edit);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, to);
    pl_json_edit_deinit(&edit);
    pl_buf_deinit(&m.list);
    pl_buf_deinit(&m.value);
    return status;
}
