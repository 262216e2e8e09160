/* Sessions that leave for a file, and come from one, with the report of what that loses. */
#ifndef PL_APP_CHAT_SESSION_FILES_H
#define PL_APP_CHAT_SESSION_FILES_H

#include "app/frame/verbs.h"

enum pl_exit pl_session_export(struct pl_deed *deed);
enum pl_exit pl_session_import(struct pl_deed *deed);

#endif
