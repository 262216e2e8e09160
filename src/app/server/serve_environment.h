/* The variables of the environment that begin with PARLEY_: a misspelt one is a mistake, because the
 * setting that was meant would silently keep its default. */
#ifndef PL_APP_SERVE_ENVIRONMENT_H
#define PL_APP_SERVE_ENVIRONMENT_H

#include "base/status.h"

#include <stddef.h>

/* name_at(i) is the i-th setting, NULL after the last. PL_USAGE for a variable that is not a
 * setting but resembles one, with the name that was probably meant. Other variables are ignored:
 * clusters make variables of their own from the name of a service. */
enum pl_status pl_serve_environment_check(const char *(*name_at)(size_t i), struct pl_error *err);

#endif
