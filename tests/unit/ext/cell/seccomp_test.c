/* The system call filter, tested call by call without installing it. */
#include "ext/cell/inside/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <cmocka.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

#define ALLOW     SECCOMP_RET_ALLOW
#define KILL      SECCOMP_RET_KILL_PROCESS
#define ERR(code) (SECCOMP_RET_ERRNO | (code))

static struct sock_filter filter[2][PL_SECCOMP_MAX];
static size_t n_filter[2];

static int make(void **state)
{
    (void)state;
    for (int has_hosts = 0; has_hosts < 2; has_hosts++)
        if (!pl_seccomp_make(has_hosts, filter[has_hosts], PL_SECCOMP_MAX, &n_filter[has_hosts]))
            return 1;
    return 0;
}

static uint32_t ask_all(bool has_hosts, uint32_t arch, long call, const uint64_t args[6])
{
    struct seccomp_data data = {.nr = (int)call, .arch = arch};
    for (int i = 0; args && i < 6; i++)
        data.args[i] = args[i];
    return pl_seccomp_answer(filter[has_hosts], n_filter[has_hosts], &data);
}

#define ASK(hosts, call, ...) ask_all(hosts, ARCH, call, (const uint64_t[6]){__VA_ARGS__})

static void ordinary_calls_pass(void **state)
{
    static const long calls[] = {SYS_read,         SYS_write,     SYS_openat,     SYS_close,
                                 SYS_futex,        SYS_execve,    SYS_exit_group, SYS_epoll_pwait,
                                 SYS_ppoll,        SYS_getrandom, SYS_munmap,     SYS_wait4,
                                 SYS_rt_sigaction, SYS_kill};
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_int_equal(ASK(false, calls[i]), ALLOW);
}

static void what_is_forbidden_has_its_answer(void **state)
{
    static const long refused[] = {
        SYS_ptrace,       SYS_mount,       SYS_unshare, SYS_setns,
        SYS_bpf,          SYS_userfaultfd, SYS_keyctl,  SYS_add_key,
        SYS_memfd_create, SYS_shmget,      SYS_seccomp, SYS_process_vm_readv,
        SYS_bind,         SYS_listen,      SYS_accept4, SYS_perf_event_open,
        SYS_pidfd_getfd,  SYS_move_mount,  SYS_chroot,  SYS_io_setup,
        SYS_reboot};
    static const long unknown[] = {SYS_clone3,
                                   SYS_io_uring_setup,
                                   SYS_io_uring_enter,
                                   SYS_io_uring_register,
                                   SYS_landlock_create_ruleset,
                                   900,
                                   1000000};
    (void)state;
    for (int hosts = 0; hosts < 2; hosts++) {
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
            assert_int_equal(ASK(hosts, refused[i]), ERR(EPERM));
        for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
            assert_int_equal(ASK(hosts, unknown[i]), ERR(ENOSYS));
    }
}

static void another_architecture_is_killed(void **state)
{
    static const uint32_t others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_RISCV64, 0};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (long call = 0; call < 500; call++)
            assert_int_equal(ask_all(false, others[i], call, NULL), KILL);
#if defined(__x86_64__)
    for (long call = 0; call < 600; call++)
        assert_int_equal(ASK(true, call | 0x40000000), KILL);
    assert_int_equal(ASK(true, -1), KILL);
#endif
}

static void sockets_are_pairs_or_tcp_of_a_cell_with_hosts(void **state)
{
    (void)state;
    for (uint64_t family = 0; family < 64; family++)
        for (uint64_t type = 0; type < 16; type++)
            for (uint64_t protocol = 0; protocol < 300; protocol += protocol < 8 ? 1 : 13) {
                bool is_tcp =
                    family == AF_INET && type == SOCK_STREAM && (protocol == 0 || protocol == 6);
                bool is_pair = family == AF_UNIX && type == SOCK_STREAM && protocol == 0;
                uint32_t no = ERR(EAFNOSUPPORT);
                assert_int_equal(ASK(false, SYS_socket, family, type, protocol), no);
                assert_int_equal(ASK(true, SYS_socket, family, type, protocol),
                                 is_tcp ? ALLOW : no);
                for (int hosts = 0; hosts < 2; hosts++)
                    assert_int_equal(ASK(hosts, SYS_socketpair, family, type, protocol),
                                     is_pair ? ALLOW : no);
            }
    assert_int_equal(ASK(true, SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK),
                     ALLOW);
    assert_int_equal(ASK(true, SYS_socket, AF_INET, SOCK_STREAM, 262 /* MPTCP */),
                     ERR(EAFNOSUPPORT));
    assert_int_equal(ASK(true, SYS_connect), ALLOW);
    assert_int_equal(ASK(false, SYS_connect), ERR(ENOSYS));
    /* The kernel reads 32 bits; so does the filter. */
    assert_int_equal(ASK(false, SYS_socketpair, AF_UNIX | 1ull << 32, SOCK_STREAM), ALLOW);
    assert_int_equal(ASK(true, SYS_socket, AF_NETLINK | 1ull << 32, SOCK_STREAM),
                     ERR(EAFNOSUPPORT));
}

