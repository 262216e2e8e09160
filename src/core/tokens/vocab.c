/* Unpacks an embedded vocabulary and builds the lookup tables for encoding.
 *
 * All sizes are known from the numbers that the generator wrote, so unpacking is one pass without
 * reallocation. The text of a token is copied from its two parts, then the token is added to the
 * tables. */
#include "base/mem.h"
#include "tokens/vocab_int.h"

enum { BATCH = 64 };

/* Reads eight bytes at a time. Bytes after the end are zero. */
struct bit_reader {
    struct pl_str packed;
    size_t at_bit;
};

/* Reads at most 57 bits at once. */
static inline uint64_t read_bits(struct bit_reader *in, unsigned width)
{
    size_t at = in->at_bit / 8, n_left = in->packed.len - at;
    uint64_t word = 0;
    if (n_left >= sizeof word)
        memcpy(&word, in->packed.ptr + at, sizeof word);
    else
        memcpy(&word, in->packed.ptr + at, n_left);
    word = vocab_little64(word) >> in->at_bit % 8;
    in->at_bit += width;
    return word & ((UINT64_C(1) << width) - 1);
}

#define FIRST(n) ((UINT64_C(1) << (8 * (n))) - 1)

const struct token_key pl_vocab_keep[VOCAB_EXACT_BYTES + 1] = {
    {FIRST(0), 0},
    {FIRST(1), 0},
    {FIRST(2), 0},
    {FIRST(3), 0},
    {FIRST(4), 0},
    {FIRST(5), 0},
    {FIRST(6), 0},
    {FIRST(7), 0},
    {UINT64_MAX, FIRST(0)},
    {UINT64_MAX, FIRST(1)},
    {UINT64_MAX, FIRST(2)},
    {UINT64_MAX, FIRST(3)},
    {UINT64_MAX, UINT32_MAX},
};

static void filter_add(struct token_filter *filter, uint64_t hash)
{
    filter->words[hash >> (64 - VOCAB_FILTER_BITS)] |= vocab_filter_bits(hash);
}

static void prefix_add(struct token_prefix *prefix, uint32_t id, size_t n_more)
{
    if (n_more == 0)
        prefix->id = id;
    else
        prefix->more |= 1u << ((n_more < VOCAB_MORE_BITS ? n_more : VOCAB_MORE_BITS) - 1);
}

/* Adds a token that begins with one three-byte character, or with two. */
static void put_char(struct pl_tokens *v, uint32_t id, const char *p, size_t n)
{
    uint32_t code = vocab_char(p);
    prefix_add(&v->chars[code], id, n - VOCAB_CHAR_BYTES);
    if (n < 2 * VOCAB_CHAR_BYTES || !vocab_is_char(p + VOCAB_CHAR_BYTES))
        return;
    uint32_t codes = code << VOCAB_CODE_BITS | vocab_char(p + VOCAB_CHAR_BYTES);
    struct token_pair *pair = vocab_pair(v, codes);
    v->n_pairs += !pair->codes;
    pair->codes = codes;
    prefix_add(&pair->prefix, id, n - 2 * VOCAB_CHAR_BYTES);
}

/* Fills the tables in batches: first compute and prefetch all places, then write. One at a time,
 * every token would wait for memory. */
static void put_tokens(struct pl_tokens *v, uint32_t from, uint32_t to)
{
    struct token_key keys[BATCH];
    uint64_t hashes[BATCH];
    for (uint32_t id = from; id < to; id++) {
        const char *p = vocab_text(v, id);
        size_t n = vocab_len(v, id);
        keys[id - from] = vocab_key(p, n, v->source->n_text_bytes - v->splits[id].start);
        hashes[id - from] = vocab_token_hash(keys[id - from], p, n);
        __builtin_prefetch(&v->slots[vocab_place(v, hashes[id - from])], 1);
        filter_add(v->has_token, hashes[id - from]);
        if (n > v->max_bytes)
            v->max_bytes = (uint32_t)n;
        if (n >= VOCAB_CHAR_BYTES && vocab_is_char(p))
            put_char(v, id, p, n);
        if (n == 2)
            v->twos[vocab_two(p)] = id;
        if (n == 4 || n == 5)
            v->short_masks[vocab_short_place(p)] |= (uint8_t)(1u << n);
        if (n >= VOCAB_MASKED)
            v->masks[vocab_mask_place(p)] |= UINT32_C(1)
                                             << ((n < VOCAB_LONG ? n : VOCAB_LONG) - VOCAB_MASKED);
    }
    for (uint32_t id = from; id < to; id++) {
        uint32_t at = vocab_place(v, hashes[id - from]);
        /* The number of steps is unpredictable, so the first two are not branches. */
        for (int i = 0; i < 2; i++) {
            at += v->slots[at].n_bytes != 0;
            at = at < v->n_slots ? at : 0;
        }
        while (v->slots[at].n_bytes)
            at = vocab_next_place(v, at);
        v->slots[at] = (struct token_slot){keys[id - from].head, keys[id - from].middle, id,
                                           (uint8_t)vocab_len(v, id)};
    }
}

