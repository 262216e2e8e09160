/* WebSocket (RFC 6455), the server's side: masked frames out of bytes that may be cut anywhere, and
 * the heads of frames we send. Why this is ours and not a library's: docs/adr/0009. */
#ifndef PL_WIRE_WEBSOCKET_H
#define PL_WIRE_WEBSOCKET_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

#define PL_WS_MAX_MESSAGE 1048576 /* in one frame or in many */
#define PL_WS_MAX_HEAD    10      /* bytes of a frame's head, as the server sends it */

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
    enum pl_ws_opcode opcode; /* TEXT, BINARY, PING, PONG or CLOSE: a message is given whole */
    struct pl_str payload;    /* valid until the next call; text is checked UTF-8 */
    uint16_t close_code;      /* of CLOSE; PL_WS_CLOSE_NO_STATUS when none was sent */
};

/* Small on purpose: this is what an idle socket keeps. */
struct pl_ws {
    struct pl_buf
        message; /* the beginning of a message whose end has not come yet; freed with it */
    char *input; /* not yet read; borrowed from the last feed, unmasked in place */
    size_t n_input;
    uint32_t max_message; /* PL_WS_MAX_MESSAGE, or what the owner says */
    uint64_t n_left;      /* bytes of the frame that have not come yet */
    uint32_t utf8_state;
    uint16_t close_code; /* after a failure: what to close with */
    uint8_t head[14];    /* of a frame whose head is cut */
    uint8_t n_head, mask_at, mask[4];
    uint8_t opcode;         /* of the frame being read */
    uint8_t message_opcode; /* of the message being gathered; 0: none */
    bool is_final, is_in_frame;
    bool is_closed;
};

void pl_ws_init(struct pl_ws *ws);
void pl_ws_deinit(struct pl_ws *ws);

/* The bytes are changed (unmasked) in place and must stay until next has said PL_NOT_FOUND. */
void pl_ws_feed(struct pl_ws *ws, char *bytes, size_t n);

/* PL_NOT_FOUND: more bytes are needed. PL_SYNTAX, PL_LIMIT, PL_INVALID (text that is not UTF-8),
 * PL_NOMEM: close with ws->close_code. After a failure or a CLOSE nothing more is read. */
enum pl_status pl_ws_next(struct pl_ws *ws, struct pl_ws_message *ret_message,
                          struct pl_error *err);

/* Writes the head of an unmasked, final frame; returns its size. */
size_t pl_ws_head_write(uint8_t ret_head[PL_WS_MAX_HEAD], enum pl_ws_opcode opcode,
                        size_t n_payload);
/* A whole frame after `to`. */
void pl_ws_frame_write(struct pl_buf *to, enum pl_ws_opcode opcode, struct pl_str payload);
void pl_ws_close_write(struct pl_buf *to, uint16_t code, struct pl_str reason);

/* Sec-WebSocket-Accept for a Sec-WebSocket-Key; false when the key is not 16 bytes in base64. */
#define PL_WS_ACCEPT_SIZE 28
bool pl_ws_accept(struct pl_str key, char ret_accept[PL_WS_ACCEPT_SIZE]);

#endif
