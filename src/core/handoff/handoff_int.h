/* Shared by the making and the checking of handoff packets. */
#ifndef PL_HANDOFF_HANDOFF_INT_H
#define PL_HANDOFF_HANDOFF_INT_H

#include "base/sha/sha256.h"
#include "handoff/handoff.h"

enum { PL_HANDOFF_HASH = sizeof "sha256:" - 1 + PL_SHA256_HEX };

/* "sha256:…" with a NUL after it. */
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
/* Whether a task that was where `visited` of doc (may be NULL: nowhere) says, and is with source now,
 * would go in a circle if it went to target. */
bool pl_handoff_is_circle(struct pl_arena *arena, const struct pl_json_doc *doc,
                          struct pl_str source, struct pl_str target, enum pl_status *status);

/* What a circle is called. */
#define PL_HANDOFF_CIRCLE                                                                          \
    "the task was already with \"%.*s\", so this would make a circle; it may go to an agent that " \
    "has not had it, or back to the one that gave it to \"%.*s\""

#endif
