/* Environment variables that begin with PARLEY_. A misspelt one is an error, because the intended
 * setting would silently keep its default. */
#ifndef PL_APP_SERVE_ENVIRONMENT_H
#define PL_APP_SERVE_ENVIRONMENT_H

#include "base/status.h"

#include <stddef.h>

/* name_at(i) is the i-th setting, NULL after the last. PL_USAGE for a variable that is not a
 * setting but resembles one; the message suggests the name. Other variables are ignored: clusters
 * derive variables from service names. */
enum pl_status pl_serve_environment_check(const char *(*name_at)(size_t i), struct pl_error *err);

#endif
