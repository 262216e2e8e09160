/* Writes JSON and marks written values. Every function that takes a value of the source copies its
 * bytes and records the link between both places. */
#include "format/writer.h"

#include "conv/tool_error.h"

#include "base/ascii.h"
#include "json/parse/surely.h"
#include "json/text.h"

#include <assert.h>

void pl_writer_renew(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to)
{
    w->conv = conv;
    w->out = pl_json_out(to);
    w->least_link = PL_LINKS_NONE;
    w->links.len = 0;
    w->held.node = NULL;
    w->has_item[0] = false;
}

void pl_writer_init(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to)
{
    memset(&w->links, 0, sizeof w->links);
    pl_writer_renew(w, conv, to);
}

void pl_writer_deinit(struct pl_writer *w)
{
    pl_vec_deinit(&w->links);
}

void pl_writer_keep_links(struct pl_writer *w, uint32_t least)
{
    w->least_link = least;
}

/* ---- structure ---- */

/* Whether n_bytes fit without growing. Writers check this first; growing is a separate function,
 * called last, so that the fast path is short and saves no registers. */
static inline bool has_room(const struct pl_buf *buf, size_t n_bytes)
{
    return __builtin_expect(buf->status == PL_OK && buf->cap - buf->len >= n_bytes, 1);
}

/* Writes the comma before a key or a value; there is room for it. */
static inline char *put_comma(struct pl_writer *w)
{
    struct pl_buf *buf = w->out.buf;
    char *to = buf->ptr + buf->len;
    if (w->out.is_after_key) {
        w->out.is_after_key = false;
        return to;
    }
    bool *has_item = &w->has_item[w->out.depth];
    size_t n_comma = *has_item;
    *has_item = true;
    *to = ',';
    buf->len += n_comma;
    return to + n_comma;
}

/* Begins a key or a value of at most n_bytes: writes the comma. NULL if there is no room; the error
 * sticks to the buffer. */
static inline char *begin(struct pl_writer *w, size_t n_bytes)
{
    return has_room(w->out.buf, n_bytes + 1) || pl_buf_grow(w->out.buf, n_bytes + 1) ? put_comma(w)
                                                                                     : NULL;
}

static __attribute__((noinline, cold)) void *fail_depth(struct pl_writer *w)
{
    if (w->out.buf->status == PL_OK)
        w->out.buf->status = PL_LIMIT;
    return NULL;
}

static __attribute__((noinline, cold)) void open_in_more(struct pl_writer *w, char bracket)
{
    if (pl_buf_grow(w->out.buf, 2))
        pl_w_open(w, bracket);
}

void pl_w_open(struct pl_writer *w, char bracket)
{
    struct pl_json_out *out = &w->out;
    if (__builtin_expect(out->depth >= PL_W_MAX_DEPTH, 0)) {
        (void)fail_depth(w);
        return;
    }
    if (!has_room(out->buf, 2)) {
        open_in_more(w, bracket);
        return;
    }
    *put_comma(w) = bracket;
    w->has_item[++out->depth] = false;
    out->buf->len++;
}

static __attribute__((noinline, cold)) void close_in_more(struct pl_buf *buf, char bracket)
{
    pl_buf_addc(buf, bracket);
}

void pl_w_close(struct pl_writer *w, char bracket)
{
    struct pl_json_out *out = &w->out;
    struct pl_buf *buf = out->buf;
    uint32_t depth = out->depth;
    /* Every container is closed, and no key lacks its value. */
    assert((depth > 0 && !out->is_after_key) || buf->status != PL_OK || w->conv->status != PL_OK);
    out->depth = depth - (depth > 0);
    if (!has_room(buf, 1)) {
        close_in_more(buf, bracket);
        return;
    }
    buf->ptr[buf->len++] = bracket;
}

