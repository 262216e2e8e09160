/* Commands that read and write conversations. */
#ifndef PL_APP_CONVERSATION_COMMANDS_H
#define PL_APP_CONVERSATION_COMMANDS_H

#include "app/frame/commands.h"

PL_COMMAND_TEXTS(convert);
PL_COMMAND_TEXTS(detect);
PL_COMMAND_TEXTS(lint);
PL_COMMAND_TEXTS(media);
PL_COMMAND_TEXTS(render);
PL_COMMAND_TEXTS(cite);
PL_COMMAND_TEXTS(handoff);
PL_COMMAND_TEXTS(stream);
PL_COMMAND_TEXTS(tokens);
PL_COMMAND_TEXTS(trim);

#endif
