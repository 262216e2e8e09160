/* The settings of `parley serve`. Precedence: flags, the environment (PARLEY_…), one file
 * (--config, PARLEY_CONFIG, or $XDG_CONFIG_HOME/parley/config.yaml), defaults. One table has them
 * all. */
#ifndef PL_APP_SERVE_CONFIG_H
#define PL_APP_SERVE_CONFIG_H

#include "app/frame/commands.h"
#include "base/arena.h"
#include "shard/config.h"

/* Fills *ret_config; its strings belong to the arena, argv or the environment. PL_USAGE or
 * PL_INVALID with a message that names the setting and its source. */
enum pl_status pl_serve_config_read(struct pl_arena *arena, const struct pl_args *args,
                                    struct pl_server_config *ret_config, struct pl_error *err);

/* Same for a command that only needs the server or its store: does not read models, their keys and
 * the environment of the server. */
enum pl_status pl_serve_config_find(struct pl_arena *arena, const struct pl_args *args,
                                    struct pl_server_config *ret_config, struct pl_error *err);

/* Same for a server that runs with `now`: fixed settings keep their value. Appends the names of
 * changed settings to `changed`, and of fixed settings that differ to `kept`. */
enum pl_status pl_serve_config_reread(struct pl_arena *arena, const struct pl_args *args,
                                      const struct pl_server_config *now,
                                      struct pl_server_config *ret_config, struct pl_buf *changed,
                                      struct pl_buf *kept, struct pl_error *err);

/* The line of a configuration file that has the key `name`, or the key `below` in it (NULL: `name`
 * itself); 0 if not found. For messages: it only looks at the beginning of lines. */
size_t pl_serve_config_line(struct pl_str yaml, const char *name, const char *below);

/* Checks everything that is read before the first socket is bound: models, keys, certificate.
 * Prints warnings about doubtful settings. */
enum pl_status pl_serve_config_check(struct pl_console *console,
                                     const struct pl_server_config *config, struct pl_error *err);

/* Prints every setting with its value and source, as text or as one JSON object. Prints all of them
 * in spite of errors, then the errors; the last one is returned. */
enum pl_status pl_serve_config_print(struct pl_console *console, struct pl_arena *arena,
                                     const struct pl_args *args, struct pl_error *err);

#endif
