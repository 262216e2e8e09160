/* Commands to sessions, over a socket. */
#ifndef PL_SERVICE_SESSIONS_SOCKET_COMMANDS_H
#define PL_SERVICE_SESSIONS_SOCKET_COMMANDS_H

#include "live/socket/socket.h"

extern const struct pl_socket_event pl_session_socket_events[];

#endif
