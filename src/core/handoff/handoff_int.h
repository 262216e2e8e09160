/* Shared by making and checking handoff packets. */
#ifndef PL_HANDOFF_HANDOFF_INT_H
#define PL_HANDOFF_HANDOFF_INT_H

#include "base/sha/sha256.h"
#include "handoff/handoff.h"

enum { PL_HANDOFF_HASH = sizeof "sha256:" - 1 + PL_SHA256_HEX };

/* "sha256:…" with a NUL after it. */
void pl_handoff_hash(struct pl_str objective, char ret_hash[PL_HANDOFF_HASH + 1]);

/* The string at a path of two keys (the second may be NULL); empty if absent, or when out of memory
 * (*status). */
struct pl_str pl_handoff_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const char *first, const char *second, enum pl_status *status);
/* The value there, or NULL. */
const struct pl_json_node *pl_handoff_node(const struct pl_json_doc *doc, const char *first,
                                           const char *second);
/* The hash of the objective of a packet or an answer: computed, or the one it carries. False if it
 * has neither. */
bool pl_handoff_hash_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                        char ret_hash[PL_HANDOFF_HASH + 1], enum pl_status *status);
/* hop_count; 0 if absent. */
int64_t pl_handoff_hops(const struct pl_json_doc *doc);
/* Whether an array of strings contains this one. */
bool pl_handoff_has(const struct pl_json_doc *doc, const struct pl_json_node *list,
                    struct pl_str text);
/* Whether handing the task from source to target makes a circle. `visited` of doc (may be NULL:
 * nowhere yet) lists its holders so far. */
bool pl_handoff_is_circle(struct pl_arena *arena, const struct pl_json_doc *doc,
                          struct pl_str source, struct pl_str target, enum pl_status *status);

/* The message about a circle. */
#define PL_HANDOFF_CIRCLE                                                                          \
    "the task was already with \"%.*s\", so this would make a circle; it may go to an agent that " \
    "has not had it, or back to the one that gave it to \"%.*s\""

#endif
