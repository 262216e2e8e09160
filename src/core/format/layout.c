#include "format/layout.h"

#include "format/quirk.h"
#include "json/text.h"

/* More digits than this may be rounded on the way. */
enum { SAFE_DIGITS = 15 };

static bool is_plain(const struct pl_json_doc *doc, const struct pl_json_node *string)
{
    return !(string->tag & PL_JSON_ODD) || pl_quirk_is_plain(pl_json_raw(doc, string));
}

/* What a layout leaves out: strings that are no keys. */
static bool is_left_out(const struct pl_json_node *n)
{
    return pl_json_kind(n) == PL_JSON_STRING && !(n->tag & PL_JSON_KEY);
}

static bool is_stable_number(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    return (n->tag & PL_JSON_INTEGER) && n->len <= SAFE_DIGITS &&
           !pl_str_eq(pl_json_span(doc, n), PL_STR("-0"));
}

/* Bytes of a container itself without white space: its brackets, commas and colons. */
static size_t own_len(const struct pl_json_node *n)
{
    uint32_t count = pl_json_count(n);
    return 2 + (count ? count - 1 : 0) + (pl_json_kind(n) == PL_JSON_OBJECT ? count : 0);
}

bool pl_layout_is_needed(const struct pl_json_doc *doc, const struct pl_json_node *value)
{
    size_t n_bytes = 0;
    for (const struct pl_json_node *n = value, *end = pl_json_next(value); n < end; n++) {
        enum pl_json_kind kind = pl_json_kind(n);
        if (kind == PL_JSON_STRING ? !is_plain(doc, n)
                                   : kind == PL_JSON_NUMBER && !is_stable_number(doc, n))
            return true;
        n_bytes += kind >= PL_JSON_ARRAY ? own_len(n) : n->len;
    }
    return n_bytes != value->len;
}

void pl_layout_write(struct pl_buf *to, const struct pl_json_doc *doc,
                     const struct pl_json_node *value)
{
    size_t from = value->off;
    char before = '[';
    for (const struct pl_json_node *n = value, *end = pl_json_next(value); n < end; n++) {
        if (!is_left_out(n))
            continue;
        pl_json_quote_slice(to, before, doc->text, from, n->off);
        before = ',';
        if (!is_plain(doc, n)) {
            struct pl_json_out quirks = pl_json_out(to);
            pl_buf_addc(to, ',');
            pl_quirk_write(&quirks, pl_json_raw(doc, n));
        }
        from = (size_t)n->off + n->len;
    }
    pl_json_quote_slice(to, before, doc->text, from, (size_t)value->off + value->len);
    pl_buf_addc(to, ']');
}

static void put_text(struct pl_buf *to, const struct pl_json_doc *doc,
                     const struct pl_json_node *string, bool is_quoted)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_str text;
    if (pl_json_text(&arena, doc, string, &text) != PL_OK)
        to->status = PL_NOMEM;
    else if (is_quoted)
        pl_json_quote(to, text);
    else
        pl_buf_add(to, text);
}

static bool fits(const struct pl_json_node *layout, const struct pl_json_node *value)
{
    uint32_t n_strings = 0, n_pieces = 0;
    if (pl_json_kind(layout) != PL_JSON_ARRAY)
        return false;
    for (const struct pl_json_node *n = value, *end = pl_json_next(value); n < end; n++)
        n_strings += is_left_out(n);
    for (const struct pl_json_node *p = pl_json_first(layout); p < pl_json_end(layout);
         p = pl_json_next(p)) {
        n_pieces += pl_json_kind(p) == PL_JSON_STRING;
        /* Quirks stand between two pieces. */
        if (pl_json_kind(p) != PL_JSON_STRING &&
            (pl_json_kind(p) != PL_JSON_ARRAY || pl_json_next(p) >= pl_json_end(layout) ||
             pl_json_kind(pl_json_next(p)) != PL_JSON_STRING || n_pieces == 0))
            return false;
    }
    return n_pieces == n_strings + 1;
}

bool pl_layout_put(struct pl_buf *to, const struct pl_json_doc *layout_doc,
                   const struct pl_json_node *layout, const struct pl_json_doc *doc,
                   const struct pl_json_node *value)
{
    if (!fits(layout, value))
        return false;
    const struct pl_json_node *piece = pl_json_first(layout);
    put_text(to, layout_doc, piece, false);
    for (const struct pl_json_node *n = value, *end = pl_json_next(value); n < end; n++) {
        if (!is_left_out(n))
            continue;
        piece = pl_json_next(piece);
        if (pl_json_kind(piece) == PL_JSON_STRING) {
            put_text(to, doc, n, true);
        } else {
            if (!pl_quirk_put(to, layout_doc, piece, doc, n))
                return false;
            piece = pl_json_next(piece);
        }
        put_text(to, layout_doc, piece, false);
    }
    return true;
}
