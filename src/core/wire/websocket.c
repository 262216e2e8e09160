/* RFC 6455, section 5, server side. A message that is complete in the fed bytes is unmasked there
 * and returned as a view; any other message is collected in ws->message.
 *
 * A control frame may come between the frames of a message, and may be split too. It is then
 * collected after the message in the same buffer, and removed when it is returned. */
#include "wire/websocket.h"

#include "base/text/base64.h"
#include "base/sha/sha1.h"
#include "base/text/utf8.h"

enum {
    FINAL = 0x80,
    RESERVED = 0x70,
    OPCODE = 0x0F,
    CONTROL = 0x08,
    MASKED = 0x80,
    LENGTH = 0x7F,
    LENGTH_16 = 126, /* two bytes of length follow */
    LENGTH_64 = 127, /* eight bytes follow */
    MAX_CONTROL = 125,
    KEY_BYTES = 16,
};

void pl_ws_init(struct pl_ws *ws)
{
    *ws = (struct pl_ws){.max_message = PL_WS_MAX_MESSAGE};
    pl_buf_init(&ws->message, 0); /* max_message is its limit */
}

void pl_ws_deinit(struct pl_ws *ws)
{
    pl_buf_deinit(&ws->message);
}

void pl_ws_feed(struct pl_ws *ws, char *bytes, size_t n)
{
    ws->input = bytes;
    ws->n_input = n;
}

/* Stops reading the connection: further bytes are ignored. */
#define FAIL(ws, err, status, code, ...)                                                           \
    ((ws)->close_code = (code), (ws)->is_closed = true, pl_fail((err), (status), __VA_ARGS__))

static bool is_control(const struct pl_ws *ws)
{
    return ws->opcode & CONTROL;
}

/* Checks everything that the first two bytes can get wrong. */
static enum pl_status check_start(struct pl_ws *ws, struct pl_error *err)
{
    uint8_t opcode = ws->head[0] & OPCODE, length = ws->head[1] & LENGTH;
    if (ws->head[0] & RESERVED)
        return FAIL(ws, err, PL_SYNTAX, PL_WS_CLOSE_PROTOCOL,
                    "a frame has a reserved bit set, but no extension was negotiated");
    if (!(ws->head[1] & MASKED))
        return FAIL(ws, err, PL_SYNTAX, PL_WS_CLOSE_PROTOCOL,
                    "a frame is not masked; all frames of a client must be");
    if ((opcode > PL_WS_BINARY && opcode < PL_WS_CLOSE) || opcode > PL_WS_PONG)
        return FAIL(ws, err, PL_SYNTAX, PL_WS_CLOSE_PROTOCOL, "a frame has the reserved opcode %d",
                    opcode);
    if (opcode & CONTROL) {
        if (!(ws->head[0] & FINAL) || length > MAX_CONTROL)
            return FAIL(ws, err, PL_SYNTAX, PL_WS_CLOSE_PROTOCOL,
                        "a control frame is fragmented or longer than %d bytes", MAX_CONTROL);
        return PL_OK;
    }
    if ((opcode == PL_WS_CONTINUATION) != (ws->message_opcode != 0))
        return FAIL(ws, err, PL_SYNTAX, PL_WS_CLOSE_PROTOCOL,
                    opcode ? "a message begins before the previous one has ended"
                           : "a frame continues a message that was not begun");
    return PL_OK;
}

static uint8_t head_size(const struct pl_ws *ws)
{
    if (ws->n_head < 2)
        return 2;
    uint8_t length = ws->head[1] & LENGTH;
    return (uint8_t)(2 + (length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0) + 4);
}

/* The head is complete: parses it and begins the frame. */
static enum pl_status begin_frame(struct pl_ws *ws, struct pl_error *err)
{
    uint64_t n = ws->head[1] & LENGTH;
    size_t n_extra = (size_t)ws->n_head - 6;
    if (n_extra) {
        n = 0;
        for (size_t i = 0; i < n_extra; i++)
            n = n << 8 | ws->head[2 + i];
        if (n < (n_extra == 2 ? LENGTH_16 : 0x10000) || n >> 63)
            return FAIL(ws, err, PL_SYNTAX, PL_WS_CLOSE_PROTOCOL,
                        "the length of a frame is not in its shortest form");
    }
    ws->opcode = ws->head[0] & OPCODE;
    if (!is_control(ws) && n > ws->max_message - ws->message.len)
        return FAIL(ws, err, PL_LIMIT, PL_WS_CLOSE_TOO_BIG,
                    "a message has more than %u bytes; send several messages", ws->max_message);
    if (ws->opcode == PL_WS_TEXT || ws->opcode == PL_WS_BINARY) {
        ws->message_opcode = ws->opcode;
        ws->utf8_state = 0;
    }
    ws->is_final = ws->head[0] & FINAL;
    memcpy(ws->mask, ws->head + 2 + n_extra, sizeof ws->mask);
    ws->mask_at = 0;
    ws->n_left = n;
    ws->n_head = 0;
    ws->is_in_frame = true;
    return PL_OK;
}

