/* Byte-pair encoding by backtracking: the tokens that merging by rank ends in, found from left to
 * right without merging.
 *
 * Two facts carry it (van Antwerpen and Neubeck, "So many tokens, so little time", 2024). A row of
 * tokens is the encoding of its bytes if and only if every two neighbours are: no merge across
 * their border would have come before the merges that made them. And a prefix of an encoding, cut
 * between tokens, is the encoding of that prefix; so there is at most one token a place can be
 * reached by.
 *
 * So: take the longest token at a place; if it does not go with the one before, a shorter one; if
 * none does, step back over the one before and try a shorter one there. A place found to be a dead
 * end is never tried again, which keeps the time in proportion to the piece. */
#include "tokens/bpe_int.h"

#include "base/mem.h"

struct piece {
    const struct pl_tokens *v;
    const char *p;
    size_t n, n_readable;
    uint64_t *dead; /* bit i: no encoding ends a token at i */
    bool has_dead;
    uint32_t *tokens; /* found so far */
    size_t n_tokens;
    size_t n_room; /* in tokens */
};

struct match {
    uint32_t id;
    uint32_t n_bytes;
};

/* The token of exactly n bytes at `at`; its id may be VOCAB_NONE. */
static inline struct match find(const struct piece *piece, size_t at, size_t n)
{
    uint32_t id = vocab_find(piece->v, piece->p + at, n, piece->n_readable - at);
    return (struct match){id, (uint32_t)n};
}

/* Tokens so long that they share one bit of the mask. */
static struct match longest_of_long(const struct piece *piece, size_t at, size_t n)
{
    struct match found = {VOCAB_NONE, 0};
    n = n < piece->v->max_bytes ? n : piece->v->max_bytes;
    for (; n >= VOCAB_LONG && found.id == VOCAB_NONE; n--)
        found = find(piece, at, n);
    return found;
}

/* Tokens of six bytes and more. */
static struct match longest_of_six(const struct piece *piece, size_t at, size_t n)
{
    uint32_t mask = piece->v->masks[vocab_mask_place(piece->p + at)];
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

/* Tokens of two to five bytes. */
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
    return found.id == VOCAB_NONE ? find(piece, at, 2) : found;
}

/* The longest token at `at` that has at most n > 0 bytes. */
static struct match longest(const struct piece *piece, size_t at, size_t n)
{
    struct match found = {VOCAB_NONE, 0};
    if (n >= VOCAB_MASKED)
        found = longest_of_six(piece, at, n);
    if (found.id == VOCAB_NONE && n >= 2)
        found = longest_of_two(piece, at, n);
    if (found.id == VOCAB_NONE)
        found = (struct match){piece->v->byte_ids[(unsigned char)piece->p[at]], 1};
    return found;
}

/* Would merging have left these two side by side, with their border at `at`? Undoes the merges of
 * both, latest first, and looks whether the two tokens then at the border would have been merged
 * with each other before. What they would have become is spelled by the piece itself. */
static bool goes_together(const struct piece *piece, size_t at, uint32_t left, uint32_t right)
{
    const struct token_split *splits = piece->v->splits;
    uint32_t limit = UINT32_MAX; /* merges from here on have been undone */
    for (;;) {
        size_t n_left = vocab_len(piece->v, left), n_right = vocab_len(piece->v, right);
        uint32_t merged = find(piece, at - n_left, n_left + n_right).id;
        if (merged < limit && splits[merged].left == left)
            return false;
        /* Of two merges of one rank the left one came first, so the right one is undone first.
         * Which side it is cannot be guessed, so there is no branch for it. */
        bool is_left = left > right;
        uint32_t latest = is_left ? left : right;
        if (latest < VOCAB_SINGLE)
            return true;
        limit = latest + !is_left;
        left = is_left ? splits[latest].right : left;
        right = is_left ? right : splits[latest].left;
    }
}

/* True when no two tokens that are ever merged have a border like the one at `at`, so that there is
 * no need to undo anything. Rare between Latin letters, the rule in most other scripts. */
static bool is_quiet(const struct piece *piece, size_t at)
{
    const struct pl_tokens *v = piece->v;
    const unsigned char *p = (const unsigned char *)piece->p + at;
    uint32_t left = p[-1], right = p[0];
    if (vocab_has_border(v, vocab_border(left, 1, right, 1)))
        return false;
    bool has_two_left = at > 1, has_two_right = at + 1 < piece->n;
    uint32_t two_left = has_two_left ? p[-2] << 8 | left : 0;
    uint32_t two_right = has_two_right ? right << 8 | p[1] : 0;
    return !(has_two_left && vocab_has_border(v, vocab_border(two_left, 2, right, 1))) &&
           !(has_two_right && vocab_has_border(v, vocab_border(left, 1, two_right, 2))) &&
           !(has_two_left && has_two_right &&
             vocab_has_border(v, vocab_border(two_left, 2, two_right, 2)));
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

/* `owned` becomes the memory of the tokens once they need some; the caller frees it. */
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
            return PL_INTERNAL; /* every byte is a token: some way leads to the end */
        }
    }
}

static enum pl_status put_all(const struct piece *piece, struct token_sink *sink)
{
    struct pl_token_ids *ids = sink->ids;
    sink->n_tokens += piece->n_tokens;
    if (!ids)
        return PL_OK;
    if (ids->cap - ids->len < piece->n_tokens &&
        !pl_vec_grow((void **)&ids->ptr, &ids->cap, ids->len + piece->n_tokens, sizeof *ids->ptr))
        return PL_NOMEM;
    memcpy(ids->ptr + ids->len, piece->tokens, piece->n_tokens * sizeof *ids->ptr);
    ids->len += piece->n_tokens;
    return PL_OK;
}

enum pl_status pl_bpe_encode(const struct pl_tokens *v, const char *p, size_t n, size_t n_readable,
                             struct token_sink *sink)
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
    return status == PL_OK ? put_all(&piece, sink) : status;
}
