/* Headers of images and audio.
 *
 * PNG: ISO/IEC 15948 section 11.2.2. JPEG: ITU-T T.81 section B.2.2. GIF: GIF89a section 18. WebP:
 * RFC 9649 sections 2.5 to 2.7. WAV: RFC 2361 and Microsoft's Multimedia Programming Interface.
 *
 * Image libraries need the whole file in memory, decoded from base64. These readers fetch single
 * bytes by offset, and a division maps an offset to its base64 digits. If a byte is missing or is
 * not valid base64, every value read from it is unknown. */
#include "tokens/media.h"

#include "base/text/base64.h"

enum {
    LOW_TOKENS = 85,
    TILE_TOKENS = 170,
    TILE_SIDE = 512,
    MAX_LONG_SIDE = 2048,
    MAX_SHORT_SIDE = 768,
    UNKNOWN_SIDE = 1024,
    AUDIO_TOKEN_MS = 100,
    MAX_SEGMENTS = 4096, /* segments of a JPEG before its size, chunks of a WAV before its data */
};

/* Reads numbers at offsets. Once a byte is missing, is_bad stays set and every byte is 0. */
struct reader {
    const struct pl_media *media;
    bool is_bad;
};

/* Accepts the standard alphabet and the URL-safe one. */
static int base64_digit(unsigned char c)
{
    return pl_base64_digit(c == '-' ? '+' : c == '_' ? '/' : c);
}

/* Returns the byte at offset `at` of the file, or -1. Its bits are in two neighbouring digits. */
static int byte_of_base64(struct pl_str text, uint64_t at)
{
    uint64_t first = at / 3 * 4 + at % 3;
    if (at >= text.len || first + 1 >= text.len)
        return -1;
    int high = base64_digit((unsigned char)text.ptr[first]);
    int low = base64_digit((unsigned char)text.ptr[first + 1]);
    if (high < 0 || low < 0)
        return -1;
    unsigned shift = 2 * (unsigned)(at % 3) + 2; /* `high` provides 6, 4 or 2 bits */
    return ((high << shift) & 0xFF) | low >> (6 - shift);
}

static unsigned byte_at(struct reader *in, uint64_t at)
{
    struct pl_str text = in->media->text;
    int byte = -1;
    if (in->media->is_base64)
        byte = byte_of_base64(text, at);
    else if (at < text.len)
        byte = (unsigned char)text.ptr[at];
    in->is_bad |= byte < 0;
    return in->is_bad ? 0 : (unsigned)byte;
}

static uint32_t big_endian(struct reader *in, uint64_t at, unsigned n_bytes)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < n_bytes; i++)
        number = number << 8 | byte_at(in, at + i);
    return number;
}

static uint32_t little_endian(struct reader *in, uint64_t at, unsigned n_bytes)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < n_bytes; i++)
        number |= (uint32_t)byte_at(in, at + i) << (8 * i);
    return number;
}

static bool has_at(struct reader *in, uint64_t at, const char *bytes)
{
    for (size_t i = 0; bytes[i]; i++)
        if (byte_at(in, at + i) != (unsigned char)bytes[i])
            return false;
    return !in->is_bad;
}

static void read_png(struct reader *in, struct pl_image_size *size)
{
    *size = (struct pl_image_size){big_endian(in, 16, 4), big_endian(in, 20, 4)};
}

static void read_gif(struct reader *in, struct pl_image_size *size)
{
    *size = (struct pl_image_size){little_endian(in, 6, 2), little_endian(in, 8, 2)};
}

