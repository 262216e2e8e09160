/* A cell: one program that has no memory, files, network, descriptors or variables of the server
 * except those it was given. pl_cell_spawn starts a new `parley cell` (inside/cell_main.h), which
 * makes the cell and reports the level it reached; init.c is process 1 in it.
 *
 *     server ──spawn──> parley cell (stage 1) ──clone3──> init (process 1) ──fork──> the program
 *        └──────── control socket: started, listeners, exit ────────┘
 *
 * All functions may be called on any thread. pl_cell_spawn, pl_cell_probe and pl_cell_free wait
 * for other processes, some milliseconds: call them on a worker. The others do not wait. If the
 * server dies, in whatever way, its cells die. */
#ifndef PL_EXT_CELL_H
#define PL_EXT_CELL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "ext/cell/level.h"

#include <sys/types.h>

#define PL_CELL_MAX_PROCESSES 32
#define PL_CELL_MAX_MEMORY    ((uint64_t)256 << 20) /* per process, and for all together */
#define PL_CELL_MAX_FILE      ((uint64_t)64 << 20)  /* per file, and for /tmp */
#define PL_CELL_MAX_FDS       1024

/* Limits of a spec: words of argv and of the environment, mounts, hosts. */
#define PL_CELL_MAX_WORDS  4096
#define PL_CELL_MAX_MOUNTS 256
#define PL_CELL_MAX_HOSTS  64

/* A directory or file of the machine inside the cell. Give `fd` (O_PATH: the checked file is the
 * mounted one) or, if nothing was checked, `from`. */
struct pl_cell_mount {
    int fd;           /* borrowed; -1: open `from`. Beware of 0, which is a valid descriptor */
    const char *from; /* absolute; NULL with fd */
    const char *to;   /* absolute, clean ("/work/src"); not below a file of another mount */
    bool is_writable;
    /* For a writable directory: the paths that no extension may write (extproto/path_scope.h)
     * stay read-only, if they exist. For new ones see pl_cell_guard_begin. */
    bool is_guarded;
};

/* A host that the cell may reach. */
struct pl_cell_host {
    const char *name; /* "api.example.com"; "*.example.com" only through CONNECT */
    uint16_t port;    /* 0: 443 */
};

struct pl_cell_limits { /* 0: the constants above */
    uint64_t n_processes;
    uint64_t n_memory; /* bytes */
    uint64_t n_file;   /* bytes */
    uint64_t n_fds;
};

struct pl_cell_spec {
    /* argv[0] is a path in the cell, or a name that is searched in the cell's PATH.
     * NULL-terminated. At levels without a mount namespace, words that begin with the `to` of a
     * mount are changed to begin with its `from`. */
    const char *const *argv;
    /* "NAME=value", NULL-terminated; may be NULL. PATH, HOME=/tmp, LANG and TMPDIR are added
     * unless they are here; nothing of the server's environment is. With wildcard hosts also
     * HTTPS_PROXY and https_proxy. */
    const char *const *env;
    /* The package, mounted read-only as /ext: like a mount, but `to` is not used. {.fd = -1}
     * with no `from`: no /ext. */
    struct pl_cell_mount package;
    const struct pl_cell_mount *mounts;
    size_t n_mounts;
    const char *cwd; /* in the cell; NULL: /ext if it exists, otherwise / */
    const struct pl_cell_host *hosts;
    size_t n_hosts;
    struct pl_cell_limits limits;
    /* The user and group of the program, if the server runs as root. 0: one of uids.h. */
    uid_t uid;
    enum pl_cell_level least; /* a cell below this level is refused */
};

/* A listening socket in the network of a cell, accepted in the server. hosts.h accepts, connects
 * through the outbound guard and copies. */
struct pl_cell_listener {
    int fd;           /* owned by the cell; non-blocking */
    const char *name; /* the cell's; the granted host: "api.example.com" */
    uint16_t port;    /* the port that the program connected to, and the port to connect to */
    bool is_proxy;    /* CONNECT NAME:PORT, for all wildcard grants; name is "*" */
};

/* Why a program ended. */
enum pl_cell_why {
    PL_CELL_WHY_EXIT,      /* by itself or by a signal */
    PL_CELL_WHY_MEMORY,    /* its processes together used too much memory */
    PL_CELL_WHY_PROCESSES, /* too many processes; only at levels without namespaces */
    PL_CELL_WHY_LOST, /* the whole cell was killed, or broke; nothing is known of the program */
};

