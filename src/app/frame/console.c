/* Buffers output, and wipes the progress line on a terminal before anything else is printed. */
#include "app/frame/console.h"

#include "app/frame/pager.h"

#include "io/file/file.h"
#include "terminal/safe.h"
#include "words/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SETTLE_BYTES = 64 << 10 };

/* Most output of one command: more is a bug of the caller, not a result. */
static const size_t MOST_GATHERED = (size_t)2 << 30;

static const char *const style_codes[] = {
    [PL_STYLE_PLAIN] = "\033[0m", [PL_STYLE_GOOD] = "\033[32m", [PL_STYLE_BAD] = "\033[31m",
    [PL_STYLE_BOLD] = "\033[1m",  [PL_STYLE_DIM] = "\033[2m",
};

/* https://no-color.org: any value except the empty one disables colour. */
static bool wants_color(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

void pl_console_init(struct pl_console *console)
{
    *console = (struct pl_console){0};
    pl_buf_init(&console->out, MOST_GATHERED);
    console->out_is_terminal = isatty(STDOUT_FILENO);
    console->err_is_terminal = isatty(STDERR_FILENO);
    console->has_color_out = console->out_is_terminal && wants_color();
    console->has_color_err = console->err_is_terminal && wants_color();
}

void pl_console_deinit(struct pl_console *console)
{
    pl_buf_deinit(&console->out);
}

const char *pl_console_word(const struct pl_console *console, const char *english)
{
    return console->is_chinese ? pl_words_of(english) : english;
}

/* Adds a message, control characters escaped. Falls back to English if there is no memory for the
 * Chinese text. */
static void add_said(const struct pl_console *console, struct pl_buf *line, struct pl_str message)
{
    PL_CLEANUP_BUF struct pl_buf chinese;
    pl_buf_init(&chinese, 0);
    if (console->is_chinese)
        (void)pl_words_add(&chinese, message);
    pl_safe_add(line, chinese.len && chinese.status == PL_OK ? pl_buf_str(&chinese) : message);
}

static void wipe_progress(struct pl_console *console)
{
    if (!console->has_progress)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr); /* before the next bytes on standard output */
    console->has_progress = false;
}

void pl_console_put(struct pl_console *console, struct pl_str bytes)
{
    pl_buf_add(&console->out, bytes);
}

void pl_console_puts(struct pl_console *console, const char *text)
{
    pl_buf_adds(&console->out, text);
}

void pl_console_putf(struct pl_console *console, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pl_buf_adds(&console->out, line);
}

__attribute__((format(printf, 2, 0))) static void put_said(struct pl_console *console,
                                                           const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    if (console->is_chinese)
        (void)pl_words_add(&console->out, pl_str_of(text));
    else
        pl_buf_adds(&console->out, text);
}

void pl_console_put_said(struct pl_console *console, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_said(console, format, args);
    va_end(args);
}

void pl_console_put_line(struct pl_console *console, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_said(console, format, args);
    va_end(args);
    pl_buf_addc(&console->out, '\n');
}

void pl_console_put_safe(struct pl_console *console, struct pl_str text)
{
    pl_safe_add(&console->out, text);
}

void pl_console_put_words(struct pl_console *console, struct pl_str text)
{
    add_said(console, &console->out, text);
}

void pl_console_style(struct pl_console *console, enum pl_style style)
{
    if (console->has_color_out)
        pl_buf_adds(&console->out, style_codes[style]);
}

void pl_console_put_styled(struct pl_console *console, enum pl_style style, const char *word)
{
    pl_console_style(console, style);
    pl_buf_adds(&console->out, word);
    pl_console_style(console, PL_STYLE_PLAIN);
}

struct pl_buf *pl_console_out(struct pl_console *console)
{
    return &console->out;
}

static void write_out(struct pl_console *console)
{
    enum pl_status status = console->out.status;
    if (console->error.status == PL_OK && status != PL_OK)
        (void)!pl_fail(&console->error, status, "%s", pl_status_info(status)->text);
    bool is_shown = console->is_paged && console->out_is_terminal &&
                    console->error.status == PL_OK && pl_pager_show(pl_buf_str(&console->out));
    if (console->error.status == PL_OK && console->out.len > 0 && !is_shown)
        (void)!pl_fd_write(STDOUT_FILENO, pl_buf_str(&console->out), &console->error);
    pl_buf_clear(&console->out);
}

