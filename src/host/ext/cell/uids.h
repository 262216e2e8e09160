/* User ids for cells, if the server runs as root: each cell has one that no other cell has at
 * the same time. They belong to the process; any thread. */
#ifndef PL_EXT_CELL_UIDS_H
#define PL_EXT_CELL_UIDS_H

#include "base/status.h"

#include <sys/types.h>

#define PL_CELL_UIDS     "400000-400999" /* by default: a range that no distribution assigns */
#define PL_CELL_MAX_UIDS 4096

/* "FIRST-LAST", or one number. PL_USAGE: err has the error: not a number, root, too many. */
enum pl_status pl_cell_uids_read(const char *text, uid_t *ret_first, size_t *ret_n,
                                 struct pl_error *err);
/* Sets the range; at the start of a server. */
void pl_cell_uids_set(uid_t first, size_t n);
/* The first one, for a probe. */
uid_t pl_cell_uids_first(void);

/* Takes a free one; 0: all are in use. */
uid_t pl_cell_uid_take(void);
/* Releases it. Accepts 0, and an id that is no longer in the range. */
void pl_cell_uid_give(uid_t uid);

#endif
