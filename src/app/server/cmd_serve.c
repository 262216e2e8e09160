/* parley serve: runs the server until a signal ends it. */
#include "app/frame/commands.h"
#include "app/server/serve_config.h"

#include "app/frame/embedded.h"
#include "base/mem.h"
#include "io/move.h"
#include "server/server.h"
#include "shard/log.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Flushes at once: the parent process may wait for this line. */
static void say(void *ctx, const char *text)
{
    struct pl_console *console = ctx;
    pl_console_puts(console, text);
    pl_console_finish(console, PL_EXIT_OK);
}

/* With JSON logs, the last message is JSON too. */
static enum pl_exit fail_in_log(const struct pl_server_config *config, enum pl_status status,
                                const struct pl_error *err)
{
    struct pl_log *log = pl_log_create(config->log_level, config->is_log_json);
    pl_log_say(log, NULL, PL_LOG_ERROR, "%s", err->message);
    pl_log_destroy(log);
    return status == PL_USAGE ? PL_EXIT_USAGE : PL_EXIT_FAILED;
}

static enum pl_status check(struct pl_console *console, const struct pl_server_config *config,
                            struct pl_error *err)
{
    enum pl_status status = pl_serve_config_check(console, config, err);
    if (status == PL_OK)
        pl_console_put_line(console, "The configuration is valid.");
    return status;
}

/* SIGHUP: reads the file and the files it names again; flags and environment do not change. */
static enum pl_status read_again(void *ctx, struct pl_arena *arena,
                                 const struct pl_server_config *now,
                                 struct pl_server_config *ret_config, struct pl_buf *changed,
                                 struct pl_buf *kept, struct pl_error *err)
{
    return pl_serve_config_reread(arena, ctx, now, ret_config, changed, kept, err);
}

/* For debugging: writes a line for each transition without buffering, so that the last one before a
 * crash is seen. */
static void tell_move(const struct pl_machine *machine, const void *who, unsigned from, unsigned to)
{
    char line[128];
    int n = snprintf(line, sizeof line, "move %s %p %s -> %s\n", machine->name, who,
                     machine->states[from].name, machine->states[to].name);
    (void)!write(STDERR_FILENO, line, (size_t)n);
}

/* For a server that commands started (app/frame/embedded.h): sends SIGTERM after the last of them
 * is gone. This thread does nothing else, and ends with the process. */
static void *wait_for_users(void *data_dir)
{
    struct pl_error err = {0};
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/" PL_EMBEDDED_USERS, (const char *)data_dir);
    if (n > 0 && (size_t)n < sizeof path && pl_users_wait_gone(path, &err) == PL_OK)
        kill(getpid(), SIGTERM);
    return NULL;
}

static enum pl_status end_unused(const struct pl_server_config *config, struct pl_error *err)
{
    pthread_t thread;
    if (!config->ends_unused)
        return PL_OK;
    sigset_t all, before;
    sigfillset(&all); /* the loops handle signals */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure =
        pthread_create(&thread, NULL, wait_for_users, (void *)(uintptr_t)config->data_dir);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure)
        return pl_fail(err, PL_IO, "no thread can be started: %s", strerror(failure));
    pthread_detach(thread);
    return PL_OK;
}

enum pl_exit pl_cmd_serve(struct pl_console *console, const struct pl_args *args)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_error err = {0};
    struct pl_server_config config;
    enum pl_status status;
    if (pl_args_has(args, PL_OPT_PRINT_CONFIG)) {
        status = pl_serve_config_print(console, &arena, args, &err);
    } else {
        struct pl_server_source source = {read_again, (void *)(uintptr_t)args};
        status = pl_serve_config_read(&arena, args, &config, &err);
        if (status == PL_OK && pl_args_has(args, PL_OPT_CHECK_CONFIG)) {
            status = check(console, &config, &err);
        } else if (status == PL_OK) {
            pl_mem_return_large();
            if (getenv("PARLEY_TRACE_MOVES"))
                pl_move_set_trace(tell_move);
            status = end_unused(&config, &err);
            if (status == PL_OK)
                status = pl_server_run(&config, &source, say, console, &err);
            if (status != PL_OK && config.is_log_json)
                return fail_in_log(&config, status, &err);
        }
    }
    if (status == PL_OK)
        return PL_EXIT_OK;
    if (status == PL_USAGE)
        return pl_usage_fail(console, "serve", "%s", err.message);
    err.status = status;
    enum pl_exit code = pl_console_fail(console, NULL, &err);
    /* A server that does not start has failed, for any reason. */
    return code == PL_EXIT_NO || code == PL_EXIT_UNREADABLE ? PL_EXIT_FAILED : code;
}
