#include "conv/sniff.h"

/* Three bytes are four characters, so a signature whose length is no multiple of three is known
 * only up to its last whole character. RIFF holds WebP and WAV: bytes 8 to 11 tell which. */
static const struct {
    const char *head;
    size_t at;        /* of `more` */
    const char *more; /* NULL: the head is enough */
    const char *mime;
} signatures[] = {
    {"iVBORw0KGgo", 0, NULL, "image/png"},
    {"/9j/", 0, NULL, "image/jpeg"},
    {"R0lGOD", 0, NULL, "image/gif"},
    {"JVBERi0", 0, NULL, "application/pdf"},
    {"UklGR", 11, "XRUJQ", "image/webp"}, /* the last bits of a length, then "WEBP" */
    {"UklGR", 11, "XQVZF", "audio/wav"},
    {"SUQz", 0, NULL, "audio/mpeg"}, /* the ID3 tag most files begin with */
};

const char *pl_sniff_mime(struct pl_str base64)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        if (!pl_str_starts(base64, pl_str_of(signatures[i].head)))
            continue;
        struct pl_str rest = pl_str_slice(base64, signatures[i].at, base64.len);
        if (!signatures[i].more || pl_str_starts(rest, pl_str_of(signatures[i].more)))
            return signatures[i].mime;
    }
    return NULL;
}
