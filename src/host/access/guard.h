/* Checks of keys, Host and Origin, in the form that the admission of requests calls. */
#ifndef PL_ACCESS_GUARD_H
#define PL_ACCESS_GUARD_H

#include "http/guard.h"

extern const struct pl_guard pl_access_guard;

#endif
