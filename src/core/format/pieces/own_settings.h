/* Generation settings and tool definitions as the project's own formats spell them: `settings` and
 * `tools` of harmony, `config` of structured-chat. The names are those of Chat Completions, of
 * which seed 001 is a superset. */
#ifndef PL_FORMAT_OWN_SETTINGS_H
#define PL_FORMAT_OWN_SETTINGS_H

#include "format/writer.h"

/* Takes what it knows from an object (NULL: nothing); a setting that is set already stays. */
void pl_own_settings_read(struct pl_conv *conv, const struct pl_json_node *object);
/* An array of {"type":"function","function":{…}}, {"type":"custom","custom":{…}}, or of functions
 * without the wrapping. */
void pl_own_tools_read(struct pl_conv *conv, const struct pl_json_node *array);

/* Whether there is anything to write. */
bool pl_own_settings_are_set(const struct pl_conv *conv);
bool pl_own_tools_are_set(const struct pl_conv *conv);

/* The members, into an object that is open. */
void pl_own_settings_write(struct pl_writer *w);
/* The array. Tools that run at a vendor have no place in it. */
void pl_own_tools_write(struct pl_writer *w);

#endif
