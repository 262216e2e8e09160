/* The result of a validation as JSON text: one shape for the library and the command line.
 *
 *     plain  {"valid":false,"errors":[{"pointer":"/a","message":"…","keyword":"type",
 *                                      "line":1,"column":6}]}
 *     flag   {"valid":false}
 *     basic  the "basic" output of JSON Schema 2020-12, section 12.4.2
 *
 * An unreadable text has the same shape, with keyword null (and line and column null if it could
 * not be opened), so that a reader needs one case, not two. */
#ifndef PL_LIB_REPORT_H
#define PL_LIB_REPORT_H

#include "json/write.h"
#include "lib/locate.h"
#include "schema/schema.h"

enum pl_report_form { PL_REPORT_PLAIN, PL_REPORT_FLAG, PL_REPORT_BASIC };

/* Positions of the report's units in `text`, in the order of the units. Allocated in the arena. */
enum pl_status pl_report_locate(struct pl_arena *arena, struct pl_str text,
                                const struct pl_schema_report *report,
                                const struct pl_position **ret_positions);

/* The keyword that failed: the last step of the keyword location, still escaped. */
struct pl_str pl_report_keyword(const struct pl_schema_unit *unit);

/* Appends one object without a newline. If `file` is NULL, that member is omitted. Only the plain
 * form needs positions. Failures stay in the buffer's status. */
void pl_report_write(struct pl_buf *to, enum pl_report_form form, const char *file,
                     const struct pl_schema_report *report, const struct pl_position *positions);

/* The same for an unreadable text. */
void pl_report_write_error(struct pl_buf *to, enum pl_report_form form, const char *file,
                           const struct pl_error *err);

#endif
