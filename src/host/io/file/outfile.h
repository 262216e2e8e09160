/* Output files. Every file that a user asks this program to write is written through here, so that
 * the same rules hold for all of them:
 *
 *   "-"                                  standard output
 *   /dev/stdout, /dev/stderr, /dev/fd/N  the descriptor this process has, with its position
 *   a symbolic link                      followed; the link itself stays
 *   a device, a FIFO                     written directly, never replaced
 *   a regular file, or a new name        written beside, and put in place whole by a rename
 *   a directory, a socket                refused
 *
 * A file that is replaced keeps its mode, and its owner where the system lets us. A user who may
 * not write a file may not replace it either, even if the directory would allow that. The temporary
 * file has a name of its own (".parley-….part"), so no other file is ever overwritten.
 * pl_outfile_sweep removes temporary files of killed processes from our directories. */
#ifndef PL_IO_OUTFILE_H
#define PL_IO_OUTFILE_H

#include "base/status.h"
#include "base/str.h"

#include <limits.h>
#include <sys/types.h>

/* --- places ---------------------------------------------------------------------------------- */

enum pl_outfile_kind {
    PL_OUTFILE_CLOSED,
    PL_OUTFILE_DESCRIPTOR, /* a descriptor of this process */
    PL_OUTFILE_DEVICE,     /* a device or a FIFO */
    PL_OUTFILE_FILE,       /* an existing regular file */
    PL_OUTFILE_NEW,        /* no such file yet */
};

/* The file that an output path leads to. */
struct pl_outfile_place {
    enum pl_outfile_kind kind;
    int fd;              /* borrowed, if the place is a descriptor; otherwise -1 */
    dev_t dev;           /* of the existing file; otherwise of the directory */
    ino_t ino;           /* likewise */
    char path[PATH_MAX]; /* without symbolic links; empty for a descriptor */
};

/* PL_IO with the reason in *err when the place is not writable. */
enum pl_status pl_outfile_find(const char *path, struct pl_outfile_place *ret_place,
                               struct pl_error *err);
/* Whether two outputs would be the same file. Character devices may be shared. */
bool pl_outfile_is_same(const struct pl_outfile_place *a, const struct pl_outfile_place *b);
/* Whether the place is inside the directory, at any depth, or is a hard link to a file directly
 * inside. False when there is no such directory. */
bool pl_outfile_is_inside(const struct pl_outfile_place *place, const char *dir);

/* Refuses (PL_USAGE) two outputs of one command that would be the same file. A NULL path means that
 * the output was not requested. An unwritable output is refused later, when it is opened. */
struct pl_outfile_name {
    const char *option; /* "--report" */
    const char *path;
};
enum pl_status pl_outfile_check_all(const struct pl_outfile_name *names, size_t n,
                                    struct pl_error *err);

/* --- writing --------------------------------------------------------------------------------- */

struct pl_outfile_rules {
    bool is_new;     /* refuse an existing file: PL_CONFLICT */
    bool is_private; /* only the owner may read or write a new file */
    bool is_durable; /* synced to disk at the commit; a replaced file always is */
    bool is_file;    /* refuse everything but a regular file */
};

struct pl_outfile {
    struct pl_outfile_place place; /* PL_OUTFILE_CLOSED: nothing is open */
    struct pl_outfile_rules rules;
    int fd;              /* owned, unless the place is a descriptor */
    char part[PATH_MAX]; /* the temporary file; empty: none */
    mode_t mode;         /* of the replaced file, like the two below */
    uid_t uid;
    gid_t gid;
};

/* Opens the output at `path`; `rules` may be NULL. PL_IO, PL_CONFLICT. */
enum pl_status pl_outfile_open(struct pl_outfile *out, const char *path,
                               const struct pl_outfile_rules *rules, struct pl_error *err);
/* Opens a private unnamed file in `dir`, for data in transit. Only pl_outfile_drop and
 * pl_outfile_take_fd may follow. */
enum pl_status pl_outfile_open_scratch(struct pl_outfile *out, const char *dir,
                                       struct pl_error *err);
enum pl_status pl_outfile_write(struct pl_outfile *out, struct pl_str bytes, struct pl_error *err);
/* The last step: the written data appears under its name. The output is closed in either case. */
enum pl_status pl_outfile_commit(struct pl_outfile *out, struct pl_error *err);
/* Discards the output; an existing file stays unchanged. Accepts a zeroed or closed output. */
void pl_outfile_drop(struct pl_outfile *out);
#define PL_CLEANUP_OUTFILE __attribute__((cleanup(pl_outfile_drop)))
/* The open file of a scratch output; the caller closes it. It no longer has a name. */
int pl_outfile_take_fd(struct pl_outfile *out);

/* Removes unfinished files of killed processes from a directory of ours. No other process may be
 * writing there. */
void pl_outfile_sweep(const char *dir);

/* Open, write, commit. */
enum pl_status pl_file_write(const char *path, struct pl_str bytes, struct pl_error *err);

#endif
