/* Shared by the making and the checking of handoff packets. */
#ifndef PL_CONV_HANDOFF_INT_H
#define PL_CONV_HANDOFF_INT_H

#include "base/sha256.h"
#include "conv/handoff.h"

enum { PL_HANDOFF_HASH = sizeof "sha256:" - 1 + PL_SHA256_HEX };

/* "sha256:…" with a NUL behind it. */
void pl_handoff_hash(struct pl_str objective, char ret_hash[PL_HANDOFF_HASH + 1]);

/* The string at a path of two keys (the second may be NULL); empty when there is none, and when out
 * of memory, which *status then says. */
struct pl_str pl_handoff_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const char *first, const char *second, enum pl_status *status);
/* The value there, or NULL. */
const struct pl_json_node *pl_handoff_node(const struct pl_json_doc *doc, const char *first,
                                           const char *second);
/* The hash of the objective of a packet or an answer: computed, or the one it carries. False when
 * there is neither. */
bool pl_handoff_hash_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                        char ret_hash[PL_HANDOFF_HASH + 1], enum pl_status *status);
/* hop_count; 0 when there is none. */
int64_t pl_handoff_hops(const struct pl_json_doc *doc);
/* Whether an array of strings has this one. */
bool pl_handoff_has(const struct pl_json_doc *doc, const struct pl_json_node *list,
                    struct pl_str text);

#endif
