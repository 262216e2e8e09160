/* Built-in scripts of demo/agent (demo_script.h). */
#ifndef PL_MODEL_DEMO_TOUR_H
#define PL_MODEL_DEMO_TOUR_H

#include "base/str.h"

/* True if the message is "/demo NAME". *ret_script is the failure script of that name, or a list of
 * the names. */
bool pl_demo_tour_find(struct pl_str text, const char **ret_script);
/* A script with everything that a session can show. */
const char *pl_demo_tour_script(bool is_chinese);

#endif
