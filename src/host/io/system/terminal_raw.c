/* All users of a terminal share its settings, so they are restored on every way out: at the end of
 * the command, and in the handlers of signals that end or stop a process. The handlers call only
 * async-signal-safe functions (tcsetattr, write; signal-safety(7)). */
#include "io/system/terminal_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Bracketed paste: the terminal marks where a paste begins and ends. */
#define PASTE_ON  "\033[?2004h"
#define PASTE_OFF "\033[?2004l"

static struct termios old_settings;
static atomic_bool is_taken;
static int resizes[2] = {-1, -1}; /* a byte for each SIGWINCH */

static void say(const char *bytes, size_t n)
{
    if (write(STDOUT_FILENO, bytes, n) < 0)
        return; /* standard output is closed: nobody would see it */
}

void pl_raw_end(void)
{
    if (!atomic_exchange(&is_taken, false))
        return;
    say(PASTE_OFF, sizeof PASTE_OFF - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &old_settings);
}

void pl_raw_set(enum pl_raw_mode mode)
{
    struct termios settings = old_settings;
    settings.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | IEXTEN);
    settings.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON | ISTRIP);
    settings.c_lflag |= NOFLSH; /* typed input survives a Ctrl-C */
    if (mode == PL_RAW_KEYS)
        settings.c_lflag &= ~(tcflag_t)ISIG;
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    if (!atomic_exchange(&is_taken, true))
        say(PASTE_ON, sizeof PASTE_ON - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &settings);
}

/* --- signals --------------------------------------------------------------------------------- */

static void on_resize(int signal_number)
{
    int error = errno;
    (void)signal_number;
    if (write(resizes[1], "", 1) < 0)
        errno = error; /* the pipe is full, so a resize is already pending */
    errno = error;
}

static void on_end(int signal_number)
{
    pl_raw_end();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void handle(int signal_number, void (*fn)(int))
{
    struct sigaction action = {.sa_handler = fn, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

void pl_raw_suspend(void)
{
    pl_raw_end();
    raise(SIGTSTP);
    pl_raw_set(PL_RAW_KEYS);
}

enum pl_status pl_raw_begin(struct pl_error *err)
{
    static const int ends[] = {SIGTERM, SIGHUP, SIGQUIT, SIGABRT};
    if (tcgetattr(STDIN_FILENO, &old_settings) != 0)
        return pl_fail(err, PL_IO, "the terminal does not tell its settings: %s", strerror(errno));
    if (resizes[0] < 0 && pipe2(resizes, O_CLOEXEC | O_NONBLOCK) != 0)
        return pl_fail(err, PL_IO, "no pipe can be made: %s", strerror(errno));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        handle(ends[i], on_end);
    handle(SIGWINCH, on_resize);
    pl_raw_set(PL_RAW_QUIET);
    return PL_OK;
}

/* --- keys and size --------------------------------------------------------------------------- */

static bool was_resized(void)
{
    char bytes[64];
    return read(resizes[0], bytes, sizeof bytes) > 0;
}

enum pl_raw_event pl_raw_read(char *to, size_t size, int timeout_ms, size_t *ret_n)
{
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = resizes[0], .events = POLLIN}};
    for (;;) {
        int n = poll(fds, 2, timeout_ms);
        if (n < 0 && errno != EINTR)
            return PL_RAW_GONE;
        if (n == 0)
            return PL_RAW_SILENCE;
        if (n > 0 && fds[1].revents && was_resized())
            return PL_RAW_RESIZED;
        if (n < 0 || !fds[0].revents)
            continue;
        ssize_t n_read = read(STDIN_FILENO, to, size);
        if (n_read < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n_read <= 0)
            return PL_RAW_GONE;
        *ret_n = (size_t)n_read;
        return PL_RAW_BYTES;
    }
}

void pl_terminal_size(size_t *ret_columns, size_t *ret_rows)
{
    enum { COLUMNS = 80, ROWS = 24 };
    struct winsize size = {0};
    bool is_told = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    *ret_columns = is_told && size.ws_col ? size.ws_col : COLUMNS;
    *ret_rows = is_told && size.ws_row ? size.ws_row : ROWS;
}
