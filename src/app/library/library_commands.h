/* Commands over server data other than sessions: prompts, memories, tasks, blobs, models. */
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
