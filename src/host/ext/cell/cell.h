/* A cell: one program with no server memory, files, network, descriptors or variables but those it
 * was given. pl_cell_spawn starts `parley cell` anew (inside/cell_main.h), which makes the cell and says what
 * it reached; init.c is process 1 in it.
 *
 *     server ──spawn──> parley cell (stage 1) ──clone3──> init (process 1) ──fork──> the program
 *        └──────── control socket: started, listeners, exit ────────┘
 *
 * Everything here but the settings may be called on any thread. pl_cell_spawn, pl_cell_probe and
 * pl_cell_free wait for other processes, some milliseconds: they belong on a worker. The others do not
 * wait. When the server dies, in whatever way, its cells die. */
#ifndef PL_EXT_CELL_H
#define PL_EXT_CELL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "ext/cell/level.h"

#include <sys/types.h>

#define PL_CELL_MAX_PROCESSES 32
#define PL_CELL_MAX_MEMORY    ((uint64_t)256 << 20) /* of each process, and of all together */
#define PL_CELL_MAX_FILE      ((uint64_t)64 << 20)  /* of each file, and of /tmp */
#define PL_CELL_MAX_FDS       1024

/* What a cell may be asked for at most: words of argv and of the environment, mounts, hosts. */
#define PL_CELL_MAX_WORDS  4096
#define PL_CELL_MAX_MOUNTS 256
#define PL_CELL_MAX_HOSTS  64

/* A directory or file of the machine inside the cell. Give `fd` (O_PATH, what was checked is what
 * is mounted) or, where nothing was checked, `from`. */
struct pl_cell_mount {
    int fd;           /* borrowed; -1: open `from`. Beware of 0, which is a descriptor */
    const char *from; /* absolute; NULL with fd */
    const char *to;   /* absolute, clean ("/work/src"); below no other mount's file */
    bool is_writable;
    /* Of a writable directory: the paths that no extension writes (extproto/path_scope.h) stay
     * read-only in it, as far as they exist. What is made anew: see pl_cell_guard_begin. */
    bool is_guarded;
};

/* A host that the cell may reach. */
struct pl_cell_host {
    const char *name; /* "api.example.com"; "*.example.com" by CONNECT only */
    uint16_t port;    /* 0: 443 */
};

struct pl_cell_limits { /* 0: the constants above */
    uint64_t n_processes;
    uint64_t n_memory; /* bytes */
    uint64_t n_file;   /* bytes */
    uint64_t n_fds;
};

struct pl_cell_spec {
    /* argv[0] is a path in the cell, or a name that is looked for in the cell's PATH. NULL at the
     * end. At levels without a mount namespace, words that begin with the `to` of a mount are
     * changed to begin with its `from`. */
    const char *const *argv;
    /* "NAME=value", NULL at the end; NULL: none. PATH, HOME=/tmp, LANG and TMPDIR are added unless
     * they are here; nothing of the server's environment is. With wildcard hosts also HTTPS_PROXY and
     * https_proxy. */
    const char *const *env;
    /* The package, mounted read-only as /ext: like a mount, `to` is not used. {.fd = -1} with no
     * `from`: there is no /ext. */
    struct pl_cell_mount package;
    const struct pl_cell_mount *mounts;
    size_t n_mounts;
    const char *cwd; /* in the cell; NULL: /ext if there is one, else / */
    const struct pl_cell_host *hosts;
    size_t n_hosts;
    struct pl_cell_limits limits;
    /* The user and group of the program, where the server runs as root. 0: one of uids.h. */
    uid_t uid;
    enum pl_cell_level least; /* a cell that would be less than this is refused */
};

/* A listening socket in the network of a cell, accepted out here. hosts.h does the rest: it
 * accepts, connects through the outbound guard and copies. */
struct pl_cell_listener {
    int fd;           /* owned by the cell; non-blocking */
    const char *name; /* the cell's; what the grant says: "api.example.com" */
    uint16_t port;    /* the one the program in the cell connected to, and the one to connect to */
    bool is_proxy;    /* CONNECT NAME:PORT, for every wildcard grant; name is "*" */
};

/* Why a program ended. */
enum pl_cell_why {
    PL_CELL_WHY_EXIT,      /* by itself or by a signal */
    PL_CELL_WHY_MEMORY,    /* its processes took too much memory together */
    PL_CELL_WHY_PROCESSES, /* there were too many; only at levels without namespaces */
    PL_CELL_WHY_LOST, /* the whole cell was killed, or broke; nothing is known of the program */
};

