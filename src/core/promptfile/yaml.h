/* YAML 1.2 for prompts: any JSON value as YAML that people like to read, and back.
 *
 * Written: block style, texts of several lines as literal blocks, everything doubtful in double
 * quotes, numbers as they are spelled. Read (by libfyaml): one document; its values are those of
 * the JSON schema of YAML, so "yes" is a text. Aliases are refused, since a few of them can stand
 * for a document of any size; so are tags other than !!str. */
#ifndef PL_PROMPTFILE_YAML_H
#define PL_PROMPTFILE_YAML_H

#include "base/buf.h"
#include "json/json.h"

/* Appends a document; a newline ends it. The root is an object. Failures stick to the buffer. */
void pl_yaml_write(struct pl_buf *to, const struct pl_json_doc *doc);

/* Appends JSON. PL_SYNTAX: not YAML, or not what JSON can say; err has the place. */
enum pl_status pl_yaml_read(struct pl_buf *to, struct pl_str text, struct pl_error *err);

#endif
