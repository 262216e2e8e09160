/* Generation settings and tool definitions of the project's own formats: `settings` and `tools` of
 * harmony, `config` of structured-chat. The names are those of Chat Completions; seed 001 is a
 * superset of it. */
#ifndef PL_FORMAT_OWN_SETTINGS_H
#define PL_FORMAT_OWN_SETTINGS_H

#include "format/writer.h"

/* Reads the settings from an object (may be NULL); a setting that is already set stays. */
void pl_own_settings_read(struct pl_conv *conv, const struct pl_json_node *object);
/* An array of {"type":"function","function":{…}}, {"type":"custom","custom":{…}}, or of functions
 * without the wrapping. */
void pl_own_tools_read(struct pl_conv *conv, const struct pl_json_node *array);

/* Whether there is anything to write. */
bool pl_own_settings_are_set(const struct pl_conv *conv);
bool pl_own_tools_are_set(const struct pl_conv *conv);

/* Writes the members into an open object. */
void pl_own_settings_write(struct pl_writer *w);
/* Writes the array. Hosted tools have no place in it. */
void pl_own_tools_write(struct pl_writer *w);

#endif
