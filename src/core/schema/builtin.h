/* The schemas embedded in the program: schemas/NAME.json. */
#ifndef PL_SCHEMA_BUILTIN_H
#define PL_SCHEMA_BUILTIN_H

#include "base/str.h"

struct pl_schema_builtin {
    const char *name;  /* as in `--as NAME` */
    const char *title; /* one line for help texts */
    struct pl_str text;
};

/* The table, ended by a NULL name. */
extern const struct pl_schema_builtin pl_schema_builtins[];

/* NULL if not found. */
const struct pl_schema_builtin *pl_schema_builtin_find(struct pl_str name);

#endif
