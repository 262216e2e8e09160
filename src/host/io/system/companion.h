/* A program that runs beside this one: the server of a command that found none. */
#ifndef PL_IO_COMPANION_H
#define PL_IO_COMPANION_H

#include "base/buf.h"

#include <sys/types.h>

struct pl_companion {
    pid_t pid;   /* 0: none runs */
    int ends[2]; /* ours, of its standard output and error; -1: closed */
};

#define PL_COMPANION_NONE                                                                          \
    {                                                                                              \
        .ends = { -1, -1 }                                                                         \
    }

/* Starts argv[0] (a path) with `env` ("NAME=value", NULL at the end) added to our environment, and
 * waits until it has printed a line. It has nothing to read, and none of our descriptors: who waits
 * for our output to end does not wait for it. It is in a session of its own, so Ctrl-C is ours
 * alone, and it lives on when we die. PL_NOT_FOUND: it ended before it printed a line, and `errors`
 * has what it said. PL_IO; PL_NOMEM. */
enum pl_status pl_companion_start(struct pl_companion *companion, const char *const *argv,
                                  const char *const *env, struct pl_buf *errors,
                                  struct pl_error *err);

/* Asks it to end, and waits until it has. Nothing for one that does not run. */
void pl_companion_end(struct pl_companion *companion);
/* Leaves it running. */
void pl_companion_leave(struct pl_companion *companion);

#endif
