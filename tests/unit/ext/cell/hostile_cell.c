/* A program that tries to leave its cell. Each attack reports its successes on standard output, and
 * exits with 0 only if it had none. Linked statically, so that it needs nothing of the machine.
 *
 *     hostile_cell TOKEN ATTACK [WORD]...      the test finds remaining processes by the token */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int n_escapes;

#define ESCAPED(...) (printf("ESCAPED: " __VA_ARGS__), printf("\n"), n_escapes++)

/* --- files ------------------------------------------------------------------------------------ */

static const char *const forbidden[] = {
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/ssh",
    "/etc/hostname",
    "/etc/machine-id",
    "/etc/fstab",
    "/etc/crontab",
    "/etc/ssl/private",
    "/etc/environment",
    "/etc/profile",
    "/root",
    "/home",
    "/var",
    "/var/log",
    "/var/lib",
    "/var/run/docker.sock",
    "/run",
    "/run/systemd",
    "/sys",
    "/sys/kernel",
    "/boot",
    "/opt",
    "/srv",
    "/mnt",
    "/media",
    "/lost+found",
    "/dev/mem",
    "/dev/kmsg",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/fuse",
    "/dev/kvm",
    "/dev/vda",
    "/dev/sda",
    "/dev/shm",
    "/proc/1/environ",
    "/proc/1/mem",
    "/proc/1/root/etc",
    "/proc/1/fd/3",
    "/proc/kcore",
    "/proc/kmsg",
    "/proc/sys/kernel",
    "/proc/net/tcp",
    "/proc/sysrq-trigger",
    "/proc/modules",
};

static int read_paths(char **more)
{
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        if (open(forbidden[i], O_RDONLY | O_NONBLOCK) >= 0)
            ESCAPED("opened %s", forbidden[i]);
    for (; *more; more++) {
        if (open(*more, O_RDONLY) >= 0)
            ESCAPED("opened %s", *more);
        if (open(*more, O_WRONLY) >= 0)
            ESCAPED("opened %s for writing", *more);
    }
    char text[4096] = "";
    int fd = open("/etc/passwd", O_RDONLY);
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && strstr(text, "root:"))
        ESCAPED("read the users of the machine");
    return n_escapes;
}

