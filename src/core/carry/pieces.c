/* Splits the source text of a carry into pieces: literal text, words of one byte (words.h), and
 * references to the target by hash. */
#include "carry/pieces.h"

#include "carry/words.h"
#include "json/scan16.h"

void pl_carry_pieces_init(struct pl_carry_pieces *pieces, size_t max)
{
    *pieces = (struct pl_carry_pieces){0};
    pl_buf_init(&pieces->text, max);
}

void pl_carry_pieces_deinit(struct pl_carry_pieces *pieces)
{
    pl_buf_deinit(&pieces->text);
    pl_vec_deinit(&pieces->holes);
}

/* One more than the digit's value; 0: no digit. */
static const unsigned char digit_values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['-'] = 63, ['_'] = 64,
};

bool pl_carry_read_hash(struct pl_str chars, uint64_t *ret_hash)
{
    uint64_t hash = 0;
    if (chars.len != PL_CARRY_HASH_CHARS)
        return false;
    for (size_t i = 0; i < chars.len; i++) {
        uint64_t value = digit_values[(unsigned char)chars.ptr[i]];
        if (!value)
            return false;
        hash |= (value - 1) << 6 * i;
    }
    *ret_hash = hash;
    return true;
}

struct taker {
    struct pl_carry_pieces *to;
    const char *at, *end;
    enum pl_status status; /* PL_INVALID: the error is at `at` */
};

static void fail(struct taker *t, enum pl_status status)
{
    t->status = status;
}

/* Copies the bytes up to `end`. */
static inline void take_until(struct taker *t, const char *end)
{
    pl_buf_add(&t->to->text, (struct pl_str){t->at, (size_t)(end - t->at)});
    t->at = end;
}

/* After a tilde: a hash, or an escaped character. */
static void take_reference(struct taker *t)
{
    struct pl_str rest = {t->at + 1, (size_t)(t->end - t->at) - 1};
    struct pl_carry_hole hole = {.at = t->to->text.len};
    if (rest.len && (rest.ptr[0] == '~' || rest.ptr[0] == '\'')) {
        t->at++;
        take_until(t, t->at + 1);
        return;
    }
    if (rest.len < PL_CARRY_HASH_CHARS ||
        !pl_carry_read_hash(pl_str_slice(rest, 0, PL_CARRY_HASH_CHARS), &hole.hash)) {
        fail(t, PL_INVALID);
        return;
    }
    t->at += 1 + PL_CARRY_HASH_CHARS;
    if (!pl_vec_push(&t->to->holes, hole))
        fail(t, PL_NOMEM);
}

/* The next apostrophe or tilde, or the end. */
static const char *find_mark(const char *p, const char *end)
{
    for (; end - p >= PL_SCAN16; p += PL_SCAN16) {
        uint32_t marks = pl_scan16_either(p, '\'', '~');
        if (marks)
            return p + __builtin_ctz(marks);
    }
    while (p < end && *p != '\'' && *p != '~')
        p++;
    return p;
}

/* A string between apostrophes. */
static void take_text(struct taker *t)
{
    t->at++;
    pl_buf_addc(&t->to->text, '"');
    while (t->status == PL_OK) {
        take_until(t, find_mark(t->at, t->end));
        if (t->at == t->end) {
            fail(t, PL_INVALID);
        } else if (*t->at == '~') {
            take_reference(t);
        } else {
            t->at++;
            pl_buf_addc(&t->to->text, '"');
            return;
        }
    }
}

/* A string with its quotes, as the source has it. */
static void take_quoted(struct taker *t)
{
    const char *p = t->at + 1;
    while (p < t->end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    if (p < t->end)
        take_until(t, p + 1);
    else
        fail(t, PL_INVALID);
}

/* A word; it is copied with the bytes after it, if there is room. */
static inline void take_word(struct taker *t)
{
    struct pl_buf *text = &t->to->text;
    const struct pl_carry_known *known = &pl_carry_words[(unsigned char)*t->at++ & 127];
    if (text->status != PL_OK || text->cap - text->len < sizeof known->text) {
        pl_buf_add(text, (struct pl_str){known->text, known->len});
        return;
    }
    memcpy(text->ptr + text->len, known->text, sizeof known->text);
    text->len += known->len;
}

/* A character with a special meaning. */
static void take_special(struct taker *t)
{
    char c = *t->at;
    if (c == '\'') {
        take_text(t);
    } else if (c == '"') {
        take_quoted(t);
    } else if (t->end - t->at > 1) {
        t->at++;
        take_until(t, t->at + 1);
    } else {
        fail(t, PL_INVALID);
    }
}

/* A character of JSON or of a comment stands for itself. */
static inline bool is_special(char c)
{
    return c == '\'' || c == '"' || c == PL_CARRY_ITSELF;
}

enum pl_status pl_carry_take_apart(struct pl_carry_pieces *pieces, struct pl_str text,
                                   size_t *ret_wrong_at)
{
    struct taker t = {.to = pieces, .at = text.ptr, .end = text.ptr + text.len};
    (void)pl_buf_reserve(&pieces->text, text.len < pieces->text.max ? text.len : 0);
    while (t.at < t.end && t.status == PL_OK) {
        if (pl_carry_word(*t.at).len) {
            take_word(&t);
        } else if (is_special(*t.at)) {
            take_special(&t);
        } else {
            pl_buf_addc(&pieces->text, *t.at++);
        }
    }
    *ret_wrong_at = (size_t)(t.at - text.ptr);
    return t.status != PL_OK ? t.status : pieces->text.status;
}