struct pl_cell_end {
    enum pl_cell_why why;
    int code; /* its exit code; -N: signal N ended it */
};

struct pl_cell {
    int pidfd; /* of process 1: readable when the cell is over. Never -1 */
    pid_t pid; /* of process 1, for logs; 0 if unknown (bubblewrap) */
    /* Our ends; non-blocking, close-on-exec. The owner may close each and set it to -1. */
    int in, out, err;
    enum pl_cell_level level;
    int landlock_abi; /* 0: none */
    unsigned parts;   /* PL_CELL_HAS(…): what this cell has */
    char report[160]; /* the same in words: "full (namespaces, landlock 7, seccomp, cgroup)" */
    struct pl_cell_listener *listeners; /* the cell's */
    size_t n_listeners;
    struct pl_cell_inner *inner;
};

/* How cells are made; constant for the life of a server. Zeroed: the defaults. */
struct pl_cell_settings {
    const char *program; /* the executable that knows "cell"; NULL: /proc/self/exe */
    unsigned missing;    /* PL_CELL_HAS(…): parts to treat as missing, for tests */
};

/* Blocks until the program runs or could not. PL_USAGE: the spec is wrong, or asks for what this
 * level cannot give (hosts without a network namespace); PL_INVALID: this machine cannot make such a cell, and err says
 * which part is missing and the remedy; PL_NOT_FOUND: there is no such program in the cell;
 * PL_IO; PL_NOMEM. Nothing runs after a failure. `settings` may be NULL. */
enum pl_status pl_cell_spawn(const struct pl_cell_settings *settings,
                             const struct pl_cell_spec *spec, struct pl_cell **ret_cell,
                             struct pl_error *err);

/* Sends a signal to the group of the program, by way of process 1: SIGTERM, SIGINT, SIGCONT … False: it is over. */
bool pl_cell_signal(struct pl_cell *cell, int signal);
/* Ends every process of the cell at once. The pidfd becomes readable soon after. */
void pl_cell_kill(struct pl_cell *cell);
/* Whether the cell is over; then no process of it exists, and *ret_end says how it ended. Does not
 * wait: call it when the pidfd is readable. */
bool pl_cell_reap(struct pl_cell *cell, struct pl_cell_end *ret_end);
/* Kills it if it is not over, waits until it is, closes what is open. Accepts NULL. */
void pl_cell_free(struct pl_cell *cell);

/* --- what this machine has ------------------------------------------------------------------- */

struct pl_cell_finding {
    bool is_there;
    char says[200];   /* "Landlock ABI 7"; what failed, and how */
    char remedy[240]; /* what to do to get it; empty if it is there */
};

struct pl_cell_probe {
    struct pl_cell_finding parts[PL_CELL_N_PARTS];
    unsigned has; /* PL_CELL_HAS(…) */
    int landlock_abi;
    enum pl_cell_level level; /* the best cell that can be made */
};

/* Makes an empty cell to see. `uid` as in the spec; 0: the first of uids.h. Only PL_NOMEM and PL_IO (no process can be
 * started) fail. */
enum pl_status pl_cell_probe(const struct pl_cell_settings *settings, uid_t uid,
                             struct pl_cell_probe *ret_probe, struct pl_error *err);
/* PL_OK, or PL_INVALID with a sentence that names every part that is missing for `least`, and the
 * remedy. */
enum pl_status pl_cell_accept(const struct pl_cell_probe *probe, enum pl_cell_level least,
                              struct pl_error *err);

/* --- paths that no extension writes ---------------------------------------------------------- */

/* What protected paths a writable directory has before a program runs in it, and afterwards: one
 * that was made anew, or is another file than before, is removed. Both walk the directory: on a
 * worker. PL_LIMIT: there are too many files in it to look at (1,000,000). */
struct pl_cell_guard;
enum pl_status pl_cell_guard_begin(int dir_fd, struct pl_cell_guard **ret_guard,
                                   struct pl_error *err);
/* `removed`: their paths from the directory, one per line. Frees the guard, always. */
enum pl_status pl_cell_guard_end(struct pl_cell_guard *guard, struct pl_buf *removed,
                                 struct pl_error *err);

#endif
