/* Memories for one model call: which of the found memories the model gets, their text for the
 * model, and how a turn refers to them (seed 003, MemoryRef).
 *
 * The store finds memories. This file chooses from the list: best first, at most
 * PL_MEMORY_MAX_CHOSEN, with at most PL_MEMORY_MAX_TOKENS in total, and no memory that shares only
 * a common word. */
#ifndef PL_SESSION_MEMORY_H
#define PL_SESSION_MEMORY_H

#include "base/arena.h"
#include "session/rows.h"
#include "tokens/tokens.h"

#define PL_MEMORY_MAX_CHOSEN 20
#define PL_MEMORY_MAX_TOKENS 1000 /* of the whole text, including headings */
#define PL_MEMORY_PREVIEW    80   /* characters of a content_preview */

/* A memory that was found. */
struct pl_memory_found {
    int64_t id;
    struct pl_str content;
    struct pl_str skill_name; /* {NULL, 0}: none */
    int64_t created_ms;
    double score; /* higher is better */
};

struct pl_memory_choice {
    size_t at[PL_MEMORY_MAX_CHOSEN]; /* indexes into the given list, best first */
    size_t n;
    size_t n_tokens; /* of the texts of both parts */
};

/* `found` is sorted, best first. PL_NOMEM is the only failure. */
enum pl_status pl_memory_choose(const struct pl_tokens *tokens, const struct pl_memory_found *found,
                                size_t n_found, struct pl_memory_choice *ret_choice);

/* Memories of a skill (skill_name) are separate, so that a person who reads a request sees which
 * skills were offered. */
enum pl_memory_part { PL_MEMORY_NOTES, PL_MEMORY_SKILLS };

/* Writes a part as text for the model: a heading, and a line with its date for each memory. Empty
 * if no memory of that part was chosen. */
void pl_memory_write_text(const struct pl_memory_found *found,
                          const struct pl_memory_choice *choice, enum pl_memory_part part,
                          struct pl_buf *to);
/* The same as JSON, for a person to read: [{"title":…,"content":…}], or for skills
 * [{"name":…,"description":…}]. */
void pl_memory_write_items(const struct pl_memory_found *found,
                           const struct pl_memory_choice *choice, enum pl_memory_part part,
                           struct pl_buf *to);
/* JSON: [{"id":…,"content_preview":…,"skill_name":…}]. */
void pl_memory_write_refs(const struct pl_memory_found *found,
                          const struct pl_memory_choice *choice, struct pl_buf *to);

/* The sessions a memory belongs to (seed 003: scope, owner, skill_name, source_session). */
struct pl_memory_home {
    struct pl_str scope, owner, skill_name, source_session; /* empty: not given */
};
/* Whether a memory may be used in this session. */
bool pl_memory_is_at_home(const struct pl_memory_home *home,
                          const struct pl_session_record *session);
/* Whether a memory is recalled in this session for these words of the user: it may be used there,
 * and its skill, if any, is in use. */
bool pl_memory_is_for(const struct pl_memory_home *home, const struct pl_session_record *session,
                      struct pl_str words);

/* The words of a user's turn, as a search query: its texts, one per line. {NULL, 0} for other
 * turns. Memory of the arena. */
enum pl_status pl_memory_question(struct pl_arena *arena, const struct pl_turn_row *turn,
                                  struct pl_str *ret_words, struct pl_error *err);
/* The specific terms of a question (base/text/terms.h): without words of greeting and asking, which
 * occur everywhere. */
void pl_memory_telling_terms(struct pl_str terms, struct pl_buf *to);

#endif
