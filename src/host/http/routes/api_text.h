/* schemas/api.json, embedded: the components of the API's description. */
#ifndef PL_HTTP_API_TEXT_H
#define PL_HTTP_API_TEXT_H

#include "base/str.h"

extern const struct pl_str pl_api_schemas;

#endif
