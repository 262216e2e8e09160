/* A quick check of a short JSON text, such as the arguments of a tool call, without building a
 * tree. */
#ifndef PL_JSON_PARSE_SURELY_H
#define PL_JSON_PARSE_SURELY_H

#include "base/str.h"

/* True: the text, which is valid UTF-8, is one object that pl_json_parse() accepts with its strict
 * defaults. False: not known; parse it. Common texts are recognised; long, deep or unusual ones are
 * not. */
bool pl_json_is_surely_object(struct pl_str text);

#endif
