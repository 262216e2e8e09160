/* A chat whose message has images, audio or files. */
#ifndef PL_SERVICE_SESSIONS_CHAT_MEDIA_H
#define PL_SERVICE_SESSIONS_CHAT_MEDIA_H

#include "service/blobs/media_keep.h"

/* Whether the message of {message, …} has any. */
bool pl_chat_has_media(const struct pl_json_doc *doc, const struct pl_json_node *chat);
/* What is wrong with the list of parts is wrong with the member `message`. */
void pl_chat_point_media(struct pl_media_keep *keep);

#endif