static __attribute__((noinline, cold)) char *object_in_more(struct pl_writer *w, size_t n_bytes,
                                                            bool is_after_key)
{
    return pl_buf_grow(w->out.buf, n_bytes + 2) ? pl_w_begin_object(w, n_bytes, is_after_key)
                                                : NULL;
}

char *pl_w_begin_object(struct pl_writer *w, size_t n_bytes, bool is_after_key)
{
    struct pl_json_out *out = &w->out;
    if (__builtin_expect(out->depth >= PL_W_MAX_DEPTH, 0))
        return fail_depth(w);
    if (!has_room(out->buf, n_bytes + 2))
        return object_in_more(w, n_bytes, is_after_key);
    char *to = put_comma(w);
    w->has_item[++out->depth] = true;
    out->is_after_key = is_after_key;
    *to = '{';
    out->buf->len += n_bytes + 1;
    return to + 1;
}

static __attribute__((noinline, cold)) char *key_in_more(struct pl_writer *w, size_t n_bytes)
{
    return pl_buf_grow(w->out.buf, n_bytes + 4) ? pl_w_begin_key(w, n_bytes) : NULL;
}

char *pl_w_begin_key(struct pl_writer *w, size_t n_bytes)
{
    if (!has_room(w->out.buf, n_bytes + 4))
        return key_in_more(w, n_bytes);
    char *to = put_comma(w);
    w->out.is_after_key = true;
    w->out.buf->len += n_bytes + 3;
    return to;
}

static __attribute__((noinline, cold)) char *pair_in_more(struct pl_writer *w, size_t n_key,
                                                          size_t n_word)
{
    return pl_buf_grow(w->out.buf, n_key + n_word + 6) ? pl_w_begin_pair(w, n_key, n_word) : NULL;
}

char *pl_w_begin_pair(struct pl_writer *w, size_t n_key, size_t n_word)
{
    if (!has_room(w->out.buf, n_key + n_word + 6))
        return pair_in_more(w, n_key, n_word);
    char *to = put_comma(w);
    w->out.buf->len += n_key + n_word + 5;
    return to;
}

void pl_w_key_n(struct pl_writer *w, const char *key, size_t n_bytes)
{
    char *to = pl_w_begin_key(w, n_bytes);
    if (!to)
        return;
    *to = '"';
    pl_bytes_copy(to + 1, key, n_bytes);
    memcpy(to + 1 + n_bytes, "\":", 2);
}

void pl_w_key_str(struct pl_writer *w, struct pl_str key)
{
    (void)begin(w, 0);
    pl_json_quote(w->out.buf, key);
    pl_buf_addc(w->out.buf, ':');
    w->out.is_after_key = true;
}

/* Writes one value from its bytes. */
static inline void put(struct pl_writer *w, const char *json, size_t n_bytes)
{
    char *to = begin(w, n_bytes);
    if (!to)
        return;
    pl_bytes_copy(to, json, n_bytes);
    w->out.buf->len += n_bytes;
}

char *pl_w_begin_word(struct pl_writer *w, size_t n_bytes)
{
    char *to = begin(w, n_bytes + 2);
    if (to)
        w->out.buf->len += n_bytes + 2;
    return to;
}

void pl_w_word_n(struct pl_writer *w, const char *word, size_t n_bytes)
{
    char *to = pl_w_begin_word(w, n_bytes);
    if (!to)
        return;
    *to = '"';
    pl_bytes_copy(to + 1, word, n_bytes);
    to[1 + n_bytes] = '"';
}

void pl_w_bool(struct pl_writer *w, bool value)
{
    put(w, value ? "true" : "false", value ? 4 : 5);
}

void pl_w_int(struct pl_writer *w, int64_t value)
{
    (void)begin(w, 0);
    w->out.is_after_key = true; /* the comma is written */
    pl_json_out_int(&w->out, value);
}

void pl_w_null(struct pl_writer *w)
{
    put(w, "null", 4);
}

