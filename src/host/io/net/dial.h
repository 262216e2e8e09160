/* Beginning to connect. */
#ifndef PL_IO_DIAL_H
#define PL_IO_DIAL_H

#include "wire/address.h"

/* A socket that does not block and is on its way to the address: writable when it is there or has
 * failed. -1: there is no descriptor, or no way. */
int pl_dial(const struct pl_address *address, uint16_t port);

#endif