void pl_console_settle(struct pl_console *console)
{
    if (console->out.len < SETTLE_BYTES && !console->out_is_terminal)
        return;
    if (console->out.len > 0)
        wipe_progress(console);
    write_out(console);
}

/* Writes a finished line to standard error, or "out of memory" if the line is incomplete. */
static void write_line(struct pl_console *console, struct pl_buf *line)
{
    wipe_progress(console);
    /* Earlier output comes first if both go to the same place. */
    write_out(console);
    if (console->is_silent)
        return;
    pl_buf_addc(line, '\n');
    if (line->status == PL_OK)
        fwrite(line->ptr, 1, line->len, stderr);
    else
        fputs("parley: out of memory\n", stderr);
}

static void add_label(struct pl_console *console, struct pl_buf *line)
{
    pl_buf_adds(line, console->has_color_err ? "\033[1;31mparley:\033[0m " : "parley: ");
}

enum pl_exit pl_console_fail(struct pl_console *console, const char *file,
                             const struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    add_label(console, &line);
    if (file) {
        pl_safe_add(&line, pl_str_of(file));
        if (err->has_position)
            pl_buf_addf(&line, ":%zu:%zu", err->line, err->column);
        pl_buf_adds(&line, ": ");
    }
    const char *message = err->message[0] ? err->message : pl_status_info(err->status)->text;
    add_said(console, &line, pl_str_of(message));
    if (err->pointer[0]) {
        pl_buf_adds(&line, console->is_chinese ? "（位于 " : " (at ");
        pl_safe_add(&line, pl_str_of(err->pointer));
        pl_buf_adds(&line, console->is_chinese ? "）" : ")");
    }
    write_line(console, &line);
    return (enum pl_exit)pl_status_info(err->status)->exit_code;
}

enum pl_exit pl_console_fail_as(struct pl_console *console, const char *file, enum pl_status status,
                                struct pl_error *err)
{
    if (!err->message[0])
        snprintf(err->message, sizeof err->message, "%s", pl_status_info(status)->text);
    err->status = status;
    return pl_console_fail(console, file, err);
}

__attribute__((format(printf, 3, 0))) static void say(struct pl_console *console, bool is_hint,
                                                      const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    if (is_hint)
        pl_buf_adds(&line, "        ");
    else
        add_label(console, &line);
    add_said(console, &line, pl_str_of(text));
    write_line(console, &line);
}

void pl_console_say(struct pl_console *console, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(console, false, format, args);
    va_end(args);
}

void pl_console_hint(struct pl_console *console, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(console, true, format, args);
    va_end(args);
}

void pl_console_say_about(struct pl_console *console, struct pl_str name, struct pl_str message)
{
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    add_label(console, &line);
    pl_safe_add(&line, name);
    pl_buf_adds(&line, ": ");
    add_said(console, &line, message);
    write_line(console, &line);
}

/* Writes part of a line to standard error at once. */
__attribute__((format(printf, 2, 0))) static void show(struct pl_console *console,
                                                       const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    PL_CLEANUP_BUF struct pl_buf shown;
    pl_buf_init(&shown, 0);
    add_said(console, &shown, pl_str_of(text));
    fwrite(shown.ptr, 1, shown.len, stderr);
}

bool pl_console_ask(struct pl_console *console, const char *format, ...)
{
    char line[16] = "";
    va_list args;
    pl_console_settle(console);
    va_start(args, format);
    show(console, format, args);
    va_end(args);
    fputs(" [y/N] ", stderr);
    fflush(stderr);
    return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

void pl_console_progress(struct pl_console *console, const char *format, ...)
{
    if (!console->err_is_terminal)
        return;
    va_list args;
    va_start(args, format);
    fputs("\r\033[K", stderr);
    show(console, format, args);
    fflush(stderr);
    va_end(args);
    console->has_progress = true;
}

enum pl_exit pl_console_fail_out(struct pl_console *console, const struct pl_error *err)
{
    /* Prints nothing if the reader has closed the pipe: `parley … | head`. */
    if (!pl_fd_is_unread(STDOUT_FILENO))
        pl_console_say(console, "standard output: %s", err->message);
    return PL_EXIT_FAILED;
}

enum pl_exit pl_console_finish(struct pl_console *console, enum pl_exit code)
{
    wipe_progress(console);
    write_out(console);
    if (console->error.status == PL_OK)
        return code;
    return pl_console_fail_out(console, &console->error);
}
