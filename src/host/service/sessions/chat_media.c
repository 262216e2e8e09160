#include "service/sessions/chat_media.h"

#include "service/blobs/content_parts.h"

bool pl_chat_has_media(const struct pl_json_doc *doc, const struct pl_json_node *chat)
{
    const struct pl_json_node *message = pl_json_get(doc, chat, PL_STR("message"));
    return message && pl_content_parts_has_media(doc, message);
}

void pl_chat_point_media(struct pl_media_keep *keep)
{
    char pointer[sizeof keep->err.pointer];
    memcpy(pointer, keep->err.pointer, sizeof pointer);
    if (keep->status == PL_INVALID)
        pl_error_point(&keep->err, "/message%s", pointer);
}
