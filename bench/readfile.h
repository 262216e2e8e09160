/* Reads a whole file into memory before the clock starts. */
#ifndef BENCH_READFILE_H
#define BENCH_READFILE_H

#include "base/buf.h"

/* Appends the bytes of the file. PL_UNREADABLE, PL_NOMEM or PL_LIMIT, with a message in *err (may
 * be NULL). */
enum pl_status bench_read_file(const char *path, struct pl_buf *to, struct pl_error *err);

#endif
