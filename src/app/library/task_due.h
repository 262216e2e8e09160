/* The verbs of `parley task` that need no server. */
#ifndef PL_APP_TASK_DUE_H
#define PL_APP_TASK_DUE_H

#include "app/frame/verbs.h"
#include "service/tasks/zones.h"

/* Opens the zone of --zone; name NULL is UTC, and *ret_zone is NULL then. Prints the error unless
 * it returns PL_EXIT_OK. The caller destroys *zones in either case; it owns the zone. */
enum pl_exit pl_task_zone_open(struct pl_console *console, const char *name,
                               struct pl_zones **zones, const struct pl_tzif **ret_zone);

/* Prints what an expression means in the chosen language, and when it is due next. */
enum pl_exit pl_verb_task_next(struct pl_deed *deed);
/* Same in both languages. */
enum pl_exit pl_verb_task_explain(struct pl_deed *deed);

#endif
