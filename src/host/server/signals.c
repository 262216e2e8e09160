#include "server/signals.h"

#include "server/reload.h"
#include "server/shutdown.h"
#include "shard/log.h"

#include <signal.h>
#include <string.h>

static void say_ignored(void *ctx, int number);

/* All signals that would end a process by default and are not a crash, a request to end, or SIGQUIT
 * (which requests a core file). Without a function: silently ignored, because the call that caused
 * it fails with an error (EPIPE, EFBIG). */
static const struct {
    int number;
    void (*fn)(void *ctx, int number);
    bool is_early; /* ignored until the loop handles it */
} signals[] = {
    {SIGTERM, pl_shutdown_on_signal, false},
    {SIGINT, pl_shutdown_on_signal, false},
    {SIGHUP, pl_reload_on_signal, true},
    {SIGUSR1, say_ignored, true},
    {SIGUSR2, say_ignored, true},
    {SIGALRM, say_ignored, true},
    {SIGVTALRM, say_ignored, true},
    {SIGPROF, say_ignored, true},
    {SIGIO, say_ignored, true},
    {SIGPWR, say_ignored, true},
    {SIGXCPU, say_ignored, true},
    {SIGPIPE, NULL, true},
    {SIGXFSZ, NULL, true},
};
enum { N_SIGNALS = sizeof signals / sizeof *signals };

static void say_ignored(void *ctx, int number)
{
    struct pl_server_own *own = ctx;
    pl_log_say(own->server.log, own->server.shards[0], PL_LOG_WARNING,
               "SIG%s has no effect; SIGHUP reloads the configuration and SIGTERM stops the server",
               sigabbrev_np(number));
}

void pl_signals_ignore(void)
{
    for (size_t i = 0; i < N_SIGNALS; i++)
        if (signals[i].is_early)
            signal(signals[i].number, SIG_IGN);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        signal(number, SIG_IGN);
}

enum pl_status pl_signals_hear(struct pl_server_own *own, struct pl_loop *first)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < N_SIGNALS; i++)
        if (signals[i].fn)
            status = pl_loop_on_signal(first, signals[i].number, signals[i].fn, own);
    return status;
}
