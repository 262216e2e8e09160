/* Unpacks an embedded vocabulary and makes the tables that encoding looks things up in.
 *
 * Everything is sized beforehand from the numbers the generator wrote, so unpacking is one pass
 * without growth: the text of a token is that of its parts, copied, and then its bytes go into the
 * table. */
#include "base/mem.h"
#include "tokens/vocab_int.h"

enum { BATCH = 64 };

/* Reads eight bytes at a time; behind the end there are zeros. */
struct bit_reader {
    struct pl_str packed;
    size_t at_bit;
};

static uint32_t read_bits(struct bit_reader *in, unsigned width)
{
    size_t at = in->at_bit / 8, n_left = in->packed.len - at;
    uint64_t word = 0;
    if (n_left >= sizeof word)
        memcpy(&word, in->packed.ptr + at, sizeof word);
    else
        memcpy(&word, in->packed.ptr + at, n_left);
    word = vocab_little64(word) >> in->at_bit % 8;
    in->at_bit += width;
    return (uint32_t)(word & ((UINT64_C(1) << width) - 1));
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

/* Tables are filled a batch at a time: first all places are worked out and fetched, then written.
 * One by one, every token would wait for memory. */
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
        if (n == 4 || n == 5)
            v->short_masks[vocab_short_place(p)] |= (uint8_t)(1u << n);
        if (n >= VOCAB_MASKED)
            v->masks[vocab_mask_place(p)] |= UINT32_C(1)
                                             << ((n < VOCAB_LONG ? n : VOCAB_LONG) - VOCAB_MASKED);
    }
    for (uint32_t id = from; id < to; id++) {
        uint32_t at = vocab_place(v, hashes[id - from]);
        while (v->slots[at].n_bytes)
            at = vocab_next_place(v, at);
        v->slots[at] = (struct token_slot){keys[id - from].head, keys[id - from].middle, id,
                                           (uint8_t)vocab_len(v, id)};
    }
}

/* The bytes around the border of the two parts of a token. */
static void put_border(struct pl_tokens *v, uint32_t id)
{
    size_t n = vocab_len(v, id), n_left = vocab_len(v, v->splits[id].left);
    const unsigned char *border = (const unsigned char *)vocab_text(v, id) + n_left;
    bool has_two_left = n_left > 1, has_two_right = n - n_left > 1;
    uint32_t place =
        vocab_border(has_two_left ? border[-2] << 8 | border[-1] : border[-1], has_two_left ? 2 : 1,
                     has_two_right ? border[0] << 8 | border[1] : border[0], has_two_right ? 2 : 1);
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

/* Reads the parts of tokens and spells them. */
static void unpack(struct pl_tokens *v, struct bit_reader *in, uint32_t from, uint32_t to)
{
    for (uint32_t id = from; id < to; id++) {
        unsigned width = 32 - (unsigned)__builtin_clz(id - 1);
        v->splits[id].left = read_bits(in, width);
        v->splits[id].right = read_bits(in, width);
        __builtin_prefetch(&v->splits[v->splits[id].left]);
        __builtin_prefetch(&v->splits[v->splits[id].right]);
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
        put_border(v, id);
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
    if (!v->slots || !v->splits || !v->text || !v->masks || !v->short_masks || !v->borders ||
        !v->has_token)
        return false;
    memset(v->slots, 0, v->n_slots * sizeof *v->slots);
    memset(v->splits, 0, ((size_t)n + 1) * sizeof *v->splits);
    memset(v->masks, 0, (1u << VOCAB_MASK_BITS) * sizeof *v->masks);
    memset(v->borders, 0, (1u << VOCAB_BORDER_BITS) / 8);
    memset(v->short_masks, 0, 1u << VOCAB_SHORT_BITS);
    memset(v->text + v->source->n_text_bytes, 0, VOCAB_SLACK);
    memset(v->has_token, 0, sizeof *v->has_token);
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
    struct bit_reader in = {source->packed, 0};
    unpack_single(v, &in);
    for (uint32_t from = 0; from < source->n_tokens; from += BATCH) {
        uint32_t left = source->n_tokens - from, to = from + (left < BATCH ? left : BATCH);
        if (from >= VOCAB_SINGLE)
            unpack(v, &in, from, to);
        put_tokens(v, from, to);
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
    pl_mem_free(tokens);
}
