/* Writes the JSON of a message with frames and audio, piece by piece; base64 goes straight to the
 * output. */
#include "conv/media/media.h"

#include "base/text/base64.h"

enum { DAY_MS = 86400000 };

void pl_media_open(struct pl_media_message *message, struct pl_buf *to, struct pl_str video_id)
{
    *message = (struct pl_media_message){.out = pl_json_out(to), .video_id = video_id};
    pl_json_out_open(&message->out, '{');
    pl_json_out_key(&message->out, "role");
    pl_json_out_text(&message->out, PL_STR("user"));
    pl_json_out_key(&message->out, "content");
    pl_json_out_open(&message->out, '[');
}

/* Base64 needs no escapes, so it goes straight into the text: `key`: "`prefix`BASE64". */
static void add_bytes(struct pl_json_out *out, const char *key, const char *prefix,
                      struct pl_str bytes)
{
    pl_json_out_key(out, key);
    pl_json_out_raw(out, PL_STR("\""));
    pl_buf_adds(out->buf, prefix);
    pl_base64_encode(out->buf, bytes);
    pl_buf_addc(out->buf, '"');
}

static void open_part(struct pl_json_out *out, const char *type)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "type");
    pl_json_out_text(out, pl_str_of(type));
    pl_json_out_key(out, type);
    pl_json_out_open(out, '{');
}

/* 1500 is 1.5, without trailing zeros. */
static void add_seconds(struct pl_json_out *out, uint64_t ms)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%llu.%03u", (unsigned long long)(ms / 1000),
                       (unsigned)(ms % 1000));
    while (text[len - 1] == '0')
        len--;
    if (text[len - 1] == '.')
        len--;
    pl_json_out_raw(out, (struct pl_str){text, (size_t)len});
}

void pl_media_add_frame(struct pl_media_message *message, struct pl_str jpeg, uint64_t time_ms,
                        uint64_t frame_index)
{
    struct pl_json_out *out = &message->out;
    open_part(out, "image_url");
    add_bytes(out, "url", "data:image/jpeg;base64,", jpeg);
    if (message->detail) {
        pl_json_out_key(out, "detail");
        pl_json_out_text(out, pl_str_of(message->detail));
    }
    pl_json_out_close(out, '}');
    pl_json_out_key(out, "video_metadata");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "video_id");
    pl_json_out_text(out, message->video_id);
    pl_json_out_key(out, "timestamp_sec");
    add_seconds(out, time_ms);
    pl_json_out_key(out, "frame_index");
    pl_json_out_int(out, (int64_t)frame_index);
    pl_json_out_close(out, '}');
    pl_json_out_close(out, '}');
    message->n_frames++;
}

void pl_media_add_sound(struct pl_media_message *message, struct pl_str wav, int64_t sample_rate)
{
    struct pl_json_out *out = &message->out;
    open_part(out, "input_audio");
    add_bytes(out, "data", "", wav);
    pl_json_out_key(out, "format");
    pl_json_out_text(out, PL_STR("wav"));
    pl_json_out_key(out, "sample_rate");
    pl_json_out_int(out, sample_rate);
    pl_json_out_close(out, '}');
    pl_json_out_close(out, '}');
}

void pl_media_close(struct pl_media_message *message)
{
    pl_json_out_close(&message->out, ']');
    pl_json_out_close(&message->out, '}');
}

bool pl_media_duration_read(struct pl_str text, uint64_t *ret_ms)
{
    static const struct {
        struct pl_str name;
        uint64_t ms;
    } units[] = {{{"ms", 2}, 1}, {{"s", 1}, 1000}, {{"m", 1}, 60000}};
    uint64_t value = 0, scale = 1; /* the number is value / scale */
    size_t i = 0, n_digits = 0;
    for (bool has_point = false; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && !has_point && n_digits) {
            has_point = true;
        } else if (c >= '0' && c <= '9' && n_digits < 9) {
            value = value * 10 + (uint64_t)(c - '0');
            scale *= has_point ? 10 : 1;
            n_digits++;
        } else {
            break;
        }
    }
    struct pl_str unit = pl_str_slice(text, i, text.len);
    for (size_t k = 0; n_digits && k < sizeof units / sizeof *units; k++) {
        uint64_t ms = value * units[k].ms / scale;
        if (pl_str_eq(unit, units[k].name) && ms >= 1 && ms <= DAY_MS) {
            *ret_ms = ms;
            return true;
        }
    }
    return false;
}
