/* Counts and encodes whole texts. Each text is cut into pieces, and each piece is looked up. A
 * piece that is not a token is encoded, and its encoding is reused for the rest of the text. */
#include "tokens/tokens.h"

#include "tokens/bpe_int.h"
#include "tokens/split_int.h"

static const char *const encoding_names[PL_ENCODING_COUNT] = {
    [PL_ENCODING_O200K_BASE] = "o200k_base",
    [PL_ENCODING_CL100K_BASE] = "cl100k_base",
};

const char *pl_encoding_name(enum pl_encoding encoding)
{
    return encoding_names[encoding];
}

bool pl_encoding_find(struct pl_str name, enum pl_encoding *ret_encoding)
{
    for (int i = 0; i < PL_ENCODING_COUNT; i++)
        if (pl_str_eq(name, pl_str_of(encoding_names[i]))) {
            *ret_encoding = (enum pl_encoding)i;
            return true;
        }
    return false;
}

static enum pl_status put_one(struct token_sink *sink, uint32_t id)
{
    sink->n_tokens++;
    return !sink->ids || pl_vec_push(sink->ids, id) ? PL_OK : PL_NOMEM;
}

/* A piece that was already encoded in this text. Names and phrases recur. */
struct memo {
    const char *p; /* points into the text; NULL if free */
    uint32_t n_bytes;
    uint32_t n_tokens;
    size_t first; /* index of its first id in the sink */
};

/* Below MIN_MEMO_TEXT, clearing the memos would cost more than they save. */
enum { N_MEMO_BITS = 9, MIN_MEMO_TEXT = 4096, MAX_MEMO_BYTES = 64 };

static struct memo *memo_of(struct memo *memos, const char *p, size_t n)
{
    uint64_t head = 0, tail = 0;
    size_t n_word = n < sizeof head ? n : sizeof head;
    memcpy(&head, p, n_word);
    memcpy(&tail, p + n - n_word, n_word);
    uint64_t hash = (head ^ tail * 31 ^ n) * UINT64_C(0x9e3779b97f4a7c15);
    return &memos[(hash ^ hash >> 29) * UINT64_C(0xd6e8feb86659fd93) >> (64 - N_MEMO_BITS)];
}

static enum pl_status put_again(const struct memo *memo, struct token_sink *sink)
{
    struct pl_token_ids *ids = sink->ids;
    sink->n_tokens += memo->n_tokens;
    for (uint32_t i = 0; ids && i < memo->n_tokens; i++)
        if (!pl_vec_push(ids, ids->ptr[memo->first + i]))
            return PL_NOMEM;
    return PL_OK;
}

static enum pl_status put_piece(const struct pl_tokens *v, struct memo *memos, const char *p,
                                size_t n, size_t n_readable, struct token_sink *sink)
{
    if (!memos || n > MAX_MEMO_BYTES)
        return pl_bpe_encode(v, p, n, n_readable, sink);
    struct memo *memo = memo_of(memos, p, n);
    if (memo->p && memo->n_bytes == n && memcmp(memo->p, p, n) == 0)
        return put_again(memo, sink);
    size_t n_before = sink->n_tokens, first = sink->ids ? sink->ids->len : 0;
    enum pl_status status = pl_bpe_encode(v, p, n, n_readable, sink);
    *memo = (struct memo){p, (uint32_t)n, (uint32_t)(sink->n_tokens - n_before), first};
    return status;
}

/* `memos` may be NULL. */
static enum pl_status put_pieces(const struct pl_tokens *v, struct pl_str text, struct memo *memos,
                                 struct token_sink *sink)
{
    pl_split_fn *split = pl_split_fns[v->encoding];
    enum pl_status status = PL_OK;
    for (size_t at = 0, end = 0; at < text.len && status == PL_OK; at = end) {
        end = split(text, at);
        const char *p = text.ptr + at;
        uint32_t id = vocab_find(v, p, end - at, text.len - at);
        if (id != VOCAB_NONE)
            status = put_one(sink, id);
        else
            status = put_piece(v, memos, p, end - at, text.len - at, sink);
    }
    return status;
}

