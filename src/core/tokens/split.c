/* The patterns of tiktoken, matched by hand.
 *
 * cl100k_base:  (?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} |
 *                ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 * o200k_base:   [^\r\n\p{L}\p{N}]?[UM]*[LM]+(?i:'s|…)? | [^\r\n\p{L}\p{N}]?[UM]+[LM]*(?i:'s|…)? |
 *               \p{N}{1,3} |  ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
 *               where [UM] is \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M} and [LM] is \p{Ll}\p{Lm}\p{Lo}\p{M}
 *
 * The first alternative that matches wins, and matching is greedy. Each function below describes
 * the result. No byte is read more than a few times: where a pattern would back up, the function
 * remembers the place on the way. */
#include "tokens/split_int.h"

#define IN(class) (1u << CHAR_##class)

static const unsigned LETTERS = IN(UPPER) | IN(LOWER) | IN(LETTER);
static const unsigned SYMBOLS = IN(OTHER) | IN(MARK);
static const unsigned SPACES = IN(SPACE) | IN(NEWLINE);
static const unsigned UPPERISH = IN(UPPER) | IN(LETTER) | IN(MARK);
static const unsigned LOWERISH = IN(LOWER) | IN(LETTER) | IN(MARK);
static const unsigned BOTHISH = IN(LETTER) | IN(MARK);

enum { MAX_DIGITS = 3 };

struct cursor {
    const unsigned char *p, *end;
};

/* `in` is the bit of the character's class; 0 at the end of the text. */
struct character {
    unsigned in;
    unsigned n_bytes;
};

static inline bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

static struct character classify(uint32_t code, unsigned n_bytes)
{
    unsigned block = pl_char_block[code >> CHAR_BLOCK_BITS];
    return (struct character){1u << pl_char_class[block << CHAR_BLOCK_BITS | (code & 0xFF)],
                              n_bytes};
}

/* Reads a character that is not ASCII. Each byte of a truncated or malformed sequence is a symbol
 * of its own. Overlong forms are not rejected: their class does not matter, only their length. */
static inline struct character look_wide(struct cursor c)
{
    const unsigned char *p = c.p;
    size_t n = (size_t)(c.end - p);
    if (p[0] >= 0xE0 && p[0] < 0xF0) {
        if (n >= 3 && is_continuation(p[1]) && is_continuation(p[2]))
            return classify((p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu), 3);
    } else if (p[0] >= 0xC2 && p[0] < 0xE0) {
        if (n >= 2 && is_continuation(p[1]))
            return classify((p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu), 2);
    } else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
        if (n >= 4 && is_continuation(p[1]) && is_continuation(p[2]) && is_continuation(p[3]) &&
            (p[0] < 0xF4 || p[1] < 0x90))
            return classify((p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 |
                                (p[3] & 0x3Fu),
                            4);
    }
    return (struct character){IN(OTHER), 1};
}

static inline struct character look(struct cursor c)
{
    if (c.p == c.end)
        return (struct character){0, 0};
    if (*c.p < 0x80)
        return (struct character){1u << pl_char_class[*c.p], 1};
    return look_wide(c);
}

/* Skips three-byte characters from the long run of caseless letters that contains Han. Chinese text
 * consists almost entirely of them, and they need no table lookup. */
static inline void skip_han(struct cursor *c)
{
    const unsigned char *p = c->p;
    for (; c->end - p >= 3; p += 3) {
        uint32_t code = (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        bool is_whole = p[0] >> 4 == 0xE && is_continuation(p[1]) && is_continuation(p[2]);
        if (!is_whole || code - pl_char_han_first > pl_char_han_last - pl_char_han_first)
            break;
    }
    c->p = p;
}

/* Skips all characters of the classes and returns the one that stopped it. */
static inline struct character skip(struct cursor *c, unsigned classes)
{
    for (;;) {
        struct character here = look(*c);
        if (!(here.in & classes))
            return here;
        c->p += here.n_bytes;
    }
}

/* Returns the length of 's 't 're 've 'm 'll 'd at the cursor, in any case, or 0. The long s
 * (U+017F) folds to s in Unicode. */
static inline size_t contraction(struct cursor c)
{
    size_t n = (size_t)(c.end - c.p);
    if (n < 2 || c.p[0] != '\'')
        return 0;
    unsigned char first = c.p[1] | 0x20, second = n > 2 ? c.p[2] | 0x20 : 0;
    if (first == 's' || first == 't' || first == 'm' || first == 'd')
        return 2;
    if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
        (first == 'l' && second == 'l') || (n > 2 && c.p[1] == 0xC5 && c.p[2] == 0xBF))
        return 3;
    return 0;
}

static void skip_digits(struct cursor *c)
{
    for (int i = 0; i < MAX_DIGITS; i++) {
        struct character here = look(*c);
        if (here.in != IN(NUMBER))
            return;
        c->p += here.n_bytes;
    }
}

/* \s*[\r\n]+ | \s+(?!\S) | \s+: up to the last line break. Without a line break: everything at the
 * end of the text, everything but the last character before a word, and a single character
 * alone. */
static void skip_space(struct cursor *c)
{
    const unsigned char *start = c->p, *last = c->p, *after_newline = NULL;
    struct character here;
    while ((here = look(*c)).in & SPACES) {
        last = c->p;
        c->p += here.n_bytes;
        if (here.in == IN(NEWLINE))
            after_newline = c->p;
    }
    if (after_newline)
        c->p = after_newline;
    else if (here.in && last != start)
        c->p = last;
}

/* [^\s\p{L}\p{N}]+ and then line breaks (and slashes, if takes_slash). */
static void skip_symbols(struct cursor *c, bool takes_slash)
{
    skip(c, SYMBOLS);
    while (c->p < c->end && (*c->p == '\r' || *c->p == '\n' || (takes_slash && *c->p == '/')))
        c->p++;
}

