/* Runs the hostile program in cells, for tests: one run and its remains. */
#ifndef PL_TEST_CELLS_H
#define PL_TEST_CELLS_H

#include "ext/cell/cell.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

/* Shared by all tests of a program; set up once by pl_cells_begin. */
struct pl_cells {
    char dir[64];                    /* the test's own directory, which every user may enter */
    char package[96], workspace[96]; /* in it */
    char secret[96];                 /* a file in it that no cell sees */
    char token[32];                  /* in the command line of every process */
    struct pl_cell_settings settings;
    uid_t uid;         /* for cells, if the test runs as root */
    unsigned has;      /* the parts of this machine */
    char skipped[200]; /* why cells are impossible here; empty: they are possible */
};
extern struct pl_cells pl_cells;

/* `is_user`: gives up root first. If cells are impossible, pl_cells.skipped has the reason. */
void pl_cells_begin(const char *hostile, bool is_user);
void pl_cells_end(void);

struct pl_cell_run {
    const char *words[12]; /* the attack and its arguments */
    unsigned missing;      /* parts that are reported missing */
    enum pl_cell_level least;
    const struct pl_cell_mount *mounts;
    size_t n_mounts;
    const struct pl_cell_host *hosts;
    size_t n_hosts;
    const char *const *env;
    const char *input;
    int kill_after_word; /* kill it after its first output */
    int signal_after_word;
    /* results */
    enum pl_cell_level level;
    enum pl_cell_why why;
    int code;
    char out[8192], report[160];
};

/* Runs it to its end; nothing of it may remain. */
void pl_cells_run(struct pl_cell_run *run);
/* Runs it; it must achieve nothing. */
void pl_cells_resist(struct pl_cell_run *run);
/* Whether a process with the token exists. */
bool pl_cells_any_left(void);
/* Skips the test, with the reason, unless this machine has all these parts. */
void pl_cells_need(unsigned parts);

#endif
