/* Option structs of the public API: each begins with its size, so that a program and a library of
 * different versions work together. */
#ifndef PL_LIB_OPTS_H
#define PL_LIB_OPTS_H

#include "base/status.h"

#include <stddef.h>

/* Copies `from` over *to, which has `size` bytes and contains the defaults. A smaller struct comes
 * from an older program: the rest keeps its defaults. A larger one comes from a newer program:
 * PL_USAGE if its unknown part is not zero. PL_USAGE also for a size that no version has. `name` is
 * the struct's name without "parley_". */
enum pl_status pl_import_opts(const void *from, void *to, size_t size, const char *name,
                              struct pl_error *err);

#endif
