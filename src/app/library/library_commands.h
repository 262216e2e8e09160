/* The commands over what a server keeps besides sessions: prompts, memories, tasks, blobs. */
#ifndef PL_APP_LIBRARY_COMMANDS_H
#define PL_APP_LIBRARY_COMMANDS_H

#include "app/frame/commands.h"

PL_COMMAND_TEXTS(prompt);
PL_COMMAND_TEXTS(memory);
PL_COMMAND_TEXTS(task);
PL_COMMAND_TEXTS(blob);
PL_COMMAND_TEXTS(models);
PL_COMMAND_TEXTS(open);

#endif
