#include "format/writer.h"

#include "base/decimal.h"
#include "base/utf8.h"
#include "json/pointer.h"
#include "json/text.h"

#include <assert.h>

/* Field by field: the steps are many and need no clearing. */
void pl_writer_renew(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to)
{
    w->conv = conv;
    w->out = pl_json_out(to);
    w->links.len = w->looks.len = 0;
    w->held.node = NULL;
    w->list_key = (struct pl_str){0};
    w->has_list = false;
    w->list_depth = 0;
    w->look = 0;
    w->steps[0].index = UINT32_MAX;
    for (int i = 0; i < 1 << PL_W_KNOWN_BITS; i++)
        w->known[i].path = NULL;
}

void pl_writer_init(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to)
{
    memset(&w->links, 0, sizeof w->links);
    memset(&w->looks, 0, sizeof w->looks);
    pl_writer_renew(w, conv, to);
}

void pl_writer_deinit(struct pl_writer *w)
{
    pl_vec_deinit(&w->links);
    pl_vec_deinit(&w->looks);
}

void pl_writer_watch(struct pl_writer *w, const char *list_key)
{
    w->list_key = pl_str_of(list_key);
    w->has_list = true;
}

/* ---- looks ---- */

static void end_element(struct pl_writer *w)
{
    if (w->looks.len)
        w->looks.ptr[w->looks.len - 1] = w->look;
}

static void begin_element(struct pl_writer *w)
{
    end_element(w);
    w->look = 0;
    if (!pl_vec_push(&w->looks, 0))
        w->conv->status = PL_NOMEM;
}

static inline bool is_in_list(const struct pl_writer *w)
{
    return w->list_depth != 0;
}

/* Whether the value to come, or just written, is the member with the list. */
static inline bool is_list_due(const struct pl_writer *w)
{
    const struct pl_step *step = &w->steps[1];
    return w->out.depth == 1 && w->has_list && step->key &&
           pl_str_eq((struct pl_str){step->key, step->key_len}, w->list_key);
}

static inline void add_look(struct pl_writer *w, uint64_t own)
{
    w->look = pl_look_add(w->look, own);
}

/* The string that was written last, from `at` on; is_odd: not all of it is ours. */
static void look_at_string(struct pl_writer *w, size_t at, bool is_odd)
{
    if (is_in_list(w) && w->out.buf->status == PL_OK)
        add_look(w, pl_look_string(
                        pl_str_slice(pl_buf_str(w->out.buf), at + 1, w->out.buf->len - 1), is_odd));
}

/* A whole value: of an element, or the list itself with all its elements. */
static void look_at(struct pl_writer *w, const struct pl_json_doc *doc,
                    const struct pl_json_node *value)
{
    if (is_in_list(w)) {
        w->look = pl_look_add_value(w->look, doc, value);
    } else if (pl_json_kind(value) == PL_JSON_ARRAY && is_list_due(w)) {
        for (const struct pl_json_node *e = pl_json_first(value); e < pl_json_end(value);
             e = pl_json_next(e)) {
            begin_element(w);
            w->look = pl_look_add_value(0, doc, e);
        }
        end_element(w);
    }
}

/* ---- structure ---- */

/* Begins a key or a value of n_bytes at most: the comma, and which item it is. NULL when there is
 * no room, which sticks to the buffer. */
static inline char *begin(struct pl_writer *w, size_t n_bytes)
{
    struct pl_buf *buf = w->out.buf;
    char *to = pl_buf_reserve(buf, n_bytes + 1);
    if (w->out.is_after_key) {
        w->out.is_after_key = false;
        return to;
    }
    uint32_t depth = w->out.depth;
    /* Counting begins one before the first item; outside there is only one. */
    bool is_first = ++w->steps[depth].index == 0;
    if (depth == w->list_depth && depth)
        begin_element(w);
    if (is_first || !to)
        return to;
    buf->len++;
    *to = ',';
    return to + 1;
}

static inline void enter(struct pl_step *step)
{
    step->key = NULL;
    step->key_len = 0;
    step->index = UINT32_MAX;
    step->container = NULL;
}