static void no_namespace_is_made_by_clone(void **state)
{
    static const uint64_t flags[] = {CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
                                     CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP};
    (void)state;
    assert_int_equal(ASK(false, SYS_clone, SIGCHLD), ALLOW);
    assert_int_equal(ASK(false, SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD), ALLOW);
    assert_int_equal(ASK(false, SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FS),
                     ALLOW);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        assert_int_equal(ASK(false, SYS_clone, flags[i] | SIGCHLD), ERR(EPERM));
}

static void arguments_are_looked_at(void **state)
{
    (void)state;
    const uint64_t anonymous = MAP_ANONYMOUS;
    assert_int_equal(ASK(false, SYS_mmap, 0, 4096, 3, anonymous | MAP_PRIVATE), ALLOW);
    assert_int_equal(ASK(false, SYS_mmap, 0, 4096, 1, MAP_SHARED), ALLOW);
    assert_int_equal(ASK(false, SYS_mmap, 0, 4096, 3, anonymous | MAP_SHARED), ERR(EPERM));
    assert_int_equal(ASK(false, SYS_mmap, 0, 4096, 3, anonymous | MAP_SHARED_VALIDATE), ERR(EPERM));
    assert_int_equal(ASK(false, SYS_ioctl, 0, FIONREAD), ALLOW);
    assert_int_equal(ASK(false, SYS_ioctl, 0, TIOCSTI), ERR(ENOTTY));
    assert_int_equal(ASK(false, SYS_ioctl, 0, TIOCSTI | 1ull << 32), ERR(ENOTTY));
    assert_int_equal(ASK(false, SYS_ioctl, 0, 0x541C /* TIOCLINUX */), ERR(ENOTTY));
    assert_int_equal(ASK(false, SYS_prctl, PR_SET_NAME), ALLOW);
    assert_int_equal(ASK(false, SYS_prctl, PR_SET_SECCOMP), ERR(EINVAL));
    assert_int_equal(ASK(false, SYS_prctl, PR_SET_MM), ERR(EINVAL));
    assert_int_equal(ASK(false, SYS_prctl, PR_SET_PTRACER), ERR(EINVAL));
    assert_int_equal(ASK(false, SYS_prlimit64, 0), ALLOW);
    assert_int_equal(ASK(false, SYS_prlimit64, 1), ERR(EPERM));
    assert_int_equal(ASK(false, SYS_mknodat, 0, 0, S_IFIFO | 0600), ALLOW);
    assert_int_equal(ASK(false, SYS_mknodat, 0, 0, S_IFCHR | 0600), ERR(EPERM));
    assert_int_equal(ASK(false, SYS_mknodat, 0, 0, S_IFBLK | 0600), ERR(EPERM));
    assert_int_equal(ASK(false, SYS_mknodat, 0, 0, S_IFSOCK | 0600), ERR(EPERM));
}

static void a_filter_without_room_is_not_made(void **state)
{
    static struct sock_filter small[PL_SECCOMP_MAX];
    size_t n = 0;
    (void)state;
    for (size_t max = 0; max < n_filter[1]; max += 7)
        assert_false(pl_seccomp_make(true, small, max, &n));
    assert_true(pl_seccomp_make(true, small, n_filter[1], &n));
    assert_true(n <= 4096); /* the kernel's limit */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_calls_pass),
        cmocka_unit_test(what_is_forbidden_has_its_answer),
        cmocka_unit_test(another_architecture_is_killed),
        cmocka_unit_test(sockets_are_pairs_or_tcp_of_a_cell_with_hosts),
        cmocka_unit_test(no_namespace_is_made_by_clone),
        cmocka_unit_test(arguments_are_looked_at),
        cmocka_unit_test(a_filter_without_room_is_not_made),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
