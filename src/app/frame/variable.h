/* Variables of prompts on the command line: --var NAME=VALUE. */
#ifndef PL_APP_VARIABLE_H
#define PL_APP_VARIABLE_H

#include "app/frame/commands.h"
#include "prompt/render.h"

/* Reads one; *ret_var is a view of `text`. Anything but PL_EXIT_OK has been explained. */
enum pl_exit pl_variable_read(struct pl_console *console, const char *command, const char *text,
                              struct pl_render_var *ret_var);

/* What rendering has to say of a file, a line each. */
void pl_variables_say(struct pl_console *console, const char *name, const char *before,
                      const struct pl_buf *lines);

#endif
