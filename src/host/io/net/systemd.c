/* systemd's two protocols, without its library: inherited sockets from descriptor 3 on
 * (sd_listen_fds(3)), and messages about our state (sd_notify(3)). */
#include "io/net/conn.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_FD = 3 };

/* A decimal number from the environment; -1 if there is none. */
static long env_number(const char *name)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return -1;
    long value = 0;
    for (; *text; text++)
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *text - '0', &value))
            return -1;
    return value;
}

static enum pl_status adopt(int fd, struct pl_socket *ret_socket, struct pl_error *err)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    } address = {0};
    socklen_t size = sizeof address, flag_size = sizeof(int);
    int is_listening = 0, on = 1;
    if (getsockname(fd, &address.any, &size) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &flag_size) != 0 || !is_listening)
        return pl_fail(err, PL_IO,
                       "descriptor %d from systemd is not a listening stream socket; check "
                       "ListenStream and Accept=no in the .socket unit",
                       fd);
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return pl_fail(err, PL_IO, "descriptor %d from systemd cannot be set up: %s", fd,
                       strerror(errno));
    *ret_socket = (struct pl_socket){.fd = fd, .is_unix = address.any.sa_family == AF_UNIX};
    if (ret_socket->is_unix)
        return PL_OK;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    bool is_v6 = address.any.sa_family == AF_INET6;
    const void *bytes = is_v6 ? (const void *)&address.v6.sin6_addr : &address.v4.sin_addr;
    ret_socket->is_outside = !pl_network_of(address.any.sa_family, bytes).is_loopback;
    ret_socket->port = ntohs(is_v6 ? address.v6.sin6_port : address.v4.sin_port);
    return PL_OK;
}

enum pl_status pl_socket_from_systemd(struct pl_socket *ret_sockets, size_t max, size_t *ret_n,
                                      struct pl_error *err)
{
    long n = env_number("LISTEN_FDS");
    if (n <= 0 || env_number("LISTEN_PID") != getpid()) {
        *ret_n = 0;
        return PL_OK;
    }
    if ((size_t)n > max)
        return pl_fail(err, PL_LIMIT, "systemd passes %ld sockets; the maximum is %zu", n, max);
    for (int i = 0; i < n; i++) {
        enum pl_status status = adopt(FIRST_FD + i, &ret_sockets[i], err);
        if (status != PL_OK)
            return status;
    }
    *ret_n = (size_t)n;
    return PL_OK;
}

void pl_systemd_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = path ? strlen(path) : 0;
    if (len < 2 || len >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, len);
    if (path[0] == '@')
        address.sun_path[0] = '\0'; /* the abstract namespace */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    close(fd);
}
