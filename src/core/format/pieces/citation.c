/* Citations of the vendors as entries of a citation_map and anchors (seed 001, A.4). */
#include "format/pieces/citation.h"

#include "base/text/utf8.h"
#include "format/format.h"
#include "json/number.h"
#include "json/text.h"

#include <stdio.h>

void pl_cite_id(char ret_id[PL_CITE_ID_SIZE], size_t i)
{
    snprintf(ret_id, PL_CITE_ID_SIZE, "cit_%zu", i + 1);
}

/* ---- entries ---- */

static void put(struct pl_json_out *out, const char *key, const struct pl_json_doc *doc,
                const struct pl_json_node *node)
{
    if (!node)
        return;
    pl_json_out_key(out, key);
    pl_json_out_raw(out, pl_json_span(doc, node));
}

static bool is_mapped(const struct pl_cited *c, const struct pl_json_node *value)
{
    const struct pl_json_node *mapped[] = {c->source_id, c->source_name, c->url,
                                           c->page,      c->snippet,     c->score};
    for (size_t i = 0; i < sizeof mapped / sizeof *mapped; i++)
        if (mapped[i] == value)
            return true;
    return pl_json_is(value, PL_JSON_NULL);
}

static void put_origin(struct pl_json_out *out, const char *format, const struct pl_json_doc *doc,
                       const struct pl_cited *c)
{
    pl_json_out_key(out, "origin");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "format");
    pl_json_out_text(out, pl_str_of(format));
    if (pl_json_is(c->body, PL_JSON_OBJECT))
        for (const struct pl_json_node *k = pl_json_first_member(c->body); k < pl_json_end(c->body);
             k = pl_json_next_member(k)) {
            if (is_mapped(c, k + 1))
                continue;
            pl_json_out_raw(out, pl_json_span(doc, k));
            pl_buf_addc(out->buf, ':');
            pl_buf_add(out->buf, pl_json_span(doc, k + 1));
        }
    pl_json_out_close(out, '}');
}

void pl_cited_write(struct pl_buf *to, const char *format, const struct pl_json_doc *doc,
                    const struct pl_cited *c)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "source_type");
    pl_json_out_text(&out, pl_str_of(c->source_type));
    put(&out, "source_id", doc, c->source_id);
    put(&out, "source_name", doc, c->source_name);
    put(&out, "url", doc, c->url);
    if (c->page || c->snippet) {
        pl_json_out_key(&out, "location");
        pl_json_out_open(&out, '{');
        put(&out, "page_number", doc, c->page);
        put(&out, "text_snippet", doc, c->snippet);
        pl_json_out_close(&out, '}');
    }
    put(&out, "score", doc, c->score);
    put_origin(&out, format, doc, c);
    pl_json_out_close(&out, '}');
}

/* ---- citations of a conversation ---- */

size_t pl_cites_add(struct pl_conv *conv, struct pl_cites_list *list,
                    const struct pl_json_node *node, const struct pl_cited *cited, size_t message)
{
    if (!pl_vec_push(&list->entries, (struct pl_cite_entry){node, *cited, message}))
        conv->status = PL_NOMEM;
    return list->entries.len - 1;
}

void pl_cites_anchor(struct pl_conv *conv, struct pl_cites_list *list, size_t part, size_t entry,
                     size_t at)
{
    if (conv->status != PL_OK)
        return;
    if (!pl_vec_push(&list->anchors, (struct pl_cite_anchor){part, entry, at})) {
        conv->status = PL_NOMEM;
        return;
    }
    /* They are nearly always in order. */
    for (size_t i = list->anchors.len - 1; i > 0; i--) {
        struct pl_cite_anchor *a = &list->anchors.ptr[i - 1], *b = &list->anchors.ptr[i];
        if (a->part < b->part || (a->part == b->part && a->at <= b->at))
            break;
        struct pl_cite_anchor swapped = *a;
        *a = *b;
        *b = swapped;
    }
}

/* The bytes of the first n code points; of the whole text if it is shorter or n is not a number. */
static size_t bytes_before(const struct pl_conv *conv, struct pl_str text,
                           const struct pl_json_node *n)
{
    int64_t points;
    if (!pl_json_is(n, PL_JSON_NUMBER) ||
        !pl_json_number_int64(pl_json_span(conv->doc, n), &points) || points < 0)
        return text.len;
    size_t at = 0;
    while (points-- > 0 && at < text.len)
        (void)pl_utf8_next(text, &at);
    return at;
}

