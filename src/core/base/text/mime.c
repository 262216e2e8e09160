/* WHATWG MIME Sniffing Standard, 6.1 (images), 6.2 (audio and video, with the three formats that
 * have no fixed pattern) and the PDF pattern of 7.1. */
#include "base/text/mime.h"

#include "base/ascii.h"

#include <strings.h>

struct pattern {
    struct pl_str head;
    size_t at; /* offset of `more` */
    struct pl_str more;
    const char *type;
};

static const struct pattern patterns[] = {
    {{"\0\0\1\0", 4}, 0, {0}, "image/x-icon"},
    {{"\0\0\2\0", 4}, 0, {0}, "image/x-icon"}, /* a cursor */
    {{"BM", 2}, 0, {0}, "image/bmp"},
    {{"GIF87a", 6}, 0, {0}, "image/gif"},
    {{"GIF89a", 6}, 0, {0}, "image/gif"},
    {{"RIFF", 4}, 8, {"WEBPVP", 6}, "image/webp"},
    {{"\x89PNG\r\n\x1A\n", 8}, 0, {0}, "image/png"},
    {{"\xFF\xD8\xFF", 3}, 0, {0}, "image/jpeg"},
    {{".snd", 4}, 0, {0}, "audio/basic"},
    {{"FORM", 4}, 8, {"AIFF", 4}, "audio/aiff"},
    {{"ID3", 3}, 0, {0}, "audio/mpeg"},
    {{"OggS\0", 5}, 0, {0}, "application/ogg"},
    {{"MThd\0\0\0\6", 8}, 0, {0}, "audio/midi"},
    {{"RIFF", 4}, 8, {"AVI ", 4}, "video/avi"},
    {{"RIFF", 4}, 8, {"WAVE", 4}, "audio/wave"},
    {{"%PDF-", 5}, 0, {0}, "application/pdf"},
};

static bool has_at(struct pl_str bytes, size_t at, struct pl_str what)
{
    return pl_str_starts(pl_str_slice(bytes, at, bytes.len), what);
}

/* 6.2.1: a box "ftyp" that names a brand beginning with "mp4". */
static bool is_mp4(struct pl_str bytes)
{
    if (bytes.len < 12)
        return false;
    const unsigned char *b = (const unsigned char *)bytes.ptr;
    uint32_t box = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    if (bytes.len < box || box % 4 || !has_at(bytes, 4, PL_STR("ftyp")))
        return false;
    if (has_at(bytes, 8, PL_STR("mp4")))
        return true;
    for (size_t at = 16; at < box; at += 4)
        if (has_at(bytes, at, PL_STR("mp4")))
            return true;
    return false;
}

/* 6.2.2: EBML with a DocType (42 82, a length, perhaps zeros) of "webm". */
static bool is_webm(struct pl_str bytes)
{
    enum { LOOKED_AT = 38 };
    if (!pl_str_starts(bytes, PL_STR("\x1A\x45\xDF\xA3")))
        return false;
    for (size_t at = 4; at < bytes.len && at < LOOKED_AT; at++) {
        if (!has_at(bytes, at, PL_STR("\x42\x82")))
            continue;
        at += 2;
        if (at >= bytes.len)
            return false;
        unsigned char first = (unsigned char)bytes.ptr[at];
        size_t n_length = 1;
        for (unsigned mask = 0x80; n_length < 8 && !(first & mask); mask >>= 1)
            n_length++;
        at += n_length;
        while (at < bytes.len && bytes.ptr[at] == 0)
            at++;
        if (has_at(bytes, at, PL_STR("webm")))
            return true;
    }
    return false;
}

/* 6.2.3.1: length of the MP3 frame (layer III) that begins at `at`; 0 if there is no frame. The
 * standard's formula fits MPEG-1 only; here MPEG-2 and 2.5, with half the samples, have their
 * own. */
