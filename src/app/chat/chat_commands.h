/* Commands that talk to a model: chat at a terminal, and run once. */
#ifndef PL_APP_CHAT_COMMANDS_H
#define PL_APP_CHAT_COMMANDS_H

#include "app/frame/commands.h"

PL_COMMAND_TEXTS(chat);
PL_COMMAND_TEXTS(run);

#endif
