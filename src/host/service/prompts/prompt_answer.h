/* What a model said in a session that was made to be asked once. Blocking: on a worker. */
#ifndef PL_SERVER_PROMPT_SAID_H
#define PL_SERVER_PROMPT_SAID_H

#include "base/arena.h"
#include "base/status.h"

struct pl_store;

/* Memory of the arena; ptr NULL: there is none. */
struct pl_prompt_said {
    struct pl_str text;  /* all texts of the turn, one behind the other */
    struct pl_str turn;  /* JSON */
    struct pl_str error; /* of the turn */
};

/* The last turn of the assistant. */
enum pl_status pl_prompt_said_read(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str session_id, struct pl_prompt_said *said,
                                   struct pl_error *err);

#endif
