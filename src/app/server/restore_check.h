/* The drill of a restore, and the backups that are stored. */
#ifndef PL_APP_RESTORE_CHECK_H
#define PL_APP_RESTORE_CHECK_H

#include "app/frame/api.h"

/* Restores the backup to a directory of its own, opens it as the server would, reads all of it, and
 * deletes it again. The data of the server is not touched. PL_EXIT_NO: it is damaged. */
enum pl_exit pl_restore_check(struct pl_api *api, const char *from);

/* Prints the backups in `dir`, oldest first. */
enum pl_exit pl_restore_list(struct pl_api *api, const char *dir);

/* The newest backup in `dir` that is not later than `at` (RFC 3339, or a date, which means its end
 * in UTC); *ret_path is memory of the api. */
enum pl_exit pl_restore_find(struct pl_api *api, const char *dir, const char *at,
                             const char **ret_path);

#endif
