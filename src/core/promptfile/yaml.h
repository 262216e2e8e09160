/* YAML 1.2 for prompts: any JSON value as readable YAML, and back.
 *
 * Written: block style, texts of several lines as literal blocks, ambiguous scalars in double
 * quotes, numbers with their spelling. Read (by libfyaml): one document; its values follow the JSON
 * schema of YAML, so "yes" is a text. Aliases are refused, since a few of them can expand to a
 * document of any size; so are tags other than !!str. */
#ifndef PL_PROMPTFILE_YAML_H
#define PL_PROMPTFILE_YAML_H

#include "base/buf.h"
#include "json/json.h"

/* Appends a document that ends with a newline. The root is an object. Failures stick to the
 * buffer. */
void pl_yaml_write(struct pl_buf *to, const struct pl_json_doc *doc);

/* Appends JSON. PL_SYNTAX: not YAML, or YAML that JSON cannot express; err has the position. */
enum pl_status pl_yaml_read(struct pl_buf *to, struct pl_str text, struct pl_error *err);

#endif
