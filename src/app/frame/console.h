/* What a command says: answers on standard output, words for people on standard error.
 *
 * Output is gathered and its failures stick, so a command writes freely and its exit code is
 * decided once, by pl_console_finish. Text that comes from files and file names is printed with
 * control characters escaped: a document cannot move the cursor. */
#ifndef PL_APP_CONSOLE_H
#define PL_APP_CONSOLE_H

#include "base/buf.h"
#include "base/status.h"

enum pl_exit {
    PL_EXIT_OK = 0,
    PL_EXIT_NO = 1, /* the answer is no: invalid, not there, not in that form */
    PL_EXIT_USAGE = 2,
    PL_EXIT_UNREADABLE = 3, /* missing, or not JSON */
    PL_EXIT_FAILED = 4,     /* input, output or the server failed, out of memory */
};

enum pl_style { PL_STYLE_PLAIN, PL_STYLE_GOOD, PL_STYLE_BAD, PL_STYLE_BOLD, PL_STYLE_DIM };

struct pl_console {
    struct pl_buf out;     /* not yet written to standard output */
    struct pl_error error; /* of the first write that failed; status PL_OK until then */
    bool out_is_terminal, err_is_terminal;
    bool has_color_out, has_color_err;
    bool is_paged;     /* a pager shows what is more than a screen (pager.h) */
    bool is_silent;    /* nothing goes to standard error */
    bool is_chinese;   /* words for people are Chinese; set by who made the console */
    bool has_progress; /* there is a progress line on the terminal, which must be wiped first */
};

void pl_console_init(struct pl_console *console);
void pl_console_deinit(struct pl_console *console);

/* A text of the program's own in the language of the console: whole sentences without values in them,
 * such as those of help. */
const char *pl_console_word(const struct pl_console *console, const char *english);
/* Appends a sentence with values in it to standard output, in the language of the console. */
void pl_console_put_said(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same on a line of its own. */
void pl_console_put_line(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends to standard output. */
void pl_console_put(struct pl_console *console, struct pl_str bytes);
void pl_console_puts(struct pl_console *console, const char *text);
void pl_console_putf(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Foreign text, control characters escaped. */
void pl_console_put_safe(struct pl_console *console, struct pl_str text);
/* A text of the program, in the language of the console, control characters escaped. */
void pl_console_put_words(struct pl_console *console, struct pl_str text);
/* From here on in this style, and plain again, when standard output is a terminal that wants it. */
void pl_console_style(struct pl_console *console, enum pl_style style);
/* A word in colour when standard output is a terminal that wants it. */
void pl_console_put_styled(struct pl_console *console, enum pl_style style, const char *word);

/* The buffer the next bytes of output go to, for writers that take one. */
struct pl_buf *pl_console_out(struct pl_console *console);

/* Writes the collected output if it has become long; at a terminal, always. */
void pl_console_settle(struct pl_console *console);

/* "parley: FILE:LINE:COLUMN: message (at /pointer)"; what is not known is left out. Returns the
 * exit code that goes with the error. */
enum pl_exit pl_console_fail(struct pl_console *console, const char *file,
                             const struct pl_error *err);

/* The same for an error whose status may be another; an empty message becomes that of the status. */
enum pl_exit pl_console_fail_as(struct pl_console *console, const char *file, enum pl_status status,
                                struct pl_error *err);

/* The same for standard output. A reader that is gone wants no more, and hears nothing of it. */
enum pl_exit pl_console_fail_out(struct pl_console *console, const struct pl_error *err);

/* A line on standard error: "parley: …". */
void pl_console_say(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* An indented line below an error that says what to do. */
void pl_console_hint(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same about a thing that has a name: "parley: NAME: …". */
void pl_console_say_about(struct pl_console *console, struct pl_str name, struct pl_str message);
/* Asks the person at the terminal "… [y/N]"; true only for a "y". */
bool pl_console_ask(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Shows or replaces the progress line; only at a terminal. */
void pl_console_progress(struct pl_console *console, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes everything out. Returns `code`, or PL_EXIT_FAILED after saying why output failed. */
enum pl_exit pl_console_finish(struct pl_console *console, enum pl_exit code);

#endif