/* Where there is no room yet, or it may be the list or one of its elements. */
static __attribute__((noinline)) void open_slowly(struct pl_writer *w, char bracket)
{
    struct pl_json_out *out = &w->out;
    if (out->depth >= PL_W_MAX_DEPTH) {
        if (out->buf->status == PL_OK)
            out->buf->status = PL_LIMIT;
        return;
    }
    bool is_list = w->has_list && bracket == '[' && (!out->depth || is_list_due(w));
    char *to = begin(w, 1);
    if (to) {
        *to = bracket;
        out->buf->len++;
    }
    enter(&w->steps[++out->depth]);
    if (is_list)
        w->list_depth = out->depth;
}

void pl_w_open(struct pl_writer *w, char bracket)
{
    struct pl_buf *buf = w->out.buf;
    uint32_t depth = w->out.depth;
    bool is_usual = depth > 1 && depth != w->list_depth && depth < PL_W_MAX_DEPTH;
    if (__builtin_expect(!is_usual || buf->status != PL_OK || buf->cap - buf->len < 2, 0)) {
        open_slowly(w, bracket);
        return;
    }
    struct pl_step *step = &w->steps[depth];
    char *to = buf->ptr + buf->len;
    size_t n_comma = 0;
    if (!w->out.is_after_key)
        n_comma = ++step->index != 0;
    w->out.is_after_key = false;
    w->out.depth = depth + 1;
    enter(step + 1);
    buf->len += n_comma + 1;
    to[0] = ',';
    to[n_comma] = bracket;
}

void pl_w_close(struct pl_writer *w, char bracket)
{
    struct pl_json_out *out = &w->out;
    struct pl_buf *buf = out->buf;
    uint32_t depth = out->depth;
    /* What was opened is closed, and no key is left without its value. */
    assert((depth > 0 && !out->is_after_key) || buf->status != PL_OK || w->conv->status != PL_OK);
    if (__builtin_expect(depth == w->list_depth && depth, 0)) {
        end_element(w);
        w->list_depth = 0;
    }
    out->depth = depth - (depth > 0);
    pl_buf_addc(buf, bracket);
}

/* A key of the code, with what belongs to it: n_bytes in all. A key is never an element. */
static inline __attribute__((always_inline)) char *begin_key(struct pl_writer *w, const char *key,
                                                             size_t n_key, size_t n_bytes)
{
    struct pl_buf *buf = w->out.buf;
    struct pl_step *step = &w->steps[w->out.depth];
    char *to = pl_buf_reserve(buf, n_bytes + 1);
    size_t n_comma = ++step->index != 0;
    step->key = key;
    step->key_len = (uint32_t)n_key;
    w->out.is_after_key = true;
    if (__builtin_expect(!to, 0))
        return NULL;
    buf->len += n_comma + n_bytes;
    *to = ',';
    return to + n_comma;
}

char *pl_w_begin_key(struct pl_writer *w, const char *key, size_t n_bytes)
{
    return begin_key(w, key, n_bytes, n_bytes + 3);
}

char *pl_w_begin_pair(struct pl_writer *w, const char *key, size_t n_key, size_t n_word,
                      uint64_t look)
{
    w->look = pl_look_add(w->look, look);
    char *to = begin_key(w, key, n_key, n_key + n_word + 5);
    w->out.is_after_key = false;
    return to;
}

void pl_w_key_n(struct pl_writer *w, const char *key, size_t n_bytes)
{
    char *to = pl_w_begin_key(w, key, n_bytes);
    if (!to)
        return;
    *to = '"';
    pl_bytes_copy(to + 1, key, n_bytes);
    memcpy(to + 1 + n_bytes, "\":", 2);
}

