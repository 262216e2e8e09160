/* The scripts that demo/agent knows by itself (demo_script.h). */
#ifndef PL_MODEL_DEMO_TOUR_H
#define PL_MODEL_DEMO_TOUR_H

#include "base/str.h"

/* Whether the message is "/demo NAME"; *ret_script is the failure of this name, or says which there are. */
bool pl_demo_tour_find(struct pl_str text, const char **ret_script);
/* Everything a session can show. */
const char *pl_demo_tour_script(bool is_chinese);

#endif