/* Handles a character that begins neither a word nor a number. */
static void skip_rest(struct cursor *c, struct character here, struct character next,
                      bool takes_slash)
{
    if (here.in & SYMBOLS || (*c->p == ' ' && next.in & SYMBOLS)) {
        c->p += here.n_bytes;
        skip_symbols(c, takes_slash);
    } else {
        skip_space(c);
    }
}

/* Matches both word alternatives of o200k_base at once. Does not move if there is no word.
 *
 * It first takes all upper-case and caseless letters. If a lower-case letter follows, the word
 * continues with all lower-case and caseless letters. If not, the first alternative backs up to the
 * last caseless letter. If there is no caseless letter, the second alternative takes what was
 * matched. */
static void skip_word(struct cursor *c)
{
    const unsigned char *start = c->p;
    skip_han(c);
    const unsigned char *after_caseless = c->p > start ? c->p : NULL;
    struct character here;
    while ((here = look(*c)).in & UPPERISH) {
        c->p += here.n_bytes;
        if (here.in & BOTHISH)
            after_caseless = c->p;
    }
    if (here.in == IN(LOWER)) {
        c->p += here.n_bytes;
        skip(c, LOWERISH);
    } else if (after_caseless) {
        c->p = after_caseless;
    }
}

/* Eight bytes at a time, for words of ASCII letters. Most words are such words, and a processor
 * cannot predict their length. */
enum { WIDE = 8 };
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns how many of the eight bytes at p, from the first on, are between `low` and `high`
 * (ASCII). `fold` is 32 to treat capitals as small letters. */
static inline unsigned run_of(const unsigned char *p, unsigned low, unsigned high, unsigned fold)
{
    uint64_t bytes;
    memcpy(&bytes, p, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    uint64_t ascii = (bytes & EACH(0x7F)) | EACH(fold);
    uint64_t is_in = (ascii + EACH(0x80 - low)) & ~(ascii + EACH(0x7F - high)) & ~bytes;
    uint64_t is_out = ~is_in & EACH(0x80);
    return is_out ? (unsigned)__builtin_ctzll(is_out) / 8 : WIDE;
}

static inline bool is_ascii_letter(unsigned char byte)
{
    return (unsigned char)((byte | 0x20) - 'a') < 26;
}

/* Skips a word of ASCII letters and the character before it, if a word may begin with that
 * character. Returns false without moving if there is no such word, if the text ends too soon to
 * read eight bytes at a time, or if a byte follows that is not ASCII and may belong to the word. */
static inline bool skip_plain_word(struct cursor *c, bool is_cased)
{
    const unsigned char *p = c->p;
    if (c->end - p < 2)
        return false;
    if (!is_ascii_letter(p[0])) {
        bool is_prefix = 1u << pl_char_class[p[0] & 0x7F] & (IN(OTHER) | IN(SPACE)) && p[0] < 0x80;
        if (!is_prefix || !is_ascii_letter(p[1]))
            return false;
        p++;
    }
    unsigned n = 0;
    if (is_cased) {
        if (c->end - p < WIDE)
            return false;
        n = run_of(p, 'A', 'Z', 0);
        p += n;
    }
    if (n == WIDE)
        return false;
    do {
        if (c->end - p < WIDE)
            return false;
        n = is_cased ? run_of(p, 'a', 'z', 0) : run_of(p, 'a', 'z', 0x20);
        p += n;
    } while (n == WIDE);
    if (*p >= 0x80)
        return false;
    c->p = p;
    return true;
}

static size_t split_o200k(struct pl_str text, size_t at)
{
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    struct cursor c = {bytes + at, bytes + text.len};
    if (skip_plain_word(&c, true))
        return (size_t)(c.p + contraction(c) - bytes);
    struct character here = look(c), next = {0, 0};
    if (here.in == IN(NUMBER)) {
        skip_digits(&c);
        return (size_t)(c.p - bytes);
    }
    /* A mark may be before a word or in it; the result is the same. */
    if (here.in & (IN(OTHER) | IN(SPACE))) {
        next = look((struct cursor){c.p + here.n_bytes, c.end});
        if (next.in & (LETTERS | IN(MARK)))
            c.p += here.n_bytes;
    }
    if ((next.in | here.in) & (LETTERS | IN(MARK))) {
        skip_word(&c);
        c.p += contraction(c);
    } else {
        skip_rest(&c, here, next, true);
    }
    return (size_t)(c.p - bytes);
}

static size_t split_cl100k(struct pl_str text, size_t at)
{
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    struct cursor c = {bytes + at, bytes + text.len};
    size_t n_contraction = contraction(c);
    if (n_contraction)
        return at + n_contraction;
    if (skip_plain_word(&c, false))
        return (size_t)(c.p - bytes);
    struct character here = look(c), next = {0, 0};
    if (here.in == IN(NUMBER)) {
        skip_digits(&c);
        return (size_t)(c.p - bytes);
    }
    if (here.in & (SYMBOLS | IN(SPACE))) {
        next = look((struct cursor){c.p + here.n_bytes, c.end});
        if (next.in & LETTERS)
            c.p += here.n_bytes;
    }
    if ((next.in | here.in) & LETTERS) {
        skip_han(&c);
        skip(&c, LETTERS);
    } else {
        skip_rest(&c, here, next, false);
    }
    return (size_t)(c.p - bytes);
}

pl_split_fn *const pl_split_fns[PL_ENCODING_COUNT] = {
    [PL_ENCODING_O200K_BASE] = split_o200k,
    [PL_ENCODING_CL100K_BASE] = split_cl100k,
};
