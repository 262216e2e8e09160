#include "io/knock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_connected(int fd, int timeout_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int failure = 0;
    socklen_t n = sizeof failure;
    return poll(&wait, 1, timeout_ms) == 1 &&
           getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &n) == 0 && failure == 0;
}

bool pl_knock(const struct pl_address *address, uint16_t port, int timeout_ms)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memcpy(&v4.sin_addr, address->bytes, sizeof v4.sin_addr);
    memcpy(&v6.sin6_addr, address->bytes, sizeof v6.sin6_addr);
    const struct sockaddr *to = address->is_v6 ? (void *)&v6 : (void *)&v4;
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    connect(fd, to, address->is_v6 ? sizeof v6 : sizeof v4);
    bool is_there = is_connected(fd, timeout_ms);
    close(fd);
    return is_there;
}
