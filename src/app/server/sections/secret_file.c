#include "app/server/sections/secret_file.h"

#include "io/file/file.h"
#include "io/system/machine.h"

#include <stdio.h>

enum { MAX_BYTES = 64 << 10 };

enum pl_status pl_secret_file_read(struct pl_arena *arena, const char *path, const char *what,
                                   const char **ret_secret, struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_path_info info = pl_path_look(path);
    if (info.is_there && !info.is_private)
        return pl_fail(err, PL_INVALID,
                       "other users can read the %s in %s; protect it with \"chmod 600\"", what,
                       path);
    enum pl_status status = pl_file_read(path, MAX_BYTES, NULL, &file, err);
    if (status != PL_OK) {
        char why[300];
        snprintf(why, sizeof why, "%.299s", err->message);
        return pl_fail(err, status, "the %s in %s cannot be read: %s", what, path, why);
    }
    struct pl_str text = file.bytes;
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    while (text.len && (unsigned char)text.ptr[0] <= ' ')
        text = pl_str_slice(text, 1, text.len);
    if (!text.len || memchr(text.ptr, '\0', text.len))
        return pl_fail(err, PL_INVALID, "%s contains no %s", path, what);
    char *copy = pl_arena_alloc(arena, text.len + 1, 1);
    if (!copy)
        return PL_NOMEM;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *ret_secret = copy;
    return PL_OK;
}
