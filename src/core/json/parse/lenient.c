/* JSON as people write it, in three steps: blank out everything that is not JSON, parse the rest
 * strictly, then search the tree for what the parser tolerated. Line breaks inside comments stay,
 * so line numbers agree; columns are counted in the given text. */
#include "json/parse/lenient.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text/utf8.h"
#include "base/vec.h"
#include "json/text.h"

enum { FEW_MEMBERS = 8 };

struct reader {
    struct pl_str text; /* as given */
    char *copy;         /* arena; the blanked copy */
    struct pl_error *err;
    PL_VEC(struct pl_json_note) notes;
};

const char *pl_json_note_name(enum pl_json_note_kind kind)
{
    static const char *const names[PL_JSON_NOTE_COUNT] = {
        [PL_JSON_NOTE_BOM] = "byte-order mark",
        [PL_JSON_NOTE_LINE_COMMENT] = "comment",
        [PL_JSON_NOTE_BLOCK_COMMENT] = "comment",
        [PL_JSON_NOTE_TRAILING_COMMA] = "trailing comma",
        [PL_JSON_NOTE_DUPLICATE_KEY] = "duplicate key",
        [PL_JSON_NOTE_LONE_SURROGATE] = "half a surrogate pair",
    };
    return kind < PL_JSON_NOTE_COUNT ? names[kind] : "unknown";
}

static enum pl_status note(struct reader *r, enum pl_json_note_kind kind, size_t off, size_t len)
{
    struct pl_json_note item = {kind, (uint32_t)off, (uint32_t)len};
    return pl_vec_push(&r->notes, item) ? PL_OK : pl_fail(r->err, PL_NOMEM, "out of memory");
}

static enum pl_status blank(struct reader *r, enum pl_json_note_kind kind, size_t off, size_t len)
{
    for (size_t i = off; i < off + len; i++)
        if (r->copy[i] != '\n' && r->copy[i] != '\r')
            r->copy[i] = ' ';
    return note(r, kind, off, len);
}

/* The offset after the string whose opening quote is at `off`. */
static size_t after_string(struct pl_str text, size_t off)
{
    for (size_t at = off + 1; at < text.len; at++) {
        const char *quote = memchr(text.ptr + at, '"', text.len - at);
        if (!quote)
            break;
        at = (size_t)(quote - text.ptr);
        size_t n_backslashes = 0;
        while (text.ptr[at - 1 - n_backslashes] == '\\')
            n_backslashes++;
        if (n_backslashes % 2 == 0)
            return at + 1;
    }
    return text.len;
}

static size_t after_line(struct pl_str text, size_t off)
{
    while (off < text.len && text.ptr[off] != '\n' && text.ptr[off] != '\r')
        off++;
    return off;
}

/* The end of the block comment that starts at `off`; 0 if it has no end. */
static size_t after_block(struct pl_str text, size_t off)
{
    for (size_t at = off + 2; at + 1 < text.len; at++) {
        const char *star = memchr(text.ptr + at, '*', text.len - 1 - at);
        if (!star)
            return 0;
        at = (size_t)(star - text.ptr);
        if (text.ptr[at + 1] == '/')
            return at + 2;
    }
    return 0;
}

static enum pl_status fail_at(struct reader *r, size_t off, const char *message)
{
    enum pl_status status = pl_fail(r->err, PL_SYNTAX, "%s", message);
    pl_error_locate(r->err, r->text, off);
    return status;
}

/* A lone slash is not a comment: the parser refuses it. */
static bool is_comment(struct pl_str text, size_t at)
{
    return text.ptr[at] == '/' && at + 1 < text.len &&
           (text.ptr[at + 1] == '/' || text.ptr[at + 1] == '*');
}

/* Blanks the comment at *at and moves past it. */
static enum pl_status take_comment(struct reader *r, size_t *at)
{
    bool is_line = r->text.ptr[*at + 1] == '/';
    size_t end = is_line ? after_line(r->text, *at) : after_block(r->text, *at);
    if (!end)
        return fail_at(r, *at, "this comment is not closed; add the missing */");
    size_t n_valid = pl_utf8_valid_prefix(pl_str_slice(r->text, *at, end));
    if (n_valid < end - *at)
        return fail_at(r, *at + n_valid, "invalid UTF-8 in a comment");
    enum pl_json_note_kind kind = is_line ? PL_JSON_NOTE_LINE_COMMENT : PL_JSON_NOTE_BLOCK_COMMENT;
    enum pl_status status = blank(r, kind, *at, end - *at);
    *at = end;
    return status;
}

