/* Prompts as the API writes them, and what is derived from their content: hash, search terms,
 * the structured chat that is equivalent to a text prompt. */
#ifndef PL_SERVICE_PROMPTS_PROMPT_JSON_H
#define PL_SERVICE_PROMPTS_PROMPT_JSON_H

#include "base/sha/sha256.h"
#include "prompt/diff.h"
#include "json/write.h"
#include "store/library.h"

#define PL_PROMPT_MAX_CONTENT (1u << 20)
/* The limit of a query for all prompts: more than any library has. */
#define PL_PROMPT_ALL 10000000

/* "text", "structured". */
struct pl_str pl_prompt_type_text(bool is_structured);
struct pl_prompt_text pl_prompt_text_of(const struct pl_prompt_version_row *version);

/* SHA-256 of type, NUL, content: 32 bytes of the arena. PL_NOMEM. */
enum pl_status pl_prompt_hash(struct pl_arena *arena, const struct pl_prompt_text *text,
                              struct pl_str *ret_hash);

/* Sets the directory and the search terms of name, description, tags and text. Memory of the
 * arena. PL_NOMEM. */
enum pl_status pl_prompt_index(struct pl_arena *arena, const struct pl_prompt_text *text,
                               struct pl_prompt_row *prompt);

/* The structured chat of a prompt: its content, or a chat with the text as the only message, of
 * the user. Memory of the arena, or the content itself. PL_NOMEM. */
enum pl_status pl_prompt_chat(struct pl_arena *arena, const struct pl_prompt_text *text,
                              struct pl_str *ret_chat);

/* PL_INVALID: not a structured chat; err has the pointer, after `base` ("/content"). PL_LIMIT:
 * over PL_PROMPT_MAX_CONTENT. A text may contain anything except NUL, which no database accepts. */
enum pl_status pl_prompt_check(struct pl_arena *arena, const struct pl_prompt_text *text,
                               const char *base, struct pl_error *err);

/* The version of a name: a number, a label, or "latest" (also if empty). PL_NOT_FOUND. */
enum pl_status pl_prompt_version_number(struct pl_arena *arena, const struct pl_prompt_row *prompt,
                                        struct pl_str name, int64_t *ret_version);

/* The version of a label; 0: no such label. PL_NOMEM. */
enum pl_status pl_prompt_label_get(struct pl_arena *arena, const struct pl_prompt_row *prompt,
                                   struct pl_str label, int64_t *ret_version);
/* The labels with one moved, or removed (version 0), for the answer to the change. */
enum pl_status pl_prompt_labels_with(struct pl_arena *arena, struct pl_str labels,
                                     struct pl_str label, int64_t version,
                                     struct pl_str *ret_labels);
/* 1 to 60 letters, digits, '.', '_' and '-'; neither a number nor "latest". */
bool pl_prompt_label_is(struct pl_str label);

/* Tags sorted, each once: a JSON array in the arena. PL_INVALID: one is empty or has over 60
 * characters, or there are over 50. */
enum pl_status pl_prompt_tags(struct pl_arena *arena, struct pl_str json, struct pl_str *ret_tags,
                              struct pl_error *err);
/* Removes slashes at the ends. "/team//audit/" is refused, not normalised. */
bool pl_prompt_folder(struct pl_str text, struct pl_str *ret_folder);

/* Writes the Prompt object; latest NULL: without it. PL_NOMEM; fails like pl_prompt_variables. */
enum pl_status pl_prompt_write(struct pl_arena *arena, const struct pl_prompt_row *prompt,
                               const struct pl_prompt_version_row *latest, struct pl_buf *to,
                               struct pl_error *err);
/* Writes the PromptVersion object. */
enum pl_status pl_prompt_version_write(struct pl_arena *arena,
                                       const struct pl_prompt_version_row *version,
                                       struct pl_buf *to, struct pl_error *err);
/* Writes the content as a member's value: the JSON itself, or the quoted text. */
void pl_prompt_content_write(struct pl_json_out *out, const struct pl_prompt_text *text);

#endif