static void list_part(struct pl_conv *conv, const struct pl_format *from, size_t message,
                      size_t part, struct pl_cites_list *list)
{
    const struct pl_part *p = &conv->parts.ptr[part];
    const struct pl_json_node *all = p->citations.node;
    if (p->kind != PL_PART_TEXT || p->citations.kind != PL_VAL_NODE ||
        !pl_json_is(all, PL_JSON_ARRAY))
        return;
    struct pl_str text = pl_conv_text(conv, p->text);
    for (const struct pl_json_node *n = pl_json_first(all); n < pl_json_end(all);
         n = pl_json_next(n)) {
        struct pl_cited cited = {0};
        if (!from->cite(conv->doc, n, &cited))
            continue;
        size_t entry = pl_cites_add(conv, list, n, &cited, message);
        pl_cites_anchor(conv, list, part, entry, bytes_before(conv, text, cited.end));
    }
}

static void list_all(struct pl_conv *conv, const struct pl_format *from, struct pl_cites_list *ret)
{
    if (!from->cite)
        return;
    for (size_t i = 0, first = 0; i < conv->messages.len; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        /* One utterance has one map, in its first message. */
        if (!m->is_phase_split)
            first = i;
        if (m->role == PL_ROLE_ASSISTANT)
            for (uint32_t k = 0; k < m->n_parts && conv->status == PL_OK; k++)
                list_part(conv, from, first, m->parts + k, ret);
    }
    if (from->list_cites)
        from->list_cites(conv, ret);
}

void pl_cites_list(struct pl_conv *conv, const struct pl_format *from, struct pl_cites_list *ret)
{
    *ret = (struct pl_cites_list){.format = from->name};
    list_all(conv, from, ret);
}

void pl_cites_list_pages(struct pl_conv *conv, const struct pl_format *from,
                         struct pl_cites_list *ret)
{
    *ret = (struct pl_cites_list){.format = from->name, .has_pages_only = true};
    list_all(conv, from, ret);
}

void pl_cites_list_deinit(struct pl_cites_list *list)
{
    pl_vec_deinit(&list->entries);
    pl_vec_deinit(&list->anchors);
}

/* ---- writing ---- */

