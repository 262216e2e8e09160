/* Raw samples as a WAV file: 44 bytes of header before them, in base64 like the samples. */
#include "conv/media/pcm.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/text/base64.h"
#include "json/number.h"

enum { WAV_HEADER = 44, SAMPLE_BYTES = 2 };

static struct pl_str essence_of(struct pl_str mime)
{
    size_t n = 0;
    while (n < mime.len && mime.ptr[n] != ';' && mime.ptr[n] != ' ')
        n++;
    return pl_str_slice(mime, 0, n);
}

bool pl_mime_is_pcm(struct pl_str mime)
{
    static const char *const names[] = {"audio/pcm", "audio/L16", "audio/l16", "audio/x-pcm"};
    struct pl_str essence = essence_of(mime);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (pl_str_eq(essence, pl_str_of(names[i])))
            return true;
    return false;
}

bool pl_mime_rate(struct pl_str mime, int64_t *ret_rate)
{
    struct pl_str key = PL_STR("rate=");
    size_t at = pl_str_find(mime, key);
    if (at >= mime.len)
        return false;
    struct pl_str digits = pl_str_slice(mime, at + key.len, mime.len);
    size_t n = 0;
    while (n < digits.len && pl_ascii_is_digit(digits.ptr[n]))
        n++;
    return pl_json_number_int64(pl_str_slice(digits, 0, n), ret_rate);
}

static void put32(char *to, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (char)(n >> (8 * i));
}

/* RIFF, one channel of 16 bits. */
static void write_header(char to[WAV_HEADER], uint32_t n_bytes, uint32_t rate)
{
    memcpy(to, "RIFF....WAVEfmt \20\0\0\0\1\0\1\0........\2\0\20\0data....", WAV_HEADER);
    put32(to + 4, n_bytes + WAV_HEADER - 8);
    put32(to + 24, rate);
    put32(to + 28, rate * SAMPLE_BYTES);
    put32(to + 40, n_bytes);
}

static bool is_wrappable(struct pl_conv *conv, const struct pl_part *part, int64_t rate,
                         size_t *ret_size)
{
    return pl_base64_size(pl_conv_text(conv, part->data), ret_size) &&
           *ret_size < UINT32_MAX - WAV_HEADER && rate > 0 && rate < UINT32_MAX / SAMPLE_BYTES;
}

static struct pl_str wrapped(struct pl_conv *conv, struct pl_val data, uint32_t n_bytes,
                             uint32_t rate)
{
    PL_CLEANUP_BUF struct pl_buf sound, base64;
    pl_buf_init(&sound, 0);
    pl_buf_init(&base64, 0);
    char header[WAV_HEADER];
    write_header(header, n_bytes, rate);
    pl_buf_add(&sound, (struct pl_str){header, sizeof header});
    enum pl_status status = pl_base64_decode(&sound, pl_conv_text(conv, data));
    if (status == PL_OK && sound.status == PL_OK)
        pl_base64_encode(&base64, pl_buf_str(&sound));
    struct pl_str kept =
        base64.len ? pl_arena_dup(conv->arena, pl_buf_str(&base64)) : (struct pl_str){0};
    if (!kept.ptr)
        conv->status = PL_NOMEM;
    return kept;
}

static int64_t rate_of(struct pl_conv *conv, const struct pl_part *part, bool *ret_is_said)
{
    int64_t rate;
    *ret_is_said = true;
    if (pl_val_is_set(part->rate) && pl_json_number_int64(pl_conv_text(conv, part->rate), &rate))
        return rate;
    if (pl_mime_rate(pl_conv_text(conv, part->mime), &rate))
        return rate;
    *ret_is_said = false;
    return PL_PCM_DEFAULT_RATE;
}

static void wrap(struct pl_conv *conv, struct pl_part *part)
{
    bool is_said;
    size_t size;
    if (part->kind != PL_PART_AUDIO || !pl_val_is_set(part->data) ||
        !pl_mime_is_pcm(pl_conv_text(conv, part->mime)))
        return;
    int64_t rate = rate_of(conv, part, &is_said);
    if (!is_wrappable(conv, part, rate, &size))
        return;
    struct pl_str data = wrapped(conv, part->data, (uint32_t)size, (uint32_t)rate);
    pl_conv_loss(conv, is_said ? PL_LOSS_MOVED : PL_LOSS_APPROXIMATED, part->data.node,
                 is_said ? "raw samples become a WAV file of the same samples"
                         : "raw samples become a WAV file; their rate is not given, 24000 Hz is "
                           "assumed");
    if (part->rate.node)
        pl_conv_loss(conv, PL_LOSS_MOVED, part->rate.node, "the header of the WAV file has it");
    pl_conv_know(conv, part->mime.node);
    part->data = pl_val_text(data);
    part->mime = pl_val_text(PL_STR("audio/wav"));
    part->rate = (struct pl_val){0};
}

void pl_conv_wrap_pcm(struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->messages.len && conv->status == PL_OK; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        for (uint32_t k = 0; k < m->n_parts && m->role != PL_ROLE_ASSISTANT; k++)
            wrap(conv, &pl_conv_parts(conv, m)[k]);
    }
    for (size_t i = 0; i < conv->children.len && conv->status == PL_OK; i++)
        wrap(conv, &conv->children.ptr[i]);
}