/* Whether it is JSON without duplicate keys; false when out of memory. */
static bool is_json(struct pl_writer *w, struct pl_str json)
{
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(w->conv->arena, json, &opts, &doc, NULL);
    if (status == PL_NOMEM)
        w->conv->status = PL_NOMEM;
    return status == PL_OK;
}

void pl_w_raw(struct pl_writer *w, struct pl_str json)
{
    put(w, json.ptr, json.len);
}

/* ---- values of the source ---- */

/* Links the piece of the source at `span` to the value written last, which begins at `at`. NULL:
 * the link is not wanted, or out of memory. */
static inline __attribute__((always_inline)) struct pl_link *
link_last(struct pl_writer *w, struct pl_str span, size_t at, const struct pl_json_node *node,
          enum pl_link_how how)
{
    pl_conv_fate(w->conv, node, PL_FATE_SAID);
    if (__builtin_expect(span.len < w->least_link, 1))
        return NULL;
    struct pl_link *link = pl_vec_add(&w->links);
    if (!link) {
        w->conv->status = PL_NOMEM;
        return NULL;
    }
    *link = (struct pl_link){.node = node,
                             .off = (uint32_t)(span.ptr - w->conv->doc->text.ptr),
                             .len = (uint32_t)span.len,
                             .at = (uint32_t)at,
                             .how = how};
    return link;
}

/* Copies a value of the source with its spelling. */
void pl_w_copy(struct pl_writer *w, const struct pl_json_node *node)
{
    struct pl_str span = pl_json_span(w->conv->doc, node);
    put(w, span.ptr, span.len);
    (void)link_last(w, span, w->out.buf->len - span.len, node, PL_LINK_COPY);
}

/* Writes a value of the source that is not a string as a string of its text. */
static void put_quoted(struct pl_writer *w, const struct pl_json_node *node)
{
    struct pl_str span = pl_json_span(w->conv->doc, node);
    (void)begin(w, 0);
    size_t at = w->out.buf->len;
    pl_json_quote(w->out.buf, span);
    (void)link_last(w, span, at, node, PL_LINK_QUOTED);
}

/* Writes a string around bytes that are already escaped. `head` is a text we made. */
static void put_inside(struct pl_writer *w, struct pl_str head, struct pl_str raw,
                       const struct pl_json_node *node)
{
    struct pl_buf *buf = w->out.buf;
    (void)begin(w, head.len + raw.len + 2);
    size_t at = buf->len;
    pl_json_quote(buf, head);
    if (buf->status == PL_OK)
        buf->len--;
    size_t n_before = buf->len - at - 1;
    pl_buf_add(buf, raw);
    pl_buf_addc(buf, '"');
    struct pl_link *link = link_last(w, raw, at, node, PL_LINK_INSIDE);
    if (link)
        link->before = (uint32_t)n_before;
}

/* Writes a text we made. If it is an error object (format/adapt/flag_errors.h), its message is from
 * a string of the source. */
static void put_text(struct pl_writer *w, struct pl_val val)
{
    (void)begin(w, 0);
    size_t at = w->out.buf->len;
    pl_json_quote(w->out.buf, val.str);
    struct pl_str head = PL_STR(PL_FLAGGED_HEAD);
    if (!pl_json_is(val.node, PL_JSON_STRING) || !pl_str_starts(val.str, head))
        return;
    pl_w_report_half(w, pl_val_node(val.node));
    struct pl_link *link =
        link_last(w, pl_json_span(w->conv->doc, val.node), at, val.node, PL_LINK_ESCAPED);
    if (!link)
        return;
    link->before = (uint32_t)head.len;
    link->own = (uint32_t)(val.str.len - head.len - (sizeof "\"}" - 1));
}

