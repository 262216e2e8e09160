/* The layout of a JSON value: everything but its strings.
 *
 * Somebody who parses the target and writes it again keeps what a value says, but not its white
 * space, its spelling of numbers or its unusual escapes. Where a value has such things, the carry
 * keeps them as the pieces of text between its strings, and behind a piece the quirks (quirk.h) of
 * the string that follows, if it has any; with the strings of the value as it is now they make the
 * original text again. */
#ifndef PL_FORMAT_LAYOUT_H
#define PL_FORMAT_LAYOUT_H

#include "base/buf.h"
#include "json/json.h"

/* Whether the value would come back otherwise from a program that reads and writes JSON. */
bool pl_layout_is_needed(const struct pl_json_doc *doc, const struct pl_json_node *value);

/* Appends the layout, as an array. */
void pl_layout_write(struct pl_buf *to, const struct pl_json_doc *doc,
                     const struct pl_json_node *value);

/* Appends the text that `layout` (an array as above) and the strings of `value` make, which says
 * the same as the value the layout was made of. False when the two do not fit together. */
bool pl_layout_put(struct pl_buf *to, const struct pl_json_doc *layout_doc,
                   const struct pl_json_node *layout, const struct pl_json_doc *doc,
                   const struct pl_json_node *value);

#endif
