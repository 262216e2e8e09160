/* Where a copy of the store must not be written: over the store itself. */
#ifndef PL_SERVICE_ADMIN_BACKUP_PLACE_H
#define PL_SERVICE_ADMIN_BACKUP_PLACE_H

#include "io/file/outfile.h"
#include "shard/config.h"

/* PL_INVALID when the place is inside the data directory, is another name of a file in it, or is
 * one of the files of the store; so is any directory that a server keeps its data in, whoever's it
 * is. `config` NULL: the server is elsewhere. */
enum pl_status pl_backup_check_place(const struct pl_server_config *config,
                                     const struct pl_outfile_place *place, struct pl_error *err);

#endif
