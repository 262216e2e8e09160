/* WebSocket (RFC 6455), server side: reads masked frames from bytes that may be split anywhere, and
 * writes the heads of frames to send. docs/adr/0009 says why no library is used. */
#ifndef PL_WIRE_WEBSOCKET_H
#define PL_WIRE_WEBSOCKET_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

#define PL_WS_MAX_MESSAGE 1048576 /* in one or more frames */
#define PL_WS_MAX_HEAD    10      /* bytes in the head of a frame from the server */

enum pl_ws_opcode {
    PL_WS_CONTINUATION = 0,
    PL_WS_TEXT = 1,
    PL_WS_BINARY = 2,
    PL_WS_CLOSE = 8,
    PL_WS_PING = 9,
    PL_WS_PONG = 10,
};

/* X(name, code): why a connection ends. 4xxx are ours. */
#define PL_WS_CLOSE_TABLE(X)                                                                       \
    X(NORMAL, 1000)                                                                                \
    X(GOING_AWAY, 1001)                                                                            \
    X(PROTOCOL, 1002)                                                                              \
    X(UNSUPPORTED, 1003)                                                                           \
    X(NO_STATUS, 1005)                                                                             \
    X(INVALID_TEXT, 1007)                                                                          \
    X(POLICY, 1008)                                                                                \
    X(TOO_BIG, 1009)                                                                               \
    X(INTERNAL, 1011)                                                                              \
    X(TRY_LATER, 1013)                                                                             \
    X(UNAUTHORIZED, 4401)                                                                          \
    X(AUTH_TIMEOUT, 4409)                                                                          \
    X(TOO_SLOW, 4408)                                                                              \
    X(RATE, 4429)

enum pl_ws_close_code {
#define X(name, code) PL_WS_CLOSE_##name = (code),
    PL_WS_CLOSE_TABLE(X)
#undef X
};

struct pl_ws_message {
    enum pl_ws_opcode opcode; /* TEXT, BINARY, PING, PONG or CLOSE: messages are always complete */
    struct pl_str payload;    /* valid until the next call; text is checked UTF-8 */
    uint16_t close_code;      /* for CLOSE; PL_WS_CLOSE_NO_STATUS if none was sent */
};

/* Small on purpose: an idle connection keeps this. */
struct pl_ws {
    struct pl_buf message; /* the beginning of an incomplete message; freed with it */
    char *input;           /* unread; borrowed from the last feed, unmasked in place */
    size_t n_input;
    uint32_t max_message; /* PL_WS_MAX_MESSAGE, or set by the owner */
    uint64_t n_left;      /* missing bytes of the frame */
    uint32_t utf8_state;
    uint16_t close_code; /* after a failure: the code to close with */
    uint8_t head[14];    /* of a frame with an incomplete head */
    uint8_t n_head, mask_at, mask[4];
    uint8_t opcode;         /* of the current frame */
    uint8_t message_opcode; /* of the incomplete message; 0: none */
    bool is_final, is_in_frame;
    bool is_closed;
};

void pl_ws_init(struct pl_ws *ws);
void pl_ws_deinit(struct pl_ws *ws);

/* The bytes are unmasked in place and must stay valid until next returns PL_NOT_FOUND. */
void pl_ws_feed(struct pl_ws *ws, char *bytes, size_t n);

/* PL_NOT_FOUND: more bytes are needed. PL_SYNTAX, PL_LIMIT, PL_INVALID (text that is not UTF-8),
 * PL_NOMEM: close with ws->close_code. After a failure or a CLOSE nothing more is read. */
enum pl_status pl_ws_next(struct pl_ws *ws, struct pl_ws_message *ret_message,
                          struct pl_error *err);

/* Writes the head of an unmasked, final frame; returns its size. */
size_t pl_ws_head_write(uint8_t ret_head[PL_WS_MAX_HEAD], enum pl_ws_opcode opcode,
                        size_t n_payload);
/* Appends a whole frame to `to`. */
void pl_ws_frame_write(struct pl_buf *to, enum pl_ws_opcode opcode, struct pl_str payload);
void pl_ws_close_write(struct pl_buf *to, uint16_t code, struct pl_str reason);

/* Sec-WebSocket-Accept for a Sec-WebSocket-Key; false if the key is not 16 bytes in base64. */
#define PL_WS_ACCEPT_SIZE 28
bool pl_ws_accept(struct pl_str key, char ret_accept[PL_WS_ACCEPT_SIZE]);

#endif
