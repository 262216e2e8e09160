/* The prompt that a session starts from, of the user's library. `solution_id` or `biz_role_id`
 * names it as "prompt_…" or by name, with "@label" or "@version" if it is not the newest
 * version. Blocking: on a worker. */
#ifndef PL_SERVICE_SESSIONS_SOLUTION_H
#define PL_SERVICE_SESSIONS_SOLUTION_H

#include "store/store.h"

struct pl_models;
struct pl_server;

/* Memory of the arena. */
struct pl_solution {
    struct pl_str system_prompt;   /* or the text of a prompt that is one text */
    struct pl_str model;           /* empty: no model, or an unknown one */
    struct pl_str settings, tools; /* JSON, as of a session; empty: not set */
    struct pl_turn_row *turns;     /* its examples, up to the last answer */
    size_t n_turns;
};

/* PL_INVALID at /`member`: no such prompt, no such version, or variables without a value. An
 * empty name: no solution. */
enum pl_status pl_solution_read(struct pl_server *server, const struct pl_models *models,
                                struct pl_arena *arena, struct pl_str user_id, const char *member,
                                struct pl_str name, int64_t now_ms,
                                struct pl_solution *ret_solution, struct pl_error *err);
/* The system prompt followed by a role; either may be empty. */
enum pl_status pl_solution_join(struct pl_arena *arena, struct pl_str system_prompt,
                                struct pl_str role, struct pl_str *ret_text);

#endif
