/* The network of a cell: loopback, with one address for each granted host. The listening sockets
 * are created here and sent to the server, which accepts. */
#include "ext/cell/inside/build_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void turn_loopback_on(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "lo"};
    if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) != 0)
        pl_cell_fail_errno("the loopback of the cell cannot be looked at");
    request.ifr_flags = (short)(request.ifr_flags | IFF_UP | IFF_RUNNING);
    if (ioctl(fd, SIOCSIFFLAGS, &request) != 0)
        pl_cell_fail_errno("the loopback of the cell cannot be turned on");
    close(fd);
}

static void add_listener(struct pl_cell_build *build, const struct pl_cell_place *place)
{
    char text[16];
    pl_cell_slot_address(place->slot, text);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(place->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || inet_pton(AF_INET, text, &address.sin_addr) != 1 ||
        bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0)
        pl_cell_fail_errno("no socket for host %s, port %u, in the cell", place->name, place->port);
    build->listeners[build->n_listeners++] = fd;
}

void pl_cell_listen(struct pl_cell_build *build, bool is_up)
{
    struct pl_cell_place places[PL_CELL_MAX_PLACES];
    size_t n_places = pl_cell_plan_places(&build->plan, places);
    if (n_places && !is_up)
        turn_loopback_on();
    for (size_t i = 0; i < n_places; i++)
        add_listener(build, &places[i]);
}
