#include "service/sessions/said_media.h"

#include "service/blobs/content_parts.h"

/* The member of the object that may have media; NULL: none in this event. */
static const char *member_of(const struct pl_session_event *event)
{
    return event->kind == PL_SE_CHAT            ? "message"
           : event->kind == PL_SE_CLIENT_RESULT ? "result"
                                                : NULL;
}

bool pl_said_media_has(const struct pl_json_doc *doc, const struct pl_json_node *object,
                       const struct pl_session_event *event)
{
    const char *member = member_of(event);
    const struct pl_json_node *list = member ? pl_json_get(doc, object, pl_str_of(member)) : NULL;
    return list && pl_content_parts_has_media(doc, list);
}

void pl_said_media_keep(struct pl_media_keep *keep, const struct pl_session_event *event)
{
    keep->document = event->kind == PL_SE_CHAT ? event->chat.message : event->tool.result;
    keep->has_parts = true;
    pl_media_keep_start(keep);
}

enum pl_status pl_said_media_take(struct pl_media_keep *keep, struct pl_session_event *event)
{
    char pointer[sizeof keep->err.pointer];
    memcpy(pointer, keep->err.pointer, sizeof pointer);
    if (keep->status == PL_INVALID)
        pl_error_point(&keep->err, "/%s%s", member_of(event), pointer);
    if (keep->status != PL_OK)
        return keep->status;
    if (event->kind == PL_SE_CHAT)
        event->chat.message = keep->document;
    else
        event->tool.result = keep->document;
    return PL_OK;
}