/* Stores the bytes around the border between the two parts of a token. If two single bytes are
 * merged, nothing more is stored for their border. */
static void put_border(struct pl_tokens *v, const char *border, size_t n_left, size_t n_right)
{
    uint16_t *kinds = &v->border_kinds[vocab_two(border - 1)];
    if (vocab_is_plain_border(border) || *kinds & vocab_border_kind(1, 1))
        return;
    unsigned left = n_left < VOCAB_BORDER_BYTES ? (unsigned)n_left : VOCAB_BORDER_BYTES;
    unsigned right = n_right < VOCAB_BORDER_BYTES ? (unsigned)n_right : VOCAB_BORDER_BYTES;
    uint32_t place = vocab_border(vocab_left_of(border), left, vocab_right_of(border), right);
    *kinds |= (uint16_t)vocab_border_kind(left, right);
    v->borders[place / 64] |= UINT64_C(1) << (place % 64);
}

/* `to` has room for VOCAB_SLACK bytes more than n. */
static void copy(char *to, const char *from, size_t n)
{
    memmove(to, from, VOCAB_SLACK);
    if (n > VOCAB_SLACK)
        memcpy(to + VOCAB_SLACK, from + VOCAB_SLACK, n - VOCAB_SLACK);
}

static void unpack_single(struct pl_tokens *v, struct bit_reader *in)
{
    for (uint32_t id = 0; id < VOCAB_SINGLE; id++) {
        unsigned char byte = (unsigned char)read_bits(in, 8);
        v->text[id] = (char)byte;
        v->byte_ids[byte] = id;
        v->splits[id] = (struct token_split){id, id, id};
    }
    v->splits[VOCAB_SINGLE].start = VOCAB_SINGLE;
}

/* Reads the parts of tokens and builds their text. */
static void unpack(struct pl_tokens *v, struct bit_reader *in, uint32_t from, uint32_t to)
{
    for (uint32_t id = from; id < to; id++) {
        unsigned width = 32 - (unsigned)__builtin_clz(id - 1);
        uint64_t both = read_bits(in, 2 * width);
        uint32_t left = (uint32_t)(both & ((UINT64_C(1) << width) - 1));
        uint32_t right = (uint32_t)(both >> width);
        v->splits[id].left = left;
        v->splits[id].right = right;
        __builtin_prefetch(&v->splits[left]);
        __builtin_prefetch(&v->splits[right]);
    }
    for (uint32_t id = from; id < to; id++) {
        if (v->splits[id].left < from)
            __builtin_prefetch(vocab_text(v, v->splits[id].left));
        if (v->splits[id].right < from)
            __builtin_prefetch(vocab_text(v, v->splits[id].right));
    }
    for (uint32_t id = from; id < to; id++) {
        uint32_t left = v->splits[id].left, right = v->splits[id].right;
        size_t n_left = vocab_len(v, left), n_right = vocab_len(v, right);
        char *text = v->text + v->splits[id].start;
        copy(text, vocab_text(v, left), n_left);
        copy(text + n_left, vocab_text(v, right), n_right);
        v->splits[id + 1].start = v->splits[id].start + n_left + n_right;
    }
    for (uint32_t id = from; id < to; id++) {
        size_t n_left = vocab_len(v, v->splits[id].left);
        put_border(v, vocab_text(v, id) + n_left, n_left, vocab_len(v, id) - n_left);
    }
}

