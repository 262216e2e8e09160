/* What a structured chat asks of the model that answers it: its last messages, and what its config
 * says about the model, the settings and the tools, in the words of a session. */
#ifndef PL_PROMPT_ASKS_H
#define PL_PROMPT_ASKS_H

#include "base/arena.h"
#include "base/status.h"
#include "json/json.h"

struct pl_prompt_asks {
    const struct pl_json_node *messages; /* the array */
    const struct pl_json_node *last;     /* the user's last message, which is answered */
    const struct pl_json_node
        *begun; /* the assistant's message after it: how the answer begins; or NULL */
    /* JSON: what the last message says. A string; a list of parts where it has media, or values of
     * variables whose places are known (prompt/render.h). Empty: it has no content. */
    struct pl_str message;
    struct pl_str prefill;  /* its text; empty: none */
    struct pl_str model;    /* config.model; empty: none */
    struct pl_str settings; /* JSON object; empty: none */
    struct pl_str tools;    /* JSON array of {name, description, input_schema}; empty: none */
};

/* What its config says, and nothing of its messages. */
enum pl_status pl_prompt_asks_config(struct pl_arena *arena, const struct pl_json_doc *chat,
                                     struct pl_prompt_asks *asks, struct pl_error *err);
/* Memory of the arena, or of the document. PL_INVALID with a sentence: there is no user message to
 * answer, or there is a tool that only a vendor could run. */
enum pl_status pl_prompt_asks_read(struct pl_arena *arena, const struct pl_json_doc *chat,
                                   struct pl_prompt_asks *ret_asks, struct pl_error *err);

#endif