static int write_package(char **words)
{
    (void)words;
    if (open("/ext/new", O_WRONLY | O_CREAT, 0600) >= 0)
        ESCAPED("made a file in /ext");
    if (open("/ext/hostile", O_WRONLY) >= 0 || open("/ext/hostile", O_RDWR) >= 0)
        ESCAPED("opened the package for writing");
    if (unlink("/ext/hostile") == 0 || rename("/ext/hostile", "/ext/other") == 0)
        ESCAPED("took the package away");
    if (chmod("/ext/hostile", 0) == 0 || truncate("/ext/hostile", 0) == 0)
        ESCAPED("changed the package");
    if (mkdir("/ext/dir", 0700) == 0 || symlink("/", "/ext/link") == 0)
        ESCAPED("made something in /ext");
    static const char *const places[] = {"/new",         "/etc/new", "/usr/new",
                                         "/usr/bin/new", "/dev/new", "/bin/new"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (open(places[i], O_WRONLY | O_CREAT, 0600) >= 0)
            ESCAPED("made %s", places[i]);
    return n_escapes;
}

/* WORD: a link out of the workspace, and a secret file outside. */
static int follow_links(char **words)
{
    char text[64];
    if (words[0] && open(words[0], O_RDONLY) >= 0)
        ESCAPED("followed %s", words[0]);
    const char *const targets[] = {"/etc/shadow", "/root", words[1] ? words[1] : "/etc/shadow"};
    for (size_t i = 0; i < 3; i++) {
        unlink("/tmp/link");
        if (symlink(targets[i], "/tmp/link") == 0 && open("/tmp/link", O_RDONLY) >= 0)
            ESCAPED("read %s by a link", targets[i]);
    }
    if (link("/ext/hostile", "/tmp/hard") == 0)
        ESCAPED("made a hard link of the package");
    if (rename("/tmp", "/other") == 0 || rename("/usr", "/other") == 0)
        ESCAPED("renamed a directory of the root");
    if (words[1] && link(words[1], "/tmp/secret") == 0)
        ESCAPED("made a hard link of a file outside");
    static const char *const ways[] = {"/ext/../../../etc/shadow",
                                       "/proc/self/root/etc/shadow",
                                       "/proc/self/cwd/../../etc/shadow",
                                       "/proc/self/fd/0/../../etc/shadow",
                                       "/proc/1/root/etc/shadow",
                                       "/proc/1/cwd/etc/shadow",
                                       "/dev/fd/3",
                                       "/proc/self/fd/3",
                                       "/proc/1/fd/0",
                                       "/proc/self/exe/../hostile/../../etc/shadow"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (open(ways[i], O_RDONLY) >= 0)
            ESCAPED("opened %s", ways[i]);
    for (int fd = 0; fd < 3; fd++) { /* a pipe opened again is still that pipe, not a file */
        struct stat info;
        snprintf(text, sizeof text, "/proc/self/fd/%d", fd);
        if (stat(text, &info) == 0 && !S_ISFIFO(info.st_mode))
            ESCAPED("descriptor %d is not a pipe", fd);
    }
    if (open("/proc/self/mem", O_RDWR) >= 0 && open("/proc/1/mem", O_RDONLY) >= 0)
        ESCAPED("opened the memory of process 1");
    return n_escapes;
}

static int fill_tmp(char **words)
{
    (void)words;
    static char block[1 << 20];
    size_t n_blocks = 0;
    memset(block, 'x', sizeof block);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 8; i++) {
        char path[32];
        snprintf(path, sizeof path, "/tmp/%d", i);
        int fd = open(path, O_WRONLY | O_CREAT, 0700);
        while (fd >= 0 && write(fd, block, sizeof block) == (ssize_t)sizeof block)
            n_blocks++;
        close(fd);
    }
    printf("%zu MiB\n", n_blocks);
    if (n_blocks > 64)
        ESCAPED("wrote %zu MiB to /tmp", n_blocks);
    for (int i = 0; i < 8; i++) {
        char path[32];
        snprintf(path, sizeof path, "/tmp/%d", i);
        unlink(path);
    }
    int from = open("/ext/hostile", O_RDONLY), to = open("/tmp/run", O_WRONLY | O_CREAT, 0755);
    for (ssize_t n; from >= 0 && (n = read(from, block, sizeof block)) > 0;)
        if (write(to, block, (size_t)n) != n)
            break;
    close(to);
    char *const argv[] = {(char *)"run", (char *)"-", (char *)"escaped", NULL};
    execv("/tmp/run", argv); /* if this works, it is an unknown attack */
    return n_escapes;
}

/* --- the network ------------------------------------------------------------------------------ */

static int open_sockets(char **words)
{
    bool has_hosts = words[0] && strcmp(words[0], "hosts") == 0;
    static const struct {
        const char *name;
        int family, type, protocol;
    } kinds[] = {
        {"tcp", AF_INET, SOCK_STREAM, 0},       {"udp", AF_INET, SOCK_DGRAM, 0},
        {"raw", AF_INET, SOCK_RAW, 1},          {"mptcp", AF_INET, SOCK_STREAM, 262},
        {"tcp6", AF_INET6, SOCK_STREAM, 0},     {"udp6", AF_INET6, SOCK_DGRAM, 0},
        {"unix", AF_UNIX, SOCK_STREAM, 0},      {"unix datagram", AF_UNIX, SOCK_DGRAM, 0},
        {"netlink", AF_NETLINK, SOCK_RAW, 0},   {"packet", AF_PACKET, SOCK_RAW, 0},
        {"vsock", 40, SOCK_STREAM, 0},          {"alg", 38, SOCK_SEQPACKET, 0},
        {"bluetooth", 31, SOCK_RAW, 0},         {"xdp", 44, SOCK_RAW, 0},
        {"sctp", AF_INET, SOCK_SEQPACKET, 132}, {"key", 15, SOCK_RAW, 2},
    };
    for (size_t i = has_hosts; i < sizeof kinds / sizeof *kinds; i++)
        if (socket(kinds[i].family, kinds[i].type, kinds[i].protocol) >= 0)
            ESCAPED("a socket of kind %s", kinds[i].name);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0)
        ESCAPED("a pair of datagram sockets");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0)
        ESCAPED("a pair of packet sockets");
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
        struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "/run/docker.sock"};
        if (bind(pair[0], (struct sockaddr *)&to, sizeof to) == 0 || listen(pair[0], 1) == 0)
            ESCAPED("made a pair listen");
    }
    return n_escapes;
}

