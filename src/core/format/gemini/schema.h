/* Gemini's schema dialect (a subset of OpenAPI 3.0) and JSON Schema 2020-12, both ways.
 *
 * The dialect has upper-case types, `nullable` beside a single type, int64 limits that may be
 * spelled as strings, and `propertyOrdering`. A tool or an output schema in it is marked
 * (is_openapi_schema, is_openapi_output); writers of other formats translate it with these
 * functions.
 */
#ifndef PL_FORMAT_GEMINI_SCHEMA_H
#define PL_FORMAT_GEMINI_SCHEMA_H

#include "format/writer.h"

/* Writes a schema of the dialect as JSON Schema, piece by piece, so that every string keeps its
 * link to the source. Keywords that JSON Schema lacks get no fate. */
void pl_gemini_schema_write_json(struct pl_writer *w, struct pl_val schema);

/* The same for a schema in either dialect: JSON Schema is copied. For writers of formats that hold
 * a schema as JSON:
 *     pl_w_key(w, "parameters");
 *     pl_gemini_schema_write_any(w, tool->schema, tool->is_openapi_schema); */
void pl_gemini_schema_write_any(struct pl_writer *w, struct pl_val schema, bool is_openapi);
/* Key and schema, if there is one. */
void pl_gemini_schema_opt_any(struct pl_writer *w, const char *key, struct pl_val schema,
                              bool is_openapi);

/* The same as a PL_VAL_JSON in the arena, for formats that hold a schema as text. Marks the source
 * as known. False when out of memory (conv->status). */
bool pl_gemini_schema_to_json(struct pl_conv *conv, struct pl_val schema, struct pl_val *ret_json);

/* Writes a JSON Schema (a value of the source) in the dialect: types in upper case, null as
 * `nullable`, `const` as an enum of one, `oneOf` as `anyOf`, local references inlined. Keywords
 * that the dialect lacks get no fate; approximations are reported. */
void pl_gemini_schema_write_dialect(struct pl_writer *w, struct pl_val schema);

#endif
