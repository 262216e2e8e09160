/* Errors of the API: RFC 9457, with a stable code. */
#ifndef PL_HTTP_REPLY_PROBLEM_H
#define PL_HTTP_REPLY_PROBLEM_H

#include "base/buf.h"
#include "base/status.h"

/* X(name, code, HTTP status, retryable, title) */
#define PL_PROBLEM_TABLE(X)                                                                        \
    X(INVALID_REQUEST, "invalid_request", 400, false, "The request breaks a rule")                 \
    X(UNAUTHORIZED, "unauthorized", 401, false, "A valid key is needed")                           \
    X(FORBIDDEN, "forbidden", 403, false, "This is not allowed")                                   \
    X(NOT_FOUND, "not_found", 404, false, "There is no such thing")                                \
    X(METHOD_NOT_ALLOWED, "method_not_allowed", 405, false, "This method is not supported here")   \
    X(CONFLICT, "conflict", 409, false, "It conflicts with an earlier change")                     \
    X(SESSION_BUSY, "session_busy", 409, true, "The session is running")                           \
    X(REQUEST_RUNNING, "request_running", 409, true, "The same request is still running")          \
    X(QUESTION_PENDING, "question_pending", 409, false, "A question is open")                      \
    X(QUESTION_NOT_PENDING, "question_not_pending", 409, false, "There is no such open question")  \
    X(POSITION_UNRECOVERABLE, "position_unrecoverable", 410, false,                                \
      "That position is no longer "                                                                \
      "available")                                                                                 \
    X(PRECONDITION_FAILED, "precondition_failed", 412, false, "Somebody else changed it first")    \
    X(PAYLOAD_TOO_LARGE, "payload_too_large", 413, false, "The body is too large")                 \
    X(URI_TOO_LONG, "uri_too_long", 414, false, "The target is too long")                          \
    X(UNSUPPORTED_TYPE, "unsupported_media_type", 415, false,                                      \
      "This content type is not "                                                                  \
      "supported")                                                                                 \
    X(RANGE, "range_not_satisfiable", 416, false, "There are no such bytes")                       \
    X(MISDIRECTED, "misdirected_request", 421, false, "This host is not served here")              \
    X(IDEMPOTENCY_MISMATCH, "idempotency_mismatch", 422, false,                                    \
      "The key was used for another "                                                              \
      "request")                                                                                   \
    X(UPGRADE_REQUIRED, "upgrade_required", 426, false, "Another protocol is required")            \
    X(HEADERS_TOO_LARGE, "headers_too_large", 431, false, "The head of the request is too large")  \
    X(RATE_LIMITED, "rate_limited", 429, true, "Too many requests")                                \
    X(TIMEOUT, "timeout", 408, true, "The request was too slow")                                   \
    X(INTERNAL, "internal", 500, false, "Internal error")                                          \
    X(UPSTREAM_FAILED, "upstream_failed", 502, true, "Another server failed")                      \
    X(OVERLOADED, "overloaded", 503, true, "The service is unavailable")                           \
    X(STORAGE_FULL, "storage_full", 507, true, "There is not enough storage")

enum pl_problem {
#define X(name, code, http, retry, title) PL_PROBLEM_##name,
    PL_PROBLEM_TABLE(X)
#undef X
        PL_PROBLEM_COUNT,
};

struct pl_problem_info {
    const char *code;
    int http_status;
    bool is_retryable;
    const char *title;
};
const struct pl_problem_info *pl_problem_info(enum pl_problem problem);

/* Seconds for Retry-After with this HTTP status; 0: no such header. Every 429, 503 and 507 has one,
 * everywhere. */
int pl_problem_retry_after_s(int http_status);

/* Maps a status from core or the store to a problem for the client. */
enum pl_problem pl_problem_of(enum pl_status status);

/* Writes application/problem+json; err (may be NULL) gives detail and errors[].pointer. Title and
 * details are in Chinese if wanted and known. */
void pl_problem_write(enum pl_problem problem, const char *detail, const struct pl_error *err,
                      const char *request_id, bool is_chinese, struct pl_buf *to);

#endif