static size_t mp3_frame(struct pl_str bytes, size_t at)
{
    static const uint16_t kbit_full[] = {0,   32,  40,  48,  56,  64,  80, 96,
                                         112, 128, 160, 192, 224, 256, 320};
    static const uint16_t kbit_half[] = {0,  8,  16, 24,  32,  40,  48, 56,
                                         64, 80, 96, 112, 128, 144, 160};
    static const uint32_t hertz[] = {44100, 48000, 32000};
    if (bytes.len < 4 || at > bytes.len - 4)
        return 0;
    const unsigned char *b = (const unsigned char *)bytes.ptr + at;
    unsigned version = b[1] >> 3 & 3, layer = b[1] >> 1 & 3;
    unsigned rate = b[2] >> 4, frequency = b[2] >> 2 & 3, padding = b[2] >> 1 & 1;
    if (b[0] != 0xFF || (b[1] & 0xE0) != 0xE0 || layer != 1 || version == 1 || rate == 0 ||
        rate == 15 || frequency == 3)
        return 0;
    bool is_full = version == 3;
    uint32_t samples_per_s = hertz[frequency] >> (is_full ? 0 : version == 2 ? 1 : 2);
    uint32_t bits_per_s = 1000u * (is_full ? kbit_full[rate] : kbit_half[rate]);
    return (is_full ? 144u : 72u) * bits_per_s / samples_per_s + padding;
}

/* 6.2.3: a frame that is followed by another. */
static bool is_mp3(struct pl_str bytes)
{
    size_t n = mp3_frame(bytes, 0);
    return n >= 4 && mp3_frame(bytes, n);
}

const char *pl_mime_sniff(struct pl_str bytes)
{
    bytes = pl_str_slice(bytes, 0, PL_MIME_SNIFF_BYTES);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (pl_str_starts(bytes, patterns[i].head) &&
            has_at(bytes, patterns[i].at, patterns[i].more))
            return patterns[i].type;
    return is_mp4(bytes)    ? "video/mp4"
           : is_webm(bytes) ? "video/webm"
           : is_mp3(bytes)  ? "audio/mpeg"
                            : NULL;
}

/* Other names of the types, and more specific names for the contents of a container. */
static const struct {
    const char *name, *type;
} aliases[] = {
    {"image/jpg", "image/jpeg"},       {"image/pjpeg", "image/jpeg"},
    {"image/x-png", "image/png"},      {"image/apng", "image/png"},
    {"image/x-bmp", "image/bmp"},      {"image/x-ms-bmp", "image/bmp"},
    {"image/ico", "image/x-icon"},     {"image/vnd.microsoft.icon", "image/x-icon"},
    {"audio/au", "audio/basic"},       {"audio/x-aiff", "audio/aiff"},
    {"audio/mp3", "audio/mpeg"},       {"audio/mpeg3", "audio/mpeg"},
    {"audio/x-mp3", "audio/mpeg"},     {"audio/x-mpeg", "audio/mpeg"},
    {"audio/wav", "audio/wave"},       {"audio/x-wav", "audio/wave"},
    {"audio/vnd.wave", "audio/wave"},  {"audio/ogg", "application/ogg"},
    {"audio/opus", "application/ogg"}, {"video/ogg", "application/ogg"},
    {"audio/mid", "audio/midi"},       {"audio/x-midi", "audio/midi"},
    {"video/msvideo", "video/avi"},    {"video/x-msvideo", "video/avi"},
    {"audio/m4a", "video/mp4"},        {"audio/mp4", "video/mp4"},
    {"audio/x-m4a", "video/mp4"},      {"video/x-m4v", "video/mp4"},
    {"audio/webm", "video/webm"},      {"application/x-pdf", "application/pdf"},
};

static bool same_word(struct pl_str a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

bool pl_mime_agrees(struct pl_str declared, const char *sniffed)
{
    const char *semicolon = declared.len ? memchr(declared.ptr, ';', declared.len) : NULL;
    if (semicolon)
        declared.len = (size_t)(semicolon - declared.ptr);
    while (declared.len && pl_ascii_is_white(declared.ptr[0]))
        declared = pl_str_slice(declared, 1, declared.len);
    while (declared.len && pl_ascii_is_white(declared.ptr[declared.len - 1]))
        declared.len--;
    if (same_word(declared, sniffed))
        return true;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (same_word(declared, aliases[i].name))
            return strcmp(aliases[i].type, sniffed) == 0;
    return false;
}
