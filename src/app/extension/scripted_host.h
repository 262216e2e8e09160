/* A host for authors: runs an extension on this machine, as this user and without a cell, and
 * speaks the protocol over its standard streams. Checks every frame against the schema. */
#ifndef PL_APP_SCRIPTED_HOST_H
#define PL_APP_SCRIPTED_HOST_H

#include "app/extension/ext_int.h"
#include "extproto/frame.h"

#include <limits.h>
#include <sys/types.h>

struct pl_scripted {
    struct pl_deed *deed;       /* borrowed */
    struct pl_ext_codec *codec; /* owned */
    struct pl_arena arena;      /* owned; everything received */
    struct pl_ext_package package;
    struct pl_buf heard; /* owned; received bytes without a complete line */
    struct pl_buf line;  /* owned; the line to send */
    char dir[PATH_MAX];  /* the copy it runs from; empty: none */
    pid_t pid;           /* 0: not running */
    int in, out;         /* its standard input and output, owned; -1: closed */
    unsigned n_said;     /* number of frames sent, for their ids */
    /* Reports each fault. */
    void (*complain)(struct pl_scripted *host, const char *what);
    size_t n_complaints;
};

/* Copies the source to a temporary directory and starts it from there. */
enum pl_exit pl_scripted_start(struct pl_scripted *host, struct pl_deed *deed,
                               struct pl_ext_source *source);
/* Ends the process, and removes the copy. Accepts a zeroed host. */
void pl_scripted_stop(struct pl_scripted *host);

/* Counts a fault of the extension, and passes it to `complain`. */
void pl_scripted_complain(struct pl_scripted *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sends a frame with this payload, which is JSON without its braces. Returns its id, in the
 * arena. */
struct pl_str pl_scripted_say(struct pl_scripted *host, enum pl_ext_type type, const char *payload);

/* Waits for a frame of this type and id (empty: any), and answers the extension's calls meanwhile.
 * PL_NOT_FOUND if none came in time; waiting for a processor does not count. PL_IO if the extension
 * closed its output. A line that is not a frame is reported as a fault and skipped. */
enum pl_status pl_scripted_await(struct pl_scripted *host, enum pl_ext_type type, struct pl_str id,
                                 int64_t limit_ms, struct pl_ext_frame *ret_frame);
/* Closes its input and waits until it exits; false if it had to be killed. */
bool pl_scripted_close(struct pl_scripted *host, int64_t limit_ms);

#endif