/* Walks the segments up to the start of frame, which holds the size. */
static void read_jpeg(struct reader *in, struct pl_image_size *size)
{
    uint64_t at = 2;
    for (int i = 0; i < MAX_SEGMENTS && !in->is_bad; i++) {
        unsigned marker = byte_at(in, at + 1);
        if (byte_at(in, at) != 0xFF || marker == 0xD9 || marker == 0xDA)
            return; /* not a marker, or the image data begins */
        bool is_frame =
            marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
        if (is_frame) {
            *size = (struct pl_image_size){big_endian(in, at + 7, 2), big_endian(in, at + 5, 2)};
            return;
        }
        if (marker == 0xFF)
            at += 1; /* a fill byte */
        else if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8))
            at += 2; /* a marker without a segment */
        else
            at += 2 + (uint64_t)big_endian(in, at + 2, 2);
    }
}

static void read_webp(struct reader *in, struct pl_image_size *size)
{
    if (has_at(in, 12, "VP8X")) {
        *size = (struct pl_image_size){little_endian(in, 24, 3) + 1, little_endian(in, 27, 3) + 1};
    } else if (has_at(in, 12, "VP8L") && byte_at(in, 20) == 0x2F) {
        uint32_t bits = little_endian(in, 21, 4);
        *size = (struct pl_image_size){(bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1};
    } else if (has_at(in, 12, "VP8 ") && has_at(in, 23, "\x9D\x01\x2A")) {
        *size = (struct pl_image_size){little_endian(in, 26, 2) & 0x3FFF,
                                       little_endian(in, 28, 2) & 0x3FFF};
    }
}

static const struct {
    const char *start;
    const char *more; /* at more_at; "" if the start is enough */
    uint64_t more_at;
    void (*read)(struct reader *in, struct pl_image_size *size);
} image_kinds[] = {
    {"\x89PNG\r\n\x1a\n", "IHDR", 12, read_png},
    {"\xFF\xD8\xFF", "", 0, read_jpeg},
    {"GIF87a", "", 0, read_gif},
    {"GIF89a", "", 0, read_gif},
    {"RIFF", "WEBP", 8, read_webp},
};

bool pl_image_size_read(const struct pl_media *media, struct pl_image_size *ret_size)
{
    for (size_t i = 0; i < sizeof image_kinds / sizeof *image_kinds; i++) {
        struct reader in = {media, false};
        if (!has_at(&in, 0, image_kinds[i].start) ||
            !has_at(&in, image_kinds[i].more_at, image_kinds[i].more))
            continue;
        struct pl_image_size size = {0};
        image_kinds[i].read(&in, &size);
        if (in.is_bad || !size.width || !size.height)
            return false;
        *ret_size = size;
        return true;
    }
    return false;
}

static uint64_t tiles(uint64_t numerator, uint64_t denominator)
{
    uint64_t tile = denominator * TILE_SIDE;
    return (numerator + tile - 1) / tile;
}

uint64_t pl_image_tokens(enum pl_image_detail detail, const struct pl_image_size *size)
{
    static const struct pl_image_size unknown = {UNKNOWN_SIDE, UNKNOWN_SIDE};
    if (detail == PL_IMAGE_LOW)
        return LOW_TOKENS;
    size = size ? size : &unknown;
    bool is_wide = size->width > size->height;
    uint64_t long_side = is_wide ? size->width : size->height;
    uint64_t short_side = is_wide ? size->height : size->width;
    uint64_t n_tiles;
    /* Scaled sides are kept as exact fractions: 2048 of the long side, or 768 of the short side. */
    bool fits = long_side <= MAX_LONG_SIDE;
    uint64_t scale = fits ? 1 : MAX_LONG_SIDE, unit = fits ? 1 : long_side;
    if (short_side * scale > MAX_SHORT_SIDE * unit)
        n_tiles = tiles(MAX_SHORT_SIDE, 1) * tiles(long_side * MAX_SHORT_SIDE, short_side);
    else
        n_tiles = tiles(long_side * scale, unit) * tiles(short_side * scale, unit);
    return LOW_TOKENS + TILE_TOKENS * n_tiles;
}

uint64_t pl_media_size(const struct pl_media *media)
{
    struct pl_str text = media->text;
    if (!media->is_base64)
        return text.len;
    while (text.len && text.ptr[text.len - 1] == '=')
        text.len--;
    return (uint64_t)text.len / 4 * 3 + text.len % 4 * 3 / 4;
}

bool pl_media_of_data_url(struct pl_str url, struct pl_media *ret_media)
{
    static const struct pl_str marker = {";base64", 7};
    if (!pl_str_starts(url, PL_STR("data:")))
        return false;
    const char *comma = memchr(url.ptr, ',', url.len);
    size_t n_head = comma ? (size_t)(comma - url.ptr) : 0;
    if (n_head < marker.len || !pl_str_eq(pl_str_slice(url, n_head - marker.len, n_head), marker))
        return false;
    *ret_media = (struct pl_media){pl_str_slice(url, n_head + 1, url.len), true};
    return true;
}

/* Reads the chunks of a RIFF file: one holds the rate, another the samples. A length of 0 or all
 * ones means that the writer did not know it yet; then the samples extend to the end. */
static bool read_wav(const struct pl_media *media, uint64_t *ret_duration_ms)
{
    struct reader in = {media, false};
    if (!has_at(&in, 0, "RIFF") || !has_at(&in, 8, "WAVE"))
        return false;
    uint64_t size = pl_media_size(media), at = 12, byte_rate = 0;
    for (int i = 0; i < MAX_SEGMENTS && !in.is_bad; i++) {
        uint64_t n_bytes = little_endian(&in, at + 4, 4);
        if (has_at(&in, at, "fmt ")) {
            byte_rate = little_endian(&in, at + 16, 4);
        } else if (has_at(&in, at, "data")) {
            uint64_t n_left = size > at + 8 ? size - at - 8 : 0;
            if (in.is_bad || !byte_rate)
                return false;
            n_bytes = n_bytes && n_bytes != UINT32_MAX ? n_bytes : n_left;
            *ret_duration_ms = n_bytes * 1000 / byte_rate;
            return true;
        }
        at += 8 + n_bytes + n_bytes % 2;
    }
    return false;
}

/* Usual rates of recorded speech. */
static const struct {
    struct pl_str format;
    uint64_t bytes_per_second;
} audio_rates[] = {
    {PL_STR("mp3"), 16000},      {PL_STR("aac"), 16000},      {PL_STR("m4a"), 16000},
    {PL_STR("mp4"), 16000},      {PL_STR("ogg"), 12000},      {PL_STR("opus"), 6000},
    {PL_STR("webm"), 6000},      {PL_STR("flac"), 48000},     {PL_STR("wav"), 48000},
    {PL_STR("pcm16"), 48000},    {PL_STR("pcm"), 48000},      {PL_STR("aiff"), 88200},
    {PL_STR("g711_ulaw"), 8000}, {PL_STR("g711_alaw"), 8000},
};
enum { USUAL_BYTES_PER_SECOND = 16000 };

static bool is_same_word(struct pl_str a, struct pl_str b)
{
    for (size_t i = 0; i < a.len && a.len == b.len; i++) {
        unsigned char c = (unsigned char)a.ptr[i];
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != (unsigned char)b.ptr[i])
            return false;
    }
    return a.len == b.len;
}

struct pl_audio_length pl_audio_length_read(const struct pl_media *media, struct pl_str format)
{
    uint64_t duration_ms;
    if (read_wav(media, &duration_ms))
        return (struct pl_audio_length){duration_ms, false};
    uint64_t rate = USUAL_BYTES_PER_SECOND;
    for (size_t i = 0; i < sizeof audio_rates / sizeof *audio_rates; i++)
        if (is_same_word(format, audio_rates[i].format))
            rate = audio_rates[i].bytes_per_second;
    return (struct pl_audio_length){pl_media_size(media) * 1000 / rate, true};
}

uint64_t pl_audio_tokens(uint64_t duration_ms)
{
    return duration_ms / AUDIO_TOKEN_MS + (duration_ms % AUDIO_TOKEN_MS != 0);
}
