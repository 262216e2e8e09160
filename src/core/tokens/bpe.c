/* Byte-pair encoding by backtracking. It finds the tokens that merging by rank would produce, from
 * left to right and without merging.
 *
 * It relies on two facts (van Antwerpen and Neubeck, "So many tokens, so little time", 2024).
 * First, a row of tokens is the encoding of its bytes if and only if every two neighbours are the
 * encoding of theirs: no merge across their border would have come before the merges that made
 * them. Second, a prefix of an encoding, cut between tokens, is the encoding of that prefix. So at
 * most one token can end at a given place.
 *
 * The search takes the longest token at a place. If it is not compatible with the token before, the
 * search tries a shorter one. If none is, it steps back over the token before and tries a shorter
 * one there. It never retries a dead end, so the time is linear in the length of the piece. */
#include "tokens/bpe_int.h"

#include "base/mem.h"

struct piece {
    const struct pl_tokens *v;
    const char *p;
    size_t n, n_readable;
    uint64_t *dead; /* bit i: no token of the encoding ends at i */
    bool has_dead;
    uint32_t *tokens; /* found so far */
    size_t n_tokens;
    size_t n_room; /* in tokens */
};

struct match {
    uint32_t id;
    uint32_t n_bytes;
};

/* Returns the token of exactly n bytes at `at`. The id is VOCAB_NONE if there is no such token. */
static inline struct match find(const struct piece *piece, size_t at, size_t n)
{
    uint32_t id = vocab_find(piece->v, piece->p + at, n, piece->n_readable - at);
    return (struct match){id, (uint32_t)n};
}

static inline struct match find_two(const struct piece *piece, size_t at)
{
    return (struct match){piece->v->twos[vocab_two(piece->p + at)], 2};
}

/* Finds tokens that are so long that they share one bit of the mask. */
static struct match longest_of_long(const struct piece *piece, size_t at, size_t n)
{
    struct match found = {VOCAB_NONE, 0};
    n = n < piece->v->max_bytes ? n : piece->v->max_bytes;
    for (; n >= VOCAB_LONG && found.id == VOCAB_NONE; n--)
        found = find(piece, at, n);
    return found;
}

/* Finds tokens of six bytes and more whose length is in `allowed`: bit 0 is six. */
static struct match longest_of_six(const struct piece *piece, size_t at, size_t n, uint32_t allowed)
{
    uint32_t mask = piece->v->masks[vocab_mask_place(piece->p + at)] & allowed;
    struct match found = {VOCAB_NONE, 0};
    if (mask >> (VOCAB_LONG - VOCAB_MASKED) && n >= VOCAB_LONG)
        found = longest_of_long(piece, at, n);
    size_t n_lengths = (n < VOCAB_LONG ? n + 1 : VOCAB_LONG) - VOCAB_MASKED;
    mask &= (UINT32_C(1) << n_lengths) - 1;
    while (mask && found.id == VOCAB_NONE) {
        unsigned top = 31 - (unsigned)__builtin_clz(mask);
        mask ^= UINT32_C(1) << top;
        found = find(piece, at, top + VOCAB_MASKED);
    }
    return found;
}

/* Finds tokens of two to five bytes. */
static struct match longest_of_two(const struct piece *piece, size_t at, size_t n)
{
    struct match found = {VOCAB_NONE, 0};
    unsigned mask = n >= 4 ? piece->v->short_masks[vocab_short_place(piece->p + at)] : 0;
    if (n >= 5 && mask & 1u << 5)
        found = find(piece, at, 5);
    if (found.id == VOCAB_NONE && mask & 1u << 4)
        found = find(piece, at, 4);
    if (found.id == VOCAB_NONE && n >= 3)
        found = find(piece, at, 3);
    return found.id == VOCAB_NONE ? find_two(piece, at) : found;
}

/* The lengths, from six bytes up, of tokens that extend a prefix of n bytes. */
static uint32_t lengths_after(size_t n, uint32_t more)
{
    uint32_t last = n + VOCAB_MORE_BITS - VOCAB_MASKED;
    uint64_t lengths = (uint64_t)more << (n + 1) >> VOCAB_MASKED;
    return (uint32_t)lengths | (lengths >> last ? UINT32_MAX << last : 0);
}

