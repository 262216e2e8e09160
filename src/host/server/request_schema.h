/* The schemas of request bodies, compiled when they are first needed. */
#ifndef PL_SERVER_REQUEST_SCHEMA_H
#define PL_SERVER_REQUEST_SCHEMA_H

#include "schema/schema.h"

/* A component of schemas/api.json by its name. Any thread; the schema stays until the end. */
enum pl_status pl_request_schema_get(const char *name, const struct pl_schema **ret_schema,
                                     struct pl_error *err);
/* At the very end. */
void pl_request_schemas_free(void);

#endif
