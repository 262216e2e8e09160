/* Harmony, seed 001: the project's own message format, a superset of Chat Completions with
 * addressable parts, times, metadata and citations. This file detects it among the vendors' formats
 * that it extends; reading and writing are in read.c and write.c. */
#include "format/harmony/harmony_int.h"

#include "json/text.h"

/* Whether a content part has a field that only this format has. */
static bool is_own_part(const struct pl_json_doc *doc, const struct pl_json_node *part)
{
    const struct pl_json_node *image = pl_json_member(doc, part, "image_url", PL_JSON_OBJECT);
    const struct pl_json_node *audio = pl_json_member(doc, part, "input_audio", PL_JSON_OBJECT);
    return pl_json_member(doc, part, "video_metadata", PL_JSON_OBJECT) ||
           pl_json_member(doc, part, "index", PL_JSON_NUMBER) ||
           (image && pl_json_member(doc, image, "rotation", PL_JSON_NUMBER)) ||
           (audio && pl_json_member(doc, audio, "sample_rate", PL_JSON_NUMBER));
}

static bool is_own_message(const struct pl_json_doc *doc, const struct pl_json_node *m)
{
    static const char *const keys[] = {"citation_map", "token_usage",  "trace_id", "session_id",
                                       "latency_ms",   "safety_check", NULL};
    if (pl_json_member(doc, m, "created_at", PL_JSON_NUMBER) ||
        pl_json_member(doc, m, "context_block", PL_JSON_OBJECT))
        return true;
    const struct pl_json_node *metadata = pl_json_member(doc, m, "metadata", PL_JSON_OBJECT);
    for (int i = 0; metadata && keys[i]; i++)
        if (pl_json_get(doc, metadata, pl_str_of(keys[i])))
            return true;
    const struct pl_json_node *content = pl_json_member(doc, m, "content", PL_JSON_ARRAY);
    for (const struct pl_json_node *p = content ? pl_json_first(content) : NULL;
         content && p < pl_json_end(content); p = pl_json_next(p))
        if (is_own_part(doc, p))
            return true;
    return false;
}

/* Looks only at the first messages: they show the format. */
static int weigh_list(const struct pl_json_doc *doc, const struct pl_json_node *list, int plain)
{
    enum { ENOUGH = 50, CERTAIN = 97 };
    int n = 0;
    for (const struct pl_json_node *m = pl_json_first(list); m < pl_json_end(list) && n < ENOUGH;
         m = pl_json_next(m), n++) {
        if (!pl_json_member(doc, m, "role", PL_JSON_STRING) ||
            pl_json_member(doc, m, "blocks", PL_JSON_ARRAY) ||
            pl_json_member(doc, m, "segments", PL_JSON_ARRAY))
            return 0;
        if (is_own_message(doc, m))
            return CERTAIN;
    }
    return plain;
}

static int detect(const struct pl_json_doc *doc)
{
    const struct pl_json_node *root = doc->root;
    if (pl_json_kind(root) == PL_JSON_ARRAY)
        return weigh_list(doc, root, pl_json_count(root) ? 60 : 5);
    const struct pl_json_node *protocol = pl_json_member(doc, root, "protocol", PL_JSON_STRING);
    if (protocol)
        return pl_json_text_is(doc, protocol, PL_STR("harmony_handoff_v1")) ? 90 : 0;
    const struct pl_json_node *messages = pl_json_member(doc, root, "messages", PL_JSON_ARRAY);
    if (messages && pl_json_member(doc, root, "settings", PL_JSON_OBJECT))
        return weigh_list(doc, messages, 97);
    /* A request of Chat Completions has a model and messages too: then only this format's own
     * fields decide. */
    if (messages)
        return weigh_list(doc, messages, pl_json_get(doc, root, PL_STR("model")) ? 0 : 20);
    if (!messages && pl_json_member(doc, root, "role", PL_JSON_STRING) && is_own_message(doc, root))
        return 80;
    return 0;
}

const struct pl_format pl_format_harmony = {
    .name = "harmony",
    .title = "Harmony messages, the project's own form (seed 001)",
    .list_key = "messages",
    .is_vendor = false,
    .detect = detect,
    .read = pl_harmony_read,
    .write = pl_harmony_write,
    .lint = pl_harmony_lint,
};
