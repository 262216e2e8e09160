/* Exact token counts and ids of o200k_base and cl100k_base, equal to those of tiktoken.
 *
 *     struct pl_tokens *vocabulary = NULL;
 *     size_t n = 0;
 *     enum pl_status status = pl_tokens_create(PL_ENCODING_O200K_BASE, &vocabulary);
 *     if (status == PL_OK)
 *         status = pl_tokens_count(vocabulary, text, PL_SPECIAL_AS_TEXT, &n);
 *     pl_tokens_destroy(vocabulary);
 *
 * The vocabularies are part of the program (tools/gen_vocab.mjs). Making one ready takes some ten
 * milliseconds and 9 MB, so it is made once; after that it never changes and any number of threads
 * may use it at the same time. Time grows with the text, whatever is in it: a long run of one
 * letter is no exception.
 *
 * Text should be UTF-8. A byte that is not is counted as a symbol of its own; nothing fails. */
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

/* False when there is no encoding of that name. */
bool pl_encoding_find(struct pl_str name, enum pl_encoding *ret_encoding);

/* A vocabulary that is ready to use. Immutable once created. */
struct pl_tokens;

/* The caller owns the result. PL_NOMEM is the only failure. */
enum pl_status pl_tokens_create(enum pl_encoding encoding, struct pl_tokens **ret_tokens);
void pl_tokens_destroy(struct pl_tokens *tokens);

/* What "<|endoftext|>" and its like mean when they stand in a text. In the text of a person or of a
 * tool they are only characters, so that is the default. */
enum pl_special { PL_SPECIAL_AS_TEXT, PL_SPECIAL_AS_TOKEN };

/* PL_NOMEM is possible only for a word of more than about a thousand bytes. */
enum pl_status pl_tokens_count(const struct pl_tokens *tokens, struct pl_str text,
                               enum pl_special special, size_t *ret_n_tokens);

/* Zero-initialised is an empty list. */
struct pl_token_ids {
    uint32_t *ptr; /* owned */
    size_t len, cap;
};
void pl_token_ids_deinit(struct pl_token_ids *ids);
#define PL_CLEANUP_TOKEN_IDS __attribute__((cleanup(pl_token_ids_deinit)))

/* Appends the ids of `text`. On failure (PL_NOMEM) the list has the length it had before. */
enum pl_status pl_tokens_encode(const struct pl_tokens *tokens, struct pl_str text,
                                enum pl_special special, struct pl_token_ids *ids);

/* Appends the bytes of the ids. PL_INVALID when one of them is not in the vocabulary; then, and
 * when memory runs out, nothing is appended. */
enum pl_status pl_tokens_decode(const struct pl_tokens *tokens, const uint32_t *ids, size_t n_ids,
                                struct pl_buf *to);

#endif