/* WORD: an address that was not granted. */
static int connect_out(char **words)
{
    static const uint16_t ports[] = {22, 53, 80, 443, 3128, 8080};
    for (; *words; words++)
        for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
            struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(ports[i])};
            int fd = socket(AF_INET, SOCK_STREAM, 0);
            inet_pton(AF_INET, *words, &to.sin_addr);
            if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
                ESCAPED("connected to %s, port %d", *words, ports[i]);
            close(fd);
        }
    return n_escapes;
}

/* --- system calls ----------------------------------------------------------------------------- */

#define CALL(name)                                                                                 \
    {                                                                                              \
#name, SYS_##name                                                                          \
    }
static const struct {
    const char *name;
    long number;
} calls[] = {
    CALL(ptrace),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(kcmp),
    CALL(mount),
    CALL(umount2),
    CALL(pivot_root),
    CALL(chroot),
    CALL(open_tree),
    CALL(move_mount),
    CALL(fsopen),
    CALL(fsconfig),
    CALL(fsmount),
    CALL(fspick),
    CALL(mount_setattr),
    CALL(unshare),
    CALL(setns),
    CALL(clone3),
    CALL(bpf),
    CALL(perf_event_open),
    CALL(userfaultfd),
    CALL(add_key),
    CALL(request_key),
    CALL(keyctl),
    CALL(init_module),
    CALL(finit_module),
    CALL(delete_module),
    CALL(kexec_load),
    CALL(reboot),
    CALL(swapon),
    CALL(swapoff),
    CALL(acct),
    CALL(quotactl),
    CALL(sethostname),
    CALL(setdomainname),
    CALL(settimeofday),
    CALL(clock_settime),
    CALL(adjtimex),
    CALL(setgroups),
    CALL(capset),
    CALL(seccomp),
    CALL(open_by_handle_at),
    CALL(name_to_handle_at),
    CALL(fanotify_init),
    CALL(vmsplice),
    CALL(syslog),
    CALL(shmget),
    CALL(semget),
    CALL(msgget),
    CALL(mq_open),
    CALL(memfd_create),
    CALL(memfd_secret),
    CALL(migrate_pages),
    CALL(move_pages),
    CALL(mbind),
    CALL(mlockall),
    CALL(pidfd_getfd),
    CALL(bind),
    CALL(listen),
    CALL(accept4),
    CALL(setxattr),
    CALL(sched_setscheduler),
    CALL(ioprio_set),
    CALL(personality),
    CALL(io_setup),
    CALL(io_uring_setup),
    CALL(io_uring_enter),
    CALL(io_uring_register),
    CALL(landlock_create_ruleset),
    CALL(landlock_restrict_self),
    CALL(process_madvise),
    CALL(lookup_dcookie),
    CALL(quotactl_fd),
    CALL(vhangup),
};

static int make_calls(char **words)
{
    (void)words;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        errno = 0;
        long result = syscall(calls[i].number, 0, 0, 0, 0, 0, 0);
        if (result >= 0 || (errno != EPERM && errno != ENOSYS))
            ESCAPED("%s gave %ld (%s)", calls[i].name, result, strerror(errno));
    }
    if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0)
        ESCAPED("made a user namespace");
    if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        ESCAPED("shared memory without a file");
    if (ioctl(0, TIOCSTI, "x") == 0 || errno != ENOTTY)
        ESCAPED("TIOCSTI: %s", strerror(errno));
    if (mknod("/tmp/null", S_IFCHR | 0600, 0x103) == 0)
        ESCAPED("made a device");
    struct rlimit limit;
    if (prlimit(1, RLIMIT_NPROC, NULL, &limit) == 0)
        ESCAPED("looked at the limits of process 1");
    if (prctl(PR_SET_MM, 1, 0, 0, 0) == 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
        ESCAPED("a prctl that is not allowed");
    if (setuid(0) == 0 || seteuid(0) == 0 || setgid(0) == 0)
        ESCAPED("became root");
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct caps[2] = {0};
    if (syscall(SYS_capget, &head, caps) != 0 || caps[0].permitted || caps[0].effective ||
        caps[0].inheritable || caps[1].permitted)
        ESCAPED("has capabilities");
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        ESCAPED("may gain privileges");
    for (int cap = 0; cap < 41; cap++)
        if (prctl(PR_CAPBSET_READ, cap) == 1 && getenv("STRICT"))
            ESCAPED("capability %d is in the bounding set", cap);
    return n_escapes;
}

/* System calls of 32-bit programs: the kernel ends the process. */
static int call_by_old_door(char **words)
{
    (void)words;
#if defined(__x86_64__)
    long result = 20; /* getpid */
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    ESCAPED("int 0x80 gave %ld", result);
#else
    raise(SIGSYS);
#endif
    return n_escapes;
}

