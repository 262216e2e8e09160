/* Where a result goes. Every file that this program writes on somebody's word is written through
 * here, so that the same holds for all of them:
 *
 *   "-"                                  standard output
 *   /dev/stdout, /dev/stderr, /dev/fd/N  the descriptor this process has, with its position
 *   a symbolic link                      followed; the link itself stays
 *   a device, a FIFO                     written to as it is, never replaced
 *   a regular file, or a new name        written beside, and put in place whole by a rename
 *   a directory, a socket                refused
 *
 * A file that is replaced keeps its mode, and its owner where the system lets us. A user who may
 * not write a file may not replace it either, though its directory would allow that. The file
 * beside has a name of its own (".parley-….part"), so no name somebody else chose is ever
 * overwritten; what a killed process left of it in a directory of ours goes with
 * pl_outfile_sweep. */
#ifndef PL_IO_OUTFILE_H
#define PL_IO_OUTFILE_H

#include "base/status.h"
#include "base/str.h"

#include <limits.h>
#include <sys/types.h>

/* --- places ---------------------------------------------------------------------------------- */

enum pl_outfile_kind {
    PL_OUTFILE_CLOSED,
    PL_OUTFILE_DESCRIPTOR, /* one this process has */
    PL_OUTFILE_DEVICE,     /* or a FIFO */
    PL_OUTFILE_FILE,       /* regular, and there */
    PL_OUTFILE_NEW,        /* nothing is there yet */
};

/* The kind of file that the name of an output leads to. */
struct pl_outfile_place {
    enum pl_outfile_kind kind;
    int fd;              /* of a descriptor, borrowed; otherwise -1 */
    dev_t dev;           /* of the existing file; of the directory, if there is none */
    ino_t ino;           /* likewise */
    char path[PATH_MAX]; /* without symbolic links; empty for a descriptor */
};

/* PL_IO with the reason in *err when nothing can be written there. */
enum pl_status pl_outfile_find(const char *path, struct pl_outfile_place *ret_place,
                               struct pl_error *err);
/* Whether two outputs would end in the same file. Devices take what several write. */
bool pl_outfile_is_same(const struct pl_outfile_place *a, const struct pl_outfile_place *b);
/* Whether the place is inside the directory, at any depth, or another name (a hard link) of a file
 * that is directly inside. False when there is no such directory. */
bool pl_outfile_is_inside(const struct pl_outfile_place *place, const char *dir);

/* Refuses (PL_USAGE) two outputs of one command that would be the same file. A path of NULL is an
 * output that was not asked for. An output that cannot be written is refused later, when it is
 * opened. */
struct pl_outfile_name {
    const char *option; /* "--report" */
    const char *path;
};
enum pl_status pl_outfile_check_all(const struct pl_outfile_name *names, size_t n,
                                    struct pl_error *err);

/* --- writing --------------------------------------------------------------------------------- */

struct pl_outfile_rules {
    bool is_new;     /* a file that is there is refused: PL_CONFLICT */
    bool is_private; /* a new file is for its owner alone */
    bool is_durable; /* on the disk when it is done; a replaced file always is */
    bool is_file;    /* only a regular file will do */
};

struct pl_outfile {
    struct pl_outfile_place place; /* PL_OUTFILE_CLOSED: nothing is open */
    struct pl_outfile_rules rules;
    int fd;              /* owned, but for a descriptor's */
    char part[PATH_MAX]; /* the file beside; empty: none */
    mode_t mode;         /* of the file that is replaced, as the two below */
    uid_t uid;
    gid_t gid;
};

/* Opens what `path` leads to; `rules` may be NULL. PL_IO, PL_CONFLICT. */
enum pl_status pl_outfile_open(struct pl_outfile *out, const char *path,
                               const struct pl_outfile_rules *rules, struct pl_error *err);
/* A private file of no name in `dir`, for bytes on their way: only pl_outfile_drop and
 * pl_outfile_take_fd are left to do with it. */
enum pl_status pl_outfile_open_scratch(struct pl_outfile *out, const char *dir,
                                       struct pl_error *err);
enum pl_status pl_outfile_write(struct pl_outfile *out, struct pl_str bytes, struct pl_error *err);
/* The last step: the written data is there, under its name. The output is closed either way. */
enum pl_status pl_outfile_commit(struct pl_outfile *out, struct pl_error *err);
/* Forgets it: a file that was there is as it was. Accepts a zeroed output and a closed one. */
void pl_outfile_drop(struct pl_outfile *out);
#define PL_CLEANUP_OUTFILE __attribute__((cleanup(pl_outfile_drop)))
/* The open file of a scratch output, for the caller to close; it has no name any more. */
int pl_outfile_take_fd(struct pl_outfile *out);

/* Removes unfinished files of killed processes from a directory of ours. No process may write there
 * meanwhile. */
void pl_outfile_sweep(const char *dir);

/* Open, write, commit. */
enum pl_status pl_file_write(const char *path, struct pl_str bytes, struct pl_error *err);

#endif
