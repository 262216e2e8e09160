/* The shape of a prompt in a file of a repository: GitHub's .prompt.yml.
 *
 *     model: openai/gpt-4o                      config.model
 *     modelParameters: {temperature, topP, maxTokens, …}   the rest of config
 *     responseFormat: json_schema               config.response_format
 *     jsonSchema: "…"
 *     messages: [{role: system, content}, …]    system_prompt, messages
 *
 * A first message of role system without an id is the system prompt. Every other member keeps its
 * name and value, so nothing is lost either way. Both shapes are JSON here. */
#ifndef PL_PROMPTFILE_GITHUB_INT_H
#define PL_PROMPTFILE_GITHUB_INT_H

#include "base/buf.h"
#include "json/json.h"

/* Appends a structured chat in the shape of the file; without "messages" if `is_head`. */
enum pl_status pl_prompt_to_file(struct pl_buf *to, const struct pl_json_doc *chat, bool is_head,
                                 struct pl_error *err);

/* Appends the structured chat of a file's shape. */
enum pl_status pl_prompt_from_file(struct pl_buf *to, struct pl_str json, struct pl_error *err);

/* Parses a structured chat. */
enum pl_status pl_prompt_parse(struct pl_arena *arena, struct pl_str chat,
                               struct pl_json_doc *ret_doc, struct pl_error *err);

/* The YAML between the --- lines at the start of a Markdown page; *ret_end is the offset after it,
 * 0 if there is none. */
struct pl_str pl_markdown_front_matter(struct pl_str text, size_t *ret_end);

/* The offset of the first heading that names a role, from `at` on; text.len: none. */
size_t pl_markdown_first_heading(struct pl_str text, size_t at);

#endif
