/* The terminal of a conversation: keys as they are pressed, its size, and its old settings back
 * whatever ends the process. One per process. */
#ifndef PL_IO_TERMINAL_RAW_H
#define PL_IO_TERMINAL_RAW_H

#include "base/status.h"

/* How the terminal treats keys. In both modes lines are not gathered and nothing is echoed. */
enum pl_raw_mode {
    PL_RAW_KEYS,  /* every key is ours, Ctrl-C and Ctrl-Z too */
    PL_RAW_QUIET, /* Ctrl-C is a signal; other keys wait until they are read */
};

/* Remembers the settings and takes the terminal. SIGTERM, SIGHUP, SIGQUIT and a stop give it back
 * first. PL_IO: standard input is no terminal that lets us. */
enum pl_status pl_raw_begin(struct pl_error *err);
void pl_raw_set(enum pl_raw_mode mode);
/* Gives it back; from any thread, any number of times. */
void pl_raw_end(void);

enum pl_raw_event {
    PL_RAW_BYTES,   /* some were read */
    PL_RAW_RESIZED, /* the terminal has another size */
    PL_RAW_SILENCE, /* nothing came for so long */
    PL_RAW_GONE,    /* the terminal is gone */
};
/* Waits for keys, at most timeout_ms (-1: for ever). */
enum pl_raw_event pl_raw_read(char *to, size_t size, int timeout_ms, size_t *ret_n);

/* 80 columns and 24 rows where it does not say. */
void pl_terminal_size(size_t *ret_columns, size_t *ret_rows);

/* Stops the process as Ctrl-Z does, with the terminal given back; returns when it goes on. */
void pl_raw_suspend(void);

#endif
