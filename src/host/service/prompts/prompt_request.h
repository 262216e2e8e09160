/* Shared by the routes of prompts: finds the prompt and the version that they name, and reads a
 * draft. On a worker. */
#ifndef PL_SERVICE_PROMPTS_PROMPT_REQUEST_H
#define PL_SERVICE_PROMPTS_PROMPT_REQUEST_H

#include "http/exchange.h"
#include "service/prompts/prompt_json.h"

/* Finds the caller's prompt that the path names first. False after making a problem. */
bool pl_prompt_find(struct pl_exchange *x, struct pl_prompt_row *ret_prompt);
/* Finds one of its versions: a number, a label or "latest" (also an empty name). */
bool pl_prompt_find_version(struct pl_exchange *x, const struct pl_prompt_row *prompt,
                            struct pl_str name, struct pl_prompt_version_row *ret_version);
/* Both, with the member "version" of the body. */
bool pl_prompt_find_named(struct pl_exchange *x, struct pl_prompt_row *ret_prompt,
                          struct pl_prompt_version_row *ret_version);

/* The member "folder" of the body; unchanged if absent. */
bool pl_prompt_body_folder(struct pl_exchange *x, struct pl_str *folder);

/* The members "content" and "type" of the body, checked by the rules. */
bool pl_prompt_draft(struct pl_exchange *x, struct pl_prompt_text *ret_text);

#endif
