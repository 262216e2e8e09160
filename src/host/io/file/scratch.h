/* An unnamed file for data that is too large for memory. It disappears when it is closed, however
 * the process ends. */
#ifndef PL_IO_SCRATCH_H
#define PL_IO_SCRATCH_H

#include "base/status.h"
#include "base/str.h"

/* Opened for reading and writing, for this user only; -1 on failure. */
int pl_scratch_open(const char *dir);
/* Appends all bytes. Blocks: call it on a worker. PL_IO: the disk is full or broken. */
enum pl_status pl_scratch_write(int fd, struct pl_str bytes);

#endif
