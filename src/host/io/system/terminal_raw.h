/* A terminal in raw mode: single keys, its size, and its old settings restored however the process
 * ends. One per process. */
#ifndef PL_IO_TERMINAL_RAW_H
#define PL_IO_TERMINAL_RAW_H

#include "base/status.h"

/* How the terminal treats keys. In both modes there is no line editing and no echo. */
enum pl_raw_mode {
    PL_RAW_KEYS,  /* we get every key, even Ctrl-C and Ctrl-Z */
    PL_RAW_QUIET, /* Ctrl-C is a signal; other keys wait until they are read */
};

/* Saves the settings and takes over the terminal. SIGTERM, SIGHUP, SIGQUIT and a stop restore the
 * settings first. PL_IO: standard input is not a terminal, or refuses. */
enum pl_status pl_raw_begin(struct pl_error *err);
void pl_raw_set(enum pl_raw_mode mode);
/* Restores the settings; from any thread, any number of times. */
void pl_raw_end(void);

enum pl_raw_event {
    PL_RAW_BYTES,   /* bytes were read */
    PL_RAW_RESIZED, /* the size of the terminal has changed */
    PL_RAW_SILENCE, /* no key before the timeout */
    PL_RAW_GONE,    /* the terminal is gone */
};
/* Waits for keys, at most timeout_ms (-1: for ever). */
enum pl_raw_event pl_raw_read(char *to, size_t size, int timeout_ms, size_t *ret_n);

/* 80 columns and 24 rows if the terminal does not tell. */
void pl_terminal_size(size_t *ret_columns, size_t *ret_rows);

/* Stops the process as Ctrl-Z does, with the settings restored; returns when it continues. */
void pl_raw_suspend(void);

#endif
