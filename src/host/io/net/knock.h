/* Whether a server listens at an address: connects and closes, without sending anything. */
#ifndef PL_IO_KNOCK_H
#define PL_IO_KNOCK_H

#include "wire/address.h"

/* Blocks for at most timeout_ms: call it on a worker. */
bool pl_knock(const struct pl_address *address, uint16_t port, int timeout_ms);

#endif
