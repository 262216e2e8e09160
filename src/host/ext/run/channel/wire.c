/* Shared by the two sides of a socket: the pipes, and why a side has ended. */
#include "ext/run/channel/socket.h"

#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void shut(int fds[2])
{
    for (int i = 0; i < 2; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

struct pl_ext_wire *pl_ext_wire_create(void)
{
    struct pl_ext_wire *wire = pl_mem_alloc(1, sizeof *wire);
    if (!wire)
        return NULL;
    *wire = (struct pl_ext_wire){.to_host = {-1, -1}, .to_socket = {-1, -1}};
    atomic_init(&wire->n_refs, 1);
    if (pipe2(wire->to_host, O_CLOEXEC | O_NONBLOCK) == 0 &&
        pipe2(wire->to_socket, O_CLOEXEC | O_NONBLOCK) == 0)
        return wire;
    pl_ext_wire_release(wire);
    return NULL;
}

struct pl_ext_wire *pl_ext_wire_hold(struct pl_ext_wire *wire)
{
    atomic_fetch_add(&wire->n_refs, 1);
    return wire;
}

void pl_ext_wire_release(struct pl_ext_wire *wire)
{
    if (!wire || atomic_fetch_sub(&wire->n_refs, 1) != 1)
        return;
    shut(wire->to_host);
    shut(wire->to_socket);
    pl_mem_free(wire);
}

void pl_ext_wire_say(struct pl_ext_wire *wire, uint16_t code, const char *why)
{
    if (!wire)
        return;
    wire->host_code = code;
    snprintf(wire->host_why, sizeof wire->host_why, "%s", why);
    atomic_store(&wire->has_host_said, true);
}