/* A key as a pointer in a JSON string has it. */
static struct pl_str token_of(struct pl_writer *w, struct pl_str key)
{
    bool is_plain = true;
    for (size_t i = 0; i < key.len; i++)
        is_plain &= (unsigned char)key.ptr[i] >= 0x20 && !memchr("~/\"\\", key.ptr[i], 4);
    if (is_plain)
        return key.len ? key : PL_STR("");
    PL_CLEANUP_BUF struct pl_buf pointer, quoted;
    pl_buf_init(&pointer, 0);
    pl_buf_init(&quoted, 0);
    pl_json_pointer_add(&pointer, key);
    pl_json_quote(&quoted, pl_buf_str(&pointer));
    struct pl_str token = {0};
    if (pointer.status == PL_OK && quoted.status == PL_OK)
        token = pl_arena_dup(w->conv->arena, pl_str_slice(pl_buf_str(&quoted), 2, quoted.len - 1));
    if (!token.ptr)
        w->conv->status = PL_NOMEM;
    return token.ptr ? token : PL_STR("");
}

void pl_w_key_str(struct pl_writer *w, struct pl_str key)
{
    (void)begin(w, 0);
    pl_json_quote(w->out.buf, key);
    pl_buf_addc(w->out.buf, ':');
    struct pl_step *step = &w->steps[w->out.depth];
    struct pl_str token = token_of(w, key);
    step->key = token.ptr;
    step->key_len = (uint32_t)token.len;
    w->out.is_after_key = true;
}

/* One value whose bytes are at hand. */
static inline void put(struct pl_writer *w, const char *json, size_t n_bytes)
{
    char *to = begin(w, n_bytes);
    if (!to)
        return;
    pl_bytes_copy(to, json, n_bytes);
    w->out.buf->len += n_bytes;
}

char *pl_w_begin_word(struct pl_writer *w, size_t n_bytes, uint64_t look)
{
    char *to = begin(w, n_bytes + 2);
    if (to)
        w->out.buf->len += n_bytes + 2;
    add_look(w, look);
    return to;
}

void pl_w_word_n(struct pl_writer *w, const char *word, size_t n_bytes)
{
    char *to = pl_w_begin_word(w, n_bytes, is_in_list(w) ? pl_look_word(word, n_bytes) : 0);
    if (!to)
        return;
    *to = '"';
    pl_bytes_copy(to + 1, word, n_bytes);
    to[1 + n_bytes] = '"';
}

void pl_w_bool(struct pl_writer *w, bool value)
{
    put(w, value ? "true" : "false", value ? 4 : 5);
    add_look(w, pl_look_literal(value ? PL_JSON_TRUE : PL_JSON_FALSE));
}

void pl_w_int(struct pl_writer *w, int64_t value)
{
    (void)begin(w, 0);
    w->out.is_after_key = true; /* the comma is there */
    pl_json_out_int(&w->out, value);
    add_look(w, pl_look_int(value));
}

void pl_w_null(struct pl_writer *w)
{
    put(w, "null", 4);
    add_look(w, pl_look_literal(PL_JSON_NULL));
}

/* JSON text as a tree in the conversation's arena; NULL when it is none (or memory ran out). */
static const struct pl_json_doc *parse(struct pl_writer *w, struct pl_str json,
                                       bool allows_duplicate_keys)
{
    struct pl_json_opts opts = {.allows_duplicate_keys = allows_duplicate_keys,
                                .allows_lone_surrogates = true};
    struct pl_json_doc *doc = pl_arena_alloc(w->conv->arena, 1, sizeof *doc);
    enum pl_status status = doc ? pl_json_parse(w->conv->arena, json, &opts, doc, NULL) : PL_NOMEM;
    if (status == PL_NOMEM)
        w->conv->status = PL_NOMEM;
    return status == PL_OK ? doc : NULL;
}

void pl_w_raw(struct pl_writer *w, struct pl_str json)
{
    bool is_looked_at = is_in_list(w) || is_list_due(w);
    const struct pl_json_doc *doc = is_looked_at ? parse(w, json, true) : NULL;
    put(w, json.ptr, json.len);
    if (doc)
        look_at(w, doc, doc->root);
}

/* ---- links ---- */

/* "/" and the key or index of the item a step is at. */
static char *put_step(char *to, const struct pl_step *step)
{
    *to++ = '/';
    if (step->key) {
        pl_bytes_copy(to, step->key, step->key_len);
        return to + step->key_len;
    }
    return to + pl_decimal_put(to, step->index);
}

