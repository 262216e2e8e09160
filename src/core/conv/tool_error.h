/* The error of a tool, as the model gets it (seed 001, A.2.2): a JSON object
 * {"status":"error","error_type":…,"message":…}. The model can then decide whether to try again.
 * Sessions, tools and conversions make it here, with the error types of one table. */
#ifndef PL_CONV_TOOL_ERROR_H
#define PL_CONV_TOOL_ERROR_H

#include "base/buf.h"
#include "json/json.h"

/* X(name, error_type) */
#define PL_TOOL_ERROR_TABLE(X)                                                                     \
    X(FAILED, "ToolFailed")            /* the tool itself says so */                               \
    X(FLAGGED, "ToolError")            /* a flag of another format says so, and no more */         \
    X(ARGUMENTS, "InvalidArguments")   /* no JSON object, or not what the schema wants */          \
    X(UNKNOWN_TOOL, "UnknownTool")     /* there is no tool of this name */                         \
    X(NOT_AVAILABLE, "NotAvailable")   /* there is one, but not now: planning, memory off */       \
    X(DENIED, "PermissionDenied")      /* a person said no */                                      \
    X(INTERRUPTED, "Interrupted")      /* the server stopped; nobody knows how far it got */       \
    X(TIMEOUT, "Timeout")              /* a time limit */                                          \
    X(LIMIT, "LimitExceeded")          /* too many calls, or agents too deep */                    \
    X(TOO_LARGE, "ResultTooLarge")     /* a result that cannot be kept */                          \
    X(INVALID_RESULT, "InvalidResult") /* a result that is not
                                        * JSON */                                     \
    X(AGENT_FAILED, "AgentFailed")     /* the loop of an Agent call */                             \
    X(MEMORY, "OutOfMemory")           /* of the server */                                         \
    X(MISSING, "MissingResult")        /* the call was never answered */

enum pl_tool_error {
#define X(name, text) PL_TOOL_ERROR_##name,
    PL_TOOL_ERROR_TABLE(X)
#undef X
        PL_TOOL_ERROR_COUNT,
};
const char *pl_tool_error_text(enum pl_tool_error error);

/* The start of an object of FLAGGED, up to its message. */
#define PL_FLAGGED_HEAD "{\"status\":\"error\",\"error_type\":\"ToolError\",\"message\":\""

/* Appends the object. */
void pl_tool_error_write(struct pl_buf *to, enum pl_tool_error error, struct pl_str message);

/* Makes such an object from `result`, the output of a failed tool. A text becomes the message; an
 * object keeps its members and gets the missing ones; any other JSON becomes the message as text.
 * PL_NOMEM is the only failure. */
enum pl_status pl_tool_error_wrap(struct pl_buf *to, enum pl_tool_error error,
                                  const struct pl_json_doc *doc, const struct pl_json_node *result);

/* Whether a value is such an object: status is "error". */
bool pl_tool_error_is(const struct pl_json_doc *doc, const struct pl_json_node *value);
/* The message of an object that only says that a flag was set: exactly what pl_tool_error_write
 * makes of FLAGGED. NULL: it is something else. */
const struct pl_json_node *pl_tool_error_flagged(const struct pl_json_doc *doc,
                                                 const struct pl_json_node *value);
/* The same for a text; false when out of memory, with *status set. */
bool pl_tool_error_is_text(struct pl_str text, enum pl_status *status);
/* A quick check of a text by the spelling of its JSON string, given without quotes and without \u
 * and \/ escapes. It never misses an error object. */
bool pl_tool_error_is_likely(struct pl_str raw);

#endif
