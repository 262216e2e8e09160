/* The part of RFC 3986 that a schema needs: resolving a reference against a base, and fragments. */
#ifndef PL_SCHEMA_URI_H
#define PL_SCHEMA_URI_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

/* Resolves `ref` against `base` (section 5.2). *ret_uri has no fragment; *ret_fragment is the text
 * after the '#', still percent-encoded, or empty. Both are arena memory or views of the arguments.
 * PL_NOMEM is the only failure. */
enum pl_status pl_uri_resolve(struct pl_arena *arena, struct pl_str base, struct pl_str ref,
                              struct pl_str *ret_uri, struct pl_str *ret_fragment);

/* %41 becomes A; a stray % stays. A view of `text` if nothing is encoded. */
enum pl_status pl_uri_decode(struct pl_arena *arena, struct pl_str text, struct pl_str *ret_text);

/* Appends `text`; percent-encodes characters that a fragment must not contain. */
void pl_uri_add_fragment(struct pl_buf *to, struct pl_str text);

#endif