static int call_by_x32(char **words)
{
    (void)words;
#if defined(__x86_64__)
    ESCAPED("x32 gave %ld", syscall(0x40000000 + SYS_getpid));
#else
    raise(SIGSYS);
#endif
    return n_escapes;
}

/* --- processes -------------------------------------------------------------------------------- */

static int fork_many(char **words)
{
    size_t n = 0;
    for (int i = 0; i < 10000; i++) {
        pid_t pid = fork();
        if (pid == 0)
            for (;;)
                pause();
        n += pid > 0;
    }
    printf("%zu children\n", n);
    if (n >= 32)
        ESCAPED("%zu children", n);
    if (words[0])
        for (;;)
            pause();
    return n_escapes;
}

static int become_daemon(char **words)
{
    (void)words;
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (int fd = 0; fd < 3; fd++)
                close(fd);
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            prctl(PR_SET_PDEATHSIG, 0);
            for (;;)
                pause();
        }
        _exit(0);
    }
    wait(NULL);
    return n_escapes;
}

/* WORD: "many" starts nine processes; "others" starts nine, and the first takes no memory. */
static int take_memory(char **words)
{
    bool is_others = words[0] && strcmp(words[0], "others") == 0;
    bool is_many = is_others || (words[0] && strcmp(words[0], "many") == 0);
    bool is_child = false;
    size_t n = 0;
    for (int i = 0; is_many && !is_child && i < 8; i++)
        is_child = fork() == 0;
    while (is_others && !is_child)
        pause();
    for (; n < 4096; n++) {
        char *block =
            mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            break;
        memset(block, 1, 1 << 20);
        if (is_many && n == 100)
            for (;;)
                pause();
    }
    printf("%zu MiB\n", n);
    fflush(stdout);
    if (n > 256)
        ESCAPED("%zu MiB", n);
    return n_escapes;
}

static int burn(char **words)
{
    (void)words;
    for (volatile unsigned i = 0; getpid(); i++)
        ;
    return n_escapes;
}

/* WORD: processes outside. */
static int send_signals(char **words)
{
    for (; *words; words++) {
        pid_t pid = (pid_t)strtol(*words, NULL, 10);
        if (kill(pid, 0) == 0 || kill(pid, SIGTERM) == 0)
            ESCAPED("sent a signal to process %d outside", (int)pid);
        if (syscall(SYS_tgkill, pid, pid, SIGTERM) == 0)
            ESCAPED("sent a signal to thread %d outside", (int)pid);
    }
    kill(getppid(), SIGKILL); /* process 1, which ignores it */
    kill(1, SIGKILL);
    kill(1, SIGTERM);
    kill(1, SIGSTOP);
    kill(-getppid(), SIGKILL);
    usleep(20000);
    return n_escapes;
}

/* --- open descriptors, variables, users ------------------------------------------------------- */

static int look_around(char **words)
{
    struct stat info;
    for (int fd = 3; fd < 4096; fd++)
        if (fstat(fd, &info) == 0)
            ESCAPED("descriptor %d is open", fd);
    for (int fd = 0; fd < 3; fd++)
        if (fstat(fd, &info) != 0 || !S_ISFIFO(info.st_mode))
            ESCAPED("descriptor %d is not a pipe", fd);
    for (char **variable = environ; *variable; variable++) {
        printf("%s\n", *variable);
        if (strncmp(*variable, "SECRET", 6) == 0)
            ESCAPED("saw a variable of the server");
    }
    printf("uid %u gid %u\n", (unsigned)getuid(), (unsigned)getgid());
    if (getuid() == 0 || getgid() == 0)
        ESCAPED("is root");
    (void)words;
    return n_escapes;
}

/* WORD…: protected paths, which may exist or not. */
static int write_protected(char **words)
{
    for (; *words; words++) {
        int fd = open(*words, O_WRONLY | O_APPEND);
        bool is_written = fd >= 0 && write(fd, "x", 1) == 1;
        char other[4096];
        snprintf(other, sizeof other, "%.2000s.away", *words);
        if (is_written || rename(*words, other) == 0 || unlink(*words) == 0)
            ESCAPED("changed %s", *words);
        char parent[2048];
        snprintf(parent, sizeof parent, "%s", *words);
        *strrchr(parent, '/') = 0;
        snprintf(other, sizeof other, "%s.away", parent);
        if (rename(parent, other) == 0)
            ESCAPED("renamed %s", parent);
        snprintf(other, sizeof other, "%s/hard", parent);
        if (link(*words, other) == 0)
            ESCAPED("made a hard link of %s", *words);
    }
    return n_escapes;
}

