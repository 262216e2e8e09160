/* Files that `parley ext` hands out: SDKs, skeletons, adapters, shipped extensions. They are
 * embedded in the program, so they need no installation directory. */
#ifndef PL_APP_KIT_H
#define PL_APP_KIT_H

#include "base/str.h"

struct pl_kit_file {
    const char *path; /* "sdk/python/parley_ext.py"; NULL ends the table */
    struct pl_str text;
};
extern const struct pl_kit_file pl_kit_files[];

/* NULL if there is none. */
const struct pl_kit_file *pl_kit_find(const char *path);

#endif