/* The pointer of the container that is at a step of the one around it. */
static void make_path(struct pl_writer *w, const struct pl_step *around, struct pl_step *step)
{
    size_t n_step = 1 + (around->key ? around->key_len : PL_DECIMAL_MOST);
    char *start = pl_arena_alloc(w->conv->arena, around->container_len + n_step, 1);
    if (!start) {
        w->conv->status = PL_NOMEM;
        step->container = "";
        step->container_len = 0;
        return;
    }
    pl_bytes_copy(start, around->container, around->container_len);
    step->container = start;
    step->container_len = (uint32_t)(put_step(start + around->container_len, around) - start);
}

/* The same; mostly it was made before. */
static void find_path(struct pl_writer *w, const struct pl_step *around, struct pl_step *step)
{
    uintptr_t name = around->key ? (uintptr_t)around->key + around->key_len : around->index;
    uint64_t place = ((uintptr_t)around->container + 3 * name) * 0x9E3779B97F4A7C15;
    struct pl_known_path *known = &w->known[place >> (64 - PL_W_KNOWN_BITS)];
    bool is_same = around->key ? known->key_len == around->key_len : known->index == around->index;
    if (!known->path || known->around != around->container || known->key != around->key ||
        !is_same) {
        make_path(w, around, step);
        known->around = around->container;
        known->key = around->key;
        known->key_len = around->key_len;
        known->index = around->index;
        known->path = step->container;
        known->path_len = step->container_len;
        return;
    }
    step->container = known->path;
    step->container_len = known->path_len;
}

/* The pointer of the innermost container, from the element or from the root, and of those around
 * it. */
static __attribute__((noinline)) void find_container(struct pl_writer *w)
{
    static const char empty[1];
    uint32_t from = w->list_depth + 1;
    w->steps[from].container = empty;
    w->steps[from].container_len = 0;
    for (uint32_t i = from + 1; i <= w->out.depth; i++)
        if (!w->steps[i].container)
            find_path(w, &w->steps[i - 1], &w->steps[i]);
}

/* Where the value written last is. */
static inline void point(struct pl_writer *w, struct pl_link *link)
{
    uint32_t from = w->list_depth, depth = w->out.depth;
    link->element = from ? w->steps[from].index : PL_NO_ELEMENT;
    link->is_root = from == depth;
    if (link->is_root) {
        link->container = "";
        link->container_len = 0;
        link->key = NULL;
        return;
    }
    struct pl_step *step = &w->steps[depth];
    if (!step->container)
        find_container(w);
    link->container = step->container;
    link->container_len = step->container_len;
    link->key = step->key;
    link->key_len = step->key_len;
    link->index = step->index;
}

/* The piece of the source at `span` is said by the value written last, which took n_bytes. */
static inline __attribute__((always_inline)) struct pl_link *
link_last(struct pl_writer *w, struct pl_str span, size_t n_bytes, const struct pl_json_node *node,
          enum pl_link_how how)
{
    enum { FIRST_LINKS = 32 };
    pl_conv_fate(w->conv, node, PL_FATE_SAID);
    bool is_there = w->links.cap || pl_vec_reserve(&w->links, FIRST_LINKS);
    struct pl_link *link = is_there ? pl_vec_add(&w->links) : NULL;
    if (!link) {
        w->conv->status = PL_NOMEM;
        return NULL;
    }
    link->node = node;
    link->off = (uint32_t)(span.ptr - w->conv->doc->text.ptr);
    link->len = (uint32_t)span.len;
    link->at = (uint32_t)(w->out.buf->len - n_bytes);
    link->how = (uint8_t)how;
    point(w, link);
    return link;
}

/* A value of the source as it is spelled there. */
static void put_copy(struct pl_writer *w, const struct pl_json_node *node)
{
    const struct pl_json_doc *doc = w->conv->doc;
    struct pl_str span = pl_json_span(doc, node);
    put(w, span.ptr, span.len);
    look_at(w, doc, node);
    (void)link_last(w, span, span.len, node, PL_LINK_COPY);
}

