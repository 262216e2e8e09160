/* A file without a name, for data that is too large for memory. It is removed when it is closed,
 * however the process ends. */
#ifndef PL_IO_SCRATCH_H
#define PL_IO_SCRATCH_H

#include "base/status.h"
#include "base/str.h"

/* Open for reading and writing, for this user only; -1: not available. */
int pl_scratch_open(const char *dir);
/* All of it, at the end. Blocking: on a worker. PL_IO: the disk is full or broken. */
enum pl_status pl_scratch_write(int fd, struct pl_str bytes);

#endif
