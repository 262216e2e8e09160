/* Texts of `parley ext`, and the choices of its options. */
#ifndef PL_APP_EXTENSION_COMMANDS_H
#define PL_APP_EXTENSION_COMMANDS_H

#include "app/frame/commands.h"

PL_COMMAND_TEXTS(ext);

/* pl_choice_fn over the languages of skeletons. */
const char *pl_ext_language_choice(size_t i);

#endif
