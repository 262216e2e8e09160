/* Byte-pair encoding of one piece of text. */
#ifndef PL_TOKENS_BPE_INT_H
#define PL_TOKENS_BPE_INT_H

#include "tokens/vocab_int.h"

enum { BPE_SMALL_BYTES = 512, BPE_SMALL_TOKENS = 64, BPE_WORD_BITS = 64 };

/* Counts tokens, and stores their ids if `ids` is set. Zero-initialised is ready to use. */
struct token_sink {
    size_t n_tokens;
    struct pl_token_ids *ids; /* borrowed; NULL to count only */
    /* Scratch space for the current piece. It is large enough for ordinary words; only longer
     * pieces allocate memory. All of `dead` is zero between pieces. */
    uint64_t dead[BPE_SMALL_BYTES / BPE_WORD_BITS + 1];
    uint32_t tokens[BPE_SMALL_TOKENS];
};

/* Encodes the n > 0 bytes at p into the sink. `n_readable` bytes may be read at p. Fails only with
 * PL_NOMEM; the sink may then hold part of the piece. */
enum pl_status pl_bpe_encode(const struct pl_tokens *v, const char *p, size_t n, size_t n_readable,
                             struct token_sink *sink);

#endif
