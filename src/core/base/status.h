/* Every fallible function returns a pl_status. This table maps each status to the outside: the exit
 * code of the command line, the HTTP status, the extension error, and whether to retry. */
#ifndef PL_BASE_STATUS_H
#define PL_BASE_STATUS_H

#include "base/str.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, exit code, HTTP status, extension error code, retryable, text) */
#define PL_STATUS_TABLE(X)                                                                         \
    X(OK, 0, 200, "", false, "ok")                                                                 \
    X(NOMEM, 4, 503, "internal", true, "out of memory")                                            \
    X(LIMIT, 3, 413, "invalid_request", false, "a limit was exceeded")                             \
    X(SYNTAX, 3, 400, "invalid_request", false, "malformed input")                                 \
    X(INVALID, 1, 422, "invalid_request", false, "the input breaks a rule")                        \
    X(USAGE, 2, 400, "invalid_request", false, "wrong usage")                                      \
    X(NOT_FOUND, 1, 404, "invalid_request", false, "not found")                                    \
    X(CONFLICT, 1, 409, "invalid_request", false, "conflicts with an earlier change")              \
    X(UNREADABLE, 3, 400, "io", false, "the input cannot be read")                                 \
    X(IO, 4, 500, "io", true, "input or output failed")                                            \
    X(INTERNAL, 4, 500, "internal", false, "internal error")

enum [[nodiscard]] pl_status{
#define X(name, exit, http, ext, retry, text) PL_##name,
    PL_STATUS_TABLE(X)
#undef X
        PL_STATUS_COUNT,
};

struct pl_status_info {
    const char *name;
    int exit_code;
    int http_status;
    const char *ext_error;
    bool is_retryable;
    const char *text;
};

/* Never NULL: an unknown code is reported as PL_INTERNAL. */
const struct pl_status_info *pl_status_info(enum pl_status status);

/* Details of a failure, filled in where it happens. Fixed size, so that reporting never allocates;
 * longer text is cut at a character boundary and ends in "…". */
struct pl_error {
    enum pl_status status;
    bool has_position;   /* offset, line, column and pointer are set */
    size_t offset;       /* bytes from the start of the document */
    size_t line, column; /* from 1; the column counts code points */
    char pointer[256];   /* RFC 6901, into the document that was read */
    char message[512];   /* the error and the remedy, one sentence, no position */
};

/* Fills *err (which may be NULL) and returns `status`, so a caller can write `return pl_fail(…)`.
 */
enum pl_status pl_fail(struct pl_error *err, enum pl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the JSON Pointer of *err (which may be NULL), for input without line and column. */
void pl_error_point(struct pl_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets offset, line and column of *err (which may be NULL) from a byte offset into `text`. */
void pl_error_locate(struct pl_error *err, struct pl_str text, size_t offset);

#endif
