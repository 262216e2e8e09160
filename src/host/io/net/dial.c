#include "io/net/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

int pl_dial(const struct pl_address *address, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memcpy(&v4.sin_addr, address->bytes, sizeof v4.sin_addr);
    memcpy(&v6.sin6_addr, address->bytes, sizeof v6.sin6_addr);
    const struct sockaddr *to = address->is_v6 ? (void *)&v6 : (void *)&v4;
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, to, address->is_v6 ? sizeof v6 : sizeof v4) == 0 || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}
