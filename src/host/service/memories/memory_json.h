/* Memories as JSON (seed 003). */
#ifndef PL_SERVICE_MEMORIES_MEMORY_JSON_H
#define PL_SERVICE_MEMORIES_MEMORY_JSON_H

#include "json/json.h"
#include "json/write.h"
#include "store/library.h"

/* Writes the Memory object; `has_score`: with the score of a search. */
void pl_memory_write(struct pl_json_out *out, const struct pl_memory_row *memory, bool has_score);

#endif
