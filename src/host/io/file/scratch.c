#include "io/file/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int pl_scratch_open(const char *dir)
{
    return open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

enum pl_status pl_scratch_write(int fd, struct pl_str bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return PL_IO;
        bytes = pl_str_slice(bytes, (size_t)n, bytes.len);
    }
    return PL_OK;
}
