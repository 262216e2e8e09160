/* The `format` keyword: every format of JSON Schema 2020-12, each a predicate over decoded text. */
#ifndef PL_SCHEMA_FORMAT_H
#define PL_SCHEMA_FORMAT_H

#include "base/str.h"

struct pl_schema_format {
    const char *name;
    bool (*is_valid)(struct pl_str text); /* takes valid UTF-8; frees all it allocates */
    /* "a date like 2026-01-31": ends the sentence "is not …" */
    const char *expected_en, *expected_zh;
};

/* NULL for an unknown format: unknown formats never fail. */
const struct pl_schema_format *pl_schema_format_find(struct pl_str name);

#endif
