/* Names of tools, for vendors that accept only letters, digits, _ and - in them. */
#ifndef PL_FORMAT_TOOL_NAME_H
#define PL_FORMAT_TOOL_NAME_H

#include "format/writer.h"

/* Writes the name as a JSON string: unchanged if it has 1 to max_len of these characters. Otherwise
 * every other byte becomes _, the name is cut, and a hash of the original is appended to keep names
 * distinct. This is reported as approximated. The same name always gives the same result. */
void pl_tool_name_write(struct pl_writer *w, struct pl_val name, size_t max_len);

/* Whether the name stays unchanged. */
bool pl_tool_name_is_accepted(struct pl_str name, size_t max_len);

/* The same as a text: a view of the name, or arena memory. */
struct pl_str pl_tool_name(struct pl_conv *conv, struct pl_val name, size_t max_len);
/* The same for a text; returns the text itself if it is acceptable. */
struct pl_str pl_tool_name_of(struct pl_conv *conv, struct pl_str given, size_t max_len);
/* The same for a text that is not acceptable for another reason. */
struct pl_str pl_tool_name_made(struct pl_conv *conv, struct pl_str given, size_t max_len);

#endif
