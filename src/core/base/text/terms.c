/* Terms: a text is cut at characters that do not belong to words; words are folded (lower case, no
 * accents) and lose a plural 's'. A run of a script without spaces is cut into characters, each
 * with its marks.
 *
 *     "Two cafés, 两只猫"   ->   two cafe 两 两只 只 只猫 猫
 *
 * A query leaves out very common words, unless it has no others: they would match everything. */
#include "base/text/terms.h"
#include "base/text/script.h"
#include "base/text/terms_table.h"
#include "base/text/utf8.h"

enum kind { GAP, WORD, CHARACTER };

enum { MAX_QUERY_TERMS = 32 };

/* In alphabetical order, in lower case. */
static const char *const common[] = {
    "a",      "about", "am",    "an",    "and",  "any",  "are",   "as",   "at",   "be",    "been",
    "but",    "by",    "can",   "could", "did",  "do",   "does",  "for",  "from", "had",   "has",
    "have",   "he",    "her",   "him",   "his",  "how",  "i",     "if",   "in",   "into",  "is",
    "it",     "its",   "me",    "my",    "no",   "not",  "of",    "on",   "or",   "our",   "she",
    "should", "so",    "some",  "than",  "that", "the",  "their", "them", "then", "there", "these",
    "they",   "this",  "those", "to",    "up",   "us",   "was",   "we",   "were", "what",  "when",
    "where",  "which", "who",   "why",   "will", "with", "would", "you",  "your",
};

/* --- characters ------------------------------------------------------------------------------ */

#define IN_RUNS(runs, code)                                                                        \
    ({                                                                                             \
        size_t low_ = 0, high_ = sizeof(runs) / sizeof *(runs);                                    \
        while (low_ < high_) {                                                                     \
            size_t middle_ = (low_ + high_) / 2;                                                   \
            if ((runs)[middle_].last < (code))                                                     \
                low_ = middle_ + 1;                                                                \
            else                                                                                   \
                high_ = middle_;                                                                   \
        }                                                                                          \
        low_ < sizeof(runs) / sizeof *(runs) && (runs)[low_].first <= (code) ? (ptrdiff_t)low_     \
                                                                             : (ptrdiff_t)-1;      \
    })

static enum kind kind_of(uint32_t code)
{
    if (code < 0x80)
        return (code | 0x20) - 'a' < 26 || code - '0' < 10 ? WORD : GAP;
    if (IN_RUNS(gaps, code) >= 0)
        return GAP;
    return pl_script_is_unspaced(code) ? CHARACTER : WORD;
}

/* Combining accents: a word written with one is also found without it. */
static bool is_accent(uint32_t code)
{
    return code >= 0x300 && code <= 0x36F;
}

/* A letter in lower case without accents: one or two letters. */
static size_t fold(uint32_t code, uint32_t ret_codes[2])
{
    ret_codes[0] = code;
    if (code < 0x80) {
        ret_codes[0] = code - 'A' < 26 ? code | 0x20 : code;
        return 1;
    }
    ptrdiff_t at = IN_RUNS(folds, code);
    if (at < 0 || (code - folds[at].first) % folds[at].step)
        return 1;
    ret_codes[0] = folds[at].to + (code - folds[at].first);
    ret_codes[1] = folds[at].second;
    return folds[at].second ? 2 : 1;
}

/* --- words ----------------------------------------------------------------------------------- */

/* A piece of a text: a word, or one character with its marks. */
struct piece {
    enum kind kind;
    bool is_joined; /* a character directly after another */
    bool is_full;   /* the rest is cut off */
    size_t n;
    char bytes[PL_TERMS_MAX_WORD];
};

static void add_code(struct piece *piece, uint32_t code)
{
    char bytes[4];
    size_t n = pl_utf8_put(bytes, code);
    piece->is_full = piece->is_full || piece->n + n > PL_TERMS_MAX_WORD;
    if (piece->is_full)
        return;
    memcpy(piece->bytes + piece->n, bytes, n);
    piece->n += n;
}

static void add_folded(struct piece *piece, uint32_t code)
{
    uint32_t codes[2];
    size_t n = is_accent(code) ? 0 : fold(code, codes);
    for (size_t i = 0; i < n; i++)
        add_code(piece, codes[i]);
}

/* The next piece, starting at *at; false at the end. */
static bool next_piece(struct pl_str text, size_t *at, struct piece *piece)
{
    enum kind before = piece->kind;
    *piece = (struct piece){.kind = GAP};
    while (*at < text.len) {
        size_t next = *at;
        int32_t code = pl_utf8_next(text, &next);
        enum kind kind = code < 0 ? GAP : kind_of((uint32_t)code);
        if (piece->n && kind == CHARACTER && piece->kind == CHARACTER &&
            pl_script_is_mark((uint32_t)code))
            kind = WORD; /* it continues */
        else if (piece->n && (kind != WORD || piece->kind != WORD))
            return true;
        if (piece->n == 0) {
            piece->is_joined = kind == CHARACTER && before == CHARACTER;
            piece->kind = kind;
            before = kind;
        }
        *at = next;
        if (kind != GAP)
            add_folded(piece, (uint32_t)code);
    }
    return piece->n > 0;
}

