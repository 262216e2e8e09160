/* Makes a row from a memory that a client or a model wrote. */
#ifndef PL_AGENT_CONTEXT_MEMORY_ROW_H
#define PL_AGENT_CONTEXT_MEMORY_ROW_H

#include "json/json.h"
#include "store/library.h"

/* Sets the members that `object` (already validated) has, including null, and keeps the rest.
 * Strings are the document's or the arena's. PL_INVALID: the content is empty; err points at it,
 * after `pointer`. */
enum pl_status pl_memory_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *object, const char *pointer,
                              struct pl_memory_row *memory, struct pl_error *err);
/* Sets its search terms: those of content, topic and skill. Memory of the arena. */
enum pl_status pl_memory_set_terms(struct pl_arena *arena, struct pl_memory_row *memory);

#endif
