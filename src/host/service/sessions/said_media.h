/* Images, sound and files that a client sends to a session: in a message, or in the result of a
 * client tool. They are stored as blobs before the session gets them. */
#ifndef PL_SERVICE_SESSIONS_SAID_MEDIA_H
#define PL_SERVICE_SESSIONS_SAID_MEDIA_H

#include "service/blobs/media_keep.h"
#include "session/session.h"

/* Whether the object of a CHAT or a CLIENT_RESULT, {message, …} or {result, …}, has media. */
bool pl_said_media_has(const struct pl_json_doc *doc, const struct pl_json_node *object,
                       const struct pl_session_event *event);
/* Starts to store the event's media. The caller has set the shard, the user, the arena and
 * `done` of `keep`. */
void pl_said_media_keep(struct pl_media_keep *keep, const struct pl_session_event *event);
/* In `done`: replaces the media in the event by blobs. PL_INVALID with the pointer of the error
 * in the object; otherwise the status of `keep`. */
enum pl_status pl_said_media_take(struct pl_media_keep *keep, struct pl_session_event *event);

#endif
