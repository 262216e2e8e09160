/* Running another program and waiting for it. No shell is involved: every argument arrives
 * unchanged. */
#ifndef PL_IO_PROCESS_H
#define PL_IO_PROCESS_H

#include "base/buf.h"

struct pl_process {
    const char *const *argv; /* borrowed; argv[0] is searched in PATH; ends with NULL */
    int64_t limit_ms;        /* after this it is killed: PL_IO; 0: no limit */
    uint64_t max_memory;     /* bytes of address space, where the system supports it; 0: no limit */
    struct pl_buf *out;      /* its output is appended, about 16 KiB at most; NULL: discarded */
    struct pl_buf *errors;   /* the same for standard error */
    int code;                /* its exit code, or 128 + the signal that ended it */
};
/* Runs a program with nothing on standard input, and waits for it. PL_NOT_FOUND: there is no such
 * program; PL_IO; PL_NOMEM. */
enum pl_status pl_process_run(struct pl_process *process, struct pl_error *err);

/* Runs argv[0] with our own standard input, output and error, such as an editor at the terminal.
 * Meanwhile Ctrl-C reaches it and not us. */
enum pl_status pl_process_run_here(const char *const *argv, int *ret_code, struct pl_error *err);
/* The same, with `input` on its standard input, such as a pager. It need not read all of it. */
enum pl_status pl_process_feed_here(const char *const *argv, struct pl_str input, int *ret_code,
                                    struct pl_error *err);

/* A new directory for this process alone, below TMPDIR or /tmp. `ret_path` has PATH_MAX bytes. */
enum pl_status pl_temp_dir_make(char *ret_path, struct pl_error *err);
/* Removes the directory and its files. It must contain no directories. */
void pl_temp_dir_remove(const char *path);

#endif
