/* The models of the server: vendors from "providers" of the configuration file, then from the
 * environment (OPENAI_API_KEY …), and "aliases". Keys are read from the environment or from a file
 * that only its owner may read, and are never shown. */
#ifndef PL_APP_SERVE_MODELS_H
#define PL_APP_SERVE_MODELS_H

#include "app/frame/console.h"
#include "base/arena.h"
#include "json/write.h"
#include "model/vendor/vendors.h"

/* Names of these settings in the file, ended by NULL. */
extern const char *const pl_serve_models_settings[];

struct pl_serve_models_source {
    struct pl_arena *arena;         /* borrowed */
    const struct pl_json_doc *file; /* root NULL: no file */
    const char *path;               /* of the file */
    struct pl_str yaml;             /* the raw file */
    struct pl_buf *problems; /* borrowed; collects errors, a line each; NULL: stop at the first */
};

/* Fills vendors and aliases of *config. PL_INVALID with a message that has the position. */
enum pl_status pl_serve_models_read(const struct pl_serve_models_source *source,
                                    struct pl_models_config *config, struct pl_error *err);

/* Appends "providers" and "aliases" to the names, separated by commas, if they differ. */
void pl_serve_models_compare(const struct pl_models_config *a, const struct pl_models_config *b,
                             struct pl_buf *names);

/* Prints "providers" and "aliases" for people; _write adds them as members to an open object. */
void pl_serve_models_print(struct pl_console *console, const struct pl_models_config *config);
void pl_serve_models_write(struct pl_json_out *out, const struct pl_models_config *config);

#endif
