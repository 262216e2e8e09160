/* The schemas of request bodies and of socket frames, compiled when they are first needed. */
#ifndef PL_HTTP_REQUEST_SCHEMA_H
#define PL_HTTP_REQUEST_SCHEMA_H

#include "base/buf.h"
#include "schema/schema.h"

/* Finds a component of schemas/api.json by its name. Any thread; the schema stays until the end. */
enum pl_status pl_request_schema_get(const char *name, const struct pl_schema **ret_schema,
                                     struct pl_error *err);
/* Checks a value against the component: ret_report->is_valid, else the errors and their places, in
 * the arena. */
enum pl_status pl_request_schema_check(const char *name, struct pl_arena *arena,
                                       const struct pl_json_doc *doc,
                                       const struct pl_json_node *node, enum pl_schema_lang lang,
                                       struct pl_schema_report *ret_report, struct pl_error *err);
/* The first error, as a sentence. */
struct pl_str pl_request_schema_says(const struct pl_schema_report *report);
/* Adds all errors to a problem that was just written, as its `errors`. */
void pl_request_schema_add_places(const struct pl_schema_report *report, struct pl_buf *to);
/* Called once, at the end of the process. */
void pl_request_schemas_free(void);

#endif
