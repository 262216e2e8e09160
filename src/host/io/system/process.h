/* Running another program and waiting for it. No shell is involved: every word of argv arrives as
 * it is. */
#ifndef PL_IO_PROCESS_H
#define PL_IO_PROCESS_H

#include "base/buf.h"

/* Runs argv[0], looked for in PATH, with nothing on standard input and its standard output thrown
 * away. What it says on standard error is appended to *errors, at most its first 16 KiB. The exit
 * code is *ret_code (128 + the signal's number when a signal ended it). PL_NOT_FOUND: there is no
 * such program; PL_IO; PL_NOMEM. */
enum pl_status pl_process_run(const char *const *argv, struct pl_buf *errors, int *ret_code,
                              struct pl_error *err);

/* The same with our own standard input, output and error: an editor at the terminal. Meanwhile
 * Ctrl-C is for it and not for us. */
enum pl_status pl_process_run_here(const char *const *argv, int *ret_code, struct pl_error *err);

/* A new directory for this process alone, below TMPDIR or /tmp. `ret_path` has PATH_MAX bytes. */
enum pl_status pl_temp_dir_make(char *ret_path, struct pl_error *err);
/* Removes the directory and the files in it; there are no directories in it. */
void pl_temp_dir_remove(const char *path);

#endif
