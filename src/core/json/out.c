/* Writes JSON piece by piece. Keeps one bit per open container, so that the caller need not write
 * commas. */
#include "json/text.h"
#include "json/write.h"

enum { MAX_DEPTH = 64 };

struct pl_json_out pl_json_out(struct pl_buf *to)
{
    return (struct pl_json_out){.buf = to};
}

/* Bit of the innermost open container; 0 at the top, which has only one value. */
static uint64_t depth_bit(const struct pl_json_out *out)
{
    return out->depth ? (uint64_t)1 << (out->depth - 1) : 0;
}

static void begin_item(struct pl_json_out *out)
{
    if (out->is_after_key) {
        out->is_after_key = false;
        return;
    }
    if (out->has_member & depth_bit(out))
        pl_buf_addc(out->buf, ',');
    out->has_member |= depth_bit(out);
}

void pl_json_out_open(struct pl_json_out *out, char bracket)
{
    if (out->depth >= MAX_DEPTH) {
        if (out->buf->status == PL_OK)
            out->buf->status = PL_LIMIT;
        return;
    }
    begin_item(out);
    pl_buf_addc(out->buf, bracket);
    out->depth++;
    out->has_member &= ~depth_bit(out);
}

void pl_json_out_close(struct pl_json_out *out, char bracket)
{
    pl_buf_addc(out->buf, bracket);
    if (out->depth)
        out->depth--;
}

void pl_json_out_key(struct pl_json_out *out, const char *key)
{
    pl_json_out_key_str(out, pl_str_of(key));
}

void pl_json_out_key_str(struct pl_json_out *out, struct pl_str key)
{
    begin_item(out);
    pl_json_quote(out->buf, key);
    pl_buf_addc(out->buf, ':');
    out->is_after_key = true;
}

void pl_json_out_text(struct pl_json_out *out, struct pl_str text)
{
    begin_item(out);
    pl_json_quote(out->buf, text);
}

void pl_json_out_raw(struct pl_json_out *out, struct pl_str json)
{
    begin_item(out);
    pl_buf_add(out->buf, json);
}

void pl_json_out_int(struct pl_json_out *out, int64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    begin_item(out);
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        digits[--at] = '-';
    pl_buf_add(out->buf, (struct pl_str){digits + at, sizeof digits - at});
}

void pl_json_out_bool(struct pl_json_out *out, bool value)
{
    pl_json_out_raw(out, value ? PL_STR("true") : PL_STR("false"));
}

void pl_json_out_null(struct pl_json_out *out)
{
    pl_json_out_raw(out, PL_STR("null"));
}
