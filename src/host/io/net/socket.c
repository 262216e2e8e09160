/* Opens listening sockets. The calls block; used at startup. */
#include "io/net/conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

static socklen_t size_of(const union address *address)
{
    return address->any.sa_family == AF_INET    ? sizeof address->v4
           : address->any.sa_family == AF_INET6 ? sizeof address->v6
                                                : sizeof address->local;
}

static int open_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* --- TCP ---------------------------------------------------------------------------------------
 */

/* Literal addresses are tried first: the resolver loads its plug-ins, which takes longer than the
 * rest of the startup. */
static enum pl_status resolve(const char *host, uint16_t port, union address *ret_address,
                              struct pl_error *err)
{
    union address address = {.v4 = {.sin_family = AF_INET, .sin_port = htons(port)}};
    if (inet_pton(AF_INET, host, &address.v4.sin_addr) == 1) {
        *ret_address = address;
        return PL_OK;
    }
    address = (union address){.v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)}};
    if (inet_pton(AF_INET6, host, &address.v6.sin6_addr) == 1) {
        *ret_address = address;
        return PL_OK;
    }
    struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int code = getaddrinfo(host, NULL, &hints, &found);
    if (code != 0)
        return pl_fail(err, PL_IO, "the host name %s cannot be resolved: %s", host,
                       gai_strerror(code));
    memcpy(&address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    if (address.any.sa_family == AF_INET6)
        address.v6.sin6_port = htons(port);
    else
        address.v4.sin_port = htons(port);
    *ret_address = address;
    return PL_OK;
}

static enum pl_status fail_listen(const char *host, uint16_t port, int error, struct pl_error *err)
{
    switch (error) {
    case EADDRINUSE:
        return pl_fail(err, PL_IO,
                       "port %u on %s is in use by another program; stop it or choose another port",
                       port, host);
    case EACCES:
        return pl_fail(err, PL_IO, "this user has no permission to listen on port %u", port);
    case EADDRNOTAVAIL:
        return pl_fail(err, PL_IO, "%s is not an address of this machine", host);
    default:
        return pl_fail(err, PL_IO, "cannot listen on %s port %u: %s", host, port, strerror(error));
    }
}

/* Accepted sockets inherit TCP_NODELAY from here. */
static int listen_on(int fd, const union address *address)
{
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        bind(fd, &address->any, size_of(address)) != 0 || listen(fd, SOMAXCONN) != 0)
        return errno;
    return 0;
}

static uint16_t port_of(int fd)
{
    union address address = {0};
    socklen_t size = sizeof address;
    if (getsockname(fd, &address.any, &size) != 0)
        return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

enum pl_status pl_socket_listen_tcp(const char *host, uint16_t port, struct pl_socket *ret_socket,
                                    struct pl_error *err)
{
    union address address;
    enum pl_status status = resolve(host, port, &address, err);
    if (status != PL_OK)
        return status;
    int fd = open_socket(address.any.sa_family);
    if (fd < 0)
        return fail_listen(host, port, errno, err);
    int error = listen_on(fd, &address);
    if (error != 0) {
        close(fd);
        return fail_listen(host, port, error, err);
    }
    *ret_socket = (struct pl_socket){.fd = fd, .port = port_of(fd)};
    return PL_OK;
}

/* --- Unix --------------------------------------------------------------------------------------
 */

/* Returns 0 if a program answers, ECONNREFUSED if none does any more, or another errno. */
static int try_to_connect(const union address *address)
{
    int fd = open_socket(AF_UNIX);
    if (fd < 0)
        return errno;
    int error = connect(fd, &address->any, size_of(address)) == 0 ? 0 : errno;
    close(fd);
    return error;
}

/* Removes a dead socket file, so that a new one can be created. Removes nothing if in doubt. */
static enum pl_status clear_path(const union address *address, struct pl_error *err)
{
    const char *path = address->local.sun_path;
    struct stat info;
    if (lstat(path, &info) != 0)
        return PL_OK;
    if (!S_ISSOCK(info.st_mode))
        return pl_fail(err, PL_CONFLICT, "%s exists and is not a socket; choose another path",
                       path);
    int error = try_to_connect(address);
    if (error == 0 || error == EAGAIN) /* its queue is full */
        return pl_fail(err, PL_CONFLICT,
                       "another program answers on %s; stop it or choose another path", path);
    if (error != ECONNREFUSED)
        return pl_fail(err, PL_IO, "whether a program uses the socket %s is unknown: %s", path,
                       strerror(error));
    if (unlink(path) != 0)
        return pl_fail(err, PL_IO, "the socket %s of an ended program cannot be removed: %s", path,
                       strerror(errno));
    return PL_OK;
}

/* Nobody can connect before listen, so the mode is set in time. */
static int listen_privately(int fd, const union address *address)
{
    if (bind(fd, &address->any, size_of(address)) != 0)
        return errno;
    if (chmod(address->local.sun_path, 0600) == 0 && listen(fd, SOMAXCONN) == 0)
        return 0;
    int error = errno;
    unlink(address->local.sun_path);
    return error;
}

enum pl_status pl_socket_listen_unix(const char *path, struct pl_socket *ret_socket,
                                     struct pl_error *err)
{
    union address address = {.local = {.sun_family = AF_UNIX}};
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof address.local.sun_path)
        return pl_fail(err, PL_USAGE, "the path of a Unix socket must have 1 to %zu bytes, not %zu",
                       sizeof address.local.sun_path - 1, len);
    memcpy(address.local.sun_path, path, len + 1);
    enum pl_status status = clear_path(&address, err);
    if (status != PL_OK)
        return status;
    int fd = open_socket(AF_UNIX);
    int error = fd < 0 ? errno : listen_privately(fd, &address);
    if (error != 0) {
        if (fd >= 0)
            close(fd);
        return pl_fail(err, error == EADDRINUSE ? PL_CONFLICT : PL_IO, "cannot listen on %s: %s",
                       path, strerror(error));
    }
    *ret_socket = (struct pl_socket){.fd = fd, .is_unix = true};
    return PL_OK;
}

void pl_socket_close(struct pl_socket *socket)
{
    if (socket->fd >= 0)
        close(socket->fd);
    socket->fd = -1;
}
