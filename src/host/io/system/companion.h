/* A program that runs beside this one: a command starts a server this way if none is running. */
#ifndef PL_IO_COMPANION_H
#define PL_IO_COMPANION_H

#include "base/buf.h"

#include <sys/types.h>

struct pl_companion {
    pid_t pid;   /* 0: not running */
    int ends[2]; /* our ends of its standard output and error; -1: closed */
};

#define PL_COMPANION_NONE                                                                          \
    {                                                                                              \
        .ends = { -1, -1 }                                                                         \
    }

/* Starts argv[0] (a path) with `env` ("NAME=value", NULL at the end) added to our environment, and
 * waits until it has printed a line. It gets no input and none of our descriptors, so a reader of
 * our output does not wait for it. It has its own session, so Ctrl-C reaches only us, and it
 * outlives us. PL_NOT_FOUND: it ended before it printed a line, and `errors` has its messages.
 * PL_IO; PL_NOMEM. */
enum pl_status pl_companion_start(struct pl_companion *companion, const char *const *argv,
                                  const char *const *env, struct pl_buf *errors,
                                  struct pl_error *err);

/* Asks it to end, and waits until it has. Does nothing if it is not running. */
void pl_companion_end(struct pl_companion *companion);
/* Leaves it running. */
void pl_companion_leave(struct pl_companion *companion);

#endif
