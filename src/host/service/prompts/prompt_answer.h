/* Reads the answer of a session that was created for one question. Blocking: on a worker. */
#ifndef PL_SERVICE_PROMPTS_PROMPT_ANSWER_H
#define PL_SERVICE_PROMPTS_PROMPT_ANSWER_H

#include "base/arena.h"
#include "base/status.h"

struct pl_store;

/* Memory of the arena; ptr NULL: absent. */
struct pl_prompt_said {
    struct pl_str text;        /* all texts of the turn, concatenated */
    struct pl_str turn;        /* JSON */
    struct pl_str error;       /* of the turn */
    struct pl_str model;       /* of the last turn with a model */
    int64_t n_input, n_output; /* tokens, of all turns that were read */
};

/* Reads the last turn of the assistant, and the usage of it and the turns before it. */
enum pl_status pl_prompt_said_read(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str session_id, struct pl_prompt_said *said,
                                   struct pl_error *err);

#endif
