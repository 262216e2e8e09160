/* Chinese messages for JSON syntax errors. */
#ifndef PL_JSON_ERROR_ZH_H
#define PL_JSON_ERROR_ZH_H

#include "base/status.h"

/* Translates the parser's error message into Chinese; any other message stays as it is. */
void pl_json_error_in_chinese(struct pl_error *err);

#endif
