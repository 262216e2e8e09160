/* Output of a command: results on standard output, messages for people on standard error.
 *
 * Output is buffered and errors are sticky, so a command writes without checks and
 * pl_console_finish decides the exit code once. Control characters in text from files and in file
 * names are escaped: a document cannot move the cursor. */
#ifndef PL_APP_CONSOLE_H
#define PL_APP_CONSOLE_H

#include "base/buf.h"
#include "base/status.h"

enum pl_exit {
    PL_EXIT_OK = 0,
    PL_EXIT_NO = 1, /* the answer is no: invalid, not found, not possible in that form */
    PL_EXIT_USAGE = 2,
    PL_EXIT_UNREADABLE = 3, /* missing, or not JSON */
    PL_EXIT_FAILED = 4,     /* input, output or the server failed, out of memory */
};

enum pl_style { PL_STYLE_PLAIN, PL_STYLE_GOOD, PL_STYLE_BAD, PL_STYLE_BOLD, PL_STYLE_DIM };

struct pl_console {
    struct pl_buf out;     /* not yet written to standard output */
    struct pl_error error; /* first failed write; status PL_OK until then */
    bool out_is_terminal, err_is_terminal;
    bool has_color_out, has_color_err;
    bool is_paged;     /* a pager shows output longer than a screen (pager.h) */
    bool is_silent;    /* nothing goes to standard error */
    bool is_chinese;   /* messages are in Chinese; set by the creator of the console */
    bool has_progress; /* the terminal shows a progress line, which must be wiped first */
};

void pl_console_init(struct pl_console *console);
void pl_console_deinit(struct pl_console *console);

/* Translates a text of the program to the language of the console: whole sentences without values,
 * such as help texts. */
const char *pl_console_word(const struct pl_console *console, const char *english);
/* Appends a sentence with values to standard output, in the language of the console. */
void pl_console_put_said(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Same, followed by a line break. */
void pl_console_put_line(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends to standard output. */
void pl_console_put(struct pl_console *console, struct pl_str bytes);
void pl_console_puts(struct pl_console *console, const char *text);
void pl_console_putf(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends foreign text with control characters escaped. */
void pl_console_put_safe(struct pl_console *console, struct pl_str text);
/* Appends a text of the program in the language of the console, control characters escaped. */
void pl_console_put_words(struct pl_console *console, struct pl_str text);
/* Switches to a style, or back to plain, if standard output is a terminal with colour. */
void pl_console_style(struct pl_console *console, enum pl_style style);
/* Appends a word in a style if standard output is a terminal with colour. */
void pl_console_put_styled(struct pl_console *console, enum pl_style style, const char *word);

/* The output buffer, for functions that write to one. */
struct pl_buf *pl_console_out(struct pl_console *console);

/* Writes the buffered output if it is long; at a terminal, always. */
void pl_console_settle(struct pl_console *console);

/* Prints "parley: FILE:LINE:COLUMN: message (at /pointer)"; unknown parts are left out. Returns the
 * exit code of the error. */
enum pl_exit pl_console_fail(struct pl_console *console, const char *file,
                             const struct pl_error *err);

/* Same, but with this status; an empty message becomes the text of the status. */
enum pl_exit pl_console_fail_as(struct pl_console *console, const char *file, enum pl_status status,
                                struct pl_error *err);

/* Same for standard output. Prints nothing if the reader has closed the pipe. */
enum pl_exit pl_console_fail_out(struct pl_console *console, const struct pl_error *err);

/* Prints a line on standard error: "parley: …". */
void pl_console_say(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints an indented line below an error that says what to do. */
void pl_console_hint(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Same as pl_console_say, for a named thing: "parley: NAME: …". */
void pl_console_say_about(struct pl_console *console, struct pl_str name, struct pl_str message);
/* Asks at the terminal "… [y/N]"; true only for "y" or "Y". */
bool pl_console_ask(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Shows or replaces the progress line; does nothing unless standard error is a terminal. */
void pl_console_progress(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes all output. Returns `code`, or PL_EXIT_FAILED after printing why output failed. */
enum pl_exit pl_console_finish(struct pl_console *console, enum pl_exit code);

#endif
