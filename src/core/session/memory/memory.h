/* Memories for one model call: which of those that were found the model gets, how they are written
 * for the model, and how a turn refers to them (seed 003, MemoryRef).
 *
 * The store finds them. This file chooses from the list: best first, at most PL_MEMORY_MAX_CHOSEN,
 * together at most PL_MEMORY_MAX_TOKENS, and none that only shares a common word. */
#ifndef PL_SESSION_MEMORY_H
#define PL_SESSION_MEMORY_H

#include "base/arena.h"
#include "session/rows.h"
#include "tokens/tokens.h"

#define PL_MEMORY_MAX_CHOSEN 20
#define PL_MEMORY_MAX_TOKENS 1000 /* of the whole text, heading included */
#define PL_MEMORY_PREVIEW    80   /* characters of a content_preview */

/* One that was found. */
struct pl_memory_found {
    int64_t id;
    struct pl_str content;
    struct pl_str skill_name; /* {NULL, 0}: none */
    int64_t created_ms;
    double score; /* higher is better */
};

struct pl_memory_choice {
    size_t at[PL_MEMORY_MAX_CHOSEN]; /* places in the list that was given, best first */
    size_t n;
    size_t n_tokens; /* of the texts of both parts */
};

/* `found` is sorted, best first. PL_NOMEM is the only failure. */
enum pl_status pl_memory_choose(const struct pl_tokens *tokens, const struct pl_memory_found *found,
                                size_t n_found, struct pl_memory_choice *ret_choice);

/* Memories of a skill (skill_name) are apart from the rest, so that a person who looks at a request
 * sees which skills were offered. */
enum pl_memory_part { PL_MEMORY_NOTES, PL_MEMORY_SKILLS };

/* The text of a part for the model: a heading, and a line for each memory with its date. Empty if
 * the choice has none of that part. */
void pl_memory_write_text(const struct pl_memory_found *found,
                          const struct pl_memory_choice *choice, enum pl_memory_part part,
                          struct pl_buf *to);
/* JSON, the same for a person to look at: [{"title":…,"content":…}], or of skills
 * [{"name":…,"description":…}]. */
void pl_memory_write_items(const struct pl_memory_found *found,
                           const struct pl_memory_choice *choice, enum pl_memory_part part,
                           struct pl_buf *to);
/* JSON: [{"id":…,"content_preview":…,"skill_name":…}]. */
void pl_memory_write_refs(const struct pl_memory_found *found,
                          const struct pl_memory_choice *choice, struct pl_buf *to);

/* Where a memory belongs (seed 003: scope, owner, skill_name, source_session). */
struct pl_memory_home {
    struct pl_str scope, owner, skill_name, source_session; /* empty: not said */
};
/* Whether it may be used in this session at all. */
bool pl_memory_is_at_home(const struct pl_memory_home *home,
                          const struct pl_session_record *session);
/* Whether it is recalled there, by these words of the user: at home, and of a skill that is in use. */
bool pl_memory_is_for(const struct pl_memory_home *home, const struct pl_session_record *session,
                      struct pl_str words);

/* The words a turn asks with: its texts, one below the other. {NULL, 0} when it is not the user's.
 * Memory of the arena. */
enum pl_status pl_memory_question(struct pl_arena *arena, const struct pl_turn_row *turn,
                                  struct pl_str *ret_words, struct pl_error *err);
/* The terms of a question (base/text/terms.h) that say what it is about: without words of greeting
 * and asking, which every index contains. */
void pl_memory_telling_terms(struct pl_str terms, struct pl_buf *to);

#endif
