/* Maps the values of a document to those of a document made from it, as pairs of JSON Pointers.
 * Strings are matched by their text, in order; an object is matched with its first matched
 * value. */
#ifndef PL_DOCUMENT_PLACES_H
#define PL_DOCUMENT_PLACES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

/* Appends [{"from","to"}, …] in the order of the source. If one of the two is not JSON, appends
 * []. PL_NOMEM. */
enum pl_status pl_places_write(struct pl_arena *arena, struct pl_str source, struct pl_str target,
                               struct pl_buf *to);

#endif
