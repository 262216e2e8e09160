/* The error of a tool, as the model gets it (seed 001, A.2.2): a JSON object
 * {"status":"error","error_type":…,"message":…}, so that the model can decide whether to try again.
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

/* What an object of FLAGGED begins with, up to its message. */
#define PL_FLAGGED_HEAD "{\"status\":\"error\",\"error_type\":\"ToolError\",\"message\":\""

/* Appends the object. */
void pl_tool_error_write(struct pl_buf *to, enum pl_tool_error error, struct pl_str message);

/* What a tool that failed said, `result` of a document, as such an object: a text becomes the
 * message; an object gets the members it lacks, and keeps its own; any other JSON is the message as
 * text. PL_NOMEM is the only failure. */
enum pl_status pl_tool_error_wrap(struct pl_buf *to, enum pl_tool_error error,
                                  const struct pl_json_doc *doc, const struct pl_json_node *result);

/* Whether a value is such an object: status is "error". */
bool pl_tool_error_is(const struct pl_json_doc *doc, const struct pl_json_node *value);
/* The message of an object that says no more than that a flag was set, as a conversion writes it:
 * exactly what pl_tool_error_write makes of FLAGGED. NULL: it is another. */
const struct pl_json_node *pl_tool_error_flagged(const struct pl_json_doc *doc,
                                                 const struct pl_json_node *value);
/* The same of a text that may be one; false when out of memory, which *status then says. */
bool pl_tool_error_is_text(struct pl_str text, enum pl_status *status);
/* Whether a text may be one by the spelling of its JSON string, given without its quotes, in which
 * neither \u nor \/ stands for a character: a quick look, which never misses one. */
bool pl_tool_error_is_likely(struct pl_str raw);

#endif
