/* Tests a restore, and lists the stored backups. */
#ifndef PL_APP_RESTORE_CHECK_H
#define PL_APP_RESTORE_CHECK_H

#include "app/frame/api.h"

/* Restores the backup to a temporary directory, opens it as the server would, reads all of it, and
 * deletes it. The data of the server is not touched. PL_EXIT_NO if it is damaged. */
enum pl_exit pl_restore_check(struct pl_api *api, const char *from);

/* Prints the backups in `dir`, oldest first. */
enum pl_exit pl_restore_list(struct pl_api *api, const char *dir);

/* Finds the newest backup in `dir` that is not later than `at` (RFC 3339, or a date, which means
 * its end in UTC). *ret_path belongs to the api. */
enum pl_exit pl_restore_find(struct pl_api *api, const char *dir, const char *at,
                             const char **ret_path);

#endif
