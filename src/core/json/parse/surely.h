/* A quick look at a short JSON text, such as the arguments of a tool call: no tree is made. */
#ifndef PL_JSON_PARSE_SURELY_H
#define PL_JSON_PARSE_SURELY_H

#include "base/str.h"

/* True: the text, which is valid UTF-8, is one object that pl_json_parse() takes with its strict
 * defaults. False: it may be one or not, and parsing tells. Common texts are recognised; whatever is
 * long, deep or unusual is not. */
bool pl_json_is_surely_object(struct pl_str text);

#endif
