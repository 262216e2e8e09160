/* What is said about `parley ext`, and the words its options take. */
#ifndef PL_APP_EXTENSION_COMMANDS_H
#define PL_APP_EXTENSION_COMMANDS_H

#include "app/frame/commands.h"

PL_COMMAND_TEXTS(ext);

/* pl_choice_fn over the languages of skeletons. */
const char *pl_ext_language_choice(size_t i);

#endif