__attribute__((noinline)) static enum pl_status
put_long_text(const struct pl_tokens *v, struct pl_str text, struct token_sink *sink)
{
    struct memo memos[1u << N_MEMO_BITS] = {0};
    return put_pieces(v, text, memos, sink);
}

static enum pl_status put_text(const struct pl_tokens *v, struct pl_str text,
                               struct token_sink *sink)
{
    return text.len < MIN_MEMO_TEXT ? put_pieces(v, text, NULL, sink)
                                    : put_long_text(v, text, sink);
}

static const struct special_token *special_at(const struct pl_tokens *v, struct pl_str rest)
{
    for (size_t i = 0; i < v->source->n_specials; i++)
        if (pl_str_starts(rest, v->source->specials[i].text))
            return &v->source->specials[i];
    return NULL;
}

/* Text between two special tokens is encoded separately. */
static enum pl_status put_with_specials(const struct pl_tokens *v, struct pl_str text,
                                        struct token_sink *sink)
{
    size_t from = 0, at = 0;
    enum pl_status status = PL_OK;
    while (at < text.len && status == PL_OK) {
        const char *found = memchr(text.ptr + at, '<', text.len - at);
        if (!found)
            break;
        at = (size_t)(found - text.ptr);
        const struct special_token *special = special_at(v, pl_str_slice(text, at, text.len));
        if (!special) {
            at++;
            continue;
        }
        status = put_text(v, pl_str_slice(text, from, at), sink);
        if (status == PL_OK)
            status = put_one(sink, special->id);
        from = at += special->text.len;
    }
    return status == PL_OK ? put_text(v, pl_str_slice(text, from, text.len), sink) : status;
}

static enum pl_status put_any(const struct pl_tokens *v, struct pl_str text,
                              enum pl_special special, struct token_sink *sink)
{
    return special == PL_SPECIAL_AS_TOKEN ? put_with_specials(v, text, sink)
                                          : put_text(v, text, sink);
}

enum pl_status pl_tokens_count(const struct pl_tokens *tokens, struct pl_str text,
                               enum pl_special special, size_t *ret_n_tokens)
{
    struct token_sink sink = {0};
    enum pl_status status = put_any(tokens, text, special, &sink);
    if (status == PL_OK)
        *ret_n_tokens = sink.n_tokens;
    return status;
}

enum pl_status pl_tokens_encode(const struct pl_tokens *tokens, struct pl_str text,
                                enum pl_special special, struct pl_token_ids *ids)
{
    size_t n_before = ids->len;
    struct token_sink sink = {.ids = ids};
    enum pl_status status = put_any(tokens, text, special, &sink);
    if (status != PL_OK)
        ids->len = n_before;
    return status;
}

void pl_token_ids_deinit(struct pl_token_ids *ids)
{
    pl_vec_deinit(ids);
}

/* The bytes of an id; {NULL, 0} if there is no such token. */
static struct pl_str spelling(const struct pl_tokens *v, uint32_t id)
{
    if (id < v->source->n_tokens)
        return (struct pl_str){vocab_text(v, id), vocab_len(v, id)};
    for (size_t i = 0; i < v->source->n_specials; i++)
        if (v->source->specials[i].id == id)
            return v->source->specials[i].text;
    return (struct pl_str){NULL, 0};
}

enum pl_status pl_tokens_decode(const struct pl_tokens *tokens, const uint32_t *ids, size_t n_ids,
                                struct pl_buf *to)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < n_ids; i++) {
        struct pl_str token = spelling(tokens, ids[i]);
        if (!token.ptr)
            return PL_INVALID;
        n_bytes += token.len;
    }
    if (!pl_buf_reserve(to, n_bytes))
        return to->status;
    for (size_t i = 0; i < n_ids; i++)
        pl_buf_add(to, spelling(tokens, ids[i]));
    return to->status;
}
