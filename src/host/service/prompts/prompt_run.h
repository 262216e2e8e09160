/* A prompt made ready to be said to a new session: its variables filled in, the system prompt and
 * the examples as turns that are there already, the last message of the user as what is said.
 * Blocking: on a worker. */
#ifndef PL_SERVER_PROMPT_RUN_H
#define PL_SERVER_PROMPT_RUN_H

#include "conv/diff.h"
#include "conv/render.h"
#include "store/library.h"

/* Memory of the arena. */
struct pl_models;

struct pl_prompt_run {
    struct pl_str name; /* of the prompt; empty when only its text was known */
    int64_t version;
    struct pl_turn_row *turns; /* what the session begins with */
    size_t n_turns;
    struct pl_str message; /* JSON: what is said */
    struct pl_str model;   /* the prompt's own word, where there is such a model; else empty */
};

/* PL_INVALID: variables are missing or wrong (rendered->problems has a line for each, err the first
 * of them), or the last message is not the user's. `rendered` is initialised and stays the
 * caller's. */
enum pl_status pl_prompt_run_make(const struct pl_models *models, struct pl_arena *arena,
                                  const struct pl_prompt_text *text,
                                  const struct pl_render_opts *opts, int64_t now_ms,
                                  struct pl_rendered *rendered, struct pl_prompt_run *ret_run,
                                  struct pl_error *err);

/* The same for a user's prompt by its id and a version (a number, a label, or "latest", also when
 * empty). PL_NOT_FOUND says what is missing. */
enum pl_status pl_prompt_run_load(const struct pl_models *models, struct pl_store *store,
                                  struct pl_arena *arena, struct pl_str user_id, struct pl_str id,
                                  struct pl_str version, const struct pl_render_opts *opts,
                                  int64_t now_ms, struct pl_prompt_run *ret_run,
                                  struct pl_error *err);

#endif