/* A value of the source, no string, as the text of one. */
static void put_quoted(struct pl_writer *w, const struct pl_json_node *node)
{
    struct pl_str span = pl_json_span(w->conv->doc, node);
    (void)begin(w, 0);
    size_t at = w->out.buf->len;
    pl_json_quote(w->out.buf, span);
    size_t n_bytes = w->out.buf->len - at;
    look_at_string(w, at, false);
    struct pl_link *link = link_last(w, span, n_bytes, node, PL_LINK_SPELT);
    if (link)
        link->spell = n_bytes == span.len + 2 ? PL_SPELL_INNER : PL_SPELL_PARSED;
}

/* A string around bytes of one that are escaped already. `head` is a text we made. */
static void put_inside(struct pl_writer *w, struct pl_str head, struct pl_str raw,
                       const struct pl_json_node *node)
{
    enum { NEAR = 512 }; /* where spell.c looks for the comma of a data URL */
    struct pl_buf *buf = w->out.buf;
    (void)begin(w, head.len + raw.len + 2);
    size_t at = buf->len;
    pl_json_quote(buf, head);
    if (buf->status == PL_OK)
        buf->len--;
    size_t n_head = buf->len - at - 1;
    pl_buf_add(buf, raw);
    pl_buf_addc(buf, '"');
    if (buf->status != PL_OK)
        return;
    look_at_string(w, at, node->tag & PL_JSON_ODD);
    struct pl_link *link = link_last(w, raw, buf->len - at, node, PL_LINK_SPELT);
    if (!link)
        return;
    const char *comma = head.len ? memchr(head.ptr, ',', head.len) : NULL;
    link->spell = head.len ? PL_SPELL_DATA : PL_SPELL_INNER;
    if (head.len && (n_head != head.len || n_head > NEAR || comma != head.ptr + head.len - 1))
        link->how = PL_LINK_ONCE;
}

/* A text we made. */
static void put_text(struct pl_writer *w, struct pl_str text)
{
    (void)begin(w, 0);
    size_t at = w->out.buf->len;
    pl_json_quote(w->out.buf, text);
    look_at_string(w, at, false);
}

void pl_w_string(struct pl_writer *w, struct pl_val val)
{
    switch (val.kind) {
    case PL_VAL_NODE:
        if (pl_json_kind(val.node) == PL_JSON_STRING)
            put_copy(w, val.node);
        else
            put_quoted(w, val.node);
        break;
    case PL_VAL_SPAN:
        put_inside(w, PL_STR(""), val.str, val.node);
        break;
    default:
        put_text(w, val.str);
    }
}

/* One of the texts a string is made of, as it stands there. */
struct joined_text {
    size_t n_before, n_own; /* code points */
};

/* Puts the texts together in *to, and tells where each is. */
static enum pl_status join(struct pl_writer *w, const struct pl_val texts[], size_t n_texts,
                           struct pl_str glue, struct pl_buf *to, struct joined_text *ret_places)
{
    size_t n_before = 0, n_glue = pl_utf8_count(glue);
    for (size_t i = 0; i < n_texts; i++) {
        struct pl_str text = pl_conv_text(w->conv, texts[i]);
        if (i)
            pl_buf_add(to, glue);
        pl_buf_add(to, text);
        ret_places[i] = (struct joined_text){n_before, pl_utf8_count(text)};
        n_before += ret_places[i].n_own + n_glue;
    }
    return to->status;
}

/* Links what is written last in parts; it took n_bytes and says what `joined` has. */
static void link_parts(struct pl_writer *w, const struct pl_val texts[], size_t n_texts,
                       const struct joined_text places[], const struct pl_joined *joined,
                       size_t n_bytes)
{
    for (size_t i = 0; i < n_texts; i++) {
        if (texts[i].kind == PL_VAL_NODE && pl_json_kind(texts[i].node) == PL_JSON_STRING) {
            struct pl_link *link = link_last(w, pl_json_span(w->conv->doc, texts[i].node), n_bytes,
                                             texts[i].node, PL_LINK_PART);
            struct pl_link_part *part = pl_arena_alloc(w->conv->arena, 1, sizeof *part);
            if (!part)
                w->conv->status = PL_NOMEM;
            if (!part || !link)
                return;
            *part = (struct pl_link_part){joined, places[i].n_before, places[i].n_own,
                                          i + 1 < n_texts ? places[i + 1].n_own : 0};
            link->part = part;
        }
        pl_conv_fate(w->conv, texts[i].node, PL_FATE_SAID);
    }
}

