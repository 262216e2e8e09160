#include "live/encode.h"

#include "wire/websocket.h"

static void spell_ws(struct pl_buf *to, struct pl_str event, struct pl_str data)
{
    static const char open[] = "{\"event\":\"", middle[] = "\",\"data\":", close[] = "}";
    size_t n = sizeof open - 1 + event.len + sizeof middle - 1 + data.len + sizeof close - 1;
    uint8_t head[PL_WS_MAX_HEAD];
    size_t n_head = pl_ws_head_write(head, PL_WS_TEXT, n);
    pl_buf_add(to, (struct pl_str){(const char *)head, n_head});
    pl_buf_add(to, PL_STR(open));
    pl_buf_add(to, event);
    pl_buf_add(to, PL_STR(middle));
    pl_buf_add(to, data);
    pl_buf_add(to, PL_STR(close));
}

/* JSON may contain line breaks between its tokens. Each line becomes a data field; the reader joins
 * them again. */
static void add_data_lines(struct pl_buf *to, struct pl_str data)
{
    const char *end;
    while (data.len && (end = memchr(data.ptr, '\n', data.len))) {
        size_t n = (size_t)(end - data.ptr);
        pl_buf_add(to, PL_STR("data: "));
        pl_buf_add(to, pl_str_slice(data, 0, n && data.ptr[n - 1] == '\r' ? n - 1 : n));
        pl_buf_addc(to, '\n');
        data = pl_str_slice(data, n + 1, data.len);
    }
    pl_buf_add(to, PL_STR("data: "));
    pl_buf_add(to, data);
    pl_buf_add(to, PL_STR("\n\n"));
}

void pl_encode_event(struct pl_buf *to, enum pl_lane lane, const char *event, struct pl_str data,
                     int64_t epoch, int64_t sequence)
{
    if (!pl_lane_is_sse(lane)) {
        spell_ws(to, pl_str_of(event), data);
        return;
    }
    if (epoch >= 0)
        pl_buf_addf(to, "id: %lld:%lld\n", (long long)epoch, (long long)sequence);
    pl_buf_addf(to, "event: %s\n", event);
    add_data_lines(to, data);
}
