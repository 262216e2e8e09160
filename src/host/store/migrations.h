/* The migrations, embedded by tools/embed_sql.py in the order of their numbers. */
#ifndef PL_STORE_MIGRATIONS_H
#define PL_STORE_MIGRATIONS_H

#include <stddef.h>

struct pl_migration {
    const char *name;
    const char *text;
};

extern const struct pl_migration pl_migrations[];
extern const size_t pl_n_migrations;

#endif
