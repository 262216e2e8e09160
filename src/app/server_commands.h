/* The commands that run a server or look after it. */
#ifndef PL_APP_SERVER_COMMANDS_H
#define PL_APP_SERVER_COMMANDS_H

#include "app/commands.h"

PL_COMMAND_TEXTS(serve);
PL_COMMAND_TEXTS(session);
PL_COMMAND_TEXTS(key);
PL_COMMAND_TEXTS(backup);
PL_COMMAND_TEXTS(restore);
PL_COMMAND_TEXTS(doctor);
PL_COMMAND_TEXTS(task);

#endif
