/* Exact token counts and ids of o200k_base and cl100k_base, equal to those of tiktoken.
 *
 *     struct pl_tokens *vocabulary = NULL;
 *     size_t n = 0;
 *     enum pl_status status = pl_tokens_create(PL_ENCODING_O200K_BASE, &vocabulary);
 *     if (status == PL_OK)
 *         status = pl_tokens_count(vocabulary, text, PL_SPECIAL_AS_TEXT, &n);
 *     pl_tokens_destroy(vocabulary);
 *
 * The vocabularies are embedded in the program (tools/gen_vocab.mjs). Creating one takes about ten
 * milliseconds and 9 MB, so create it once. After that it never changes, and any number of threads
 * may use it at the same time. Time is linear in the length of the text, whatever it contains, even
 * for a long run of one letter.
 *
 * Text should be UTF-8. An invalid byte counts as a symbol of its own; it is not an error. */
#ifndef PL_TOKENS_TOKENS_H
#define PL_TOKENS_TOKENS_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdint.h>

enum pl_encoding { PL_ENCODING_O200K_BASE, PL_ENCODING_CL100K_BASE, PL_ENCODING_COUNT };

/* "o200k_base"; never NULL. */
const char *pl_encoding_name(enum pl_encoding encoding);

/* Returns false if no encoding has that name. */
bool pl_encoding_find(struct pl_str name, enum pl_encoding *ret_encoding);

/* A vocabulary, ready to use. Immutable once created. */
struct pl_tokens;

/* The caller owns the result. PL_NOMEM, or PL_INTERNAL if the vocabulary does not fit its
 * tables. */
enum pl_status pl_tokens_create(enum pl_encoding encoding, struct pl_tokens **ret_tokens);
void pl_tokens_destroy(struct pl_tokens *tokens);

/* How special tokens such as "<|endoftext|>" in a text are treated. In the text of a person or a
 * tool they are only characters, so that is the default. */
enum pl_special { PL_SPECIAL_AS_TEXT, PL_SPECIAL_AS_TOKEN };

/* PL_NOMEM is possible only for a word of more than 512 bytes or 64 tokens. */
enum pl_status pl_tokens_count(const struct pl_tokens *tokens, struct pl_str text,
                               enum pl_special special, size_t *ret_n_tokens);

/* Zero-initialised is an empty list. */
struct pl_token_ids {
    uint32_t *ptr; /* owned */
    size_t len, cap;
};
void pl_token_ids_deinit(struct pl_token_ids *ids);
#define PL_CLEANUP_TOKEN_IDS __attribute__((cleanup(pl_token_ids_deinit)))

/* Appends the ids of `text`. On failure (PL_NOMEM) the list keeps its old length. */
enum pl_status pl_tokens_encode(const struct pl_tokens *tokens, struct pl_str text,
                                enum pl_special special, struct pl_token_ids *ids);

/* Appends the bytes of the ids. PL_INVALID if an id is not in the vocabulary; PL_NOMEM. On failure
 * nothing is appended. */
enum pl_status pl_tokens_decode(const struct pl_tokens *tokens, const uint32_t *ids, size_t n_ids,
                                struct pl_buf *to);

#endif
