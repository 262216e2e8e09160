/* A file that goes with a message: text as words, anything else as a blob of the server. */
#ifndef PL_APP_ATTACHMENT_H
#define PL_APP_ATTACHMENT_H

#include "app/frame/verbs.h"

/* Reads the file and, unless it is text, gives it to the server; appends its part of a message
 * (JSON) to `to`. Anything but PL_EXIT_OK has been explained. */
enum pl_exit pl_attachment_add(struct pl_deed *deed, const char *path, struct pl_buf *to);

#endif