/* --- not attacks ------------------------------------------------------------------------------ */

/* Writes the text of the first WORD to each further WORD, a file. */
static int write_files(char **words)
{
    for (char **path = words + 1; *path; path++) {
        int fd = open(*path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || write(fd, words[0], strlen(words[0])) < 0) {
            printf("%s: %s\n", *path, strerror(errno));
            return 1;
        }
        close(fd);
    }
    return 0;
}

static int copy_input(char **words)
{
    char bytes[4096];
    (void)words;
    for (ssize_t n; (n = read(0, bytes, sizeof bytes)) > 0;)
        if (write(1, bytes, (size_t)n) != n)
            return 1;
    return 0;
}

static int wait_here(char **words)
{
    if (words[0] && strcmp(words[0], "stubborn") == 0)
        signal(SIGTERM, SIG_IGN);
    printf("waiting\n");
    fflush(stdout);
    while (getpid())
        pause();
    return n_escapes;
}

/* An address and a port: sends lines there and prints the answer. */
static int talk(char **words)
{
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_in to = {.sin_family = AF_INET};
    to.sin_port = htons((uint16_t)strtol(words[1], NULL, 10));
    inet_pton(AF_INET, words[0], &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        printf("connect: %s\n", strerror(errno));
        return 1;
    }
    for (char **line = words + 2; *line; line++)
        if (write(fd, *line, strlen(*line)) < 0 || write(fd, "\r\n", 2) < 0)
            break;
    shutdown(fd, SHUT_WR);
    char bytes[4096];
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        fwrite(bytes, 1, (size_t)n, stdout);
    return 0;
}

/* Sends this many bytes while it reads them back. */
static int pour(char **words)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    static unsigned char bytes[65536];
    size_t n_all = (size_t)strtol(words[2], NULL, 10), n_back = 0, n_wrong = 0, n_more = 0;
    to.sin_port = htons((uint16_t)strtol(words[1], NULL, 10));
    inet_pton(AF_INET, words[0], &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        return 1;
    if (fork() == 0) {
        for (size_t n = 0, sent; n < n_all; n += sent) {
            size_t size = n_all - n < sizeof bytes ? n_all - n : sizeof bytes;
            for (size_t i = 0; i < size; i++)
                bytes[i] = (unsigned char)((n + i) % 251);
            ssize_t got = write(fd, bytes, size);
            sent = got > 0 ? (size_t)got : 0;
            if (!sent)
                _exit(1);
        }
        shutdown(fd, SHUT_WR);
        _exit(0);
    }
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < n; i++) {
            if (n_back < n_all)
                n_wrong += bytes[i] != n_back++ % 251;
            else
                n_more++;
        }
    printf("%zu back, %s, then %zu bytes\n", n_back, n_wrong ? "wrong" : "in order", n_more);
    return 0;
}

static int show_file(char **words)
{
    char bytes[4096];
    int fd = open(words[0], O_RDONLY);
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        fwrite(bytes, 1, (size_t)n, stdout);
    return 0;
}

static int leave(char **words)
{
    if (words[0] && words[1])
        raise((int)strtol(words[1], NULL, 10));
    return words[0] ? (int)strtol(words[0], NULL, 10) : 0;
}

static const struct {
    const char *name;
    int (*run)(char **words);
} attacks[] = {
    {"paths", read_paths},
    {"package", write_package},
    {"links", follow_links},
    {"tmp", fill_tmp},
    {"sockets", open_sockets},
    {"connect", connect_out},
    {"calls", make_calls},
    {"int80", call_by_old_door},
    {"x32", call_by_x32},
    {"fork", fork_many},
    {"daemon", become_daemon},
    {"memory", take_memory},
    {"burn", burn},
    {"signals", send_signals},
    {"around", look_around},
    {"protected", write_protected},
    {"write", write_files},
    {"copy", copy_input},
    {"wait", wait_here},
    {"talk", talk},
    {"leave", leave},
    {"pour", pour},
    {"cat", show_file},
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; argc > 2 && i < sizeof attacks / sizeof *attacks; i++)
        if (strcmp(argv[2], attacks[i].name) == 0)
            return attacks[i].run(argv + 3);
    printf("ESCAPED: unknown attack\n");
    return 99;
}