/* What the carry asks of the parts; NULL when there will be none. */
static enum pl_status keep_joined(struct pl_writer *w, struct pl_str whole, struct pl_str glue,
                                  const struct pl_joined **ret_joined)
{
    *ret_joined = NULL;
    if (!w->has_list)
        return PL_OK;
    struct pl_joined *joined = pl_arena_alloc(w->conv->arena, 1, sizeof *joined);
    struct pl_str kept = pl_arena_dup(w->conv->arena, whole);
    if (!joined || !kept.ptr)
        return PL_NOMEM;
    *ret_joined = joined;
    return pl_joined_init(joined, w->conv->arena, kept, glue);
}

void pl_w_joined(struct pl_writer *w, const struct pl_val texts[], size_t n_texts, const char *glue)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    const struct pl_joined *joined;
    struct joined_text *places = pl_arena_alloc(w->conv->arena, n_texts + 1, sizeof *places);
    enum pl_status status = places ? PL_OK : PL_NOMEM;
    if (status == PL_OK)
        status = join(w, texts, n_texts, pl_str_of(glue), &text, places);
    if (status == PL_OK)
        status = keep_joined(w, pl_buf_str(&text), pl_str_of(glue), &joined);
    if (status != PL_OK) {
        w->conv->status = status;
        return;
    }
    (void)begin(w, 0);
    size_t at = w->out.buf->len;
    pl_json_quote(w->out.buf, pl_buf_str(&text));
    look_at_string(w, at, false);
    link_parts(w, texts, n_texts, places, joined, w->out.buf->len - at);
}

void pl_w_value(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NODE)
        put_copy(w, val.node);
    else if (val.kind == PL_VAL_JSON)
        pl_w_raw(w, val.str);
    else
        pl_w_string(w, val);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct pl_str trimmed(struct pl_str s)
{
    while (s.len && is_space(s.ptr[0]))
        s = pl_str_slice(s, 1, s.len);
    while (s.len && is_space(s.ptr[s.len - 1]))
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
    w->held.is_whole = w->held.text.len == text.len;
    w->held.doc = NULL;
}

bool pl_w_holds_object(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NODE && pl_json_kind(val.node) != PL_JSON_STRING)
        return pl_json_kind(val.node) == PL_JSON_OBJECT;
    if (val.kind != PL_VAL_NODE) {
        struct pl_str text = trimmed(pl_conv_text(w->conv, val));
        return !text.len || (text.ptr[0] == '{' && parse(w, text, false));
    }
    hold(w, val.node);
    if (!w->held.text.len || w->held.text.ptr[0] != '{')
        return !w->held.text.len;
    if (!w->held.doc || !w->held.is_strict) {
        w->held.doc = parse(w, w->held.text, false);
        w->held.is_strict = true;
    }
    return w->held.doc;
}

/* The JSON that a string of the source holds. */
static void put_held(struct pl_writer *w, const struct pl_json_node *node)
{
    struct pl_str json = w->held.text;
    put(w, json.ptr, json.len);
    if (!w->held.doc) {
        w->held.doc = parse(w, json, true);
        w->held.is_strict = false;
    }
    if (w->held.doc)
        look_at(w, w->held.doc, w->held.doc->root);
    struct pl_link *link =
        link_last(w, pl_json_span(w->conv->doc, node), json.len, node, PL_LINK_JSON);
    if (!link)
        return;
    link->json = w->held.doc;
    link->is_whole = w->held.is_whole;
    if (!link->json)
        link->how = PL_LINK_ONCE;
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
        put_text(w, pl_conv_printf(w->conv, "%.*s%.*s", PL_STR_ARG(head), PL_STR_ARG(raw)));
}

void pl_w_mapped(struct pl_writer *w, struct pl_val val)
{
    pl_conv_fate(w->conv, val.node, PL_FATE_KNOWN);
}

void pl_w_loss(struct pl_writer *w, enum pl_loss_code code, struct pl_val val, const char *detail)
{
    pl_conv_loss(w->conv, code, val.node, "%s", detail);
}
