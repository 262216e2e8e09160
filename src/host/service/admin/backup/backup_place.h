/* Keeps a copy of the store from overwriting the store itself. */
#ifndef PL_SERVICE_ADMIN_BACKUP_PLACE_H
#define PL_SERVICE_ADMIN_BACKUP_PLACE_H

#include "io/file/outfile.h"
#include "shard/config.h"

/* PL_INVALID if the place is inside the data directory, is another name of a file in it, is one
 * of the files of the store, or is inside any server's data directory. `config` NULL: the server
 * is on another machine. */
enum pl_status pl_backup_check_place(const struct pl_server_config *config,
                                     const struct pl_outfile_place *place, struct pl_error *err);

#endif
