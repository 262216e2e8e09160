/* User ids for cells, where the server runs as root: each cell has one that no other cell has at the
 * time. They belong to the process; any thread. */
#ifndef PL_EXT_CELL_UIDS_H
#define PL_EXT_CELL_UIDS_H

#include "base/status.h"

#include <sys/types.h>

#define PL_CELL_UIDS     "400000-400999" /* by default: a range that no distribution gives to anybody */
#define PL_CELL_MAX_UIDS 4096

/* "FIRST-LAST", or one number. PL_USAGE says what is wrong: no number, root, too many. */
enum pl_status pl_cell_uids_read(const char *text, uid_t *ret_first, size_t *ret_n,
                                 struct pl_error *err);
/* From now on these; at the start of a server. */
void pl_cell_uids_set(uid_t first, size_t n);
/* The first one, for a probe. */
uid_t pl_cell_uids_first(void);

/* One that is free; 0: all are in use. */
uid_t pl_cell_uid_take(void);
/* Accepts 0, and one that is not of the range any more. */
void pl_cell_uid_give(uid_t uid);

#endif
