/* Prepares a prompt for a new session: fills in its variables, makes turns of the system prompt
 * and the examples, and takes the user's last message as the session's first message. Blocking:
 * on a worker. */
#ifndef PL_SERVICE_PROMPTS_PROMPT_RUN_H
#define PL_SERVICE_PROMPTS_PROMPT_RUN_H

#include "prompt/diff.h"
#include "prompt/render.h"
#include "store/library.h"

struct pl_models;
struct pl_prompt_asks;

/* Memory of the arena. */
struct pl_prompt_run {
    struct pl_str name; /* of the prompt; empty if only its text was given */
    int64_t version;
    struct pl_turn_row *turns; /* the first turns of the session */
    size_t n_turns;
    struct pl_str message;  /* JSON: the message to send */
    struct pl_str model;    /* the prompt's own model, if it exists; otherwise empty */
    struct pl_str settings; /* JSON, as of a session; empty: not set */
    struct pl_str tools;    /* JSON, the prompt's own tools; empty: not set */
    struct pl_str prefill;  /* text; the beginning of the answer; empty: no prefill */
};

/* Owner of the prompt's media. */
struct pl_prompt_keeper {
    struct pl_server *server;
    struct pl_str user_id;
};

/* Whether a session can have the settings and tools of a prompt. Their content is whatever the
 * author wrote. PL_INVALID: err names the first wrong one. */
enum pl_status pl_prompt_check_asks(const struct pl_prompt_keeper *keeper, struct pl_arena *arena,
                                    const struct pl_prompt_asks *asks, struct pl_error *err);

/* The messages of a structured chat as turns of a session; their media become blobs. Arena
 * memory. */
enum pl_status pl_prompt_turns_read(const struct pl_prompt_keeper *keeper, struct pl_arena *arena,
                                    struct pl_str chat, int64_t now_ms,
                                    struct pl_turn_row **ret_turns, size_t *ret_n,
                                    struct pl_error *err);

/* PL_INVALID: variables are missing or wrong (rendered->problems has a line for each, err the
 * first one), or the last message is not the user's. `rendered` is initialised and stays the
 * caller's. */
enum pl_status pl_prompt_run_make(const struct pl_prompt_keeper *keeper,
                                  const struct pl_models *models, struct pl_arena *arena,
                                  const struct pl_prompt_text *text,
                                  const struct pl_render_opts *opts, int64_t now_ms,
                                  struct pl_rendered *rendered, struct pl_prompt_run *ret_run,
                                  struct pl_error *err);

/* Whether the text can be rendered with these variables. Nothing is created or stored.
 * PL_INVALID: err has the first error. */
enum pl_status pl_prompt_check_vars(struct pl_arena *arena, const struct pl_prompt_text *text,
                                    const struct pl_render_opts *opts, struct pl_error *err);

/* pl_prompt_run_make for a user's prompt by its id and a version (a number, a label, or
 * "latest", also if empty). PL_NOT_FOUND: err names what is missing. */
enum pl_status pl_prompt_run_load(const struct pl_models *models, struct pl_server *server,
                                  struct pl_arena *arena, struct pl_str user_id, struct pl_str id,
                                  struct pl_str version, const struct pl_render_opts *opts,
                                  int64_t now_ms, struct pl_prompt_run *ret_run,
                                  struct pl_error *err);

#endif