static bool ends(const struct piece *piece, const char *end)
{
    size_t n = strlen(end);
    return piece->n >= n && memcmp(piece->bytes + piece->n - n, end, n) == 0;
}

/* Harman's S stemmer: the first rule with a matching ending decides. */
static void drop_plural(struct piece *piece)
{
    if (piece->n < 4 || piece->bytes[piece->n - 1] != 's')
        return;
    if (ends(piece, "ies") && !ends(piece, "eies") && !ends(piece, "aies")) {
        piece->n -= 2;
        piece->bytes[piece->n - 1] = 'y';
    } else if (ends(piece, "es") && !ends(piece, "aes") && !ends(piece, "ees") &&
               !ends(piece, "oes")) {
        piece->n -= 1;
    } else if (!ends(piece, "us") && !ends(piece, "ss")) {
        piece->n -= 1;
    }
}

static struct pl_str str_of(const struct piece *piece)
{
    return (struct pl_str){piece->bytes, piece->n};
}

/* --- terms ----------------------------------------------------------------------------------- */

static void add_term(struct pl_buf *to, size_t start, struct pl_str first, struct pl_str second)
{
    if (to->len > start)
        pl_buf_addc(to, ' ');
    pl_buf_add(to, first);
    pl_buf_add(to, second);
}

void pl_terms_of_text(struct pl_str text, struct pl_buf *to)
{
    size_t start = to->len;
    struct piece pieces[2] = {0};
    size_t at = 0;
    for (size_t i = 0;; i ^= 1) {
        struct piece *piece = &pieces[i], *before = &pieces[i ^ 1];
        piece->kind = before->kind;
        if (!next_piece(text, &at, piece))
            return;
        if (piece->kind == WORD)
            drop_plural(piece);
        if (piece->is_joined)
            add_term(to, start, str_of(before), str_of(piece));
        add_term(to, start, str_of(piece), PL_STR(""));
    }
}

struct question {
    struct pl_buf *to;
    size_t start; /* start of the terms in *to */
    size_t n_terms;
    bool is_typing, has_common;
};

static bool is_common(const struct piece *piece)
{
    size_t low = 0, high = sizeof common / sizeof *common;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = pl_str_cmp(str_of(piece), pl_str_of(common[middle]));
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* Whether the term that begins at `from` occurs before it. */
static bool is_double(const struct question *q, size_t from)
{
    struct pl_str all = pl_buf_str(q->to), before = pl_str_slice(all, q->start, from), term;
    for (size_t at = 0; pl_terms_next(before, &at, &term);)
        if (pl_str_eq(term, pl_str_slice(all, from, all.len)))
            return true;
    return false;
}

static void ask_for(struct question *q, struct pl_str first, struct pl_str second)
{
    size_t before = q->to->len;
    if (q->n_terms == MAX_QUERY_TERMS || q->to->status != PL_OK)
        return;
    add_term(q->to, q->start, first, second);
    if (q->to->status == PL_OK && is_double(q, before + (before > q->start)))
        q->to->len = before;
    else
        q->n_terms++;
}

static void ask_word(struct question *q, struct piece *word, bool is_last)
{
    bool is_begun = is_last && q->is_typing;
    if (!is_begun && !q->has_common && is_common(word))
        return;
    drop_plural(word);
    ask_for(q, str_of(word), is_begun ? PL_STR("*") : PL_STR(""));
}

static void ask_all(struct question *q, struct pl_str text)
{
    struct piece pieces[2] = {0};
    bool is_alone = false; /* the previous piece is a character without a neighbour so far */
    size_t at = 0, i = 0;
    for (;; i ^= 1) {
        struct piece *piece = &pieces[i], *before = &pieces[i ^ 1];
        piece->kind = before->kind;
        bool has_piece = next_piece(text, &at, piece);
        if (has_piece && piece->is_joined)
            ask_for(q, str_of(before), str_of(piece));
        else if (is_alone)
            ask_for(q, str_of(before), PL_STR(""));
        if (!has_piece)
            return;
        is_alone = piece->kind == CHARACTER && !piece->is_joined;
        if (piece->kind == WORD)
            ask_word(q, piece, at == text.len);
    }
}

void pl_terms_of_query(struct pl_str text, enum pl_terms_query kind, struct pl_buf *to)
{
    struct question q = {.to = to, .start = to->len, .is_typing = kind == PL_TERMS_TYPING};
    ask_all(&q, text);
    q.has_common = true;
    if (to->len == q.start && kind != PL_TERMS_TELLING)
        ask_all(&q, text);
}