static enum pl_status read_head(struct pl_ws *ws, struct pl_error *err)
{
    while (ws->n_input) {
        ws->head[ws->n_head++] = (uint8_t)*ws->input++;
        ws->n_input--;
        if (ws->n_head == 2) {
            enum pl_status status = check_start(ws, err);
            if (status != PL_OK)
                return status;
        }
        if (ws->n_head == head_size(ws))
            return begin_frame(ws, err);
    }
    return PL_NOT_FOUND;
}

/* Unmasks n bytes in place, a word at a time. */
static void unmask(struct pl_ws *ws, char *bytes, size_t n)
{
    uint8_t key[8];
    uint64_t key_word, word;
    size_t i = 0;
    for (size_t k = 0; k < sizeof key; k++)
        key[k] = ws->mask[(ws->mask_at + k) % 4];
    memcpy(&key_word, key, sizeof key_word);
    for (; n - i >= sizeof word; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        word ^= key_word;
        memcpy(bytes + i, &word, sizeof word);
    }
    for (; i < n; i++)
        bytes[i] ^= (char)key[i % 8];
    ws->mask_at = (uint8_t)((ws->mask_at + n) % 4);
}

/* The available bytes of the frame, unmasked. */
static struct pl_str take_payload(struct pl_ws *ws)
{
    size_t n = ws->n_left < ws->n_input ? (size_t)ws->n_left : ws->n_input;
    struct pl_str piece = {ws->input, n};
    unmask(ws, ws->input, n);
    ws->input += n;
    ws->n_input -= n;
    ws->n_left -= n;
    return piece;
}

/* `text` is the text so far. Its first n_before bytes are old; all of these but the last utf8_state
 * are known to be valid. */
static enum pl_status check_text(struct pl_ws *ws, struct pl_str text, size_t n_before, bool is_end,
                                 struct pl_error *err)
{
    struct pl_str fresh = pl_str_slice(text, n_before - ws->utf8_state, text.len);
    size_t n_valid = fresh.len ? pl_utf8_valid_prefix(fresh) : 0;
    struct pl_str tail = pl_str_slice(fresh, n_valid, fresh.len);
    if (tail.len && (is_end || !pl_utf8_is_cut(tail)))
        return FAIL(ws, err, PL_INVALID, PL_WS_CLOSE_INVALID_TEXT,
                    "a text message is not UTF-8 at byte %zu", text.len - tail.len);
    ws->utf8_state = (uint32_t)tail.len;
    return PL_OK;
}