/* The only piece with text, if it is a string of the source; NULL: there are several. */
static const struct pl_json_node *only_piece(struct pl_writer *w, struct pl_val run)
{
    const struct pl_json_node *only = NULL;
    for (size_t i = 0; i < run.n_pieces; i++) {
        struct pl_val piece = run.pieces[i].text;
        if (!pl_conv_text(w->conv, piece).len)
            continue;
        if (only || piece.kind != PL_VAL_NODE || !pl_json_is(piece.node, PL_JSON_STRING))
            return NULL;
        only = piece.node;
    }
    return only;
}

/* Writes the pieces of a text as one string, or copies the source's string. */
static void put_run(struct pl_writer *w, struct pl_val run)
{
    const struct pl_json_node *only = run.node ? run.node : only_piece(w, run);
    if (!only) {
        pl_w_joined(w, &run, 1, "");
        return;
    }
    pl_w_copy(w, only);
    for (size_t i = 0; !run.node && i < run.n_pieces; i++)
        pl_conv_fate(w->conv, run.pieces[i].text.node, PL_FATE_SAID);
}

void pl_w_string_slowly(struct pl_writer *w, struct pl_val val)
{
    switch (val.kind) {
    case PL_VAL_RUN:
        put_run(w, val);
        break;
    case PL_VAL_NODE:
        put_quoted(w, val.node);
        break;
    case PL_VAL_SPAN:
        put_inside(w, PL_STR(""), val.str, val.node);
        break;
    default:
        put_text(w, val);
        pl_w_mapped(w, val); /* in other words than the node */
    }
}

void pl_w_report_half(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NODE && pl_json_is(val.node, PL_JSON_STRING) &&
        pl_conv_fate_of(w->conv, val.node) == PL_FATE_NONE &&
        pl_json_has_half(w->conv->doc, val.node))
        pl_w_loss(w, PL_LOSS_APPROXIMATED, val,
                  "half of a surrogate pair is no character; U+FFFD is in its place");
}

/* Links a text inside a string to its string in the source. */
static void link_part(struct pl_writer *w, struct pl_val val, size_t at, size_t before, size_t own)
{
    if (val.kind != PL_VAL_NODE || pl_json_kind(val.node) != PL_JSON_STRING) {
        pl_conv_fate(w->conv, val.node, PL_FATE_SAID);
        return;
    }
    pl_w_report_half(w, val);
    struct pl_link *link =
        link_last(w, pl_json_span(w->conv->doc, val.node), at, val.node, PL_LINK_PART);
    if (!link)
        return;
    link->before = (uint32_t)before;
    link->own = (uint32_t)own;
}

void pl_w_joined(struct pl_writer *w, const struct pl_val texts[], size_t n_texts, const char *glue)
{
    PL_CLEANUP_BUF struct pl_buf whole;
    pl_buf_init(&whole, 0);
    (void)begin(w, 0);
    size_t at = w->out.buf->len;
    for (size_t i = 0; i < n_texts; i++) {
        bool is_cut = texts[i].kind == PL_VAL_RUN && !texts[i].node;
        if (i)
            pl_buf_adds(&whole, glue);
        for (size_t k = 0; k < (is_cut ? texts[i].n_pieces : 1); k++) {
            struct pl_val piece = is_cut ? texts[i].pieces[k].text : texts[i];
            if (piece.kind == PL_VAL_RUN)
                piece = pl_val_node(piece.node);
            struct pl_str text = pl_conv_text(w->conv, piece);
            link_part(w, piece, at, whole.len, text.len);
            pl_buf_add(&whole, text);
            if (k > 0 && piece.kind == PL_VAL_NODE && texts[i].pieces[k].node)
                pl_w_loss(w, PL_LOSS_MERGED, piece,
                          "words and variables are one text here; this follows the previous text");
        }
    }
    if (whole.status != PL_OK)
        w->conv->status = whole.status;
    else
        pl_json_quote(w->out.buf, pl_buf_str(&whole));
}

void pl_w_value_slowly(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_JSON)
        pl_w_raw(w, val.str);
    else
        pl_w_string(w, val);
}

