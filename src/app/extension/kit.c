#include "app/extension/kit.h"

const struct pl_kit_file *pl_kit_find(const char *path)
{
    for (const struct pl_kit_file *file = pl_kit_files; file->path; file++)
        if (strcmp(file->path, path) == 0)
            return file;
    return NULL;
}
