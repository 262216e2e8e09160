/* Output that is more than a screen, shown by the pager of the user. */
#ifndef PL_APP_PAGER_H
#define PL_APP_PAGER_H

#include "base/str.h"

/* Standard output is a terminal. False: the text fits the screen, the terminal is a dumb one, or
 * there is no pager; it has not been shown. PAGER names one, and an empty PAGER or "cat" none; less
 * by default. */
bool pl_pager_show(struct pl_str text);

#endif