struct pl_cell_end {
    enum pl_cell_why why;
    int code; /* its exit code; -N: ended by signal N */
};

struct pl_cell {
    int pidfd; /* of process 1: readable when the cell is over. Never -1 */
    pid_t pid; /* of process 1, for logs; 0 if unknown (bubblewrap) */
    /* Our ends; non-blocking, close-on-exec. The owner may close each and set it to -1. */
    int in, out, err;
    enum pl_cell_level level;
    int landlock_abi; /* 0: no Landlock */
    unsigned parts;   /* PL_CELL_HAS(…): the parts of this cell */
    char report[160]; /* the same in words: "full (namespaces, landlock 7, seccomp, cgroup)" */
    struct pl_cell_listener *listeners; /* owned by the cell */
    size_t n_listeners;
    struct pl_cell_inner *inner;
};

/* How cells are made; constant for the life of a server. Zeroed: the defaults. */
struct pl_cell_settings {
    const char *program; /* the executable with the command "cell"; NULL: /proc/self/exe */
    unsigned missing;    /* PL_CELL_HAS(…): parts to treat as missing, for tests */
};

/* Blocks until the program runs or could not be started. PL_USAGE: the spec is wrong, or this
 * level cannot satisfy it (hosts without a network namespace); PL_INVALID: this machine cannot
 * make such a cell, and err names the missing part and the remedy; PL_NOT_FOUND: there is no
 * such program in the cell; PL_IO; PL_NOMEM. Nothing runs after a failure. `settings` may be
 * NULL. */
enum pl_status pl_cell_spawn(const struct pl_cell_settings *settings,
                             const struct pl_cell_spec *spec, struct pl_cell **ret_cell,
                             struct pl_error *err);

/* Sends a signal to the group of the program, through process 1: SIGTERM, SIGINT, SIGCONT …
 * False: it is over. */
bool pl_cell_signal(struct pl_cell *cell, int signal);
/* Ends every process of the cell at once. The pidfd becomes readable soon after. */
void pl_cell_kill(struct pl_cell *cell);
/* Whether the cell is over; then it has no processes, and *ret_end is its end. Does not wait:
 * call it when the pidfd is readable. */
bool pl_cell_reap(struct pl_cell *cell, struct pl_cell_end *ret_end);
/* Kills it if it is not over, waits for its end, closes its descriptors. Accepts NULL. */
void pl_cell_free(struct pl_cell *cell);

/* --- the parts that this machine supports ---------------------------------------------------- */

struct pl_cell_finding {
    bool is_there;
    char says[200];   /* "Landlock ABI 7", or the failure */
    char remedy[240]; /* how to get it; empty if is_there */
};

struct pl_cell_probe {
    struct pl_cell_finding parts[PL_CELL_N_PARTS];
    unsigned has; /* PL_CELL_HAS(…) */
    int landlock_abi;
    enum pl_cell_level level; /* the best possible level */
};

/* Makes an empty cell to find out. `uid` as in the spec; 0: the first of uids.h. Fails only with
 * PL_NOMEM and PL_IO (no process can be started). */
enum pl_status pl_cell_probe(const struct pl_cell_settings *settings, uid_t uid,
                             struct pl_cell_probe *ret_probe, struct pl_error *err);
/* PL_OK, or PL_INVALID with a message that names all parts missing for `least`, and the
 * remedies. */
enum pl_status pl_cell_accept(const struct pl_cell_probe *probe, enum pl_cell_level least,
                              struct pl_error *err);

/* --- paths that no extension writes ---------------------------------------------------------- */

/* Records the protected paths of a writable directory before a program runs in it. Afterwards, a
 * path that is new or another file than before is removed. Both walk the directory: on a worker.
 * PL_LIMIT: more than 1,000,000 files. */
struct pl_cell_guard;
enum pl_status pl_cell_guard_begin(int dir_fd, struct pl_cell_guard **ret_guard,
                                   struct pl_error *err);
/* `removed`: their paths relative to the directory, one per line. Always frees the guard. */
enum pl_status pl_cell_guard_end(struct pl_cell_guard *guard, struct pl_buf *removed,
                                 struct pl_error *err);

#endif
