/* Memories as JSON (seed 003), and the members of a request as a row. */
#ifndef PL_SERVER_MEMORY_JSON_H
#define PL_SERVER_MEMORY_JSON_H

#include "json/json.h"
#include "json/write.h"
#include "store/library.h"

/* The Memory object; `has_score`: as a search found it. */
void pl_memory_write(struct pl_json_out *out, const struct pl_memory_row *memory, bool has_score);

/* Sets what `object` (held to its schema) names, null included, and leaves the rest as it is;
 * strings are the document's or the arena's. PL_INVALID: a content that says nothing; err points at
 * it, behind `pointer`. */
enum pl_status pl_memory_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *pointer,
                              struct pl_memory_row *memory, struct pl_error *err);
/* Sets the terms it is found by: those of content, topic and skill. Memory of the arena. */
enum pl_status pl_memory_set_terms(struct pl_arena *arena, struct pl_memory_row *memory);

#endif
