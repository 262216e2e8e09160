/* A version in a list: what was changed, without its text. On a worker. */
#ifndef PL_SERVICE_PROMPTS_PROMPT_SUMMARY_H
#define PL_SERVICE_PROMPTS_PROMPT_SUMMARY_H

#include "http/exchange.h"
#include "store/library.h"

/* Appends {prompt_id, version, type, note, content_hash, based_on, restored_from, created_at,
 * words_added, words_removed}, compared with the previous version. */
enum pl_status pl_prompt_summary_write(struct pl_exchange *x,
                                       const struct pl_prompt_version_row *version,
                                       struct pl_buf *to, struct pl_error *err);

#endif
