/* Tool failures between formats that have a flag for them and formats that have none.
 *
 * A format without a flag has an error object as the result:
 * {"status":"error","error_type":…,"message":…} (seed 001, A.2.2; conv/tool_error.h). For such a
 * format, a flagged result becomes this object, with the type ToolError. In the other direction,
 * the object sets the flag, and an object of that type becomes its message again. Nothing is lost
 * either way, so nothing is reported. */
#ifndef PL_FORMAT_FLAG_ERRORS_H
#define PL_FORMAT_FLAG_ERRORS_H

#include "format/format.h"

/* Call between reading and repairing, for another format. Running out of memory is in
 * conv->status. */
void pl_flag_errors(struct pl_conv *conv, const struct pl_conversion *conversion);

#endif