/* A comma is tolerated before a closing bracket if a value comes before the comma. */
static enum pl_status blank_all(struct reader *r)
{
    struct pl_str text = r->text;
    size_t at = 0, comma = 0;
    char before = 0; /* the token before; for a comma to be dropped, what was before that */
    bool is_droppable = false;
    enum pl_status status = PL_OK;
    if (pl_str_starts(text, PL_STR("\xEF\xBB\xBF"))) {
        status = blank(r, PL_JSON_NOTE_BOM, 0, 3);
        at = 3;
    }
    while (at < text.len && status == PL_OK) {
        char c = text.ptr[at];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            at++;
            continue;
        }
        if (is_comment(text, at)) {
            status = take_comment(r, &at);
            continue;
        }
        if ((c == ']' || c == '}') && before == ',' && is_droppable)
            status = blank(r, PL_JSON_NOTE_TRAILING_COMMA, comma, 1);
        if (c == ',') {
            is_droppable = before && !strchr("[{,:", before);
            comma = at;
        }
        before = c;
        at = c == '"' ? after_string(text, at) : at + 1;
    }
    return status;
}

static bool is_same_key(const struct pl_json_doc *doc, const struct pl_json_node *a,
                        const struct pl_json_node *b)
{
    return pl_json_key_hash_of(a) == pl_json_key_hash_of(b) && pl_json_text_same(doc, a, doc, b);
}

