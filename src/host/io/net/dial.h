/* Starting a connection. */
#ifndef PL_IO_DIAL_H
#define PL_IO_DIAL_H

#include "wire/address.h"

/* A non-blocking socket that is connecting: it becomes writable when it is connected or has failed.
 * -1: no descriptor, or no route. */
int pl_dial(const struct pl_address *address, uint16_t port);

#endif
