/* The settings of `parley serve`: by flags, then by the environment (PARLEY_…), then by one file
 * (--config, PARLEY_CONFIG, or $XDG_CONFIG_HOME/parley/config.yaml), then by default. One table has
 * them all. */
#ifndef PL_APP_SERVE_CONFIG_H
#define PL_APP_SERVE_CONFIG_H

#include "app/frame/commands.h"
#include "base/arena.h"
#include "shard/config.h"

/* Fills *ret_config; its strings are memory of the arena, of argv or of the environment. PL_USAGE
 * or PL_INVALID with a sentence that names the setting and where it was made. */
enum pl_status pl_serve_config_read(struct pl_arena *arena, const struct pl_args *args,
                                    struct pl_server_config *ret_config, struct pl_error *err);

/* The same for a command that only looks for the server or its store: models, their keys and the
 * environment of the server are not its concern, and are not read. */
enum pl_status pl_serve_config_find(struct pl_arena *arena, const struct pl_args *args,
                                    struct pl_server_config *ret_config, struct pl_error *err);

/* The same again, for a server that runs with `now`: settings that cannot change stay. Names of
 * differing settings go to `changed` or, if they stay all the same, to `kept`. */
enum pl_status pl_serve_config_reread(struct pl_arena *arena, const struct pl_args *args,
                                      const struct pl_server_config *now,
                                      struct pl_server_config *ret_config, struct pl_buf *changed,
                                      struct pl_buf *kept, struct pl_error *err);

/* The line of a file of settings that has `name`, or `below` in it (NULL: itself); 0: none has. For
 * people: it looks for keys at the beginning of lines. */
size_t pl_serve_config_line(struct pl_str yaml, const char *name, const char *below);

/* Everything that is read before the first socket is bound: models, keys, certificate. Doubtful
 * settings give a warning. */
enum pl_status pl_serve_config_check(struct pl_console *console,
                                     const struct pl_server_config *config, struct pl_error *err);

/* Every setting with its value and where that comes from; as text, or as one JSON object. All of
 * them are shown, whatever is wrong; then the mistakes are named, and the last is the error. */
enum pl_status pl_serve_config_print(struct pl_console *console, struct pl_arena *arena,
                                     const struct pl_args *args, struct pl_error *err);

#endif
