/* Where the values of a document are in what was made of it, as pairs of JSON Pointers: texts and numbers are found again by
 * what they say, in their order, and the objects around them go with the first of theirs that was found. */
#ifndef PL_DOCUMENT_PLACES_H
#define PL_DOCUMENT_PLACES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

/* Appends [{"from","to"}, …] in the order of the source. Both are JSON; anything else gives []. PL_NOMEM. */
enum pl_status pl_places_write(struct pl_arena *arena, struct pl_str source, struct pl_str target,
                               struct pl_buf *to);

#endif
