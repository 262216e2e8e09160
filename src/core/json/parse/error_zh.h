/* What is wrong with a JSON text, in Chinese. */
#ifndef PL_JSON_ERROR_ZH_H
#define PL_JSON_ERROR_ZH_H

#include "base/status.h"

/* Says the message of an error of the parser in Chinese; any other stays as it is. */
void pl_json_error_in_chinese(struct pl_error *err);

#endif