/* Finds tokens of six bytes and more that begin with a character of three bytes. */
static struct match longest_of_chars(const struct piece *piece, size_t at, size_t n, uint32_t more)
{
    const char *p = piece->p + at;
    if (!vocab_is_char(p + VOCAB_CHAR_BYTES))
        return longest_of_six(piece, at, n, lengths_after(VOCAB_CHAR_BYTES, more));
    uint32_t codes = vocab_char(p) << VOCAB_CODE_BITS | vocab_char(p + VOCAB_CHAR_BYTES);
    struct token_prefix two = vocab_pair(piece->v, codes)->prefix;
    struct match found = {VOCAB_NONE, 0};
    more = two.more & vocab_more_up_to(n - 2 * VOCAB_CHAR_BYTES);
    if (more)
        found = longest_of_six(piece, at, n, lengths_after(2 * VOCAB_CHAR_BYTES, more));
    if (found.id == VOCAB_NONE && two.id != VOCAB_NO_ID)
        found = (struct match){two.id, 2 * VOCAB_CHAR_BYTES};
    return found;
}

/* Finds tokens of two bytes and more that begin with a character of three bytes. Such characters
 * make up most text in many scripts, above all in Han. Their tables list the existing lengths, so
 * few lookups fail. */
static struct match longest_of_char(const struct piece *piece, size_t at, size_t n)
{
    struct token_prefix one = piece->v->chars[vocab_char(piece->p + at)];
    uint32_t more = one.more & vocab_more_up_to(n - VOCAB_CHAR_BYTES);
    struct match found = {VOCAB_NONE, 0};
    if (more >> (VOCAB_MASKED - VOCAB_CHAR_BYTES - 1))
        found = longest_of_chars(piece, at, n, more);
    if (found.id == VOCAB_NONE && more & 2)
        found = find(piece, at, VOCAB_CHAR_BYTES + 2);
    if (found.id == VOCAB_NONE && more & 1)
        found = find(piece, at, VOCAB_CHAR_BYTES + 1);
    if (found.id == VOCAB_NONE && one.id != VOCAB_NO_ID)
        found = (struct match){one.id, VOCAB_CHAR_BYTES};
    return found.id == VOCAB_NONE ? find_two(piece, at) : found;
}

/* The longest token at `at` that has at most n > 0 bytes. */
static struct match longest(const struct piece *piece, size_t at, size_t n)
{
    struct match found = {VOCAB_NONE, 0};
    bool is_char = n >= VOCAB_CHAR_BYTES && vocab_is_char(piece->p + at);
    if (is_char)
        found = longest_of_char(piece, at, n);
    else if (n >= VOCAB_MASKED)
        found = longest_of_six(piece, at, n, UINT32_MAX);
    if (found.id == VOCAB_NONE && n >= 2 && !is_char)
        found = longest_of_two(piece, at, n);
    if (found.id == VOCAB_NONE)
        found = (struct match){piece->v->byte_ids[(unsigned char)piece->p[at]], 1};
    return found;
}

/* Would merging have left these two tokens side by side, with their border at `at`? Undoes the
 * merges of both, latest first, and checks whether the two tokens then at the border would have
 * been merged with each other before. The text of that merged token is in the piece itself. */
static bool goes_together(const struct piece *piece, size_t at, uint32_t left, uint32_t right)
{
    const struct token_split *splits = piece->v->splits;
    uint32_t limit = UINT32_MAX; /* merges of this rank and later ones are undone */
    for (;;) {
        size_t n_left = vocab_len(piece->v, left), n_right = vocab_len(piece->v, right);
        uint32_t merged = find(piece, at - n_left, n_left + n_right).id;
        if (merged < limit && splits[merged].left == left)
            return false;
        /* Of two merges of the same rank the left one came first, so the right one is undone first.
         * The side is unpredictable, so there is no branch for it. */
        bool is_left = left > right;
        uint32_t latest = is_left ? left : right;
        if (latest < VOCAB_SINGLE)
            return true;
        limit = latest + !is_left;
        left = is_left ? splits[latest].right : left;
        right = is_left ? right : splits[latest].left;
    }
}

