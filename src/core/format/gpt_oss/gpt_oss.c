#include "format/gpt_oss/gpt_oss_int.h"

/* The document is internal, so there is nothing to detect. */
static int detect(const struct pl_json_doc *doc)
{
    (void)doc;
    return 0;
}

const struct pl_format pl_format_gpt_oss = {
    .name = "gpt-oss",
    .title = "the text of gpt-oss models, with channels",
    .list_key = "messages",
    .detect = detect,
    .read = pl_gpt_oss_read,
    .write = pl_gpt_oss_write,
};
