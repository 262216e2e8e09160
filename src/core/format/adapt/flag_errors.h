/* The failure of a tool between formats that have a flag for it and formats that have none.
 *
 * Without a flag the result says it: {"status":"error","error_type":…,"message":…} (seed 001, A.2.2;
 * conv/tool_error.h). To such a format a flagged result gets that form, with the type ToolError, and
 * from it such a result sets the flag; one of that type is its message again. Nothing is lost either way, so nothing is reported. */
#ifndef PL_FORMAT_FLAG_ERRORS_H
#define PL_FORMAT_FLAG_ERRORS_H

#include "format/format.h"

/* Between reading and repairing, on the way to another format. Out of memory is in conv->status. */
void pl_flag_errors(struct pl_conv *conv, const struct pl_format_task *task);

#endif
