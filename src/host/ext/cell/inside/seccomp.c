/* The filter is an allow-list made from tables: allowed calls, calls allowed with certain
 * arguments, and calls refused by name. All others seem not to exist in this kernel. A program of
 * another architecture is killed.
 *
 * The order of the instructions costs nothing: the kernel caches the calls that are allowed with
 * any arguments. */
#include "ext/cell/inside/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#define X32_BIT 0x40000000u

/* --- the tables ------------------------------------------------------------------------------ */

/* clang-format off */
static const int allowed[] = {
    /* bytes */
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv,
    SYS_pwritev, SYS_preadv2, SYS_pwritev2, SYS_lseek, SYS_close, SYS_close_range, SYS_dup,
    SYS_dup3, SYS_fcntl, SYS_flock, SYS_pipe2, SYS_sendfile, SYS_splice, SYS_tee,
    SYS_copy_file_range, SYS_fsync, SYS_fdatasync, SYS_sync_file_range, SYS_readahead,
    SYS_fadvise64, SYS_fallocate, SYS_ftruncate, SYS_truncate,
    /* files */
    SYS_openat, SYS_openat2, SYS_newfstatat, SYS_fstat, SYS_statx, SYS_statfs, SYS_fstatfs,
    SYS_faccessat, SYS_faccessat2, SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir,
    SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_linkat, SYS_symlinkat,
    SYS_readlinkat, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_umask,
    SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr, SYS_llistxattr, SYS_flistxattr,
    SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch,
    /* waiting */
    SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2,
    SYS_eventfd2, SYS_signalfd4, SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime,
    SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday,
    SYS_times, SYS_getitimer, SYS_setitimer, SYS_timer_create, SYS_timer_settime,
    SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete,
    /* memory */
    SYS_munmap, SYS_mprotect, SYS_mremap, SYS_brk, SYS_madvise, SYS_msync, SYS_mincore,
    SYS_membarrier, SYS_mlock, SYS_munlock, SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect,
    /* processes and threads */
    SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_kill,
    SYS_tkill, SYS_tgkill, SYS_pidfd_open, SYS_pidfd_send_signal, SYS_getpid, SYS_getppid,
    SYS_gettid, SYS_getpgid, SYS_setpgid, SYS_getsid, SYS_setsid, SYS_set_tid_address, SYS_futex,
    SYS_set_robust_list, SYS_get_robust_list, SYS_rseq, SYS_sched_yield, SYS_sched_getaffinity,
    SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_getscheduler,
    SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_rr_get_interval,
    SYS_sched_getattr, SYS_getpriority, SYS_setpriority, SYS_getrusage, SYS_getcpu,
    SYS_restart_syscall,
    /* signals */
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending,
    SYS_rt_sigtimedwait, SYS_rt_sigsuspend, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
    SYS_sigaltstack,
    /* identity and system */
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid, SYS_getresgid,
    SYS_getgroups, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid,
    SYS_setresgid, SYS_capget, SYS_uname, SYS_sysinfo, SYS_getrandom, SYS_getrlimit,
    SYS_setrlimit,
    /* for connected pairs; the only other sockets are TCP */
    SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_recvmmsg, SYS_sendmmsg, SYS_shutdown,
    SYS_getsockname, SYS_getpeername, SYS_getsockopt, SYS_setsockopt,
#if defined(__x86_64__)
    SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_getdents, SYS_mkdir, SYS_rmdir,
    SYS_unlink, SYS_rename, SYS_link, SYS_symlink, SYS_readlink, SYS_chmod, SYS_chown,
    SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_pipe, SYS_dup2, SYS_poll, SYS_select,
    SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_signalfd, SYS_inotify_init, SYS_fork,
    SYS_vfork, SYS_getpgrp, SYS_pause, SYS_alarm, SYS_time, SYS_arch_prctl,
#endif
};
/* clang-format on */

/* Only if the cell has hosts. */
static const int allowed_with_hosts[] = {SYS_connect};

