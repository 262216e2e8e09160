/* Frames of the extension protocol (seed 004), one JSON object per line: a reader, which checks
 * each frame against the embedded schema, and writers for the frames that the host sends.
 *
 *     line --pl_ext_frame_read--> frame (id, type, payload) | fault (code, id, offset, pointer) */
#ifndef PL_EXTPROTO_FRAME_H
#define PL_EXTPROTO_FRAME_H

#include "json/write.h"

/* Maximum length of a line, without its line feed. */
#define PL_EXT_LINE_BYTES ((size_t)8 << 20)

enum pl_ext_side { PL_EXT_FROM_CHILD = 1, PL_EXT_TO_CHILD = 2 };

/* X(name, text, sides that may send it) */
#define PL_EXT_TYPE_TABLE(X)                                                                       \
    X(REGISTER, "register", PL_EXT_FROM_CHILD)                                                     \
    X(TOOL_CALL, "tool_call", PL_EXT_TO_CHILD)                                                     \
    X(TOOL_RESULT, "tool_result", PL_EXT_FROM_CHILD)                                               \
    X(SLASH_COMMAND, "slash_command", PL_EXT_TO_CHILD)                                             \
    X(SLASH_RESULT, "slash_result", PL_EXT_FROM_CHILD)                                             \
    X(EVENT_HOOK, "event_hook", PL_EXT_FROM_CHILD | PL_EXT_TO_CHILD)                               \
    X(HOST_CALL, "host_call", PL_EXT_FROM_CHILD)                                                   \
    X(HOST_RESULT, "host_result", PL_EXT_TO_CHILD)                                                 \
    X(LOG, "log", PL_EXT_FROM_CHILD | PL_EXT_TO_CHILD)                                             \
    X(ERROR, "error", PL_EXT_FROM_CHILD | PL_EXT_TO_CHILD)

enum pl_ext_type {
#define X(name, text, sides) PL_EXT_TYPE_##name,
    PL_EXT_TYPE_TABLE(X)
#undef X
        PL_EXT_TYPE_COUNT,
};

const char *pl_ext_type_text(enum pl_ext_type type);
/* Whether this side (PL_EXT_FROM_CHILD or PL_EXT_TO_CHILD) may send frames of the type. */
bool pl_ext_type_may(enum pl_ext_type type, enum pl_ext_side side);

/* Codes of an `error` frame. */
#define PL_EXT_CODE_TABLE(X)                                                                       \
    X(FRAME_INVALID, "frame_invalid")                                                              \
    X(UNSUPPORTED_VERSION, "unsupported_version")                                                  \
    X(SCHEMA_VIOLATION, "schema_violation")                                                        \
    X(NOT_REGISTERED, "not_registered")                                                            \
    X(UNKNOWN_TYPE, "unknown_type")                                                                \
    X(UNKNOWN_CALL, "unknown_call")                                                                \
    X(PROTOCOL_ORDER, "protocol_order")                                                            \
    X(QUOTA_EXCEEDED, "quota_exceeded")                                                            \
    X(SHUTTING_DOWN, "shutting_down")                                                              \
    X(INTERNAL, "internal")

enum pl_ext_code {
#define X(name, text) PL_EXT_CODE_##name,
    PL_EXT_CODE_TABLE(X)
#undef X
        PL_EXT_CODE_COUNT,
};

const char *pl_ext_code_text(enum pl_ext_code code);

struct pl_ext_frame {
    struct pl_json_doc doc; /* nodes in the arena; the text is the line */
    enum pl_ext_type type;
    struct pl_str id;                   /* arena, or a view of the line */
    const struct pl_json_node *payload; /* an object that matches its type */
};

/* Why a line is not a valid frame. */
struct pl_ext_fault {
    enum pl_ext_code code;
    struct pl_str id;    /* the frame's id, if readable; else empty */
    struct pl_error err; /* message, offset and pointer into the line */
};

/* The compiled schema and the scratch of one thread. */
struct pl_ext_codec;
enum pl_status pl_ext_codec_create(struct pl_ext_codec **ret_codec, struct pl_error *err);
void pl_ext_codec_destroy(struct pl_ext_codec *codec); /* accepts NULL */

/* Reads a line without its line feed; a carriage return at its end is ignored. PL_INVALID:
 * *ret_fault has the reason. PL_NOMEM. The line must outlive the frame. */
enum pl_status pl_ext_frame_read(struct pl_ext_codec *codec, struct pl_arena *arena,
                                 struct pl_str line, enum pl_ext_side side,
                                 struct pl_ext_frame *ret_frame, struct pl_ext_fault *ret_fault);

/* Reads a string of the payload, decoded; empty if it is absent or not a string. PL_NOMEM. */
enum pl_status pl_ext_frame_text(struct pl_arena *arena, const struct pl_ext_frame *frame,
                                 const char *member, struct pl_str *ret_text);

/* --- writing ---------------------------------------------------------------------------------- */

/* Begins a frame of this type; the caller writes the members of the payload and ends it. Failures
 * stay in the buffer's status. */
struct pl_json_out pl_ext_frame_begin(struct pl_buf *to, enum pl_ext_type type, struct pl_str id);
void pl_ext_frame_end(struct pl_json_out *out);

/* Writes an `error` about an invalid line. */
void pl_ext_frame_write_fault(struct pl_buf *to, const struct pl_ext_fault *fault);

/* A `host_result`. The error is one of seed 004: "timeout", "denied", "io", "invalid_request" or
 * "internal"; NULL for success. */
struct pl_ext_result {
    struct pl_str id, call_id;
    struct pl_str output; /* JSON object; empty: {} */
    const char *error;
    struct pl_str message; /* of an error */
    struct pl_str reason;  /* details.reason of an error; empty: no details */
    struct pl_str details; /* of an error: JSON object that replaces the reason; empty: none */
    bool is_retryable;
    bool is_chunk, is_last;
    int64_t index;   /* of a chunk */
    int64_t credits; /* of a chunk: credits left; -1: the call has no credits */
};
void pl_ext_frame_write_result(struct pl_buf *to, const struct pl_ext_result *result);

/* SHA-256 of the canonical {"method":…,"params":…}, in hexadecimal. It identifies a call in the
 * audit, which never has the params. PL_NOMEM. */
enum { PL_EXT_HASH_SIZE = 65 };
enum pl_status pl_ext_params_hash(struct pl_str method, const struct pl_json_doc *doc,
                                  const struct pl_json_node *params,
                                  char ret_hash[PL_EXT_HASH_SIZE]);

#endif
