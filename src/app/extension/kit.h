/* Files that `parley ext` hands out: SDKs, skeletons, adapters, shipped extensions. They are part of the
 * program, so it needs no place where they would be installed. */
#ifndef PL_APP_KIT_H
#define PL_APP_KIT_H

#include "base/str.h"

struct pl_kit_file {
    const char *path; /* "sdk/python/parley_ext.py"; NULL ends the table */
    struct pl_str text;
};
extern const struct pl_kit_file pl_kit_files[];

/* NULL: there is none. */
const struct pl_kit_file *pl_kit_find(const char *path);

#endif
