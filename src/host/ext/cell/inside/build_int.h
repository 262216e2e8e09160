/* Shared by the files that run inside `parley cell`: the cell that is being built, and its
 * failures. A failed step ends the process, so no program ever starts with a step left out. */
#ifndef PL_EXT_CELL_BUILD_INT_H
#define PL_EXT_CELL_BUILD_INT_H

#include "ext/cell/control.h"
#include "ext/cell/plan.h"

struct pl_cell_build {
    struct pl_arena *arena; /* borrowed */
    struct pl_cell_plan plan;
    int abi;        /* of Landlock; 0: missing */
    unsigned parts; /* PL_CELL_HAS(…) so far */
    bool has_root;  /* the cell has its own root: there is a mount namespace */
    bool is_tree;   /* there is a pid namespace: its end ends everything */
    int proc;       /* directory that lists the processes of the cell; -1: none */
    int listeners[PL_CELL_MAX_SENT_FDS];
    size_t n_listeners;
};

/* --- fail.c: both tell the server, and end this process --------------------------------- */

/* This machine lacks the part. */
void pl_cell_unable(enum pl_cell_part part, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
void pl_cell_fail(enum pl_status status, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
/* The same, with the text of errno at the end. */
void pl_cell_fail_errno(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* --- runtime.c: the part of the machine that every cell sees ------------------------------ */

struct pl_cell_runtime {
    const char *path;  /* NULL ends the table */
    bool is_look_only; /* nothing in it is executed */
};
extern const struct pl_cell_runtime pl_cell_runtime[];
extern const char *const pl_cell_devices[]; /* NULL-terminated */

struct pl_cell_file {
    const char *path; /* NULL ends the table */
    struct pl_str text;
};
/* Files that every cell has and the machine has not: passwd, hosts … Ended by a NULL path. */
const struct pl_cell_file *pl_cell_files(struct pl_cell_build *build);

/* --- mounts.c ------------------------------------------------------------------------------ */

/* Still as root: makes detached mounts, so that the cell's user needs no access to their paths.
 * If root may not do that, does nothing. */
void pl_cell_mounts_detach(struct pl_cell_build *build);
/* Process 1, in new namespaces: builds the root and moves there. */
void pl_cell_root_make(struct pl_cell_build *build);

/* --- bwrap.c ------------------------------------------------------------------------------- */

/* Becomes bubblewrap, which makes the namespaces and the root, then starts us as process 1. */
_Noreturn void pl_cell_become_bwrap(struct pl_cell_build *build);

/* --- network.c ----------------------------------------------------------------------------- */

/* Creates the listening sockets; is_up: loopback is already up. */
void pl_cell_listen(struct pl_cell_build *build, bool is_up);

/* --- program.c ----------------------------------------------------------------------------- */

/* In the child that becomes the program: closes all other descriptors. Writes a failure to
 * `say_fd` as a pl_cell_message; nothing if the program runs. */
_Noreturn void pl_cell_program_run(struct pl_cell_build *build, int say_fd);

/* --- census.c ------------------------------------------------------------------------------ */

struct pl_cell_census {
    uint64_t n_processes, n_memory; /* bytes */
};
/* Counts the processes of the cell, except this one, and sends each `signal` unless it is 0.
 * False: they cannot be listed. */
bool pl_cell_census(const struct pl_cell_build *build, int signal,
                    struct pl_cell_census *ret_census);

/* The number of tasks, including threads, that this user has on the machine besides this one, as
 * far as /proc shows. */
uint64_t pl_cell_other_tasks_of_user(const struct pl_cell_build *build);

/* --- init.c -------------------------------------------------------------------------------- */

/* Process 1 of a finished cell: starts the program, waits, and ends with everything. */
_Noreturn void pl_cell_init_run(struct pl_cell_build *build);

#endif
