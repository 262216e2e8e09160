/* --encoding and --model: the choice of the token counter. */
#ifndef PL_APP_COUNTING_H
#define PL_APP_COUNTING_H

#include "app/frame/commands.h"
#include "document/count.h"

/* Reports an error if both are given. */
enum pl_exit pl_counting_read(struct pl_console *console, const char *command,
                              const struct pl_args *args, struct pl_count_choice *ret_choice);

#endif