/* Refused with EPERM, which programs can handle better than ENOSYS. */
/* clang-format off */
static const int refused[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_mount, SYS_umount2,
    SYS_pivot_root, SYS_chroot, SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig,
    SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_unshare, SYS_setns, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_add_key, SYS_request_key, SYS_keyctl,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load,
    SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl, SYS_sethostname,
    SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
    SYS_setgroups, SYS_setfsuid, SYS_setfsgid, SYS_capset, SYS_seccomp, SYS_open_by_handle_at,
    SYS_name_to_handle_at, SYS_fanotify_init, SYS_fanotify_mark, SYS_vmsplice, SYS_syslog,
    SYS_lookup_dcookie, SYS_nfsservctl, SYS_shmget, SYS_shmat, SYS_semget, SYS_msgget,
    SYS_mq_open, SYS_memfd_create, SYS_memfd_secret, SYS_remap_file_pages, SYS_migrate_pages,
    SYS_move_pages, SYS_mbind, SYS_set_mempolicy, SYS_mlockall, SYS_process_madvise,
    SYS_pidfd_getfd, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_setxattr, SYS_lsetxattr,
    SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_sched_setscheduler,
    SYS_sched_setparam, SYS_sched_setattr, SYS_ioprio_set, SYS_vhangup, SYS_personality,
    SYS_io_setup, SYS_io_submit, SYS_io_destroy,
#if defined(__x86_64__)
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl,
#endif
};
/* clang-format on */

static const uint32_t allowed_ioctls[] = {
    TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX,
};

static const uint32_t allowed_prctls[] = {
    PR_SET_NAME,
    PR_GET_NAME,
    PR_SET_PDEATHSIG,
    PR_GET_PDEATHSIG,
    PR_SET_DUMPABLE,
    PR_GET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_GET_NO_NEW_PRIVS,
    PR_CAPBSET_READ,
    PR_GET_SECCOMP,
    PR_GET_TIMERSLACK,
    PR_SET_TIMERSLACK,
    0x53564d41 /* PR_SET_VMA: a name for memory */,
};

/* --- the instructions ------------------------------------------------------------------------ */

struct maker {
    struct sock_filter *to; /* borrowed */
    size_t n, max;
    bool is_full;
};

static void put(struct maker *m, uint16_t code, uint8_t jump_true, uint8_t jump_false, uint32_t k)
{
    m->is_full = m->is_full || m->n == m->max;
    if (!m->is_full)
        m->to[m->n++] = (struct sock_filter){code, jump_true, jump_false, k};
}