static bool is_close_code(unsigned code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

static enum pl_status give_close(struct pl_ws *ws, struct pl_str payload,
                                 struct pl_ws_message *ret_message, struct pl_error *err)
{
    unsigned code = PL_WS_CLOSE_NO_STATUS;
    if (payload.len) {
        code = payload.len < 2
                   ? 0
                   : (unsigned)(unsigned char)payload.ptr[0] << 8 | (unsigned char)payload.ptr[1];
        if (!is_close_code(code))
            return FAIL(ws, err, PL_SYNTAX, PL_WS_CLOSE_PROTOCOL,
                        "a close frame has a code that must not be sent");
        payload = pl_str_slice(payload, 2, payload.len);
        if (!pl_utf8_is_valid(payload))
            return FAIL(ws, err, PL_INVALID, PL_WS_CLOSE_INVALID_TEXT,
                        "the reason of a close frame is not UTF-8");
    }
    ws->is_closed = true;
    *ret_message = (struct pl_ws_message){PL_WS_CLOSE, payload, (uint16_t)code};
    return PL_OK;
}

/* PL_NOT_FOUND: the frame continues in bytes not yet received. */
static enum pl_status read_control(struct pl_ws *ws, struct pl_ws_message *ret_message,
                                   struct pl_error *err)
{
    /* head[1] stays unchanged until the next frame. */
    size_t n_all = ws->head[1] & LENGTH;
    bool is_whole = ws->n_left == n_all && ws->n_input >= n_all;
    struct pl_str payload = take_payload(ws);
    if (!is_whole) {
        pl_buf_add(&ws->message, payload);
        if (ws->message.status != PL_OK)
            return FAIL(ws, err, PL_NOMEM, PL_WS_CLOSE_INTERNAL, "out of memory for a frame");
        if (ws->n_left)
            return PL_NOT_FOUND;
        ws->message.len -= n_all;
        payload = (struct pl_str){ws->message.ptr + ws->message.len, n_all};
    }
    ws->is_in_frame = false;
    if (ws->opcode == PL_WS_CLOSE)
        return give_close(ws, payload, ret_message, err);
    *ret_message = (struct pl_ws_message){.opcode = ws->opcode, .payload = payload};
    return PL_OK;
}

/* PL_NOT_FOUND: the frame continues in bytes not yet received, or the message in another frame. */
static enum pl_status read_data(struct pl_ws *ws, struct pl_ws_message *ret_message,
                                struct pl_error *err)
{
    /* Only the first frame has an opcode. A first frame that is final and all here needs no
     * buffer. */
    size_t n_before = ws->message.len;
    bool is_single = ws->opcode != PL_WS_CONTINUATION && n_before == 0 && ws->is_final &&
                     ws->n_input >= ws->n_left;
    struct pl_str payload = take_payload(ws);
    if (!is_single) {
        pl_buf_add(&ws->message, payload);
        if (ws->message.status != PL_OK)
            return FAIL(ws, err, PL_NOMEM, PL_WS_CLOSE_INTERNAL, "out of memory for a message");
        payload = pl_buf_str(&ws->message);
    }
    ws->is_in_frame = ws->n_left > 0;
    bool is_end = ws->is_final && !ws->is_in_frame;
    if (ws->message_opcode == PL_WS_TEXT) {
        enum pl_status status = check_text(ws, payload, n_before, is_end, err);
        if (status != PL_OK)
            return status;
    }
    if (!is_end)
        return PL_NOT_FOUND;
    *ret_message = (struct pl_ws_message){.opcode = ws->message_opcode, .payload = payload};
    ws->message_opcode = 0;
    return PL_OK;
}

enum pl_status pl_ws_next(struct pl_ws *ws, struct pl_ws_message *ret_message, struct pl_error *err)
{
    /* The message returned from the buffer is no longer used. */
    if (!ws->message_opcode && !ws->is_in_frame && ws->message.ptr)
        pl_buf_deinit(&ws->message);
    while (!ws->is_closed) {
        enum pl_status status = ws->is_in_frame ? PL_OK : read_head(ws, err);
        if (status != PL_OK)
            return status;
        /* An empty frame is read too: it may end its message. */
        if (ws->n_left && !ws->n_input)
            return PL_NOT_FOUND;
        status =
            is_control(ws) ? read_control(ws, ret_message, err) : read_data(ws, ret_message, err);
        if (status != PL_NOT_FOUND)
            return status;
    }
    ws->n_input = 0;
    return PL_NOT_FOUND;
}

size_t pl_ws_head_write(uint8_t ret_head[PL_WS_MAX_HEAD], enum pl_ws_opcode opcode,
                        size_t n_payload)
{
    size_t n_extra = n_payload <= MAX_CONTROL ? 0 : n_payload <= 0xFFFF ? 2 : 8;
    ret_head[0] = (uint8_t)(FINAL | opcode);
    ret_head[1] = (uint8_t)(n_extra == 0 ? n_payload : n_extra == 2 ? LENGTH_16 : LENGTH_64);
    for (size_t i = 0; i < n_extra; i++)
        ret_head[2 + i] = (uint8_t)((uint64_t)n_payload >> (8 * (n_extra - 1 - i)));
    return 2 + n_extra;
}

void pl_ws_frame_write(struct pl_buf *to, enum pl_ws_opcode opcode, struct pl_str payload)
{
    uint8_t head[PL_WS_MAX_HEAD];
    size_t n_head = pl_ws_head_write(head, opcode, payload.len);
    pl_buf_add(to, (struct pl_str){(const char *)head, n_head});
    pl_buf_add(to, payload);
}

void pl_ws_close_write(struct pl_buf *to, uint16_t code, struct pl_str reason)
{
    char payload[MAX_CONTROL] = {(char)(code >> 8), (char)code};
    /* A long reason is cut at a character boundary. */
    reason = pl_str_slice(reason, 0, sizeof payload - 2);
    reason.len = reason.len ? pl_utf8_valid_prefix(reason) : 0;
    if (reason.len)
        memcpy(payload + 2, reason.ptr, reason.len);
    pl_ws_frame_write(to, PL_WS_CLOSE, (struct pl_str){payload, 2 + reason.len});
}

bool pl_ws_accept(struct pl_str key, char ret_accept[PL_WS_ACCEPT_SIZE])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    size_t n_bytes;
    if (!pl_base64_size(key, &n_bytes) || n_bytes != KEY_BYTES)
        return false;
    char text[24 + sizeof guid];
    unsigned char digest[PL_SHA1_BYTES];
    memcpy(text, key.ptr, key.len);
    memcpy(text + key.len, guid, sizeof guid);
    pl_sha1((struct pl_str){text, key.len + sizeof guid - 1}, digest);
    /* The buffer is large enough, so nothing is allocated. */
    struct pl_buf accept = {.ptr = ret_accept, .cap = PL_WS_ACCEPT_SIZE, .max = PL_WS_ACCEPT_SIZE};
    pl_base64_encode(&accept, (struct pl_str){(const char *)digest, sizeof digest});
    return true;
}