static size_t first_anchor(const struct pl_cites_list *list, size_t part)
{
    size_t low = 0, high = list->anchors.len;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (list->anchors.ptr[mid].part < part)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool is_own_part(const struct pl_conv *conv, const struct pl_part *part)
{
    return conv->parts.len && part >= conv->parts.ptr && part < conv->parts.ptr + conv->parts.len;
}

bool pl_cites_is_cited(const struct pl_conv *conv, const struct pl_cites_list *list,
                       const struct pl_part *part)
{
    if (!list->anchors.len || !is_own_part(conv, part))
        return false;
    size_t number = (size_t)(part - conv->parts.ptr), i = first_anchor(list, number);
    return i < list->anchors.len && list->anchors.ptr[i].part == number;
}

/* After the text, so that its bytes stay one piece of the string, wherever the vendor puts the
 * citation. */
void pl_cites_write_text(struct pl_writer *w, const struct pl_cites_list *list,
                         const struct pl_part *part)
{
    struct pl_conv *conv = w->conv;
    size_t number = (size_t)(part - conv->parts.ptr), i = first_anchor(list, number);
    PL_CLEANUP_BUF struct pl_buf tail;
    pl_buf_init(&tail, 0);
    for (; i < list->anchors.len && list->anchors.ptr[i].part == number; i++) {
        char id[PL_CITE_ID_SIZE];
        pl_cite_id(id, list->anchors.ptr[i].entry);
        pl_buf_addf(&tail, "<cite id=\"%s\"/>", id);
    }
    if (tail.status != PL_OK) {
        conv->status = PL_NOMEM;
        return;
    }
    struct pl_val pieces[] = {part->text, pl_val_text(pl_buf_str(&tail))};
    pl_w_joined(w, pieces, 2, "");
}

bool pl_cites_has_map(const struct pl_conv *conv, const struct pl_cites_list *list,
                      const struct pl_message *message)
{
    size_t number = (size_t)(message - conv->messages.ptr);
    for (size_t i = 0; i < list->entries.len; i++)
        if (list->entries.ptr[i].message == number)
            return true;
    return false;
}

bool pl_cites_write_map(struct pl_writer *w, const struct pl_cites_list *list,
                        const struct pl_message *message)
{
    struct pl_conv *conv = w->conv;
    size_t number = (size_t)(message - conv->messages.ptr);
    if (!pl_cites_has_map(conv, list, message))
        return false;
    pl_w_key(w, "citation_map");
    pl_w_open(w, '{');
    for (size_t i = 0; i < list->entries.len; i++) {
        const struct pl_cite_entry *entry = &list->entries.ptr[i];
        if (entry->message != number)
            continue;
        PL_CLEANUP_BUF struct pl_buf json;
        pl_buf_init(&json, 0);
        char id[PL_CITE_ID_SIZE];
        pl_cite_id(id, i);
        pl_cited_write(&json, list->format, conv->doc, &entry->cited);
        if (json.status != PL_OK)
            conv->status = PL_NOMEM;
        pl_w_key_n(w, id, strlen(id));
        pl_w_raw(w, pl_buf_str(&json));
        pl_conv_fate(conv, entry->cited.body, PL_FATE_SAID);
        if (entry->cited.body == entry->node)
            continue;
        /* The members around the body are not written. */
        pl_conv_know(conv, entry->node);
        pl_conv_know(conv, pl_json_member(conv->doc, entry->node, "type", PL_JSON_STRING));
    }
    pl_w_close(w, '}');
    return true;
}

/* ---- pages beside a text ---- */

const struct pl_cite_anchor *pl_cites_of(const struct pl_conv *conv,
                                         const struct pl_cites_list *list,
                                         const struct pl_part *part, size_t *ret_n)
{
    *ret_n = 0;
    if (!pl_cites_is_cited(conv, list, part))
        return NULL;
    size_t number = (size_t)(part - conv->parts.ptr), first = first_anchor(list, number);
    while (first + *ret_n < list->anchors.len && list->anchors.ptr[first + *ret_n].part == number)
        (*ret_n)++;
    return &list->anchors.ptr[first];
}

size_t pl_cites_count_points(struct pl_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return n;
}

void pl_cites_write_range(struct pl_writer *w, const struct pl_cite_entry *entry, size_t base,
                          size_t n_points)
{
    static const char *const keys[] = {"start_index", "end_index"};
    const int64_t all[] = {0, (int64_t)n_points};
    for (size_t i = 0; i < 2; i++) {
        const struct pl_json_node *n =
            pl_json_member(w->conv->doc, entry->cited.body, keys[i], PL_JSON_NUMBER);
        int64_t at = all[i], said = all[i];
        if (n && pl_json_number_int64(pl_json_span(w->conv->doc, n), &said) && said >= 0 &&
            said <= (int64_t)n_points)
            at = said;
        pl_w_key(w, keys[i]);
        pl_w_int(w, (int64_t)base + at);
        pl_conv_know(w->conv, n);
        if (n && at != said)
            pl_conv_loss(w->conv, PL_LOSS_APPROXIMATED, n, "the text ends before this position");
        else if (n && base)
            pl_conv_loss(w->conv, PL_LOSS_MOVED, n,
                         "it is counted from the start of the text that this text is now part of");
    }
}

void pl_cites_write_page(struct pl_writer *w, const struct pl_cite_entry *entry,
                         const char *url_key, bool needs_title)
{
    const struct pl_cited *cited = &entry->cited;
    pl_w_opt_string(w, url_key, pl_val_node(cited->url));
    if (cited->source_name)
        pl_w_opt_string(w, "title", pl_val_node(cited->source_name));
    else if (needs_title)
        pl_w_key_word(w, "title", "");
    pl_conv_know(w->conv, pl_json_member(w->conv->doc, cited->body, "type", PL_JSON_STRING));
    pl_conv_know(w->conv, pl_json_member(w->conv->doc, entry->node, "type", PL_JSON_STRING));
}
