/* The functions of a shared library that is loaded on first use
 * (docs/adr/0010-libraries-on-demand.md). */
#ifndef PL_IO_LIBRARY_H
#define PL_IO_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct pl_library_function {
    const char *name;
    void *place; /* address of the function pointer to fill */
};

/* Fills every function pointer. `library` comes from dlopen. False: a function is missing, or
 * library is NULL. */
bool pl_library_fill(void *library, const struct pl_library_function *functions, size_t n);

#endif
