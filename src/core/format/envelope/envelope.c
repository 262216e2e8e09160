/* Prompt envelope, seed 000: the content of a prompt, segment by segment, for a person to inspect.
 * This file detects it; reading and writing are in read.c and write.c. */
#include "format/envelope/envelope_int.h"

#include "json/text.h"

static int detect(const struct pl_json_doc *doc)
{
    const struct pl_json_node *version = pl_json_get(doc, doc->root, PL_STR("version"));
    const struct pl_json_node *list = pl_json_get(doc, doc->root, PL_STR("messages"));
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY || !pl_json_count(list))
        return 0;
    const struct pl_json_node *segments = pl_json_get(doc, pl_json_first(list), PL_STR("segments"));
    if (!segments || pl_json_kind(segments) != PL_JSON_ARRAY)
        return 0;
    bool is_first_version = version && pl_json_kind(version) == PL_JSON_STRING &&
                            pl_json_text_is(doc, version, PL_STR("1.0"));
    return is_first_version ? 100 : 90;
}

const struct pl_format pl_format_envelope = {
    .name = "envelope",
    .title = "prompt envelope, segment by segment (seed 000)",
    .list_key = "messages",
    .is_vendor = false,
    .has_error_flag = true,
    .detect = detect,
    .read = pl_envelope_read,
    .write = pl_envelope_write,
    .lint = pl_envelope_lint,
    .has_documents = true,
};
