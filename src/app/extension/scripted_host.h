/* A host for authors: runs an extension on this machine, as this user and without a cell, and speaks the
 * protocol with it over its standard streams. Every frame is held to the schema. */
#ifndef PL_APP_SCRIPTED_HOST_H
#define PL_APP_SCRIPTED_HOST_H

#include "app/extension/ext_int.h"
#include "extproto/frame.h"

#include <limits.h>
#include <sys/types.h>

struct pl_scripted {
    struct pl_deed *deed;       /* borrowed */
    struct pl_ext_codec *codec; /* owned */
    struct pl_arena arena;      /* owned; of everything that was heard */
    struct pl_ext_package package;
    struct pl_buf heard; /* owned; bytes that are no line yet */
    struct pl_buf line;  /* owned; of what is said */
    char dir[PATH_MAX];  /* the copy it runs from; empty: none */
    pid_t pid;           /* 0: it does not run */
    int in, out;         /* its standard input and output, ours to close; -1 */
    unsigned n_said;     /* ids of our frames */
    /* What is wrong with it, so far. */
    void (*complain)(struct pl_scripted *host, const char *what);
    size_t n_complaints;
};

/* Copies the source to a temporary directory and starts it from there. */
enum pl_exit pl_scripted_start(struct pl_scripted *host, struct pl_deed *deed,
                               struct pl_ext_source *source);
/* Ends what runs, and removes the copy. Accepts a zeroed one. */
void pl_scripted_stop(struct pl_scripted *host);

/* Counts a fault of the extension, and tells it to `complain`. */
void pl_scripted_complain(struct pl_scripted *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A frame with this payload, which is JSON without its braces. Returns its id, in the arena. */
struct pl_str pl_scripted_say(struct pl_scripted *host, enum pl_ext_type type, const char *payload);

/* Waits for a frame of this type and id (empty: any); answers calls of the host meanwhile. PL_NOT_FOUND: none came in
 * time; waiting for a processor does not count. PL_IO: the extension has closed. A line that is not a frame is a
 * complaint, and is skipped. */
enum pl_status pl_scripted_await(struct pl_scripted *host, enum pl_ext_type type, struct pl_str id,
                                 int64_t limit_ms, struct pl_ext_frame *ret_frame);
/* Closes its input and waits for its end; false: it had to be killed. */
bool pl_scripted_close(struct pl_scripted *host, int64_t limit_ms);

#endif
