/* Images, sound and files in what a client says to a session: its message, or the result of a tool
 * that it runs. They are kept as blobs before the session hears of them. */
#ifndef PL_SERVICE_SESSIONS_SAID_MEDIA_H
#define PL_SERVICE_SESSIONS_SAID_MEDIA_H

#include "service/blobs/media_keep.h"
#include "session/session.h"

/* Whether the object of a CHAT or a CLIENT_RESULT, {message, …} or {result, …}, has any. */
bool pl_said_media_has(const struct pl_json_doc *doc, const struct pl_json_node *object,
                       const struct pl_session_event *event);
/* Starts to keep those of the event. Of `keep` the shard, the user, the arena and `done` are set. */
void pl_said_media_keep(struct pl_media_keep *keep, const struct pl_session_event *event);
/* In `done`: the event says the blobs instead. PL_INVALID with the pointer of what is wrong, in the
 * object; else what became of the keeping. */
enum pl_status pl_said_media_take(struct pl_media_keep *keep, struct pl_session_event *event);

#endif
