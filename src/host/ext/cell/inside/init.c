/* Process 1 of a cell. It starts the program, waits for ended processes, counts memory if the
 * kernel does not, and reads the server's messages. It ends when the program has ended or the
 * server is gone, and every process of the cell ends with it: through the kernel in a pid
 * namespace, otherwise through this file. The program cannot attack it: /proc shows no more of
 * it than its number, and it cannot be traced. */
#include "ext/cell/inside/build_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCH_MS 50

struct init {
    struct pl_cell_build *build; /* borrowed */
    pid_t program;
    int signals;
    bool is_watching; /* there is no cgroup that counts */
    struct pl_cell_message end;
};

/* --- starting ---------------------------------------------------------------------------------- */

/* The three pipes are the program's; open copies here would keep its ends open. */
static void let_go_of_pipes(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0)
        pl_cell_fail_errno("/dev/null of the cell cannot be opened");
    for (int fd = 0; fd < 3; fd++)
        if (dup2(nothing, fd) < 0)
            pl_cell_fail_errno("the pipes cannot be let go");
    close(nothing);
}

static void start_program(struct init *init)
{
    int pipes[2];
    struct pl_cell_message message = {0};
    if (pipe2(pipes, O_CLOEXEC) != 0)
        pl_cell_fail_errno("no pipe");
    init->program = fork();
    if (init->program == 0)
        pl_cell_program_run(init->build, pipes[1]);
    if (init->program < 0)
        pl_cell_fail_errno("no process for the program");
    close(pipes[1]);
    ssize_t n = read(pipes[0], &message, sizeof message);
    close(pipes[0]);
    if (n == (ssize_t)sizeof message) {
        (void)pl_cell_control_send(PL_CELL_FD_CONTROL, &message, NULL, 0);
        _exit(1);
    }
    let_go_of_pipes();
}

static void say_started(struct pl_cell_build *build)
{
    struct pl_cell_message message = {
        .kind = PL_CELL_SAYS_STARTED,
        .parts = build->parts,
        .abi = build->abi,
    };
    if (!pl_cell_control_send(PL_CELL_FD_CONTROL, &message, build->listeners, build->n_listeners))
        _exit(1);
    for (size_t i = 0; i < build->n_listeners; i++)
        close(build->listeners[i]);
}

/* --- the end ----------------------------------------------------------------------------------- */

/* Without a pid namespace: repeats until no process is left, since one may fork meanwhile. */
static void end_descendants(struct init *init)
{
    struct pl_cell_census census;
    do {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (!pl_cell_census(init->build, SIGKILL, &census))
            break;
        poll(NULL, 0, census.n_processes ? 1 : 0);
    } while (census.n_processes);
}

_Noreturn static void end_cell(struct init *init)
{
    if (!init->build->is_tree)
        end_descendants(init);
    (void)pl_cell_control_send(PL_CELL_FD_CONTROL, &init->end, NULL, 0);
    _exit(0);
}

static void end_for(struct init *init, enum pl_cell_why why)
{
    init->end.value = (int32_t)why;
    init->end.code = -SIGKILL;
    end_cell(init);
}

/* --- while it runs ----------------------------------------------------------------------------- */

static void collect(struct init *init)
{
    struct signalfd_siginfo info;
    while (read(init->signals, &info, sizeof info) == (ssize_t)sizeof info)
        ;
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid != init->program)
            continue;
        init->end.value = PL_CELL_WHY_EXIT;
        init->end.code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
        end_cell(init);
    }
}

static void hear(struct init *init)
{
    struct pl_cell_message message = {0};
    int fds[PL_CELL_MAX_SENT_FDS];
    size_t n_fds = 0;
    int got = pl_cell_control_receive(PL_CELL_FD_CONTROL, false, &message, fds, &n_fds);
    for (size_t i = 0; got > 0 && i < n_fds; i++)
        close(fds[i]);
    if (got < 0 || (got > 0 && message.kind == PL_CELL_ASKS_END))
        end_for(init, PL_CELL_WHY_LOST);
    if (got > 0 && message.kind == PL_CELL_ASKS_SIGNAL)
        kill(-init->program, message.value);
}

static void look(struct init *init)
{
    struct pl_cell_census census;
    const struct pl_cell_limits *limits = &init->build->plan.limits;
    if (!pl_cell_census(init->build, 0, &census))
        end_for(init, PL_CELL_WHY_LOST);
    if (census.n_memory > limits->n_memory)
        end_for(init, PL_CELL_WHY_MEMORY);
    if (census.n_processes > limits->n_processes)
        end_for(init, PL_CELL_WHY_PROCESSES);
}

static void wait_for_events(struct init *init)
{
    struct pollfd fds[] = {{.fd = PL_CELL_FD_CONTROL, .events = POLLIN},
                           {.fd = init->signals, .events = POLLIN},
                           {.fd = init->is_watching ? -1 : PL_CELL_FD_FULL, .events = POLLIN}};
    int n = poll(fds, 3, init->is_watching ? WATCH_MS : -1);
    if (n < 0 && errno != EINTR)
        end_for(init, PL_CELL_WHY_LOST);
    if (n > 0 && fds[2].revents)
        end_for(init, PL_CELL_WHY_MEMORY);
    if (fds[0].revents)
        hear(init);
    if (fds[1].revents)
        collect(init);
    if (init->is_watching)
        look(init);
}

/* --- the whole --------------------------------------------------------------------------------- */

static void drop_capabilities(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {0};
    if (syscall(SYS_capset, &head, none) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        pl_cell_fail_errno("process 1 cannot give up its rights");
}

_Noreturn void pl_cell_init_run(struct pl_cell_build *build)
{
    struct init init = {.build = build, .end = {.kind = PL_CELL_SAYS_ENDED}};
    init.is_watching = !(build->parts & PL_CELL_HAS(CGROUP));
    if (init.is_watching && build->proc < 0)
        pl_cell_unable(PL_CELL_PART_CGROUP,
                       "there is neither a memory cgroup that can be written nor a /proc in the "
                       "cell, so nothing limits the memory of all its processes together");
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    init.signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (init.signals < 0)
        pl_cell_fail_errno("no descriptor for signals");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) /* before any process exists that could look */
        pl_cell_fail_errno("process 1 cannot hide its memory");
    start_program(&init);
    drop_capabilities();
    say_started(build);
    for (;;)
        wait_for_events(&init);
}
