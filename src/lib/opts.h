/* Options of the outside: a struct that begins with its size, so that a program and a library of
 * different versions understand each other. */
#ifndef PL_LIB_OPTS_H
#define PL_LIB_OPTS_H

#include "base/status.h"

#include <stddef.h>

/* Copies `from` over *to, which has `size` bytes and holds the defaults. A smaller struct is of an
 * older program: the rest keeps its defaults. A larger one is of a newer program: PL_USAGE if it says
 * something in what is not known here. PL_USAGE also for a size that no version has. `name` is that
 * of the struct without "parley_". */
enum pl_status pl_import_opts(const void *from, void *to, size_t size, const char *name,
                              struct pl_error *err);

#endif
