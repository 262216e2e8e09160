/* The verbs of `parley task` that need no server. */
#ifndef PL_APP_TASK_DUE_H
#define PL_APP_TASK_DUE_H

#include "app/frame/verbs.h"
#include "service/tasks/zones.h"

/* The zone of --zone; NULL is UTC, and so is its *ret_zone. After a failure, the error has been
 * explained. The caller destroys *zones in any case; the zone belongs to it. */
enum pl_exit pl_task_zone_open(struct pl_console *console, const char *name,
                               struct pl_zones **zones, const struct pl_tzif **ret_zone);

/* What an expression means, in the language asked for, and when it is due next. */
enum pl_exit pl_verb_task_next(struct pl_deed *deed);
/* The same in both languages. */
enum pl_exit pl_verb_task_explain(struct pl_deed *deed);

#endif
