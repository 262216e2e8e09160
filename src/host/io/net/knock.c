#include "io/net/knock.h"

#include "io/net/dial.h"

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
    int fd = pl_dial(address, port);
    if (fd < 0)
        return false;
    bool is_there = is_connected(fd, timeout_ms);
    close(fd);
    return is_there;
}
