/* A file attached to a message: text is sent inline, anything else as a blob. */
#ifndef PL_APP_ATTACHMENT_H
#define PL_APP_ATTACHMENT_H

#include "app/frame/verbs.h"

/* Reads the file, uploads it unless it is text, and appends its part of a message (JSON) to `to`.
 * Prints the error unless it returns PL_EXIT_OK. */
enum pl_exit pl_attachment_add(struct pl_deed *deed, const char *path, struct pl_buf *to);

#endif
