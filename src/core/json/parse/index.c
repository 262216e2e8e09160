#include "json/parse/index.h"

#include "base/text/utf8.h"

static pl_json_index_fn *const by_cpu[PL_CPU_COUNT] = {
    [PL_CPU_SCALAR] = pl_json_index_scalar,
    [PL_CPU_AVX2] = pl_json_index_avx2,
    [PL_CPU_AVX512] = pl_json_index_avx512,
};

/* Field by field: the struct is large and its buffers need no clearing. */
void pl_json_index_init(struct pl_json_index *ix, struct pl_str text, enum pl_cpu cpu)
{
    ix->text = text;
    ix->cpu = cpu;
    ix->fn = by_cpu[cpu];
    ix->masks = (struct pl_json_masks){.bad_control = UINT32_MAX};
    ix->chunk_at = 0;
    ix->at = 0;
    ix->utf8_at = 0;
    ix->bad = PL_JSON_BAD_NONE;
    ix->bad_at = SIZE_MAX;
    ix->n_tokens = 0;
}

static void note_bad(struct pl_json_index *ix, enum pl_json_bad bad, size_t at)
{
    if (at >= ix->bad_at)
        return;
    ix->bad = bad;
    ix->bad_at = at;
}

/* A sequence cut by the end of the chunk is checked with the next chunk. */
static void check_utf8(struct pl_json_index *ix)
{
    if (!ix->masks.not_ascii && ix->utf8_at == ix->chunk_at) {
        ix->utf8_at = ix->at;
        return;
    }
    struct pl_str rest = pl_str_slice(ix->text, ix->utf8_at, ix->at);
    size_t n_valid = pl_utf8_valid_prefix_with(ix->cpu, rest);
    ix->utf8_at += n_valid;
    bool may_go_on = ix->at < ix->text.len && rest.len - n_valid < 4;
    if (n_valid < rest.len && !may_go_on)
        note_bad(ix, PL_JSON_BAD_UTF8, ix->utf8_at);
}

bool pl_json_index_more(struct pl_json_index *ix)
{
    if (ix->at >= ix->text.len || ix->bad)
        return false;
    size_t left = ix->text.len - ix->at;
    size_t n_bytes = left < PL_JSON_CHUNK ? left : PL_JSON_CHUNK;
    size_t n_filled = -n_bytes % PL_JSON_BLOCK;
    ix->chunk_at = ix->at;
    ix->at += n_bytes;
    ix->masks.tokens = ix->tokens;
    ix->masks.not_ascii = 0;
    if (ix->text.len >= PL_JSON_BLOCK) {
        ix->fn(&ix->masks, ix->text.ptr + ix->chunk_at, n_bytes);
    } else {
        char block[PL_JSON_BLOCK];
        memset(block, ' ', sizeof block);
        memcpy(block, ix->text.ptr, n_bytes);
        ix->fn(&ix->masks, block, sizeof block);
    }
    /* The last block was filled up with white space, which does not count. */
    if (!ix->masks.in_string)
        ix->masks.n_space -= n_filled;
    check_utf8(ix);
    if (ix->masks.bad_control != UINT32_MAX)
        note_bad(ix, PL_JSON_BAD_CONTROL, ix->chunk_at + ix->masks.bad_control);
    ix->n_tokens = (uint32_t)(ix->masks.tokens - ix->tokens);
    while (ix->bad && ix->n_tokens && ix->chunk_at + ix->tokens[ix->n_tokens - 1] >= ix->bad_at)
        ix->n_tokens--;
    return true;
}