static enum pl_status note_few_keys(struct reader *r, const struct pl_json_doc *doc,
                                    const struct pl_json_node *object)
{
    const struct pl_json_node *keys[FEW_MEMBERS], *key = pl_json_first(object);
    for (uint32_t n = 0; n < pl_json_count(object); n++, key = pl_json_next_member(key)) {
        keys[n] = key;
        uint32_t i = 0;
        while (i < n && !is_same_key(doc, keys[i], key))
            i++;
        if (i == n)
            continue;
        enum pl_status status = note(r, PL_JSON_NOTE_DUPLICATE_KEY, key->off, key->len);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

static enum pl_status note_many_keys(struct reader *r, const struct pl_json_doc *doc,
                                     const struct pl_json_node *object)
{
    struct pl_map seen = {0};
    PL_CLEANUP_ARENA struct pl_arena decoded;
    pl_arena_init(&decoded, 0);
    enum pl_status status = PL_OK;
    for (const struct pl_json_node *key = pl_json_first(object);
         key < pl_json_end(object) && status == PL_OK; key = pl_json_next_member(key)) {
        struct pl_str text;
        bool is_new = true;
        status = pl_json_text(&decoded, doc, key, &text);
        if (status == PL_OK && !pl_map_put(&seen, text, &is_new))
            status = PL_NOMEM;
        if (status != PL_OK)
            status = pl_fail(r->err, status, "out of memory while checking for duplicate keys");
        else if (!is_new)
            status = note(r, PL_JSON_NOTE_DUPLICATE_KEY, key->off, key->len);
    }
    pl_map_deinit(&seen);
    return status;
}

static bool is_surrogate(const char *p, char from, char to)
{
    char third = (char)(p[3] | 0x20);
    return p[0] == '\\' && p[1] == 'u' && (p[2] | 0x20) == 'd' && third >= from && third <= to;
}

/* A pair is one of \ud800 … \udbff and then one of \udc00 … \udfff; any other is a lone
 * surrogate. */
static enum pl_status note_surrogates(struct reader *r, const struct pl_json_doc *doc,
                                      const struct pl_json_node *string)
{
    struct pl_str raw = pl_json_raw(doc, string);
    const char *end = raw.ptr + raw.len;
    for (const char *p = raw.ptr; (p = memchr(p, '\\', (size_t)(end - p)));) {
        bool is_high = p[1] == 'u' && (is_surrogate(p, '8', '9') || is_surrogate(p, 'a', 'b'));
        bool is_low = p[1] == 'u' && is_surrogate(p, 'c', 'f');
        if (is_high && end - p >= 12 && is_surrogate(p + 6, 'c', 'f')) {
            p += 12;
            continue;
        }
        if (is_high || is_low) {
            size_t off = (size_t)(p - doc->text.ptr);
            enum pl_status status = note(r, PL_JSON_NOTE_LONE_SURROGATE, off, 6);
            if (status != PL_OK)
                return status;
        }
        p += p[1] == 'u' ? 6 : 2;
    }
    return PL_OK;
}

static enum pl_status note_keys(struct reader *r, const struct pl_json_doc *doc,
                                const struct pl_json_node *n)
{
    if (pl_json_kind(n) != PL_JSON_OBJECT)
        return PL_OK;
    return pl_json_count(n) <= FEW_MEMBERS ? note_few_keys(r, doc, n) : note_many_keys(r, doc, n);
}

/* Notes what the strict parser was told to tolerate. */
static enum pl_status note_tree(struct reader *r, const struct pl_json_doc *doc)
{
    enum pl_status status = PL_OK;
    for (uint32_t i = 0; i < doc->n_nodes && status == PL_OK; i++) {
        const struct pl_json_node *n = doc->root + i;
        status = n->tag & PL_JSON_ESCAPED ? note_surrogates(r, doc, n) : note_keys(r, doc, n);
    }
    return status;
}

static int note_order(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct pl_json_note *x = a, *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

/* The notes in order of offset, as arena memory. */
static enum pl_status sorted_notes(struct reader *r, struct pl_arena *arena,
                                   struct pl_json_notes *ret_notes)
{
    size_t n = r->notes.len;
    struct pl_json_note *items = pl_arena_alloc(arena, n ? n : 1, sizeof *items);
    PL_CLEANUP_FREE const void **order = pl_mem_alloc(n ? 2 * n : 1, sizeof *order);
    if (!items || !order)
        return pl_fail(r->err, PL_NOMEM, "out of memory");
    for (size_t i = 0; i < n; i++)
        order[i] = &r->notes.ptr[i];
    pl_sort(order, order + n, n, note_order, NULL);
    for (size_t i = 0; i < n; i++)
        items[i] = *(const struct pl_json_note *)order[i];
    *ret_notes = (struct pl_json_notes){items, (uint32_t)n};
    return PL_OK;
}

static enum pl_status read_all(struct reader *r, struct pl_arena *arena,
                               const struct pl_json_opts *given, struct pl_json_doc *ret_doc,
                               struct pl_json_notes *ret_notes)
{
    enum pl_status status = blank_all(r);
    if (status != PL_OK)
        return status;
    struct pl_json_opts opts = given ? *given : (struct pl_json_opts){0};
    opts.allows_duplicate_keys = opts.allows_lone_surrogates = true;
    struct pl_json_doc doc;
    status = pl_json_parse(arena, (struct pl_str){r->copy, r->text.len}, &opts, &doc, r->err);
    if (status != PL_OK && r->err && r->err->has_position)
        pl_error_locate(r->err, r->text, r->err->offset);
    if (status == PL_OK)
        status = note_tree(r, &doc);
    if (status == PL_OK)
        status = sorted_notes(r, arena, ret_notes);
    if (status == PL_OK)
        *ret_doc = doc;
    return status;
}

enum pl_status pl_json_parse_lenient(struct pl_arena *arena, struct pl_str text,
                                     const struct pl_json_opts *opts, struct pl_json_doc *ret_doc,
                                     struct pl_json_notes *ret_notes, struct pl_error *err)
{
    if (text.len > PL_JSON_MAX_BYTES)
        return pl_fail(err, PL_LIMIT, "the JSON text has %zu bytes; the maximum is %u", text.len,
                       PL_JSON_MAX_BYTES);
    char *copy = pl_arena_alloc(arena, text.len + 1, 1);
    if (!copy)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    struct reader r = {.text = text, .copy = copy, .err = err};
    enum pl_status status = read_all(&r, arena, opts, ret_doc, ret_notes);
    pl_vec_deinit(&r.notes);
    return status;
}

enum pl_status pl_json_find_duplicates(struct pl_arena *arena, const struct pl_json_doc *doc,
                                       struct pl_json_notes *ret_notes, struct pl_error *err)
{
    struct reader r = {.text = doc->text, .err = err};
    enum pl_status status = PL_OK;
    for (uint32_t i = 0; i < doc->n_nodes && status == PL_OK; i++)
        status = note_keys(&r, doc, doc->root + i);
    if (status == PL_OK)
        status = sorted_notes(&r, arena, ret_notes);
    pl_vec_deinit(&r.notes);
    return status;
}
