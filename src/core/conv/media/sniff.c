#include "conv/media/sniff.h"

#include "base/text/base64.h"
#include "base/text/mime.h"

/* Types with a distinctive beginning in base64. "BM" or a zero is not enough when the text may not
 * be base64 at all. The names are those of the vendors' interfaces. */
static const struct {
    const char *type, *name;
} known[] = {
    {"image/png", "image/png"},
    {"image/jpeg", "image/jpeg"},
    {"image/gif", "image/gif"},
    {"image/webp", "image/webp"},
    {"audio/wave", "audio/wav"},
    {"audio/mpeg", "audio/mpeg"},
    {"application/pdf", "application/pdf"},
};

const char *pl_sniff_mime(struct pl_str base64)
{
    char bytes[18]; /* the longest signature has 14 */
    struct pl_str head = {bytes, pl_base64_decode_head(base64, bytes, sizeof bytes)};
    const char *type = pl_mime_sniff(head);
    for (size_t i = 0; type && i < sizeof known / sizeof *known; i++)
        if (strcmp(type, known[i].type) == 0)
            return known[i].name;
    return NULL;
}
