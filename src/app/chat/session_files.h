/* Export of sessions to files, and import from them, with a report of the losses. */
#ifndef PL_APP_CHAT_SESSION_FILES_H
#define PL_APP_CHAT_SESSION_FILES_H

#include "app/frame/verbs.h"

enum pl_exit pl_session_export(struct pl_deed *deed);
enum pl_exit pl_session_import(struct pl_deed *deed);

#endif
