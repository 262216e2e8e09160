#include "promptfile/export.h"

const struct pl_export *const pl_exports[] = {
    &pl_export_yaml, &pl_export_markdown, &pl_export_curl, &pl_export_claude, NULL,
};

const struct pl_export *pl_export_find(struct pl_str name)
{
    for (const struct pl_export *const *e = pl_exports; *e; e++)
        if (pl_str_eq(pl_str_of((*e)->name), name))
            return *e;
    return NULL;
}
