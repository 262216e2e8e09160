/* The embedded meta-schemas of the dialect: always available to $ref and $schema, never fetched. */
#ifndef PL_SCHEMA_META_H
#define PL_SCHEMA_META_H

#include "schema/schema.h"

extern const struct pl_schema_source pl_schema_metas[];
extern const size_t pl_schema_n_metas;

#define PL_SCHEMA_DIALECT "https://json-schema.org/draft/2020-12/schema"
#define PL_SCHEMA_VOCAB   "https://json-schema.org/draft/2020-12/vocab/"

#endif
