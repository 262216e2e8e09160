/* Variables of prompts on the command line: --var NAME=VALUE. */
#ifndef PL_APP_VARIABLE_H
#define PL_APP_VARIABLE_H

#include "app/frame/commands.h"
#include "prompt/render.h"

/* Parses one; *ret_var points into `text`. Prints the error unless it returns PL_EXIT_OK. */
enum pl_exit pl_variable_read(struct pl_console *console, const char *command, const char *text,
                              struct pl_render_var *ret_var);

/* Prints messages about a file to standard error, one for each line of `lines`, each prefixed with
 * `before`. */
void pl_variables_say(struct pl_console *console, const char *name, const char *before,
                      const struct pl_buf *lines);

#endif
