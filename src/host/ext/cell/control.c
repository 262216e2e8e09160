/* Messages over a socket that preserves message boundaries, with descriptors. */
#include "ext/cell/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool pl_cell_control_open(int ret_fds[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) == 0;
}

bool pl_cell_control_send(int fd, const struct pl_cell_message *message, const int *fds,
                          size_t n_fds)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int) * PL_CELL_MAX_SENT_FDS)];
    } beside = {0};
    struct iovec bytes = {(void *)message, sizeof *message};
    struct msghdr out = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (n_fds > PL_CELL_MAX_SENT_FDS)
        return false;
    if (n_fds) {
        out.msg_control = beside.space;
        out.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
        beside.head = (struct cmsghdr){CMSG_LEN(sizeof(int) * n_fds), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&beside.head), fds, sizeof(int) * n_fds);
    }
    ssize_t n;
    do
        n = sendmsg(fd, &out, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *message;
}

static void take_fds(struct msghdr *in, int *ret_fds, size_t *ret_n)
{
    *ret_n = 0;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(in); head; head = CMSG_NXTHDR(in, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        *ret_n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(ret_fds, CMSG_DATA(head), *ret_n * sizeof(int));
    }
}

int pl_cell_control_receive(int fd, bool is_waiting, struct pl_cell_message *ret_message,
                            int *ret_fds, size_t *ret_n)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int) * PL_CELL_MAX_SENT_FDS)];
    } beside = {0};
    struct iovec bytes = {ret_message, sizeof *ret_message};
    struct msghdr in = {.msg_iov = &bytes,
                        .msg_iovlen = 1,
                        .msg_control = beside.space,
                        .msg_controllen = sizeof beside.space};
    ssize_t n;
    do
        n = recvmsg(fd, &in, MSG_CMSG_CLOEXEC | (is_waiting ? 0 : MSG_DONTWAIT));
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0)
        return -1;
    take_fds(&in, ret_fds, ret_n);
    if (n == (ssize_t)sizeof *ret_message && !(in.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        ret_message->text[sizeof ret_message->text - 1] = 0;
        return 1;
    }
    for (size_t i = 0; i < *ret_n; i++)
        close(ret_fds[i]);
    return -1;
}
