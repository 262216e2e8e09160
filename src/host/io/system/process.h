/* Running another program and waiting for it. No shell is involved: every word of argv arrives as
 * it is. */
#ifndef PL_IO_PROCESS_H
#define PL_IO_PROCESS_H

#include "base/buf.h"

struct pl_process {
    const char *const *argv; /* borrowed; argv[0] is looked for in PATH; ends with NULL */
    int64_t limit_ms;        /* then it is killed: PL_IO; 0: it has all the time it takes */
    uint64_t max_memory;     /* bytes of address space; 0: any number. Where the system has it */
    struct pl_buf *out;      /* what it prints is appended, at most 16 KiB; NULL: thrown away */
    struct pl_buf *errors;   /* the same of what it says on standard error */
    int code;                /* its exit code; 128 + the number of the signal that ended it */
};
/* Runs a program with nothing on standard input, and waits for it. PL_NOT_FOUND: there is no such
 * program; PL_IO; PL_NOMEM. */
enum pl_status pl_process_run(struct pl_process *process, struct pl_error *err);

/* Runs argv[0] with our own standard input, output and error: an editor at the terminal. Meanwhile
 * Ctrl-C is for it and not for us. */
enum pl_status pl_process_run_here(const char *const *argv, int *ret_code, struct pl_error *err);
/* The same with `input` on its standard input: a pager. It need not read all of it. */
enum pl_status pl_process_feed_here(const char *const *argv, struct pl_str input, int *ret_code,
                                    struct pl_error *err);

/* A new directory for this process alone, below TMPDIR or /tmp. `ret_path` has PATH_MAX bytes. */
enum pl_status pl_temp_dir_make(char *ret_path, struct pl_error *err);
/* Removes the directory and the files in it; there are no directories in it. */
void pl_temp_dir_remove(const char *path);

#endif
