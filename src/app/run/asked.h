/* A prompt with its variables filled in: the message to answer, and the conversation before it. */
#ifndef PL_APP_RUN_ASKED_H
#define PL_APP_RUN_ASKED_H

#include "app/prompt/prompt_int.h"
#include "prompt/render.h"

struct pl_asked {
    struct pl_str message;         /* JSON */
    struct pl_str document;        /* a structured chat; empty: no messages before */
    struct pl_str prefill;         /* the beginning of the answer; empty: none */
    const char *model;             /* from the prompt's config, owned by the deed; NULL: none */
    struct pl_str settings, tools; /* JSON, from the config; empty: none */
    const char *system;            /* from --system; NULL: the prompt's */
};

/* The kind of the command's first word. */
enum pl_asked_from { PL_ASKED_FILE, PL_ASKED_LIBRARY, PL_ASKED_TEXT };

/* The prompt to run: a file, a version of the library, or the word itself. */
struct pl_asked_source {
    const char *name; /* for messages; owned by the deed */
    struct pl_draft draft;
    struct pl_str parts;  /* JSON: the files of --attach as parts, each after a comma */
    struct pl_str schema; /* the text of --schema; empty: none */
};

enum { PL_RUN_MAX_VARS = 256 };

/* Parses the variables of --var; `vars` has room for PL_RUN_MAX_VARS. All functions here print the
 * error unless they return PL_EXIT_OK. */
enum pl_exit pl_asked_vars(struct pl_deed *deed, struct pl_render_var *vars, size_t *ret_n);

/* Reads the prompt that the first word names or is, and the files of --attach. */
enum pl_exit pl_asked_source_read(struct pl_deed *deed, enum pl_asked_from from,
                                  struct pl_asked_source *ret_source);

/* Fills in the variables. `place` is the position of an error: the source, or the line of a
 * case. */
enum pl_exit pl_asked_fill(struct pl_deed *deed, const struct pl_asked_source *source,
                           const struct pl_render_var *vars, size_t n_vars, const char *place,
                           struct pl_asked *ret_asked);

#endif
