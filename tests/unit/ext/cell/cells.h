/* Running the hostile program in cells, for tests: one run, and all that it left. */
#ifndef PL_TEST_CELLS_H
#define PL_TEST_CELLS_H

#include "ext/cell/cell.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

/* What all tests of a program share; set up once by pl_cells_begin. */
struct pl_cells {
    char dir[64];                    /* a directory of the test's own, that every user may enter */
    char package[96], workspace[96]; /* in it */
    char secret[96];                 /* a file in it that no cell sees */
    char token[32];                  /* in the command line of everything that runs */
    struct pl_cell_settings settings;
    uid_t uid;         /* for cells, where the test runs as root */
    unsigned has;      /* the parts of this machine */
    char skipped[200]; /* why there can be no cell here; empty: there can */
};
extern struct pl_cells pl_cells;

/* `user`: give up root first, if the test has it. False: it is skipped, and why is said. */
void pl_cells_begin(const char *hostile, bool is_user);
void pl_cells_end(void);

struct pl_cell_run {
    const char *words[12]; /* the attack, and its words */
    unsigned missing;      /* parts that this machine is said not to have */
    enum pl_cell_level least;
    const struct pl_cell_mount *mounts;
    size_t n_mounts;
    const struct pl_cell_host *hosts;
    size_t n_hosts;
    const char *const *env;
    const char *input;
    int kill_after_word; /* kill it when it has said something */
    int signal_after_word;
    /* results */
    enum pl_cell_level level;
    enum pl_cell_why why;
    int code;
    char out[8192], report[160];
};

/* Runs it to its end; then nothing of it is left. */
void pl_cells_run(struct pl_cell_run *run);
/* Runs it, and it must have achieved nothing. */
void pl_cells_resist(struct pl_cell_run *run);
/* Whether a process with the token exists. */
bool pl_cells_any_left(void);
/* Skips the test, with the reason, unless all these parts are here. */
void pl_cells_need(unsigned parts);

#endif