static struct pl_str trimmed(struct pl_str s)
{
    while (s.len && pl_ascii_is_white(s.ptr[0]))
        s = pl_str_slice(s, 1, s.len);
    while (s.len && pl_ascii_is_white(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* ---- JSON in strings ---- */

/* Looks into a string of the source, once. */
static void hold(struct pl_writer *w, const struct pl_json_node *node)
{
    if (w->held.node == node)
        return;
    struct pl_str text = pl_conv_text(w->conv, pl_val_node(node));
    w->held.node = node;
    w->held.text = trimmed(text);
    w->held.is_object = false;
}

bool pl_w_holds_object(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NODE && pl_json_kind(val.node) != PL_JSON_STRING)
        return pl_json_kind(val.node) == PL_JSON_OBJECT;
    if (val.kind != PL_VAL_NODE) {
        struct pl_str text = trimmed(pl_conv_text(w->conv, val));
        return !text.len || (text.ptr[0] == '{' && is_json(w, text));
    }
    hold(w, val.node);
    if (!w->held.text.len || w->held.text.ptr[0] != '{')
        return !w->held.text.len;
    if (!w->held.is_object)
        w->held.is_object = pl_json_is_surely_object(w->held.text) || is_json(w, w->held.text);
    return w->held.is_object;
}

/* Writes the JSON inside a string of the source. */
static void put_held(struct pl_writer *w, const struct pl_json_node *node)
{
    struct pl_str json = w->held.text;
    put(w, json.ptr, json.len);
    (void)link_last(w, pl_json_span(w->conv->doc, node), w->out.buf->len - json.len, node,
                    PL_LINK_JSON);
}

void pl_w_json(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NONE || val.kind == PL_VAL_JSON ||
        (val.kind == PL_VAL_NODE && pl_json_kind(val.node) != PL_JSON_STRING)) {
        pl_w_value(w, val.kind == PL_VAL_NONE ? pl_val_json(PL_STR("{}")) : val);
        return;
    }
    struct pl_str text;
    if (val.kind == PL_VAL_NODE) {
        hold(w, val.node);
        text = w->held.text;
    } else {
        text = trimmed(pl_conv_text(w->conv, val));
    }
    if (!text.len) {
        pl_w_raw(w, PL_STR("{}"));
        pl_w_mapped(w, val);
    } else if (val.kind == PL_VAL_NODE) {
        put_held(w, val.node);
    } else {
        pl_w_raw(w, text);
    }
}

void pl_w_data_url(struct pl_writer *w, struct pl_val mime, struct pl_val data)
{
    struct pl_str type =
        pl_val_is_set(mime) ? pl_conv_text(w->conv, mime) : PL_STR("application/octet-stream");
    struct pl_str head = pl_conv_printf(w->conv, "data:%.*s;base64,", PL_STR_ARG(type));
    if (mime.kind == PL_VAL_NODE)
        pl_conv_fate(w->conv, mime.node, PL_FATE_SAID);
    struct pl_str raw = data.str;
    if (data.kind == PL_VAL_NODE)
        raw = pl_json_raw(w->conv->doc, data.node);
    if (data.kind == PL_VAL_NODE || data.kind == PL_VAL_SPAN)
        put_inside(w, head, raw, data.node);
    else
        put_text(
            w, pl_val_text(pl_conv_printf(w->conv, "%.*s%.*s", PL_STR_ARG(head), PL_STR_ARG(raw))));
}

void pl_w_mapped(struct pl_writer *w, struct pl_val val)
{
    pl_conv_fate(w->conv, val.node, PL_FATE_KNOWN);
}

void pl_w_loss(struct pl_writer *w, enum pl_loss_code code, struct pl_val val, const char *detail)
{
    bool is_cut = val.kind == PL_VAL_RUN && !val.node && val.n_pieces;
    pl_conv_loss(w->conv, code, is_cut ? val.pieces[0].text.node : val.node, "%s", detail);
}