static void load(struct maker *m, size_t offset)
{
    put(m, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void answer(struct maker *m, uint32_t action)
{
    put(m, BPF_RET | BPF_K, 0, 0, action);
}

static void deny(struct maker *m, int error)
{
    answer(m, SECCOMP_RET_ERRNO | (uint32_t)error);
}

/* The filter answers `action` if the accumulator is `value`. */
static void if_equal(struct maker *m, uint32_t value, uint32_t action)
{
    put(m, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    answer(m, action);
}

/* Loads the low half of an argument. The kernel reads the arguments checked here as int. */
static void load_argument(struct maker *m, int i)
{
    size_t low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;
    load(m, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)i + low);
}

/* Begins the instructions for this call, which end_rule ends. They must end in an answer. */
static size_t begin_rule(struct maker *m, int call)
{
    put(m, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)call);
    return m->n;
}

static void end_rule(struct maker *m, size_t begin)
{
    if (m->is_full || m->n - begin > 255)
        m->is_full = true;
    else
        m->to[begin - 1].jf = (uint8_t)(m->n - begin);
}

static void let_calls(struct maker *m, const int *calls, size_t n, uint32_t action)
{
    for (size_t i = 0; i < n; i++)
        if_equal(m, (uint32_t)calls[i], action);
}

/* Allows the call if its argument is one of these. */
static void let_values(struct maker *m, int call, int argument, const uint32_t *values, size_t n,
                       int error)
{
    size_t rule = begin_rule(m, call);
    load_argument(m, argument);
    for (size_t i = 0; i < n; i++)
        if_equal(m, values[i], SECCOMP_RET_ALLOW);
    deny(m, error);
    end_rule(m, rule);
}

/* Allows the call if the masked argument is `value` (is_wanted), or if it is not. */
static void let_masked(struct maker *m, int call, int argument, uint32_t mask, uint32_t value,
                       bool is_wanted, int error)
{
    uint32_t denial = SECCOMP_RET_ERRNO | (uint32_t)error;
    size_t rule = begin_rule(m, call);
    load_argument(m, argument);
    put(m, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
    if_equal(m, value, is_wanted ? SECCOMP_RET_ALLOW : denial);
    answer(m, is_wanted ? denial : SECCOMP_RET_ALLOW);
    end_rule(m, rule);
}

/* Allows a stream socket of one family. A datagram socket could send to any address. */
static void let_stream(struct maker *m, int call, uint32_t family, int error)
{
    size_t rule = begin_rule(m, call);
    load_argument(m, 0);
    put(m, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, family);
    deny(m, error);
    load_argument(m, 1);
    put(m, BPF_ALU | BPF_AND | BPF_K, 0, 0, ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK));
    put(m, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SOCK_STREAM);
    deny(m, error);
    load_argument(m, 2);
    if_equal(m, 0, SECCOMP_RET_ALLOW);
    if_equal(m, family == AF_INET ? 6 /* TCP */ : 0, SECCOMP_RET_ALLOW);
    deny(m, error); /* MPTCP would bypass the rules for TCP */
    end_rule(m, rule);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Calls that are allowed with some arguments. */
static void add_rules(struct maker *m, bool has_hosts)
{
    const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
    let_masked(m, SYS_clone, 0, namespaces, 0, true, EPERM);
    /* Shared anonymous memory is not counted for any process. */
    let_masked(m, SYS_mmap, 3, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS, false,
               EPERM);
    let_masked(m, SYS_mknodat, 2, S_IFMT, S_IFIFO, true, EPERM);
#if defined(__x86_64__)
    let_masked(m, SYS_mknod, 1, S_IFMT, S_IFIFO, true, EPERM);
#endif
    let_values(m, SYS_ioctl, 1, allowed_ioctls, COUNT(allowed_ioctls), ENOTTY);
    let_values(m, SYS_prctl, 0, allowed_prctls, COUNT(allowed_prctls), EINVAL);
    /* Its own limits only, not those of process 1. */
    let_values(m, SYS_prlimit64, 0, (const uint32_t[]){0}, 1, EPERM);
    let_stream(m, SYS_socketpair, AF_UNIX, EAFNOSUPPORT);
    if (has_hosts)
        let_stream(m, SYS_socket, AF_INET, EAFNOSUPPORT);
    else
        let_values(m, SYS_socket, 0, NULL, 0, EAFNOSUPPORT);
}

bool pl_seccomp_make(bool has_hosts, struct sock_filter *to, size_t max, size_t *ret_n)
{
#if !defined(THIS_ARCH)
    return false;
#else
    struct maker m = {.to = to, .max = max};
    load(&m, offsetof(struct seccomp_data, arch));
    put(&m, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, THIS_ARCH);
    answer(&m, SECCOMP_RET_KILL_PROCESS);
    load(&m, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    put(&m, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
    answer(&m, SECCOMP_RET_KILL_PROCESS);
#endif
    let_calls(&m, allowed, COUNT(allowed), SECCOMP_RET_ALLOW);
    if (has_hosts)
        let_calls(&m, allowed_with_hosts, COUNT(allowed_with_hosts), SECCOMP_RET_ALLOW);
    let_calls(&m, refused, COUNT(refused), SECCOMP_RET_ERRNO | EPERM);
    add_rules(&m, has_hosts);
    deny(&m, ENOSYS);
    *ret_n = m.n;
    return !m.is_full;
#endif
}

int pl_seccomp_install(const struct sock_filter *filter, size_t n)
{
    struct sock_fprog program = {(unsigned short)n, (struct sock_filter *)filter};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}

/* --- running it here ------------------------------------------------------------------------- */

uint32_t pl_seccomp_answer(const struct sock_filter *filter, size_t n,
                           const struct seccomp_data *call)
{
    uint32_t a = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sock_filter *f = &filter[i];
        switch (f->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&a, (const char *)call + f->k, sizeof a);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= f->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            i += a == f->k ? f->jt : f->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            i += a >= f->k ? f->jt : f->jf;
            break;
        default: /* BPF_RET */
            return f->k;
        }
    }
    return SECCOMP_RET_KILL_PROCESS;
}
