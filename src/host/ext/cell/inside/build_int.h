/* Shared by the files that run inside `parley cell`: what is being built, and how it fails. A step
 * that does not succeed ends the process, so nothing is ever started with a step left out. */
#ifndef PL_EXT_CELL_BUILD_INT_H
#define PL_EXT_CELL_BUILD_INT_H

#include "ext/cell/control.h"
#include "ext/cell/plan.h"

struct pl_cell_build {
    struct pl_arena *arena; /* borrowed */
    struct pl_cell_plan plan;
    int abi;        /* of Landlock; 0: it is missing */
    unsigned parts; /* PL_CELL_HAS(…) so far */
    bool has_root;  /* the cell has a root of its own: there is a mount namespace */
    bool is_tree;   /* there is a pid namespace: its end ends everything */
    int proc;       /* where the processes of the cell are listed; -1: nowhere */
    int listeners[PL_CELL_MAX_SENT_FDS];
    size_t n_listeners;
};

/* --- fail.c: both tell the server, and end this process --------------------------------- */

/* This machine has not got the part. */
void pl_cell_unable(enum pl_cell_part part, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
void pl_cell_fail(enum pl_status status, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
/* The same, with what errno says at the end. */
void pl_cell_fail_errno(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* --- runtime.c: what every cell sees of the machine --------------------------------------- */

struct pl_cell_runtime {
    const char *path;  /* NULL ends the table */
    bool is_look_only; /* nothing in it is run */
};
extern const struct pl_cell_runtime pl_cell_runtime[];
extern const char *const pl_cell_devices[]; /* ended by NULL */

struct pl_cell_file {
    const char *path; /* NULL ends the table */
    struct pl_str text;
};
/* Files that every cell has and the machine does not: passwd, hosts … Ended by a NULL path. */
const struct pl_cell_file *pl_cell_files(struct pl_cell_build *build);

/* --- mounts.c ------------------------------------------------------------------------------ */

/* Still as root: what is to be mounted becomes mounts that are nowhere yet, so that the cell's user
 * need not be able to walk there. Where root may not do that, nothing happens. */
void pl_cell_mounts_detach(struct pl_cell_build *build);
/* Process 1, in new namespaces: builds the root and moves there. */
void pl_cell_root_make(struct pl_cell_build *build);

/* --- bwrap.c ------------------------------------------------------------------------------- */

/* Becomes bubblewrap, which makes namespaces and root and then starts us as process 1. */
_Noreturn void pl_cell_become_bwrap(struct pl_cell_build *build);

/* --- network.c ----------------------------------------------------------------------------- */

/* Makes the listening sockets; is_up: loopback is already on. */
void pl_cell_listen(struct pl_cell_build *build, bool is_up);

/* --- program.c ----------------------------------------------------------------------------- */

/* In the child that becomes the program: closes everything behind it. Says on `say_fd` what went
 * wrong, as a pl_cell_message; nothing if the program runs. */
_Noreturn void pl_cell_program_run(struct pl_cell_build *build, int say_fd);

/* --- census.c ------------------------------------------------------------------------------ */

struct pl_cell_census {
    uint64_t n_processes, n_memory; /* bytes */
};
/* Counts the processes of the cell, this one not included, and sends each `signal` unless it is 0.
 * False: they cannot be listed. */
bool pl_cell_census(const struct pl_cell_build *build, int signal,
                    struct pl_cell_census *ret_census);

/* How many tasks, threads included, this user has in the machine besides this one, as far as /proc
 * tells. */
uint64_t pl_cell_other_tasks_of_user(const struct pl_cell_build *build);

/* --- init.c -------------------------------------------------------------------------------- */

/* Process 1 of a cell that is built: starts the program, waits, and ends with everything. */
_Noreturn void pl_cell_init_run(struct pl_cell_build *build);

#endif
