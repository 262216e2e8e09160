#include "readfile.h"

#include <errno.h>
#include <stdio.h>

enum { CHUNK = 65536 };

enum pl_status bench_read_file(const char *path, struct pl_buf *to, struct pl_error *err)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return pl_fail(err, PL_UNREADABLE, "Cannot open %s: %s.", path, strerror(errno));
    for (;;) {
        char *room = pl_buf_reserve(to, CHUNK);
        size_t n = room ? fread(room, 1, CHUNK, file) : 0;
        to->len += n;
        if (!n)
            break;
    }
    bool has_failed = ferror(file);
    fclose(file);
    if (to->status != PL_OK)
        return pl_fail(err, to->status, "%s does not fit into memory.", path);
    return has_failed ? pl_fail(err, PL_UNREADABLE, "Cannot read %s.", path) : PL_OK;
}
