#include "format/spell.h"

#include "base/utf8.h"
#include "format/quirk.h"
#include "json/text.h"

#include <assert.h>

static const struct pl_str names[PL_SPELL_COUNT] = {
    [PL_SPELL_TEXT] = {"t", 1},         [PL_SPELL_TEXT_ASCII] = {"ta", 2},
    [PL_SPELL_TEXT_SLASH] = {"ts", 2},  [PL_SPELL_RAW] = {"r", 1},
    [PL_SPELL_INNER] = {"i", 1},        [PL_SPELL_DATA] = {"d", 1},
    [PL_SPELL_DATA_QUOTED] = {"dq", 2}, [PL_SPELL_JSON] = {"j", 1},
    [PL_SPELL_JSON_ASCII] = {"ja", 2},  [PL_SPELL_JSON_SLASH] = {"js", 2},
    [PL_SPELL_PARSED] = {"p", 1},
};

struct pl_str pl_spell_name(enum pl_spell spell)
{
    assert(spell < PL_SPELL_COUNT);
    return names[spell];
}

bool pl_spell_by_name(struct pl_str name, enum pl_spell *ret_spell)
{
    for (int i = 0; i < PL_SPELL_COUNT; i++)
        if (pl_str_eq(name, names[i])) {
            *ret_spell = (enum pl_spell)i;
            return true;
        }
    return false;
}

enum style { FEWEST, ASCII, SLASH };

static void put_unit(struct pl_buf *to, uint32_t unit)
{
    pl_buf_addf(to, "\\u%04x", unit);
}

/* Quotes text and then rewrites what the style wants escaped beyond that. */
static void put_quoted(struct pl_buf *to, struct pl_str text, enum style style)
{
    if (style == FEWEST) {
        pl_json_quote(to, text);
        return;
    }
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, text);
    struct pl_str s = pl_buf_str(&quoted);
    for (size_t at = 0; at < s.len;) {
        size_t from = at;
        int32_t c = pl_utf8_next(s, &at);
        if (style == SLASH && c == '/') {
            pl_buf_adds(to, "\\/");
        } else if (style == ASCII && c >= 0x10000) {
            put_unit(to, 0xD800 + ((uint32_t)(c - 0x10000) >> 10));
            put_unit(to, 0xDC00 + ((uint32_t)(c - 0x10000) & 0x3FF));
        } else if (style == ASCII && c >= 0x7F) {
            put_unit(to, (uint32_t)c);
        } else {
            pl_buf_add(to, pl_str_slice(s, from, at));
        }
    }
    if (quoted.status != PL_OK)
        to->status = quoted.status;
}

void pl_spell_put_text(struct pl_buf *to, struct pl_str json, enum pl_spell spell)
{
    put_quoted(to, json, (enum style)(spell - PL_SPELL_JSON));
}

static void put_text(struct pl_buf *to, const struct pl_json_doc *doc, const struct pl_json_node *n,
                     enum style style, bool is_quoted)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_str text;
    if (pl_json_text(&arena, doc, n, &text) != PL_OK)
        to->status = PL_NOMEM;
    else if (is_quoted)
        put_quoted(to, text, style);
    else
        pl_buf_add(to, text);
}

static bool data_of(const struct pl_json_doc *doc, const struct pl_json_node *n,
                    struct pl_str *ret_data)
{
    struct pl_str raw = pl_json_raw(doc, n);
    const char *comma = memchr(raw.ptr, ',', raw.len < 512 ? raw.len : 512);
    if (!comma || !pl_str_starts(raw, PL_STR("data:")))
        return false;
    *ret_data = pl_str_slice(raw, (size_t)(comma + 1 - raw.ptr), raw.len);
    return true;
}

bool pl_spell_put(struct pl_buf *to, const struct pl_json_doc *doc, const struct pl_json_node *n,
                  enum pl_spell spell)
{
    bool is_string = pl_json_kind(n) == PL_JSON_STRING;
    struct pl_str data;
    switch (spell) {
    case PL_SPELL_TEXT:
    case PL_SPELL_TEXT_ASCII:
    case PL_SPELL_TEXT_SLASH:
        if (is_string)
            put_text(to, doc, n, (enum style)(spell - PL_SPELL_TEXT), true);
        return is_string;
    case PL_SPELL_RAW:
        pl_buf_add(to, pl_json_span(doc, n));
        return true;
    case PL_SPELL_INNER:
        if (is_string)
            pl_buf_add(to, pl_json_raw(doc, n));
        return is_string;
    case PL_SPELL_DATA:
    case PL_SPELL_DATA_QUOTED:
        if (!is_string || !data_of(doc, n, &data))
            return false;
        if (spell == PL_SPELL_DATA_QUOTED)
            pl_buf_addc(to, '"');
        pl_buf_add(to, data);
        if (spell == PL_SPELL_DATA_QUOTED)
            pl_buf_addc(to, '"');
        return true;
    case PL_SPELL_JSON:
    case PL_SPELL_JSON_ASCII:
    case PL_SPELL_JSON_SLASH:
        pl_spell_put_text(to, pl_json_span(doc, n), spell);
        return true;
    case PL_SPELL_PARSED:
        if (is_string)
            put_text(to, doc, n, FEWEST, false);
        return is_string;
    default:
        return false;
    }
}

/* Long strings are nearly always copied as they are: settled without making them again. */
static bool find_at_once(const struct pl_json_doc *doc, const struct pl_json_node *n,
                         struct pl_str piece, enum pl_spell *ret_spell)
{
    bool is_string = pl_json_kind(n) == PL_JSON_STRING;
    struct pl_str data;
    if (pl_str_eq(piece, pl_json_span(doc, n))) {
        bool is_plain =
            is_string && (!(n->tag & PL_JSON_ODD) || pl_quirk_is_plain(pl_json_raw(doc, n)));
        *ret_spell = is_plain ? PL_SPELL_TEXT : PL_SPELL_RAW;
        return !is_string || is_plain;
    }
    if (!is_string)
        return false;
    if (pl_str_eq(piece, pl_json_raw(doc, n))) {
        *ret_spell = PL_SPELL_INNER;
        return true;
    }
    if (!data_of(doc, n, &data))
        return false;
    bool is_quoted = piece.len == data.len + 2 && piece.ptr[0] == '"';
    if (!pl_str_eq(is_quoted ? pl_str_slice(piece, 1, piece.len - 1) : piece, data))
        return false;
    *ret_spell = is_quoted ? PL_SPELL_DATA_QUOTED : PL_SPELL_DATA;
    return true;
}

bool pl_spell_find(struct pl_buf *scratch, const struct pl_json_doc *doc,
                   const struct pl_json_node *n, struct pl_str piece, enum pl_spell *ret_spell)
{
    if (find_at_once(doc, n, piece, ret_spell))
        return true;
    for (int i = 0; i < PL_SPELL_COUNT; i++) {
        pl_buf_clear(scratch);
        bool fits = pl_spell_put(scratch, doc, n, (enum pl_spell)i);
        if (scratch->status != PL_OK)
            return false;
        if (fits && pl_str_eq(pl_buf_str(scratch), piece)) {
            *ret_spell = (enum pl_spell)i;
            return true;
        }
    }
    return false;
}