static bool allocate(struct pl_tokens *v)
{
    uint32_t n = v->source->n_tokens;
    v->slots = pl_mem_alloc(v->n_slots, sizeof *v->slots);
    v->splits = pl_mem_alloc((size_t)n + 1, sizeof *v->splits);
    v->text = pl_mem_alloc((size_t)v->source->n_text_bytes + VOCAB_SLACK, 1);
    v->masks = pl_mem_alloc(1u << VOCAB_MASK_BITS, sizeof *v->masks);
    v->short_masks = pl_mem_alloc(1u << VOCAB_SHORT_BITS, 1);
    v->borders = pl_mem_alloc((1u << VOCAB_BORDER_BITS) / 64, sizeof *v->borders);
    v->has_token = pl_mem_alloc(1, sizeof *v->has_token);
    v->border_kinds = pl_mem_alloc(1u << VOCAB_TWO_BITS, sizeof *v->border_kinds);
    v->twos = pl_mem_alloc(1u << VOCAB_TWO_BITS, sizeof *v->twos);
    v->chars = pl_mem_alloc(1u << VOCAB_CODE_BITS, sizeof *v->chars);
    v->pairs = pl_mem_alloc(1u << VOCAB_PAIR_BITS, sizeof *v->pairs);
    if (!v->slots || !v->splits || !v->text || !v->masks || !v->short_masks || !v->borders ||
        !v->has_token || !v->border_kinds || !v->twos || !v->chars || !v->pairs)
        return false;
    memset(v->slots, 0, v->n_slots * sizeof *v->slots);
    memset(v->splits, 0, ((size_t)n + 1) * sizeof *v->splits);
    memset(v->masks, 0, (1u << VOCAB_MASK_BITS) * sizeof *v->masks);
    memset(v->borders, 0, (1u << VOCAB_BORDER_BITS) / 8);
    memset(v->short_masks, 0, 1u << VOCAB_SHORT_BITS);
    memset(v->text + v->source->n_text_bytes, 0, VOCAB_SLACK);
    memset(v->has_token, 0, sizeof *v->has_token);
    memset(v->border_kinds, 0, (1u << VOCAB_TWO_BITS) * sizeof *v->border_kinds);
    memset(v->twos, 0xFF, (1u << VOCAB_TWO_BITS) * sizeof *v->twos);
    for (uint32_t i = 0; i < 1u << VOCAB_CODE_BITS; i++)
        v->chars[i] = (struct token_prefix){VOCAB_NO_ID, 0};
    for (uint32_t i = 0; i < 1u << VOCAB_PAIR_BITS; i++)
        v->pairs[i] = (struct token_pair){0, {VOCAB_NO_ID, 0}};
    return true;
}

/* Returns false if the vocabulary is not one that the tables were sized for. */
static bool fill(struct pl_tokens *v)
{
    const struct vocab_source *source = v->source;
    struct bit_reader in = {source->packed, 0};
    unpack_single(v, &in);
    for (uint32_t from = 0; from < source->n_tokens; from += BATCH) {
        uint32_t left = source->n_tokens - from, to = from + (left < BATCH ? left : BATCH);
        if (from >= VOCAB_SINGLE)
            unpack(v, &in, from, to);
        put_tokens(v, from, to);
        if (v->n_pairs + BATCH >= 1u << VOCAB_PAIR_BITS)
            return false;
    }
    return true;
}

enum pl_status pl_tokens_create(enum pl_encoding encoding, struct pl_tokens **ret_tokens)
{
    struct pl_tokens *v = pl_mem_alloc(1, sizeof *v);
    if (!v)
        return PL_NOMEM;
    const struct vocab_source *source = &pl_vocab_sources[encoding];
    *v = (struct pl_tokens){
        .source = source, .encoding = encoding, .n_slots = source->n_tokens + source->n_tokens / 2};
    if (!allocate(v)) {
        pl_tokens_destroy(v);
        return PL_NOMEM;
    }
    if (!fill(v)) {
        pl_tokens_destroy(v);
        return PL_INTERNAL;
    }
    *ret_tokens = v;
    return PL_OK;
}

void pl_tokens_destroy(struct pl_tokens *tokens)
{
    if (!tokens)
        return;
    pl_mem_free(tokens->slots);
    pl_mem_free(tokens->splits);
    pl_mem_free(tokens->text);
    pl_mem_free(tokens->masks);
    pl_mem_free(tokens->borders);
    pl_mem_free(tokens->short_masks);
    pl_mem_free(tokens->has_token);
    pl_mem_free(tokens->border_kinds);
    pl_mem_free(tokens->twos);
    pl_mem_free(tokens->chars);
    pl_mem_free(tokens->pairs);
    pl_mem_free(tokens);
}
