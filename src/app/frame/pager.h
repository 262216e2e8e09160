/* Shows output longer than a screen in the user's pager. */
#ifndef PL_APP_PAGER_H
#define PL_APP_PAGER_H

#include "base/str.h"

/* Standard output must be a terminal. False if the text was not shown: it fits the screen, the
 * terminal is dumb, or there is no pager. PAGER names the pager, less by default; an empty PAGER or
 * "cat" disables it. */
bool pl_pager_show(struct pl_str text);

#endif
