/* The system's randomness. */
#ifndef PL_IO_ENTROPY_H
#define PL_IO_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>

/* Fills `to` with n unpredictable bytes, n at most 256. False when the kernel has no entropy. */
bool pl_entropy_fill(void *to, size_t n);

#endif
