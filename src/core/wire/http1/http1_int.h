/* Private to http1*.c: the parser, and the lines that are checked before llhttp sees them. */
#ifndef PL_WIRE_HTTP1_INT_H
#define PL_WIRE_HTTP1_INT_H

#include "wire/http1/http1.h"

#include <llhttp.h>

/* Reads lines, from input that may be split anywhere. */
struct pl_http1_lines {
    uint32_t n_bytes; /* total of all lines */
    uint16_t n_line;  /* bytes in the open line */
    uint8_t n_lines;  /* complete lines */
    bool is_after_cr;
};

/* X(name, status, message): OPEN and END are not failures. */
#define PL_HTTP1_VERDICT_TABLE(X)                                                                  \
    X(OPEN, OK, "")                                                                                \
    X(END, OK, "")                                                                                 \
    X(BREAK, SYNTAX, "a line of the request does not end with CR LF")                              \
    X(NAMELESS, SYNTAX,                                                                            \
      "a header begins with a space or a colon; it must begin with its name, and its value must "  \
      "be "                                                                                        \
      "on the same line")                                                                          \
    X(LONG, LIMIT, "a line of the request is longer than 8 KiB")                                   \
    X(ALL, LIMIT, "the headers are longer than 32 KiB in all")                                     \
    X(MANY, LIMIT, "there are more than 100 headers")

enum pl_http1_verdict {
#define X(name, status, text) PL_LINES_##name,
    PL_HTTP1_VERDICT_TABLE(X)
#undef X
};

/* Reads lines up to the empty one (PL_LINES_END), the end of `in` (PL_LINES_OPEN) or an error.
 * *ret_n: the bytes of `in` before that. */
enum pl_http1_verdict pl_http1_lines_read(struct pl_http1_lines *lines, struct pl_str in,
                                          unsigned max_lines, size_t *ret_n);

/* Position in the extensions of a chunk (RFC 9112, 7.1.1). */
enum pl_http1_ext {
    PL_CHUNK_EXT_NONE, /* not in extensions */
    PL_CHUNK_EXT_NAME_START,
    PL_CHUNK_EXT_NAME,
    PL_CHUNK_EXT_VALUE_START,
    PL_CHUNK_EXT_VALUE,
    PL_CHUNK_EXT_QUOTED,
    PL_CHUNK_EXT_ESCAPED,
    PL_CHUNK_EXT_QUOTED_END,
    PL_CHUNK_EXT_BAD,
};
/* The state after `c`; PL_CHUNK_EXT_NONE if it is the CR that ends the extensions. */
enum pl_http1_ext pl_http1_ext_step(enum pl_http1_ext state, char c);

struct pl_http1_chunks {
    uint64_t n_left; /* missing bytes of the chunk; its size while that is read */
    struct pl_http1_lines trailer;
    uint16_t n_line;    /* bytes in the line of the size, including the line end before it */
    uint8_t state, ext; /* private to http1_chunks.c */
};

enum pl_http1_stage {
    PL_STAGE_IDLE,   /* before a message; empty lines may have been read */
    PL_STAGE_HEAD,   /* room->bytes holds the head so far */
    PL_STAGE_GIVEN,  /* HEAD was reported, and llhttp waits after it */
    PL_STAGE_LENGTH, /* n_left bytes of the body are missing */
    PL_STAGE_CHUNKS,
    PL_STAGE_COMPLETE, /* END must be reported */
    PL_STAGE_LAST,     /* the client said that no message follows */
    PL_STAGE_FAILED,
};

/* Offsets of a field in the copy of the head, which may move while it grows. */
struct pl_http1_field {
    uint16_t name_at, n_name, value_at, n_value;
};

struct pl_http1_room {
    struct pl_buf bytes; /* the head as sent */
    struct pl_http_head head;
    uint16_t target_at, n_target;
    uint8_t n_fields;
    bool is_in_name; /* the name of the last field is incomplete */
    struct pl_http1_field fields[PL_HTTP1_MAX_HEADERS];
    struct pl_http_header headers[PL_HTTP1_MAX_HEADERS];
};

struct pl_http1 {
    llhttp_t parser;
    struct pl_http1_room *room; /* owned; NULL before the first head */
    struct pl_str input;
    struct pl_str body;
    uint64_t n_left;
    struct pl_http1_lines lines;
    struct pl_http1_chunks chunks;
    uint8_t stage;  /* enum pl_http1_stage */
    uint8_t status; /* sticky after a failure */
    bool is_head_read;
    bool is_target_too_long;
};

_Static_assert(PL_HTTP1_MAX_HEAD <= UINT16_MAX, "places in a head are 16 bits wide");
_Static_assert(PL_HTTP1_MAX_HEADERS + 1 < UINT8_MAX, "lines are counted in a byte");
_Static_assert(sizeof(struct pl_http1) <= 300, "ten thousand of these are idle at once");

/* Makes every later call return the same status. */
enum pl_status pl_http1_fail(struct pl_http1 *http, enum pl_status status);

/* Fills room->head from the fields that llhttp has found, and makes the checks that llhttp does
 * not. */
enum pl_status pl_http1_head_finish(struct pl_http1 *http, struct pl_error *err);

#endif
