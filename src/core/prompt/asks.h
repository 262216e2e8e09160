/* The request that a structured chat makes to a model: its last messages, and the model, settings
 * and tools of its config, in the terms of a session. */
#ifndef PL_PROMPT_ASKS_H
#define PL_PROMPT_ASKS_H

#include "base/arena.h"
#include "base/status.h"
#include "json/json.h"

struct pl_prompt_asks {
    const struct pl_json_node *messages; /* the array */
    const struct pl_json_node *last;     /* the last user message, to be answered */
    const struct pl_json_node
        *begun; /* the assistant message after it, the start of the answer; or NULL */
    /* JSON: the content of the last message. A string, or a list of parts if it has media or values
     * of variables with known offsets (prompt/render.h). Empty: it has no content. */
    struct pl_str message;
    struct pl_str prefill;  /* text of `begun`; empty: none */
    struct pl_str model;    /* config.model; empty: none */
    struct pl_str settings; /* JSON object; empty: none */
    struct pl_str tools;    /* JSON array of {name, description, input_schema}; empty: none */
};

/* Reads only the config, not the messages. */
enum pl_status pl_prompt_asks_config(struct pl_arena *arena, const struct pl_json_doc *chat,
                                     struct pl_prompt_asks *asks, struct pl_error *err);
/* Uses memory of the arena or the document. PL_INVALID with a message: there is no user message to
 * answer, or there is a tool that only a vendor can run. */
enum pl_status pl_prompt_asks_read(struct pl_arena *arena, const struct pl_json_doc *chat,
                                   struct pl_prompt_asks *ret_asks, struct pl_error *err);

#endif