/* The bytes on both sides of a border; zero beyond the piece. */
struct border {
    uint32_t left, right;
};

static inline struct border border_at(const struct piece *piece, size_t at)
{
    const char *p = piece->p + at;
    size_t n = piece->n - at;
    if (at >= VOCAB_BORDER_BYTES && n > VOCAB_BORDER_BYTES)
        return (struct border){vocab_left_of(p), vocab_right_of(p)};
    char copy[2 * VOCAB_BORDER_BYTES + 1] = {0};
    size_t n_left = at < VOCAB_BORDER_BYTES ? at : VOCAB_BORDER_BYTES;
    memcpy(copy + VOCAB_BORDER_BYTES - n_left, p - n_left, n_left);
    memcpy(copy + VOCAB_BORDER_BYTES, p, n < VOCAB_BORDER_BYTES ? n : VOCAB_BORDER_BYTES);
    return (struct border){vocab_left_of(copy + VOCAB_BORDER_BYTES),
                           vocab_right_of(copy + VOCAB_BORDER_BYTES)};
}

/* True if no two tokens that are ever merged have a border like the one at `at`. Then no token
 * crosses it, and both sides can be encoded separately. This is rare between Latin letters and
 * common in most other scripts. */
static bool is_quiet(const struct piece *piece, size_t at)
{
    const struct pl_tokens *v = piece->v;
    unsigned kinds = v->border_kinds[vocab_two(piece->p + at - 1)];
    if (vocab_is_plain_border(piece->p + at) || kinds & vocab_border_kind(1, 1))
        return false;
    if (!kinds)
        return true;
    struct border border = border_at(piece, at);
    for (; kinds; kinds &= kinds - 1) {
        unsigned kind = (unsigned)__builtin_ctz(kinds);
        uint32_t place = vocab_border(border.left, (kind >> 2) + 1, border.right, (kind & 3) + 1);
        if (vocab_has_border(v, place))
            return false;
    }
    return true;
}

static bool is_dead(const struct piece *piece, size_t at)
{
    return piece->dead[at / BPE_WORD_BITS] >> (at % BPE_WORD_BITS) & 1;
}

static bool push(struct piece *piece, uint32_t id, uint32_t **owned)
{
    if (piece->n_tokens == piece->n_room) {
        size_t n_room = 2 * piece->n_room;
        uint32_t *grown = pl_mem_grow(*owned, n_room, sizeof *grown);
        if (!grown)
            return false;
        if (!*owned)
            memcpy(grown, piece->tokens, piece->n_tokens * sizeof *grown);
        *owned = piece->tokens = grown;
        piece->n_room = n_room;
    }
    piece->tokens[piece->n_tokens++] = id;
    return true;
}

static bool fits(const struct piece *piece, size_t at, struct match next)
{
    return !is_dead(piece, at + next.n_bytes) &&
           (piece->n_tokens == 0 || is_quiet(piece, at) ||
            goes_together(piece, at, piece->tokens[piece->n_tokens - 1], next.id));
}

/* Sets `owned` if the tokens need allocated memory; the caller frees it. */
static enum pl_status search(struct piece *piece, uint32_t **owned)
{
    size_t at = 0;
    struct match next = longest(piece, 0, piece->n);
    for (;;) {
        if (fits(piece, at, next)) {
            if (!push(piece, next.id, owned))
                return PL_NOMEM;
            at += next.n_bytes;
            if (at == piece->n)
                return PL_OK;
            next = longest(piece, at, piece->n - at);
        } else if (next.n_bytes > 1) {
            next = longest(piece, at, next.n_bytes - 1);
        } else if (piece->n_tokens > 0) {
            piece->dead[at / BPE_WORD_BITS] |= UINT64_C(1) << (at % BPE_WORD_BITS);
            piece->has_dead = true;
            next.id = piece->tokens[--piece->n_tokens];
            next.n_bytes = vocab_len(piece->v, next.id);
            at -= next.n_bytes;
        } else {
            return PL_INTERNAL; /* unreachable: every byte is a token */
        }
    }
}

