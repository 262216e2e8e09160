/* Input from a person at a terminal or from a program through a pipe: lines as they are typed, and
 * Ctrl-C as a callback. */
#ifndef PL_IO_TERMINAL_H
#define PL_IO_TERMINAL_H

#include "base/buf.h"
#include "base/status.h"

/* Lines of a descriptor, each as soon as it is complete: the terminal does the editing. */
struct pl_lines {
    int fd;
    struct pl_buf bytes; /* owned; read and not yet returned */
    size_t n_taken, max_line;
    bool is_at_end;
};
void pl_lines_init(struct pl_lines *lines, int fd, size_t max_line);
void pl_lines_deinit(struct pl_lines *lines);
/* Waits for the next line and returns it without its line break; valid until the next call.
 * PL_NOT_FOUND: no more lines; PL_LIMIT: longer than max_line; PL_IO; PL_NOMEM. */
enum pl_status pl_lines_next(struct pl_lines *lines, struct pl_str *ret_line, struct pl_error *err);

bool pl_is_terminal(int fd);

/* From now on Ctrl-C (SIGINT) does not end the process: `fn` is called for each, on a thread of its
 * own. Call this once per process, before any other thread is started. */
enum pl_status pl_interrupts_take(void (*fn)(void *ctx), void *ctx, struct pl_error *err);
/* The same for all signals that ask a process to end: SIGINT, SIGTERM and SIGHUP. */
enum pl_status pl_endings_take(void (*fn)(void *ctx), void *ctx, struct pl_error *err);

#endif