static enum pl_status put_all(struct token_sink *sink, const uint32_t *tokens, size_t n_tokens)
{
    struct pl_token_ids *ids = sink->ids;
    sink->n_tokens += n_tokens;
    if (!ids)
        return PL_OK;
    if (ids->cap - ids->len < n_tokens &&
        !pl_vec_grow((void **)&ids->ptr, &ids->cap, ids->len + n_tokens, sizeof *ids->ptr))
        return PL_NOMEM;
    memcpy(ids->ptr + ids->len, tokens, n_tokens * sizeof *ids->ptr);
    ids->len += n_tokens;
    return PL_OK;
}

/* Encodes a single character of three bytes. If it is not a token, two of its bytes may be one: the
 * pair that is merged first. */
static enum pl_status put_char(const struct pl_tokens *v, const char *p, struct token_sink *sink)
{
    uint32_t id = v->chars[vocab_char(p)].id;
    if (id != VOCAB_NO_ID)
        return put_all(sink, &id, 1);
    uint32_t head = v->twos[vocab_two(p)], tail = v->twos[vocab_two(p + 1)];
    uint32_t bytes[VOCAB_CHAR_BYTES];
    for (int i = 0; i < VOCAB_CHAR_BYTES; i++)
        bytes[i] = v->byte_ids[(unsigned char)p[i]];
    if (head < tail)
        return put_all(sink, (uint32_t[]){head, bytes[2]}, 2);
    if (tail < head)
        return put_all(sink, (uint32_t[]){bytes[0], tail}, 2);
    return put_all(sink, bytes, VOCAB_CHAR_BYTES);
}

/* Encodes a stretch by searching. */
static enum pl_status put_stretch(const struct pl_tokens *v, const char *p, size_t n,
                                  size_t n_readable, struct token_sink *sink)
{
    PL_CLEANUP_FREE uint64_t *large_dead = NULL;
    PL_CLEANUP_FREE uint32_t *large_tokens = NULL;
    struct piece piece = {.v = v,
                          .p = p,
                          .n = n,
                          .n_readable = n_readable,
                          .dead = sink->dead,
                          .tokens = sink->tokens,
                          .n_room = BPE_SMALL_TOKENS};
    if (n > BPE_SMALL_BYTES) {
        size_t n_words = n / BPE_WORD_BITS + 1;
        piece.dead = large_dead = pl_mem_alloc(n_words, sizeof *large_dead);
        if (!large_dead)
            return PL_NOMEM;
        memset(large_dead, 0, n_words * sizeof *large_dead);
    }
    enum pl_status status = search(&piece, &large_tokens);
    if (piece.has_dead && !large_dead)
        memset(sink->dead, 0, sizeof sink->dead);
    return status == PL_OK ? put_all(sink, piece.tokens, piece.n_tokens) : status;
}

/* Returns the length of a character at `at` that may be encoded alone: one of three bytes, or the
 * single byte before a word. 0 if there is neither. */
static size_t unit_at(const struct piece *piece, size_t at)
{
    if (piece->n - at >= VOCAB_CHAR_BYTES && vocab_is_char(piece->p + at))
        return VOCAB_CHAR_BYTES;
    return at == 0 && piece->n > VOCAB_CHAR_BYTES && vocab_is_char(piece->p + 1) ? 1 : 0;
}

/* The end of the stretch that begins at `from`: the first quiet border after a unit. */
static size_t stretch_end(const struct piece *piece, size_t from)
{
    size_t to = from, n_unit;
    while ((n_unit = unit_at(piece, to))) {
        to += n_unit;
        if (to == piece->n || is_quiet(piece, to))
            return to;
    }
    return piece->n;
}

/* Cuts the piece at quiet borders between characters of three bytes. In Chinese most characters
 * turn out to be alone, so there is nothing to search. */
enum pl_status pl_bpe_encode(const struct pl_tokens *v, const char *p, size_t n, size_t n_readable,
                             struct token_sink *sink)
{
    struct piece piece = {.v = v, .p = p, .n = n};
    enum pl_status status = PL_OK;
    for (size_t from = 0, to = 0; from < n && status == PL_OK; from = to) {
        to = stretch_end(&piece, from);
        if (to - from == VOCAB_CHAR_BYTES && vocab_is_char(p + from))
            status = put_char(v, p + from, sink);
        else
            status = put_stretch(v, p + from, to - from, n_readable - from, sink);
    }
    return status;
}
